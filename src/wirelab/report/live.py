"""Runs while they go on: a bar for each lab, in virtual seconds, and one for all scenarios together."""

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from wirelab.lab.machine import Progress as LabProgress
from wirelab.runner.run_result import VariantResult
from wirelab.runner.trial import Trial


class LiveReport(ExitStack):
    """Bars on a terminal, nothing anywhere else. A context; may be told things from any thread.

    ``trials`` have a bar from the beginning; where there are none, one counts what is done of ``count``.
    """

    def __init__(
        self,
        console: Console,
        trials: Sequence[Trial],
        count: int = 1,
        noun: str = "scenarios",
        *,
        hidden: bool = False,
    ) -> None:
        super().__init__()
        self._progress = Progress(
            TextColumn("  {task.description}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[state]}", markup=False),
            console=console,
            transient=True,
            disable=hidden or not console.is_terminal,
        )
        self._bars: dict[int, TaskID] = {}
        self._all: TaskID | None = None
        self._counting = threading.Lock()
        self._done, self._of = 0, f"of {count} {noun if count != 1 else noun.removesuffix('s')}"
        if not trials:
            self._all = self._progress.add_task("all", total=count, state=f"0 {self._of}")
        for trial in trials:
            self._add(trial, trial.plan.variant)

    def __enter__(self) -> Self:
        """Show the bars, until the context is left."""
        if not self._progress.disable:
            self.enter_context(self._progress)
        return self

    def begun(self, trial: Trial) -> None:
        """A trial has got its CPU."""
        if self._all is not None:
            plan = trial.plan
            self._add(trial, f"{plan.scenario} {plan.variant} (seed {plan.seed})")

    def progress(self, trial: Trial, progress: LabProgress) -> None:
        """The lab of a trial has come so far."""
        state = f"{progress.done_s:5.1f} of {progress.whole_s:.1f} virtual s"
        if progress.done_s > 0:
            state += f", {progress.wall_s / progress.done_s:.2f} s each"
        bar = self._bars[id(trial)]
        self._progress.update(bar, completed=progress.done_s, total=progress.whole_s, state=state)

    def done(self, trial: Trial, variant: VariantResult) -> None:
        """A trial is judged."""
        if self._all is not None:
            self._progress.remove_task(self._bars.pop(id(trial)))
            return
        self._progress.update(self._bars[id(trial)], completed=1, total=1, state=str(variant.verdict))

    def finished(self) -> None:
        """All trials of a scenario are judged."""
        if self._all is not None:
            with self._counting:
                self._done += 1
                self._progress.update(self._all, completed=self._done, state=f"{self._done} {self._of}")

    def refresh(self) -> None:
        """Draw what was told, now and not at the next tenth of a second."""
        self._progress.refresh()

    def _add(self, trial: Trial, name: str) -> None:
        self._bars[id(trial)] = self._progress.add_task(name, total=None, state="boots")
