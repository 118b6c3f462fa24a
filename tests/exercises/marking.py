"""What becomes of a student who has understood an exercise, and of one who guesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.exercises.student import NOW, begun, finished, networks_of
from wirelab.exercise.marks import marked
from wirelab.model.exercise import TextQuestion

if TYPE_CHECKING:
    from tests.exercises.solutions import Solution
    from wirelab.exercise.measure import Bench, Results
    from wirelab.model.assignment import Assignment


def results_of(exercise: Assignment, student: str, solution: Solution, bench: Bench) -> Results:
    """What all networks of the student measure."""
    return bench.measured(exercise, networks_of(exercise, student, solution), NOW)


def lost_by_understanding(
    exercise: Assignment, student: str, solution: Solution, results: Results
) -> list[str]:
    """The parts in which the exercise's own solution does not have all points, each with the reason.

    What is left to the teacher is not among them.
    """
    marks = marked(exercise, finished(exercise, student, solution, results), results)
    left = {asked.name for asked in exercise.said.asked if isinstance(asked, TextQuestion)}
    return [
        f"{student}: {mark.name} {mark.said}, measured {mark.measured}: {mark.reason}"
        for mark in marks.marks
        if mark.points != mark.most and mark.name not in left
    ]


def share_of_guessing(exercise: Assignment, student: str, solution: Solution, results: Results) -> float:
    """The part of the points for predictions that naive ones have."""
    marks = marked(exercise, begun(exercise, student, solution.naive), results).marks
    predictions = [mark for mark in marks if mark.part == "prediction"]
    return sum(mark.points or 0.0 for mark in predictions) / sum(mark.most for mark in predictions)
