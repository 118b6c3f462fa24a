"""Each exercise, done by one student from beginning to end; `make test-exercises` does every student's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.exercises.bench import bench
from tests.exercises.marking import lost_by_understanding, results_of, share_of_guessing
from tests.exercises.solutions import solutions
from wirelab.model.catalogue import shipped_root
from wirelab.model.exercise_reader import load_exercise

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.select import Lab


@pytest.mark.parametrize("name", solutions())
def test_the_storys_rules_solve_it_and_guesses_do_not(name: str, lab: Lab, tmp_path: Path) -> None:
    """Predictions by the story's formulas, answers that the runs show and the repair have all points."""
    exercise, solution = load_exercise(name, shipped_root()), solutions()[name]
    student = "student 0"
    results = results_of(exercise, student, solution, bench(lab, tmp_path, 1))
    assert lost_by_understanding(exercise, student, solution, results) == []
    if exercise.said.predictions:
        assert share_of_guessing(exercise, student, solution, results) <= 0.5
