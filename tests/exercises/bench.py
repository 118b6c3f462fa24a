"""Where the students' networks are run: with what was measured before, and nobody watching."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.exercise.measure import Bench
from wirelab.runner.cpus import usable
from wirelab.runner.store import Store
from wirelab.runner.trial import Runner

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.machine import Progress
    from wirelab.lab.select import Lab
    from wirelab.runner.run_result import VariantResult
    from wirelab.runner.trial import Trial


class Silent:
    """Nobody watches."""

    def begun(self, trial: Trial) -> None:
        """A trial has got its CPU."""

    def progress(self, trial: Trial, progress: Progress) -> None:
        """The lab of a trial has come so far."""

    def done(self, trial: Trial, variant: VariantResult) -> None:
        """A trial is judged."""

    def finished(self) -> None:
        """All trials of a job are judged."""


def bench(lab: Lab, folder: Path, jobs: int | None = None) -> Bench:
    """A bench that keeps its files in ``folder``."""
    return Bench(Runner.of(lab, print, use_cache=True), Store(folder), usable(jobs), Silent())
