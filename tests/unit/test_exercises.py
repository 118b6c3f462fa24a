"""The exercises that come with wirelab: whose figures, whose rules, and a page for the teacher of each."""

from __future__ import annotations

import pytest
from examples import ROOT

from tests.exercises.solutions import solutions
from tests.exercises.student import figures_of, predicted, students_of
from wirelab.exercise.figures import Figure, nearness
from wirelab.model.assignment import quantity_asked
from wirelab.model.exercise_reader import load_exercise
from wirelab.units import coherent, parse

SEQUEL = "shallow-buffer"
"""What TCP makes of burst-and-buffer: what it loses follows no rule that fits into a sentence."""
HEADINGS = (
    "## Goal",
    "## Time",
    "## Traps",
    "## What students get wrong",
    "## Solution path",
    "## For slides",
)


def test_every_exercise_has_a_solution() -> None:
    """Ten, and the sequel of one."""
    folders = {path.parent.name for path in (ROOT / "exercises").glob("*/exercise.yaml")}
    assert folders == {*solutions(), SEQUEL}
    assert len(solutions()) == 10


@pytest.mark.parametrize("name", solutions())
def test_students_share_few_networks(name: str) -> None:
    """Over 200 students there are 5 to 25 different ones: a class of 30 is graded by a few runs."""
    exercise = load_exercise(name, ROOT)
    assert 5 <= len(students_of(exercise, 200)) <= 25
    faults = {fault.name for fault in exercise.said.faults}
    drawn = [figures_of(exercise, f"student {number}").fault for number in range(200)]
    assert {fault.name for fault in drawn if fault} == faults
    assert len(faults) in (0, 12)


@pytest.mark.parametrize("name", [name for name, one in solutions().items() if one.predictions])
def test_guesses_are_far_from_the_rules(name: str) -> None:
    """For no student do the line rate and no losses give more than half of the points that the rule gives."""
    exercise, solution = load_exercise(name, ROOT), solutions()[name]
    for student in students_of(exercise, 200).values():
        figures = figures_of(exercise, student)
        points = 0.0
        for one in exercise.said.predictions:
            quantity = quantity_asked(one.unit)
            right = predicted(exercise, solution.predictions, one.name, figures)
            guess = predicted(exercise, solution.naive, one.name, figures)
            measured = Figure(coherent(parse(right, quantity), quantity), one.unit)
            points += one.points * nearness(guess, measured).share
        assert points <= sum(one.points for one in exercise.said.predictions) / 2, student


@pytest.mark.parametrize("name", [*solutions(), SEQUEL])
def test_every_exercise_has_a_page_for_its_teacher(name: str) -> None:
    """Goal, time, traps, what students get wrong, the solution path and figures for slides, each said."""
    text = (ROOT / "exercises" / name / "teacher.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {load_exercise(name, ROOT).said.title}: for the teacher\n")
    parts = text.split("\n## ")[1:]
    assert [f"## {part.splitlines()[0]}" for part in parts] == list(HEADINGS)
    assert all(len(part.split()) > 10 for part in parts if not part.startswith("Time"))
