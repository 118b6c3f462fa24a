"""Scenarios side by side: every trial of every scenario, each on a CPU of its own.

Virtual time makes it safe: a neighbour makes a lab slower, never different.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from wirelab.errors import LabError, WirelabError
from wirelab.runner.run_result import RunResult
from wirelab.runner.store import REPORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import Protocol

    from wirelab.lab.machine import Progress
    from wirelab.runner.run_result import VariantResult
    from wirelab.runner.store import Draft, Store
    from wirelab.runner.trial import Runner, Trial

    class Watcher(Protocol):
        """Somebody to tell how far everything is; called from several threads."""

        def begun(self, job: Job, trial: Trial) -> None:
            """A trial has got its CPU."""

        def progress(self, job: Job, trial: Trial, progress: Progress) -> None:
            """The lab of a trial has come so far."""

        def done(self, job: Job, trial: Trial, variant: VariantResult) -> None:
            """A trial is judged."""

        def finished(self, outcome: Outcome) -> None:
            """All trials of a job are judged, and what can be kept is kept."""


@dataclass(frozen=True, slots=True)
class Job:
    """A scenario with one seed.

    ``measured`` names the rows of the measurements it reproduces, ``fitted`` those of them that a figure was
    fitted to: of these it is no prediction. ``story`` and ``source`` are the scenario's own words, ``again``
    is the command line that repeats the run.
    """

    scenario: str
    seed: int
    trials: tuple[Trial, ...]
    measured: tuple[str, ...] = ()
    fitted: tuple[str, ...] = ()
    story: str = ""
    source: str = ""
    again: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job: ``folder`` is where it was kept, or ``error`` says why it could not be."""

    job: Job
    run: RunResult
    folder: Path | None
    error: WirelabError | None = None


@dataclass(slots=True)
class _Work:
    """A job under way."""

    job: Job
    lock: threading.Lock = field(default_factory=threading.Lock)
    draft: Draft | None = None
    variants: dict[int, VariantResult] = field(default_factory=dict)
    begun_s: float | None = None


_Ended: TypeAlias = "queue.SimpleQueue[tuple[_Work, Outcome | None, BaseException | None]]"

_WAKE_S: Final = 0.5
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Hear no signal until the context ends.

    A KeyboardInterrupt that is raised between a lock of the thread pool and the code that lets it go
    would leave it locked, and the threads that need it waiting for ever.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _listen() -> None:
    """In a new thread: what it starts shall not be deaf for life."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _next(ended: _Ended) -> tuple[_Work, Outcome | None, BaseException | None]:
    """What ends next.

    A signal that the kernel handed to a worker's thread does not wake this one up, and its handler runs only
    here: so it wakes up by itself.
    """
    while True:
        with contextlib.suppress(queue.Empty):
            return ended.get(timeout=_WAKE_S)


class Matrix:
    """Runs jobs on ``cpus``, the longest trials first. ``clock`` gives wall-clock seconds, ``now`` UTC.

    ``report`` makes the text of the report.html that is kept with each job.
    """

    def __init__(  # noqa: PLR0913 - what a run of many depends on
        self,
        runner: Runner,
        store: Store,
        cpus: Sequence[int],
        watcher: Watcher,
        *,
        clock: Callable[[], float],
        now: Callable[[], datetime],
        report: Callable[[RunResult], str] | None = None,
    ) -> None:
        self._runner = runner
        self._store = store
        self._cpus: queue.SimpleQueue[int] = queue.SimpleQueue()
        for cpu in cpus:
            self._cpus.put(cpu)
        self._workers = len(cpus)
        self._watcher = watcher
        self._clock = clock
        self._now = now
        self._report = report
        self._stopped = threading.Event()

    def run(self, jobs: Iterable[Job]) -> list[Outcome]:
        """Carry out all jobs; their outcomes in the same order.

        What breaks costs its own job. KeyboardInterrupt and whatever else is raised ends all of them first;
        what was finished by then is kept. Raises LabError when the folder of results cannot be made.
        """
        works = [_Work(job) for job in jobs]
        with contextlib.ExitStack() as drafts:
            for work in works:
                work.draft = drafts.enter_context(self._store.begin(work.job.scenario, self._now()))
            pool = ThreadPoolExecutor(self._workers, thread_name_prefix="wirelab", initializer=_listen)
            ended: _Ended = queue.SimpleQueue()
            found: dict[int, Outcome] = {}
            try:
                trials = [(work, number) for work in works for number in range(len(work.job.trials))]
                trials.sort(key=lambda each: -_virtual_ns(each[0].job.trials[each[1]]))
                with _deaf():
                    for work, number in trials:
                        pool.submit(self._tell, ended, work, number)
                for _ in trials:
                    work, outcome, error = _next(ended)
                    if error is not None:
                        raise error  # noqa: TRY301 - it is raised in the thread that waits
                    if outcome is not None:
                        found[id(work)] = outcome
            except BaseException:
                self._stopped.set()
                self._runner.bench.stop()
                raise
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
        return [found[id(work)] for work in works]

    def _tell(self, ended: _Ended, work: _Work, number: int) -> None:
        """Carry out one trial and say how it ended."""
        try:
            ended.put((work, self._trial(work, number), None))
        except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits for it
            ended.put((work, None, error))

    def _trial(self, work: _Work, number: int) -> Outcome | None:
        """Carry out one trial; the last one of a job to end makes its outcome."""
        job, trial = work.job, work.job.trials[number]
        assert work.draft is not None  # noqa: S101 - run() made it
        cpu = self._cpus.get()
        try:
            with work.lock:
                work.begun_s = self._clock() if work.begun_s is None else work.begun_s
            self._watcher.begun(job, trial)
            variant = self._runner.run(
                trial,
                work.draft,
                cpu=cpu,
                on_progress=lambda progress: self._watcher.progress(job, trial, progress),
            )
        finally:
            self._cpus.put(cpu)
        if self._stopped.is_set():
            # It did not break, it was switched off.
            return None
        self._watcher.done(job, trial, variant)
        with work.lock:
            work.variants[number] = variant
            whole = len(work.variants) == len(job.trials)
        return self._finish(work, work.draft) if whole else None

    def _finish(self, work: _Work, draft: Draft) -> Outcome:
        job = work.job
        variants = [work.variants[number] for number in range(len(job.trials))]
        wall_s = self._clock() - (work.begun_s or 0.0)
        run = RunResult.of(job, variants, wall_s)
        outcome, report = self._reported(Outcome(job, run, None))
        try:
            outcome = replace(outcome, folder=draft.commit(run.to_json(), report))
        except WirelabError as error:
            # It was measured all the same: who asked shall see it.
            outcome = replace(outcome, error=error)
        self._watcher.finished(outcome)
        return outcome

    def _reported(self, outcome: Outcome) -> tuple[Outcome, str | None]:
        """The report on a job; without one the job's outcome says why."""
        try:
            return outcome, self._report(outcome.run) if self._report else None
        except Exception as error:  # noqa: BLE001 - a page that cannot be made must not cost what was measured
            what = f"{outcome.job.scenario}: {REPORT} could not be made: {type(error).__name__}: {error}"
            return replace(outcome, error=LabError(what, hint="the result is kept without it")), None


def _virtual_ns(trial: Trial) -> int:
    """About how long a trial is, to begin with the longest: how long each sender is at work, added up."""
    return sum(each.duration_ns for each in trial.plan.flows if each.size_bytes is None)
