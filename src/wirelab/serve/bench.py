"""The free bench: a scenario of the catalogue with some of its settings turned, as a run."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from wirelab.errors import InputError, unknown
from wirelab.model.cases import Case, varied
from wirelab.model.catalogue import Catalogue, shipped_root
from wirelab.model.experiment import Experiment, load_file
from wirelab.plan.build import build_plan
from wirelab.runner.job import DEFAULT_SEED, Job
from wirelab.runner.trial import Trial
from wirelab.serve.carrier import Task
from wirelab.serve.panel import panel
from wirelab.serve.runs import Spec

KIND: Final = "bench"
MOST_SETTINGS: Final = 40
MOST_LETTERS: Final = 200
"""Of a setting's value."""


@dataclass(frozen=True, slots=True)
class Bench:
    """One variant of a scenario, with ``settings`` on top of it."""

    scenario: str
    variant: str
    settings: Mapping[str, str]

    @classmethod
    def read(cls, scenario: str, variant: str, settings: Mapping[str, str]) -> Self:
        """What a form or a link asks for. Raises InputError for what there is not."""
        experiment = scenario_called(scenario)
        # An empty one is a knob that nobody has turned.
        settings = {key: text for key, text in settings.items() if text}
        if len(settings) > MOST_SETTINGS or any(len(text) > MOST_LETTERS for text in settings.values()):
            raise InputError("form.too-long")
        chosen = experiment.case(variant) if variant else experiment.cases[0]
        bench = cls(scenario, chosen.name, {key: text.strip() for key, text in settings.items()})
        bench.case()
        return bench

    @classmethod
    def of(cls, spec: Spec) -> Self:
        """What was asked for before."""
        return cls(spec["scenario"], spec["variant"], spec["settings"])

    @property
    def spec(self) -> dict[str, Any]:
        """As it is asked for."""
        settings = dict(sorted(self.settings.items()))
        return {"kind": KIND, "scenario": self.scenario, "variant": self.variant, "settings": settings}

    @property
    def experiment(self) -> Experiment:
        """The scenario."""
        return scenario_called(self.scenario)

    @property
    def original(self) -> Case:
        """The variant as it is before anything is turned."""
        return self.experiment.case(self.variant)

    def case(self) -> Case:
        """The variant with the settings on top. Raises InputError for what does not fit."""
        original = self.original
        # Of the name: a folder is called so.
        return replace(varied(original, self.settings), name=original.name) if self.settings else original

    def job(self) -> Job:
        """What is run."""
        case, experiment = self.case(), self.experiment
        plan = build_plan(experiment, case, DEFAULT_SEED)
        return Job(
            plan.scenario,
            DEFAULT_SEED,
            # As it is, a control is one that must fail; turned, it is a network like another.
            trials=(Trial(plan, case.expectations),),
            story=experiment.story,
            rerun_argv=self.argv(),
        )

    def argv(self) -> tuple[str, ...]:
        """The command line that does the same."""
        if not self.settings:
            return ("wirelab", "run", self.scenario, "--seed", str(DEFAULT_SEED))
        vary = (f"--vary={key}={text}" for key, text in sorted(self.settings.items()))
        return ("wirelab", "sweep", self.scenario, *vary, f"--variant={self.variant}")


def bench_task(spec: Spec) -> Task:
    """The planner of the bench."""
    return Task(Bench.of(spec).job(), panel, has_pictures=True)


def scenarios() -> tuple[str, ...]:
    """The names of all scenarios."""
    return _catalogue().names("scenarios")


@functools.lru_cache(maxsize=64)
def scenario_called(name: str) -> Experiment:
    """A scenario of the catalogue by name, and never by path. Raises InputError."""
    if name not in scenarios():
        raise InputError(unknown("scenario", name, scenarios()))
    experiment = load_file(_catalogue().path("scenarios", name), _catalogue())
    return replace(experiment, cases=tuple(_confined(case) for case in experiment.cases))


def _confined(case: Case) -> Case:
    """The case, to which whoever turns its settings adds no file of the server."""
    return replace(case, wiring=replace(case.wiring, traces=replace(case.wiring.traces, is_confined=True)))


def file_of(name: str) -> Path:
    """The file of a scenario of the catalogue."""
    return _catalogue().path("scenarios", name)


def _catalogue() -> Catalogue:
    return Catalogue.of(shipped_root())
