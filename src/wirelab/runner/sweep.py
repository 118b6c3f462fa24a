"""Sweeps: a scenario at every point of a grid of settings, and what ``sweep.json`` says of it."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wirelab.lab.cache import discard
from wirelab.plan.build import build_plan
from wirelab.runner.cpus import run_on
from wirelab.runner.factors import grid
from wirelab.runner.job import FinishedJob, Job
from wirelab.runner.run_result import RunResult
from wirelab.runner.store import REPORT, write_file
from wirelab.runner.trial import Trial
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wirelab.model.cases import Case
    from wirelab.model.experiment import Experiment
    from wirelab.results.flow import FlowResult
    from wirelab.results.ping import PingResult
    from wirelab.runner.factors import Factor
    from wirelab.runner.matrix import Watcher
    from wirelab.runner.run_result import VariantResult
    from wirelab.runner.store import Draft
    from wirelab.runner.trial import Runner

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class FlowFigures:
    """What a flow came to at a point."""

    name: str
    goodput_bps: int
    retransmits: int | None
    duration_s: float | None

    @classmethod
    def of(cls, flow: FlowResult) -> FlowFigures:
        """The figures of a flow that was measured."""
        return cls(flow.name, round(flow.goodput_bps), flow.retransmits, flow.duration_s)


@dataclass(frozen=True, slots=True)
class PingFigures:
    """What a ping came to at a point; no round-trip times where nobody answered."""

    name: str
    sent: int
    received: int
    rtt_p50_us: float | None
    rtt_p99_us: float | None

    @classmethod
    def of(cls, ping: PingResult) -> PingFigures:
        """The figures of a ping that was measured."""
        p50_us, p99_us = (ping.rtt.p50_us, ping.rtt.p99_us) if ping.rtt else (None, None)
        return cls(ping.name, ping.sent, ping.received, p50_us, p99_us)


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
    flows: tuple[FlowFigures, ...]
    pings: tuple[PingFigures, ...]
    explanation: str | None = None
    folder: str | None = None

    @classmethod
    def of(cls, values: tuple[str, ...], variant: VariantResult) -> Point:
        """What stays of a point."""
        verdict = variant.verdict
        worst = next((check for check in variant.checks if check.verdict is verdict), None)
        return cls(
            values,
            verdict,
            digest=variant.digest,
            virtual_s=variant.virtual_s,
            cached=variant.cached,
            flows=tuple(map(FlowFigures.of, variant.flows)),
            pings=tuple(map(PingFigures.of, variant.pings)),
            explanation=worst.explanation if worst and verdict is not Verdict.PASS else None,
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

    def to_json(self) -> str:
        """The text of ``sweep.json``."""
        return json.dumps({"schema": SCHEMA, **dataclasses.asdict(self)}, indent=1) + "\n"


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
            _, page = FinishedJob(job, RunResult.of(job, [variant], wall_s=0.0), None).reported(self.report)
            if page is not None:
                write_file(folder / REPORT, page)
            measured = replace(measured, folder=folder.name)
        else:
            discard(folder)
        self.watcher.finished()
        return measured
