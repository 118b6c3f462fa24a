"""A scenario's variants and controls, carried out on a testbed and judged."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, Self

from wirelab.errors import LabError, WirelabError, refusals
from wirelab.lab.cache import Cache
from wirelab.lab.machine import Machine, Progress, guest_folder
from wirelab.lab.recording import MOMENTS, Moments, Recording
from wirelab.lab.scratch import discard
from wirelab.lab.select import Lab
from wirelab.model.expect import Expectation
from wirelab.plan.types import Plan
from wirelab.results.result import read_result
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.run_result import Evidence, VariantResult
from wirelab.runner.store import PLAN, RAW, Draft
from wirelab.verdict.checks import broken_lab, check_all, check_breaks
from wirelab.verdict.verdict import Verdict


class Testbed(Protocol):
    """Something that carries out Plans, several at once from several threads."""

    def run(
        self,
        plan: Plan,
        folder: Path,
        *,
        cpu: int,
        on_progress: Callable[[Progress], None],
        recording: Recording | Moments | None = None,
    ) -> None:
        """Carry out ``plan`` on ``cpu`` and leave its raw files in ``folder/raw``, whatever happens.

        With a ``recording`` its file is among them, and the others are the same. Raises LabError when it
        could not be carried out to its end.
        """

    def stop(self) -> None:
        """End what runs, from any thread; nothing starts any more."""


class LabTestbed:
    """The lab machine as a testbed: one machine for each Plan."""

    def __init__(self, lab: Lab, niceness: int = 0) -> None:
        """``niceness`` (0 to 19) is that of the machines."""
        self._lab = lab
        self._niceness = niceness
        self._stopped = threading.Event()

    def run(
        self,
        plan: Plan,
        folder: Path,
        *,
        cpu: int,
        on_progress: Callable[[Progress], None],
        recording: Recording | Moments | None = None,
    ) -> None:
        """Switch a machine on, hand it the Plan and wait until it has switched itself off."""
        self._require_running()
        # Its path is the kernel's $HOME, which must be absolute.
        home = guest_folder(folder.absolute(), ".lab")
        try:
            (home / "plan" / PLAN).write_text(plan.physical_json(), encoding="utf-8")
            with Machine(
                self._lab.kernel,
                self._lab.root,
                home,
                seed=plan.seed,
                cpu=cpu,
                memory_bytes=plan.memory_bytes,
                recording=recording,
                niceness=self._niceness,
            ) as machine:
                machine.wait(plan.wall_limit_s, on_progress, on_poll=self._require_running)
        finally:
            if (home / "results").is_dir():
                (home / "results").rename(folder / RAW)
            discard(home)

    def stop(self) -> None:
        """Switch every machine off."""
        self._stopped.set()

    def _require_running(self) -> None:
        if self._stopped.is_set():
            raise LabError("the run was stopped")


@dataclass(frozen=True, slots=True)
class Trial:
    """A Plan to be carried out and judged.

    ``breaks`` names the expectation that a control must fail; it is None for a variant, of which all
    ``expectations`` must hold.
    """

    plan: Plan
    expectations: tuple[Expectation, ...]
    breaks: str | None = None


class Onlooker(Protocol):
    """Somebody who sees what a recorder kept of runs while these were measured; from several threads."""

    def recording(self, folder: Path) -> Moments | None:
        """What to record of a run whose files go to ``folder``; None for nothing."""

    def saw(self, evidence: Evidence, moments: Path) -> None:
        """It was measured, and the recorder left this file, which is removed then."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Carries out single trials on a testbed, where they are not among the ``measurements`` made before."""

    testbed: Testbed
    measurements: MeasurementCache | None = None
    onlooker: Onlooker | None = None

    @classmethod
    def of(cls, lab: Lab, warn: Callable[[str], None], *, use_cache: bool) -> Self:
        """A runner with a lab; ``warn`` is told of each measurement in the cache that is damaged."""
        measurements = MeasurementCache.of(Cache.at(os.environ).root, lab, warn) if use_cache else None
        return cls(LabTestbed(lab), measurements)

    def run(
        self, trial: Trial, draft: Draft, *, cpu: int, on_progress: Callable[[Progress], None]
    ) -> VariantResult:
        """Carry out and judge a trial on ``cpu``, its files below ``draft``.

        A lab that breaks has the verdict error; only KeyboardInterrupt and the like are raised.
        """
        try:
            with refusals(draft.folder):
                folder = draft.variant(trial.plan.variant, trial.plan.to_json())
                if judged := self._recalled(trial, folder / RAW):
                    return judged
                judged = self._measured(trial, folder, cpu, on_progress)
                if self.measurements is not None and judged.verdict is not Verdict.ERROR:
                    self.measurements.keep(trial.plan, folder / RAW)
                return judged
        except WirelabError as error:
            broken = broken_lab(_without(draft.folder, error))
        return VariantResult.of(trial.plan, trial.breaks, (broken,))

    def _measured(
        self, trial: Trial, folder: Path, cpu: int, on_progress: Callable[[Progress], None]
    ) -> VariantResult:
        """Carry it out and judge it; what its recorder leaves is seen before anything is kept of it."""
        recording = self.onlooker.recording(folder) if self.onlooker else None
        moments = folder / RAW / MOMENTS
        try:
            self.testbed.run(trial.plan, folder, cpu=cpu, on_progress=on_progress, recording=recording)
            judged = judge(trial, folder / RAW)
            if self.onlooker and judged.evidence and recording:
                self.onlooker.saw(judged.evidence, moments)
        finally:
            moments.unlink(missing_ok=True)
        return judged

    def _recalled(self, trial: Trial, raw: Path) -> VariantResult | None:
        """The verdict on what was measured before, None where nothing was that can be trusted."""
        if self.measurements is None or not self.measurements.restore(trial.plan, raw):
            return None
        try:
            judged = judge(trial, raw)
        except Exception as error:  # noqa: BLE001 - whatever is in it, the lab can measure it again
            why = f"{error}" or type(error).__name__
        else:
            if judged.verdict is not Verdict.ERROR:
                return replace(judged, cached=True)
            why = next(check.name for check in judged.checks if check.verdict is Verdict.ERROR)
        self.measurements.forget(trial.plan, why)
        discard(raw)
        return None


def judge(trial: Trial, raw: Path) -> VariantResult:
    """The verdict on what a testbed left in ``raw``. Raises LabError when that is not whole."""
    result = read_result(trial.plan, raw)
    checks = check_all(trial.expectations, trial.plan, result)
    if trial.breaks is not None:
        errors = tuple(check for check in checks if check.verdict is Verdict.ERROR)
        checks = (*errors, check_breaks(trial.breaks, checks))
    return VariantResult.of(trial.plan, trial.breaks, checks, result)


def _without(folder: Path, error: WirelabError) -> WirelabError:
    """The same error, its paths as they are in the finished result folder: this one gets another name."""
    message, hint = error.message, error.hint
    # The longer first: the other may be a part of it.
    for prefix in (f"{folder.absolute()}/", f"{folder}/"):
        message = message.replace(prefix, "")
        hint = hint and hint.replace(prefix, "")
    return type(error)(message, hint=hint)
