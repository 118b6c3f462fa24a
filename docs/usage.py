"""How the files that come with wirelab use each key: the examples of the reference."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from docs.commands import ROOT
from wirelab.model.yamlfile import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FILES: Final = {
    **dict.fromkeys(("scenarios", "topologies", "parts"), "*.yaml"),
    "exercises": "*/exercise.yaml",
}
_LONGEST: Final = 36
"""A longer value explains nothing more."""

_NAMED: Final = (
    *("nodes", "nics", "drivers", "modules", "switches", "hubs", "hosts", "systems"),
    *("firewalls", "buses", "storage", "lines", "expect", "figures"),
)
"""Below these are names, and what belongs together is below each name."""


@functools.cache
def examples() -> Mapping[tuple[str, str], str]:
    """The first value of each key, by the key above it: ``("cables", "length")`` to ``3 m``."""
    values: dict[tuple[str, str], str] = {}
    for folder, pattern in _FILES.items():
        for path in sorted((ROOT / folder).glob(pattern)):
            for place, value in _values(read(path).tree, folder):
                if len(value) <= _LONGEST:
                    values.setdefault(place, value)
    return values


def _values(tree: Mapping[str, Any], section: str) -> Iterator[tuple[tuple[str, str], str]]:
    for key, value in tree.items():
        match value:
            case {"value": figure} | {"range": figure}:
                yield (section, key), _text(figure)
            case dict():
                yield (section, key), _text(value)
                yield from _values(value, section if section in _NAMED else key)
            case [dict(), *_]:
                for item in value:
                    yield from _values(item, key)
            case _:
                yield (section, key), _text(value)


def _text(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_text(of)}" for key, of in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    return str(value)
