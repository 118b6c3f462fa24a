"""Scenarios side by side: every trial of every scenario, each on a CPU of its own.

Virtual time makes it safe: a neighbour makes a lab slower, never different.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from wirelab.errors import WirelabError
from wirelab.runner.cpus import run_on
from wirelab.runner.job import FinishedJob
from wirelab.runner.shards import expected_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Protocol

    from wirelab.lab.machine import Progress
    from wirelab.runner.job import Job
    from wirelab.runner.run_result import RunResult, VariantResult
    from wirelab.runner.store import Draft, Store
    from wirelab.runner.trial import Runner, Trial

    class Watcher(Protocol):
        """Somebody to tell how far everything is; called from several threads."""

        def begun(self, trial: Trial) -> None:
            """A trial has got its CPU."""

        def progress(self, trial: Trial, progress: Progress) -> None:
            """The lab of a trial has come so far."""

        def done(self, trial: Trial, variant: VariantResult) -> None:
            """A trial is judged."""

        def finished(self) -> None:
            """All trials of a job are judged, and what can be kept is kept."""


def utc_now() -> datetime:
    """The time of the day, for the names of results."""
    return datetime.now(UTC)


@dataclass(slots=True)
class _JobUnderWay:
    job: Job
    lock: threading.Lock = field(default_factory=threading.Lock)
    draft: Draft | None = None
    begun_s: float = 0.0
    variants: dict[int, VariantResult] = field(default_factory=dict)

    def close(self) -> None:
        """Let the folder go, and remove it if nothing was kept in it."""
        if self.draft is not None:
            self.draft.close()


@dataclass(slots=True)
class Matrix:
    """Runs jobs on ``cpus``, the longest first. ``clock`` gives wall-clock seconds, ``now`` UTC.

    ``report`` makes the text of the report.html that is kept with each job.
    """

    runner: Runner
    store: Store
    cpus: Sequence[int]
    watcher: Watcher
    report: Callable[[RunResult], str] | None = None
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = utc_now
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _stopped: threading.Event = field(default_factory=threading.Event, init=False)

    def run(
        self, jobs: Iterable[Job], on_finished: Callable[[FinishedJob], None] = lambda _: None
    ) -> list[FinishedJob]:
        """Carry out all jobs; what became of them, in the same order.

        ``on_finished`` hears of each as soon as it ends, from several threads, one at a time. What breaks
        costs its own job. KeyboardInterrupt and whatever else is raised ends all of them first; what was
        finished by then is kept. Raises LabError when the folder of results cannot be made.
        """
        under_way = [_JobUnderWay(job) for job in jobs]
        results: dict[int, FinishedJob] = {}

        def carry_out(number: int, trial_number: int, cpu: int) -> None:
            finished = self._trial(under_way[number], trial_number, cpu)
            if finished is not None:
                with self._lock:
                    results[number] = finished
                    on_finished(finished)

        # All trials of a job one after the other: no more folders are open at once than there are CPUs.
        lengths_s = [[expected_s(trial.plan) for trial in work.job.trials] for work in under_way]
        tasks = [
            partial(carry_out, number, trial_number)
            for number in _longest_first([max(lengths, default=0.0) for lengths in lengths_s])
            for trial_number in _longest_first(lengths_s[number])
        ]
        try:
            run_on(self.cpus, tasks, self._stop)
        finally:
            for work in under_way:
                work.close()
        return [results[number] for number in range(len(under_way))]

    def _stop(self) -> None:
        self._stopped.set()
        self.runner.testbed.stop()

    def _trial(self, work: _JobUnderWay, number: int, cpu: int) -> FinishedJob | None:
        """Carry out one trial; the last one of a job to end finishes it."""
        trial = work.job.trials[number]
        with work.lock:
            if work.draft is None:
                work.draft = self.store.begin(work.job.scenario, self.now())
                work.begun_s = self.clock()
        self.watcher.begun(trial)
        variant = self.runner.run(
            trial, work.draft, cpu=cpu, on_progress=partial(self.watcher.progress, trial)
        )
        if self._stopped.is_set():
            # It did not break, it was switched off.
            return None
        self.watcher.done(trial, variant)
        with work.lock:
            work.variants[number] = variant
            if len(work.variants) < len(work.job.trials):
                return None
        finished = self._finish(work, work.draft)
        work.close()
        work.variants.clear()
        self.watcher.finished()
        return finished

    def _finish(self, work: _JobUnderWay, draft: Draft) -> FinishedJob:
        variants = [work.variants[number] for number in range(len(work.job.trials))]
        run = work.job.result(variants, self.clock() - work.begun_s)
        finished, report = FinishedJob(work.job, run, None).reported(self.report)
        try:
            return replace(finished, folder=draft.commit(run.to_json(), report))
        except WirelabError as error:
            # It was measured all the same: who asked shall see it.
            return replace(finished, error=error)


def _longest_first(lengths_s: Sequence[float]) -> list[int]:
    return sorted(range(len(lengths_s)), key=lambda number: -lengths_s[number])
