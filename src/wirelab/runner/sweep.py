"""Sweeps: a scenario at every point of a grid of settings, and what ``sweep.json`` says of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pydantic import TypeAdapter

from wirelab.lab.discard import discard
from wirelab.plan.build import build_plan
from wirelab.results.flow import FlowResult  # noqa: TC001 - pydantic needs it at run time
from wirelab.results.ping import PingResult  # noqa: TC001 - pydantic needs it at run time
from wirelab.runner.cpus import run_on
from wirelab.runner.factors import Factor, grid
from wirelab.runner.job import FinishedJob, Job
from wirelab.runner.store import REPORT, write_file
from wirelab.runner.trial import Trial
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wirelab.model.cases import Case
    from wirelab.model.experiment import Experiment
    from wirelab.runner.matrix import Watcher
    from wirelab.runner.run_result import RunResult, VariantResult
    from wirelab.runner.store import Draft
    from wirelab.runner.trial import Runner

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Point:
    """What was measured with one combination of values.

    ``folder`` is where its files are, below that of the sweep; None where they were not kept.
    ``explanation`` says what does not hold, a broken lab or law before all else.
    """

    values: tuple[str, ...]
    verdict: Verdict
    digest: str | None
    virtual_s: float
    cached: bool
    flows: tuple[FlowResult, ...]
    pings: tuple[PingResult, ...]
    explanation: str | None = None
    folder: str | None = None

    @classmethod
    def of(cls, values: tuple[str, ...], variant: VariantResult) -> Point:
        """What stays of a point that was judged."""
        bad = (check for check in variant.checks if check.verdict is variant.verdict is not Verdict.PASS)
        return cls(
            values,
            variant.verdict,
            variant.digest,
            variant.virtual_s,
            variant.cached,
            variant.flows,
            variant.pings,
            next((check.explanation for check in bad), None),
        )


@dataclass(frozen=True, slots=True)
class Sweep:
    """A finished sweep of a variant; ``rerun_argv`` is the command line that repeats it."""

    scenario: str
    variant: str
    seed: int
    rerun_argv: tuple[str, ...]
    factors: tuple[Factor, ...]
    points: tuple[Point, ...]
    schema: Literal[1] = SCHEMA

    def to_json(self) -> str:
        """The text of ``sweep.json``."""
        return json.dumps(TypeAdapter(Sweep).dump_python(self, mode="json", by_alias=True), indent=1) + "\n"


@dataclass(frozen=True, slots=True)
class SweepJob:
    """A sweep to be carried out: ``case`` of a scenario with the values of all ``factors`` on top.

    ``name`` is what the scenario was asked for by.
    """

    name: str
    experiment: Experiment
    case: Case
    factors: tuple[Factor, ...]
    seed: int

    @property
    def scenario(self) -> str:
        """The scenario's own name."""
        return self.experiment.scenario.name

    def points(self) -> list[tuple[tuple[str, ...], Case]]:
        """Every combination of values, and the case with them on top; InputError for one that cannot be."""
        return grid(self.case, self.factors)

    def finished(self, points: Sequence[Point]) -> Sweep:
        """The sweep that came of it."""
        argv = self._rerun_argv([factor.values for factor in self.factors])
        return Sweep(self.scenario, self.case.name, self.seed, argv, self.factors, tuple(points))

    def job(self, number: int, values: tuple[str, ...], point: Case) -> Job:
        """One point."""
        plan = replace(build_plan(self.experiment, point, self.seed), variant=f"point-{number}")
        return Job(
            self.scenario,
            self.seed,
            trials=(Trial(plan, point.expectations),),
            story=self.experiment.story,
            rerun_argv=self._rerun_argv([(value,) for value in values]),
        )

    def _rerun_argv(self, values: Sequence[Sequence[str]]) -> tuple[str, ...]:
        vary = (
            f"--vary={factor.key}={','.join(of)}" for factor, of in zip(self.factors, values, strict=True)
        )
        options = (*vary, f"--variant={self.case.name}", f"--seed={self.seed}")
        # The file alone: where it is on this machine means nothing to others.
        return ("wirelab", "sweep", Path(self.name).name, *options)


@dataclass(frozen=True, slots=True)
class SweepRunner:
    """Carries out sweeps on ``cpus``. The files of a point are kept where its lab broke, or ``keep_points``.

    What the others measured is in the cache, and need not lie in 10 000 folders besides.
    """

    runner: Runner
    cpus: Sequence[int]
    watcher: Watcher
    report: Callable[[RunResult], str]
    keep_points: bool = False

    def run(self, sweep: SweepJob, points: Sequence[tuple[tuple[str, ...], Case]], draft: Draft) -> Sweep:
        """Carry out the ``points`` of a sweep, with the files that are kept in ``draft``."""
        tasks = [
            partial(self._measure, sweep, draft, number, values, point)
            for number, (values, point) in enumerate(points, start=1)
        ]
        return sweep.finished(run_on(self.cpus, tasks, self.runner.testbed.stop))

    def _measure(  # noqa: PLR0913, PLR0917 - what a point is of
        self, sweep: SweepJob, draft: Draft, number: int, values: tuple[str, ...], point: Case, cpu: int
    ) -> Point:
        # Planned when it is its turn and let go after it: 10 000 plans and results would fill the memory.
        job = sweep.job(number, values, point)
        (trial,) = job.trials
        self.watcher.begun(trial)
        progress = partial(self.watcher.progress, trial)
        variant = self.runner.run(trial, draft, cpu=cpu, on_progress=progress)
        self.watcher.done(trial, variant)
        measured = Point.of(values, variant)
        folder = draft.folder / trial.plan.variant
        if self.keep_points or measured.verdict is Verdict.ERROR:
            run = job.result([variant], wall_s=0.0)
            _, page = FinishedJob(job, run, None).reported(self.report)
            if page is not None:
                write_file(folder / REPORT, page)
            measured = replace(measured, folder=folder.name)
        else:
            discard(folder)
        self.watcher.finished()
        return measured
