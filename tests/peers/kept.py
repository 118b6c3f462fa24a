"""What whole runs gave, as `docs/peers.json` keeps it: each suite with its kernel and day."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from tests.peers.case import CHECKOUT, Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE = CHECKOUT / "docs" / "peers.json"


@dataclass(frozen=True)
class Run:
    """A whole run of a suite: the kernel's version, the day, and what became of each script by its name."""

    kernel: str
    day: str
    became: Mapping[str, str]

    def outcomes(self) -> dict[str, Outcome]:
        """What became of each, as a run finds it; what it said is not kept."""
        return {name: Outcome(what) for name, what in self.became.items()}


def runs(file: Path = FILE) -> dict[str, Run]:
    """The runs that are kept, by their suites; none where there is no file."""
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {suite: Run(**run) for suite, run in kept.items()}


def keep(suite: str, run: Run, file: Path = FILE) -> None:
    """Keep the run of a suite in the place of an earlier one."""
    kept = {**runs(file), suite: run}
    text = json.dumps({name: asdict(kept[name]) for name in sorted(kept)}, indent=1)
    file.write_text(text + "\n", encoding="utf-8")
