"""What the suites gave, as `docs/peers.json` keeps it: each with its kernel and day.

A suite may be run in parts, for some of its scripts take an hour.
"""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.peers.case import CHECKOUT, Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.peers.case import Batch

FILE = CHECKOUT / "docs" / "peers.json"


@dataclass(frozen=True)
class Run:
    """A run of a suite of ``count`` scripts: the kernel's version, the day, what became of each by its name.

    Of one that was run in parts the day is that of the last.
    """

    kernel: str
    day: str
    count: int
    became: Mapping[str, str]

    @property
    def is_whole(self) -> bool:
        """Whether every script was run."""
        return len(self.became) == self.count

    def outcomes(self) -> dict[str, Outcome]:
        """What became of each, as a run finds it; what it said is not kept."""
        return {name: Outcome(what) for name, what in self.became.items()}


def runs(file: Path = FILE) -> dict[str, Run]:
    """The runs that are kept, by their suites; none where there is no file."""
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {suite: Run(**run) for suite, run in kept.items()}


def keep(suite: str, run: Run, file: Path = FILE) -> bool:
    """Keep the run of a suite in the place of an earlier one; a part of it within one with the same kernel.

    False: it is a part, and what is kept is a whole run with another kernel, which is left as it is.
    """
    kept = runs(file)
    earlier = kept.get(suite)
    if earlier is not None and not run.is_whole:
        if earlier.kernel == run.kernel:
            run = replace(run, became={**earlier.became, **run.became})
        elif earlier.is_whole:
            return False
    kept[suite] = run
    text = json.dumps({name: asdict(kept[name]) for name in sorted(kept)}, indent=1)
    file.write_text(text + "\n", encoding="utf-8")
    return True


class Keeping:
    """Keeps what became of each script of a suite as soon as it is known: all of them take hours."""

    def __init__(self, suite: str, kernel: str, count: int, file: Path = FILE) -> None:
        """Of a suite of ``count`` scripts, run with the kernel of that version."""
        self.is_kept = True
        self._suite, self._kernel, self._count, self._file = suite, kernel, count, file
        self._became: dict[str, str] = {}
        self._lock = threading.Lock()

    def add(self, batch: Batch, outcomes: Sequence[Outcome]) -> None:
        """These have come to their end; from any thread."""
        with self._lock:
            for case, outcome in zip(batch.cases, outcomes, strict=True):
                self._became[case.name] = outcome.what
            day = datetime.now(UTC).date().isoformat()
            run = Run(self._kernel, day, self._count, self._became)
            self.is_kept = keep(self._suite, run, self._file)
