"""A student who does a whole exercise, from the first prediction to what is handed in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from wirelab.exercise.draw import Figures, drawn
from wirelab.exercise.figures import Measurements
from wirelab.exercise.network import Networks, Setup
from wirelab.exercise.steps import answered, ran, repaired, sealed, started, submitted
from wirelab.exercise.work import Predicted, Work
from wirelab.model.assignment import quantity_asked
from wirelab.model.exercise import FaultQuestion, NumberQuestion, TextQuestion
from wirelab.model.fill import computed, filled_setting
from wirelab.units import COUNT, Quantity, from_coherent, show

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.exercises.solutions import Solution
    from wirelab.exercise.measure import Results
    from wirelab.model.assignment import Assignment

COURSE: Final = "networks-1"
NOW: Final = datetime(2026, 11, 24, 9, tzinfo=UTC)


def students_of(exercise: Assignment, count: int) -> dict[str, str]:
    """Of so many students one for each network there is, by what is different in it."""
    first: dict[str, str] = {}
    for number in range(count):
        student = f"student {number}"
        figures = figures_of(exercise, student)
        fault = figures.fault
        words = [
            f"{name} {value}" for name, value in figures.values.items() if not fault or name == fault.figure
        ]
        first.setdefault(", ".join([*([fault.name] if fault else []), *words]), student)
    return dict(sorted(first.items()))


def figures_of(exercise: Assignment, student: str) -> Figures:
    """What the student's network has."""
    return drawn(exercise, COURSE, student)


def repair_of(exercise: Assignment, solution: Solution, figures: Figures) -> dict[str, str]:
    """The settings that the student hands in, written as the scale has them."""
    settings = {}
    for key, text in solution.repair.items():
        scale = exercise.repairs[key]
        settings[key] = filled_setting(text, figures.values, scale.quantity)
    return settings


def begun(exercise: Assignment, student: str, predictions: Mapping[str, str]) -> Work:
    """A work whose predictions are sealed."""
    figures = figures_of(exercise, student)
    work = started(exercise, COURSE, student, NOW)
    said = {
        one.name: Predicted(predicted(exercise, predictions, one.name, figures), "as the story has it")
        for one in exercise.said.predictions
    }
    return sealed(exercise, work, said, NOW) if said else work


def predicted(exercise: Assignment, predictions: Mapping[str, str], name: str, figures: Figures) -> str:
    """What the student writes for a prediction."""
    unit = exercise.prediction(name).unit
    return _written(computed(predictions[name], figures.values, quantity_asked(unit)), unit)


def networks_of(exercise: Assignment, student: str, solution: Solution) -> dict[str, Setup]:
    """All that a whole work of the student is marked by."""
    networks = Networks(exercise, figures_of(exercise, student))
    needed = networks.needed(started(exercise, COURSE, student, NOW))
    for one in exercise.said.questions:
        if one.choice is not None:
            options = range(1, len(one.choice.options) + 1)
            needed |= {f"{one.choice.name}-option-{n}": networks.option(one.choice, n) for n in options}
    if exercise.said.repair is not None:
        settings = repair_of(exercise, solution, networks.figures)
        needed |= {"repair": networks.repair(settings), "repair-control": networks.control(settings)}
    return needed


def finished(exercise: Assignment, student: str, solution: Solution, results: Results) -> Work:
    """What the student hands in, after all runs."""
    figures = figures_of(exercise, student)
    networks = Networks(exercise, figures)
    work = having_run(exercise, begun(exercise, student, solution.predictions), results)
    runs = {run.name: results[networks.run(run.name)] for run in exercise.said.networks}
    for question in exercise.said.questions:
        asked = question.asked
        if isinstance(asked, TextQuestion):
            text = "because the story says so"
        elif isinstance(asked, NumberQuestion):
            figure = Measurements(exercise, figures, runs).figure(
                asked.of, exercise.run(asked.run).name, asked.unit
            )
            text = _written(figure.amount or 0.0, asked.unit)
        elif isinstance(asked, FaultQuestion):
            text = _found(asked, figures)
        else:
            text = solution.answers[asked.name]
        work = answered(exercise, work, asked.name, text, NOW)
    if exercise.said.repair is not None:
        work = repaired(exercise, work, repair_of(exercise, solution, figures), NOW)
    return submitted(exercise, work, NOW)


def having_run(exercise: Assignment, work: Work, results: Results) -> Work:
    """The work with all runs of the exercise."""
    networks = Networks(exercise, figures_of(exercise, work.student))
    for run in exercise.said.networks:
        digest = results[networks.run(run.name)].digest or ""
        work = ran(exercise, work, "run", run.name, digest, now=NOW)
    return work


def _found(asked: FaultQuestion, figures: Figures) -> str:
    fault = figures.fault
    assert fault is not None
    if asked.what == "figure":
        text = fault.figure or "0 B"
        return figures.values.get(text, text)
    return str(getattr(fault, asked.what))


def _written(amount: float, unit: str | None) -> str:
    quantity: Quantity = quantity_asked(unit)
    value = from_coherent(amount, quantity)
    return str(round(value)) if quantity is COUNT else show(round(value), quantity)
