"""Scenarios side by side: every trial of every scenario, each on a CPU of its own.

Virtual time makes it safe: a neighbour makes a lab slower, never different.
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Protocol

from wirelab.errors import LabError, WirelabError
from wirelab.lab.machine import Progress
from wirelab.runner.cpus import run_on
from wirelab.runner.job import FinishedJob, Job, reported
from wirelab.runner.kept_results import KeptResults
from wirelab.runner.run_result import RunResult, VariantResult
from wirelab.runner.shards import expected_s
from wirelab.runner.store import RAW, Draft, Store
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


@dataclass(slots=True)
class _JobUnderWay:
    job: Job
    draft: Draft | None = None
    begun_s: float = 0.0
    variants: dict[int, VariantResult] = field(default_factory=dict)
    finished: FinishedJob | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def result(self) -> FinishedJob:
        """What became of it. Raises LabError if nothing did."""
        if self.finished is None:
            raise LabError(f"{self.job.scenario}, seed {self.job.seed}: it ended without a result")
        return self.finished


@dataclass(slots=True)
class Matrix:
    """Runs jobs on ``cpus``, the longest first. ``clock`` gives wall-clock seconds, ``now`` UTC.

    ``report`` makes the text of the report.html that is kept with each job; what is ``kept``, with such a
    report, is not made again. ``on_finished`` hears of each job as soon as it ends, from several threads, one
    at a time.
    """

    runner: Runner
    store: Store
    cpus: Sequence[int]
    watcher: Watcher
    report: Callable[[RunResult], str] | None = None
    on_finished: Callable[[FinishedJob], None] = lambda _: None
    kept: KeptResults | None = None
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _stopped: threading.Event = field(default_factory=threading.Event, init=False)

    def run(self, jobs: Iterable[Job]) -> list[FinishedJob]:
        """Carry out all jobs; what became of them, in the same order.

        What breaks costs its own job. KeyboardInterrupt and whatever else is raised ends all of them first;
        what was finished by then is kept. Raises LabError if no folder can be made, or a job has no result.
        """
        under_way = [_JobUnderWay(job) for job in jobs]
        if self.kept is not None:
            run_on(self.cpus, [partial(self._recall, self.kept, work) for work in under_way], self._stop)
        self._measure([work for work in under_way if work.finished is None])
        return [work.result() for work in under_way]

    def _measure(self, under_way: Sequence[_JobUnderWay]) -> None:
        """Carry out all trials, or recall what was measured of them."""
        # All trials of a job one after the other: no more folders are open at once than there are CPUs.
        lengths_s = [[expected_s(trial.plan) for trial in work.job.trials] for work in under_way]
        tasks = [
            partial(self._trial, under_way[number], trial_number)
            for number in _longest_first([max(lengths, default=0.0) for lengths in lengths_s])
            for trial_number in _longest_first(lengths_s[number])
        ]
        try:
            run_on(self.cpus, tasks, self._stop)
        finally:
            for work in under_way:
                if work.draft is not None:
                    work.draft.close()

    def _stop(self) -> None:
        self._stopped.set()
        self.runner.testbed.stop()

    def _recall(self, kept: KeptResults, work: _JobUnderWay, _cpu: int) -> None:
        """Finish a job of which everything is kept; leave any other as it is."""
        begun_s = self.clock()
        result = kept.recall(work.job)
        if result is None:
            return
        with self.store.begin(work.job.scenario, self.now()) as draft:
            try:
                folders = {
                    trial.plan.variant: draft.variant(trial.plan.variant, trial.plan.to_json())
                    for trial in work.job.trials
                }
                if not kept.restore(work.job, lambda variant: folders[variant] / RAW):
                    return
            except (OSError, WirelabError):
                # What stands in the way is said where it is tried again.
                return
            run = replace(result.run, wall_s=round(self.clock() - begun_s, 3))
            finished = _committed(draft, run, result.page)
        for trial, variant in zip(work.job.trials, run.variants, strict=True):
            self.watcher.begun(trial)
            self.watcher.done(trial, variant)
        self._tell(work, finished)

    def _trial(self, work: _JobUnderWay, number: int, cpu: int) -> None:
        """Carry out one trial; the last one of a job to end finishes it."""
        trial = work.job.trials[number]
        with work.lock:
            if work.draft is None:
                work.draft = self.store.begin(work.job.scenario, self.now())
                work.begun_s = self.clock()
        self.watcher.begun(trial)
        on_progress = partial(self.watcher.progress, trial)
        variant = self.runner.run(trial, work.draft, cpu=cpu, on_progress=on_progress)
        if self._stopped.is_set():
            # It did not break, it was switched off.
            return
        self.watcher.done(trial, variant)
        with work.lock:
            work.variants[number] = variant
            if len(work.variants) < len(work.job.trials):
                return
        self._tell(work, self._finish(work, work.draft))

    def _tell(self, work: _JobUnderWay, finished: FinishedJob) -> None:
        self.watcher.finished()
        # Of its own: where nobody takes what it prints, the trials of other jobs go on.
        with self._lock:
            work.finished = finished
            self.on_finished(finished)

    def _finish(self, work: _JobUnderWay, draft: Draft) -> FinishedJob:
        variants = [work.variants.pop(number) for number in range(len(work.job.trials))]
        run = work.job.result(variants, self.clock() - work.begun_s)
        page, error = reported(run, self.report)
        if self.kept is not None and page is not None:
            self.kept.keep(work.job, run, page)
        with draft:
            return _committed(draft, run, page, error)


def _committed(
    draft: Draft, run: RunResult, page: str | None, error: WirelabError | None = None
) -> FinishedJob:
    folder = None
    try:
        folder = draft.commit(run.to_json(), page)
    except WirelabError as unkept:
        # It was measured all the same: who asked shall see it.
        error = unkept
    return FinishedJob(run.without_evidence, folder, error)


def _longest_first(lengths_s: Sequence[float]) -> list[int]:
    return sorted(range(len(lengths_s)), key=lambda number: -lengths_s[number])
