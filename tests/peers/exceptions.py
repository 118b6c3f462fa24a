"""What does not pass, and why: `exceptions.yaml`, held against what was found."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from tests.peers.case import OUTCOMES, PASSED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.peers.case import Outcome

FILE = Path(__file__).with_name("exceptions.yaml")


@dataclass(frozen=True)
class Exceptional:
    """Scripts, by a pattern of their names, that do not pass, what becomes of them, and the reason."""

    scripts: str
    are: str
    why: str

    def covers(self, name: str) -> bool:
        """Whether it is about this script."""
        return fnmatchcase(name, self.scripts)


def of(suite: str, text: str | None = None) -> tuple[Exceptional, ...]:
    """The exceptions of a suite. Raises ValueError for one that says too little."""
    kept = yaml.safe_load(FILE.read_text(encoding="utf-8") if text is None else text)
    found = tuple(Exceptional(**fields) for fields in kept.get(suite) or ())
    for one in found:
        if one.are not in OUTCOMES or one.are == PASSED or not one.why.strip():
            msg = f"{FILE.name}: {suite}: {one.scripts}: are: failed, skipped or hung, and why"
            raise ValueError(msg)
    return found


@dataclass(frozen=True)
class Comparison:
    """What was found against what is kept: ``unexpected`` is red, ``better`` is only told."""

    unexpected: tuple[str, ...]
    better: tuple[str, ...]


def compared(found: Mapping[str, Outcome], kept: Sequence[Exceptional], *, is_whole: bool) -> Comparison:
    """Compare outcomes, by the names of their scripts. ``is_whole``: no script of the suite was left out."""
    unexpected, better = [], []
    for name, outcome in found.items():
        reason = next((one for one in kept if one.covers(name)), None)
        if outcome.what == PASSED:
            better += [f"{name}: passes, and not {reason.are}: {reason.why}"] if reason else []
        elif reason is None or reason.are != outcome.what:
            expected = reason.are if reason else PASSED
            unexpected.append(f"{name}: {outcome.what}, and not {expected}: {outcome.said}")
    if is_whole:
        idle = [one.scripts for one in kept if not any(one.covers(name) for name in found)]
        better += [f"{scripts}: no script is called so" for scripts in idle]
    return Comparison(tuple(unexpected), tuple(better))


def table(suite: str, found: Mapping[str, Outcome], kept: Sequence[Exceptional]) -> list[str]:
    """The lines of a suite: how many of which outcome, and what did not pass with its reason."""
    counts = {what: sum(outcome.what == what for outcome in found.values()) for what in OUTCOMES}
    lines = [f"{suite}: {', '.join(f'{count} {what}' for what, count in counts.items())}, of {len(found)}"]
    for name, outcome in found.items():
        if outcome.what != PASSED:
            reason = next((one.why for one in kept if one.covers(name)), f"NOT EXPECTED: {outcome.said}")
            lines.append(f"  {outcome.what:8}{name}: {' '.join(reason.split())}")
    return lines
