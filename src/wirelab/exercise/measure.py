"""Runs the networks of an exercise with the project's own runner, where they were not measured before."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from wirelab.exercise.network import Setup
from wirelab.lab.scratch import discard
from wirelab.model.assignment import Assignment
from wirelab.runner.cpus import run_on
from wirelab.runner.job import Job, reported
from wirelab.runner.matrix import Watcher
from wirelab.runner.run_result import RunResult, VariantResult
from wirelab.runner.store import RAW, Draft, Store
from wirelab.runner.trial import Runner, Trial
from wirelab.verdict.verdict import Verdict, worst

Results = Mapping[Setup, VariantResult]


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the networks of an exercise are run: by ``runner`` on ``cpus``, their files in ``store``.

    ``watcher`` hears of each run and how far it is, from several threads.
    """

    runner: Runner
    store: Store
    cpus: Sequence[int]
    watcher: Watcher

    def measured(self, exercise: Assignment, setups: Mapping[str, Setup], now: datetime) -> Results:
        """What comes of networks, each equal one run once; nothing of it is kept but in the cache.

        A lab that breaks has the verdict error. Raises InputError for a network that cannot be, LabError
        if no folder can be made.
        """
        return self._run(_trials(exercise, setups), exercise, now)[0]

    def kept(
        self,
        exercise: Assignment,
        setups: Mapping[str, Setup],
        now: datetime,
        report: Callable[[RunResult], str] | None = None,
    ) -> tuple[Results, RunResult, Path]:
        """The same, kept as a result with its ``report``: what was measured, the run, its folder.

        Raises LabError also where it cannot be written.
        """
        results, run, folder = self._run(_trials(exercise, setups), exercise, now, report, keep=True)
        assert folder is not None  # noqa: S101 - of a run that was committed
        return results, run, folder

    def _run(
        self,
        trials: Mapping[Setup, Trial],
        exercise: Assignment,
        now: datetime,
        report: Callable[[RunResult], str] | None = None,
        *,
        keep: bool = False,
    ) -> tuple[Results, RunResult, Path | None]:
        with self.store.begin(exercise.name, now) as draft:
            tasks = [partial(self._trial, trial, draft, keep) for trial in trials.values()]
            variants = run_on(self.cpus, tasks, self.runner.testbed.stop)
            results = dict(zip(trials, variants, strict=True))
            # What a repair must do is no business of a run.
            job = Job(exercise.name, exercise.said.seed, tuple(trials.values()), story=exercise.said.title)
            run = job.result([without_expectations(variant) for variant in variants], 0.0)
            page, _ = reported(run, report) if keep else (None, None)
            folder = draft.commit(run.to_json(), page) if keep else None
        return results, run, folder

    def _trial(self, trial: Trial, draft: Draft, keep: bool, cpu: int) -> VariantResult:  # noqa: FBT001 - see partial
        self.watcher.begun(trial)
        on_progress = partial(self.watcher.progress, trial)
        variant = self.runner.run(trial, draft, cpu=cpu, on_progress=on_progress)
        self.watcher.done(trial, without_expectations(variant))
        if not keep:
            discard(draft.folder / trial.plan.variant / RAW)
        self.watcher.finished()
        return variant


def without_expectations(variant: VariantResult) -> VariantResult:
    """A variant of which only broken laws and labs are told."""
    checks = tuple(check for check in variant.checks if check.verdict in (Verdict.ERROR, Verdict.SKIP))
    return replace(variant, checks=checks, verdict=worst(check.verdict for check in checks))


def _trials(exercise: Assignment, setups: Mapping[str, Setup]) -> dict[Setup, Trial]:
    trials: dict[Setup, Trial] = {}
    for name, setup in setups.items():
        if setup not in trials:
            trials[setup] = setup.trial(exercise, name)
    return trials
