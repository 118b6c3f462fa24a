"""Exercises as runs of the queue: a network of a student's, and all networks that a work is marked by."""

import functools
from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from wirelab.errors import InputError
from wirelab.exercise.draw import drawn
from wirelab.exercise.marks import Marks, marked
from wirelab.exercise.measure import without_expectations
from wirelab.exercise.network import Networks, Setup
from wirelab.exercise.work import Work, parse_work
from wirelab.model.assignment import Assignment
from wirelab.model.catalogue import Catalogue, shipped_root
from wirelab.model.exercise_reader import read_exercise
from wirelab.runner.job import Job
from wirelab.runner.run_result import RunResult
from wirelab.serve.carrier import Task
from wirelab.serve.exercise_panel import exercise_panel
from wirelab.serve.runs import Spec

KIND: Final = "exercise"
MARKS: Final = "marks"

NETWORK: Final = "network"
CONTROL: Final = "control"
"""How a result calls the variants of a run: equal networks are one run, whatever students call them."""


def exercise_names() -> tuple[str, ...]:
    """Every exercise, in the order of a course."""
    exercises = map(_read, _catalogue().exercises())
    return tuple(exercise.name for exercise in sorted(exercises, key=lambda one: one.place))


def exercise_called(name: str) -> Assignment:
    """An exercise by its name. Raises InputError."""
    return _read(name)


def network_spec(exercise: Assignment, setups: Mapping[str, Setup]) -> dict[str, Any]:
    """What is asked of the queue for networks of an exercise."""
    return {
        "kind": KIND,
        "exercise": exercise.name,
        "digest": exercise.digest,
        "setups": {
            name: [setup.case, [list(pair) for pair in setup.settings]] for name, setup in setups.items()
        },
    }


def marks_spec(exercise: Assignment, work: Work) -> dict[str, Any]:
    """What is asked of the queue for the marks of a work."""
    return {"kind": MARKS, "exercise": exercise.name, "digest": exercise.digest, "work": work.to_json()}


def exercise_task(spec: Spec) -> Task:
    """The planner of networks."""
    exercise = _of(spec)
    setups = _setups(spec)
    is_open = exercise.said.sees == "all"
    return Task(
        _job(exercise, setups),
        functools.partial(exercise_panel, exercise),
        # What a repair must do is no business of a run.
        (lambda variant: variant) if CONTROL in setups else without_expectations,
        has_report=is_open,
        has_pictures=is_open,
    )


def marks_task(spec: Spec) -> Task:
    """The planner of marks: its panel is the marks as JSON."""
    exercise = _of(spec)
    work = parse_work(spec["work"].encode())
    distinct = {setup: f"n{number}" for number, setup in enumerate(needed(exercise, work), 1)}
    job = _job(exercise, {name: setup for setup, name in distinct.items()})

    def panel(run: RunResult) -> str:
        by_name = {variant.name: variant for variant in run.variants}
        results = {setup: by_name[name] for setup, name in distinct.items()}
        return marks_json(marked(exercise, work, results))

    return Task(job, panel, without_expectations, has_report=False)


def needed(exercise: Assignment, work: Work) -> tuple[Setup, ...]:
    """The networks that a work is marked by, each once."""
    networks = Networks(exercise, drawn(exercise, work.course, work.student))
    return tuple(dict.fromkeys(networks.needed(work).values()))


def marks_json(marks: Marks) -> str:
    """Marks as they are kept."""
    return _marks().dump_json(marks).decode()


def read_marks(text: str) -> Marks:
    """Marks that were kept."""
    return _marks().validate_json(text)


def _job(exercise: Assignment, setups: Mapping[str, Setup]) -> Job:
    trials = tuple(setup.trial(exercise, name) for name, setup in setups.items())
    return Job(exercise.name, exercise.said.seed, trials, story=exercise.said.title)


def _setups(spec: Spec) -> dict[str, Setup]:
    return {
        name: Setup(case, tuple((key, value) for key, value in settings))
        for name, (case, settings) in spec["setups"].items()
    }


def _of(spec: Spec) -> Assignment:
    exercise = exercise_called(spec["exercise"])
    if exercise.digest != spec["digest"]:
        raise InputError(f"the exercise `{exercise.name}` is another one now")
    return exercise


@functools.cache
def _read(name: str) -> Assignment:
    return read_exercise(_catalogue().exercise(name))


@functools.cache
def _marks() -> TypeAdapter[Marks]:
    return TypeAdapter(Marks)


def _catalogue() -> Catalogue:
    return Catalogue.of(shipped_root())
