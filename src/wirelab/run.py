"""A scenario's variants and controls, carried out side by side, judged and kept."""

from __future__ import annotations

import queue
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirelab.checks import broken_lab, check_all, check_breaks
from wirelab.errors import LabError, WirelabError
from wirelab.record import RunRecord, VariantRecord
from wirelab.result import read_result
from wirelab.store import RAW
from wirelab.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from pathlib import Path
    from typing import Protocol

    from wirelab.bench import Bench
    from wirelab.lab.machine import Progress
    from wirelab.model.expect import Expectation
    from wirelab.plan.types import Plan
    from wirelab.store import Draft

    class Watcher(Protocol):
        """Somebody to tell how far each variant is; called from several threads."""

        def progress(self, variant: str, progress: Progress) -> None:
            """The lab of ``variant`` has come so far."""

        def done(self, record: VariantRecord) -> None:
            """A variant is judged."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A Plan to be carried out and judged.

    ``breaks`` names the expectation that a control must fail; it is None for a variant, of which all
    ``expectations`` must hold.
    """

    plan: Plan
    expectations: tuple[Expectation, ...]
    breaks: str | None = None


class Runner:
    """Carries out the trials of one scenario, as many at once as there are CPUs in ``cpus``.

    Every trial has its CPU for itself. Virtual time makes it safe: a neighbour makes a lab slower,
    never different. ``clock`` gives wall-clock seconds.
    """

    def __init__(
        self, bench: Bench, cpus: Sequence[int], watcher: Watcher, clock: Callable[[], float]
    ) -> None:
        self._bench = bench
        self._cpus: queue.SimpleQueue[int] = queue.SimpleQueue()
        for cpu in cpus:
            self._cpus.put(cpu)
        self._workers = len(cpus)
        self._watcher = watcher
        self._clock = clock

    def run(self, scenario: str, seed: int, trials: Sequence[Trial], draft: Draft) -> RunRecord:
        """Carry out and judge all trials, their files below ``draft``.

        A lab that breaks makes its own variant an error; the others go on. Whatever else is raised,
        KeyboardInterrupt too, ends all of them first.
        """
        begun_s = self._clock()
        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="wirelab")
        try:
            futures = [pool.submit(self._trial, trial, draft) for trial in trials]
            self._wait(futures)
        except BaseException:
            self._bench.stop()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        records = tuple(future.result() for future in futures)
        return RunRecord(scenario, seed, records, self._clock() - begun_s)

    def _wait(self, futures: Sequence[Future[VariantRecord]]) -> None:
        finished, _ = wait(futures, return_when=FIRST_EXCEPTION)
        for future in finished:
            future.result()

    def _trial(self, trial: Trial, draft: Draft) -> VariantRecord:
        cpu = self._cpus.get()
        try:
            record = self._record(trial, draft, cpu)
        finally:
            self._cpus.put(cpu)
        self._watcher.done(record)
        return record

    def _record(self, trial: Trial, draft: Draft, cpu: int) -> VariantRecord:
        name = trial.plan.variant
        try:
            folder = draft.variant(name, trial.plan.to_json())
            self._bench.run(
                trial.plan,
                folder,
                cpu=cpu,
                on_progress=lambda progress: self._watcher.progress(name, progress),
            )
            return judge(trial, folder / RAW)
        except OSError as error:
            msg = f"{error.filename or draft.folder}: {error.strerror}"
            broken: WirelabError = LabError(msg)
        except WirelabError as error:
            broken = error
        return VariantRecord(trial.plan, trial.breaks, (broken_lab(_without(draft.folder, broken)),), None)


def judge(trial: Trial, raw: Path) -> VariantRecord:
    """The verdict on what a bench left in ``raw``. Raises LabError when that is not whole."""
    result = read_result(trial.plan, raw)
    checks = check_all(trial.expectations, trial.plan, result)
    if trial.breaks is not None:
        errors = tuple(check for check in checks if check.verdict is Verdict.ERROR)
        checks = (*errors, check_breaks(trial.breaks, checks))
    return VariantRecord(trial.plan, trial.breaks, checks, result)


def _without(folder: Path, error: WirelabError) -> WirelabError:
    """The same error, its paths as they are in the finished result folder: this one gets another name."""
    prefix = f"{folder}/"
    hint = error.hint.replace(prefix, "") if error.hint else None
    return type(error)(error.message.replace(prefix, ""), hint=hint)
