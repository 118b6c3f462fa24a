"""Runs while they go on: a bar for each lab, in virtual seconds, and one for all scenarios together."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, Progress, TextColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from rich.console import Console
    from rich.progress import TaskID

    from wirelab.lab.machine import Progress as LabProgress
    from wirelab.runner.matrix import Job, Outcome
    from wirelab.runner.run_result import VariantResult
    from wirelab.runner.trial import Trial


class LiveReport:
    """Bars on a terminal, nothing anywhere else. A context; may be told things from any thread.

    ``on_finished`` is called for each scenario that is judged, one at a time.
    """

    def __init__(
        self,
        console: Console,
        jobs: Sequence[Job],
        on_finished: Callable[[Outcome], None],
        *,
        hidden: bool = False,
    ) -> None:
        self._on_finished = on_finished
        self._lock = threading.Lock()
        self._progress = Progress(
            TextColumn("  {task.description}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[state]}", markup=False),
            console=console,
            transient=True,
            disable=hidden or not console.is_terminal,
        )
        self._many = len(jobs) > 1
        self._tasks: dict[tuple[int, str], TaskID] = {}
        self._all: TaskID | None = None
        if self._many:
            self._all = self._progress.add_task("all", total=len(jobs), state=f"of {len(jobs)} scenarios")
        else:
            for job in jobs:
                for trial in job.trials:
                    self._add(job, trial)

    def __enter__(self) -> Self:
        """Show the bars."""
        if not self._progress.disable:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take them away."""
        if not self._progress.disable:
            self._progress.stop()

    def begun(self, job: Job, trial: Trial) -> None:
        """A trial has got its CPU."""
        if self._many:
            self._add(job, trial)

    def progress(self, job: Job, trial: Trial, progress: LabProgress) -> None:
        """The lab of a trial has come so far."""
        state = f"{progress.done_s:5.1f} of {progress.whole_s:.1f} virtual s"
        if progress.done_s > 0:
            state += f", {progress.wall_s / progress.done_s:.2f} s each"
        self._progress.update(
            self._tasks[_key(job, trial)], completed=progress.done_s, total=progress.whole_s, state=state
        )

    def done(self, job: Job, trial: Trial, variant: VariantResult) -> None:
        """A trial is judged."""
        task = self._tasks[_key(job, trial)]
        if self._many:
            self._progress.remove_task(task)
            return
        total = next(each.total for each in self._progress.tasks if each.id == task)
        self._progress.update(task, completed=total or 1, total=total or 1, state=str(variant.verdict))

    def finished(self, outcome: Outcome) -> None:
        """All trials of a scenario are judged."""
        with self._lock:
            if self._all is not None:
                self._progress.advance(self._all)
            self._on_finished(outcome)

    def refresh(self) -> None:
        """Draw what was told, now and not at the next tenth of a second."""
        self._progress.refresh()

    def _add(self, job: Job, trial: Trial) -> None:
        name = trial.plan.variant
        if self._many:
            name = f"{job.scenario} {name} (seed {job.seed})"
        self._tasks[_key(job, trial)] = self._progress.add_task(name, total=None, state="boots")


def _key(job: Job, trial: Trial) -> tuple[int, str]:
    return id(job), trial.plan.variant
