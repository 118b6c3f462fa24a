"""A scenario with one seed: what is to be run, and what became of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from wirelab.errors import LabError, WirelabError
from wirelab.model.experiment import Experiment
from wirelab.plan.build import build_plan
from wirelab.results.digest import combined
from wirelab.runner.run_result import RunResult, VariantResult
from wirelab.runner.store import REPORT
from wirelab.runner.trial import Trial
from wirelab.verdict.verdict import worst

DEFAULT_SEED: Final = 1
SEED_MAX: Final = (1 << 32) - 1
_CATALOGUE: Final = "scenarios"


@dataclass(frozen=True, slots=True)
class Job:
    """A scenario with one seed.

    But for its ``trials``, what it says of itself is what its `RunResult` will say.
    """

    scenario: str
    seed: int
    trials: tuple[Trial, ...]
    measured: tuple[str, ...] = ()
    fitted: tuple[str, ...] = ()
    story: str = ""
    source: str = ""
    rerun_argv: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, experiment: Experiment, seed: int) -> Self:
        """All variants and controls of a scenario, planned; ``name`` is what it was asked for by."""
        scenario = experiment.scenario
        # A row of which one cell was fitted is no prediction any more.
        partly = (cell.row for cell in experiment.published if cell.fitted)
        return cls(
            scenario.name,
            seed,
            trials=tuple(
                Trial(build_plan(experiment, case, seed), case.expectations, case.breaks)
                for case in experiment.cases
            ),
            measured=scenario.source.measured,
            fitted=tuple(dict.fromkeys((*scenario.fitted, *partly))),
            story=experiment.story,
            source=", ".join(filter(None, (scenario.source.title, scenario.source.date))),
            rerun_argv=("wirelab", "run", _name_for_others(Path(name)), "--seed", str(seed)),
        )

    def result(self, variants: Sequence[VariantResult], wall_s: float) -> RunResult:
        """What came of its variants in ``wall_s``; a digest only where every variant has one."""
        digests = {variant.name: variant.digest for variant in variants if variant.digest}
        return RunResult(
            scenario=self.scenario,
            verdict=worst(variant.verdict for variant in variants),
            seed=self.seed,
            kernel=next((variant.kernel for variant in variants if variant.kernel), None),
            wall_s=round(wall_s, 3),
            virtual_s=round(sum(variant.virtual_s for variant in variants), 6),
            digest=combined(digests) if len(digests) == len(variants) else None,
            measured=self.measured,
            fitted=self.fitted,
            variants=tuple(variants),
            story=self.story,
            source=self.source,
            rerun_argv=self.rerun_argv,
        )


def _name_for_others(asked: Path) -> str:
    """What names a scenario wherever its files are: of a catalogue's its name, else the file alone."""
    return asked.stem if asked.parent.name == _CATALOGUE else asked.name


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """What became of a job: ``folder`` has what was kept of it, ``error`` says what went wrong there."""

    run: RunResult
    folder: Path | None
    error: WirelabError | None = None


def reported(
    run: RunResult, report: Callable[[RunResult], str] | None
) -> tuple[str | None, WirelabError | None]:
    """The text of a run's report; where that cannot be made, why."""
    try:
        return report(run) if report else None, None
    except Exception as error:  # noqa: BLE001 - a page that cannot be made must not cost what was measured
        message = f"{run.scenario}: {REPORT} could not be made: {type(error).__name__}: {error}"
        return None, LabError(message, hint="the result is kept without it")
