"""What the shell offers for a name after TAB. It never complains: what cannot be read is not offered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

from wirelab.errors import InputError
from wirelab.model.catalogue import around
from wirelab.model.parts import PartKind
from wirelab.report.parts import entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def scenarios(incomplete: str) -> list[str]:
    """The scenarios that can be run by name from here."""
    return _starting(incomplete, lambda: around(Path.cwd()).names("scenarios"))


def parts(incomplete: str) -> list[str]:
    """The kinds of parts, and the parts."""
    kinds: tuple[str, ...] = get_args(PartKind)
    known = _starting(incomplete, lambda: (entry.name for entry in entries(around(Path.cwd()).parts())))
    return list(dict.fromkeys([*_starting(incomplete, lambda: kinds), *known]))


def _starting(incomplete: str, names: Callable[[], Iterable[str]]) -> list[str]:
    try:
        return [name for name in names() if name.startswith(incomplete)]
    except (InputError, OSError):
        return []
