"""A scenario's variants and controls, carried out and judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wirelab.errors import LabError, WirelabError
from wirelab.results.result import read_result
from wirelab.runner.run_result import VariantResult
from wirelab.runner.store import RAW
from wirelab.verdict.checks import broken_lab, check_all, check_breaks
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wirelab.lab.machine import Progress
    from wirelab.model.expect import Expectation
    from wirelab.plan.types import Plan
    from wirelab.runner.measurement_cache import Recall
    from wirelab.runner.store import Draft
    from wirelab.runner.testbed import Bench


@dataclass(frozen=True, slots=True)
class Trial:
    """A Plan to be carried out and judged.

    ``breaks`` names the expectation that a control must fail; it is None for a variant, of which all
    ``expectations`` must hold.
    """

    plan: Plan
    expectations: tuple[Expectation, ...]
    breaks: str | None = None


@dataclass(frozen=True, slots=True)
class Runner:
    """Carries out single trials on a bench. ``recall`` knows what was measured before; None: nothing is."""

    bench: Bench
    recall: Recall | None = None

    def run(
        self, trial: Trial, draft: Draft, *, cpu: int, on_progress: Callable[[Progress], None]
    ) -> VariantResult:
        """Carry out and judge a trial on ``cpu``, its files below ``draft``.

        A lab that breaks has the verdict error; only KeyboardInterrupt and the like are raised.
        """
        try:
            plan = trial.plan.to_json()
            folder = draft.variant(trial.plan.variant, plan)
            known = self.recall is not None and self.recall.restore(plan, folder / RAW)
            if not known:
                self.bench.run(trial.plan, folder, cpu=cpu, on_progress=on_progress)
            judged = judge(trial, folder / RAW)
            if self.recall is not None and not known and judged.verdict is not Verdict.ERROR:
                self.recall.keep(plan, folder / RAW)
            return replace(judged, cached=known)
        except OSError as error:
            msg = f"{error.filename or draft.folder}: {error.strerror}"
            broken: WirelabError = LabError(msg)
        except WirelabError as error:
            broken = error
        return VariantResult.of(trial.plan, trial.breaks, (broken_lab(_without(draft.folder, broken)),))


def judge(trial: Trial, raw: Path) -> VariantResult:
    """The verdict on what a bench left in ``raw``. Raises LabError when that is not whole."""
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
