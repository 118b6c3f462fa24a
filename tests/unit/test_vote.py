"""What a class votes on: the right figure among three that are wrong, and possible."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from classroom import COURSE, measured, sample
from examples import ROOT

from wirelab.exercise.draw import Figures, drawn
from wirelab.exercise.guess import line_rate_guess
from wirelab.exercise.network import Networks
from wirelab.exercise.slides import slides_page
from wirelab.exercise.vote import Limits, limits_of, options
from wirelab.model.assignment import quantity_asked
from wirelab.model.exercise_reader import load_exercise
from wirelab.units import coherent, parse

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.model.assignment import Assignment
    from wirelab.model.exercise import Prediction
    from wirelab.plan.types import Plan

ALL = tuple(
    name
    for name in sorted(path.parent.name for path in (ROOT / "exercises").glob("*/exercise.yaml"))
    if load_exercise(name, ROOT).said.predictions
)
LINE_BPS = 1e9


def figures_of(exercise: Assignment) -> Figures:
    """Grace's."""
    return drawn(exercise, COURSE, "grace")


def plans_of(exercise: Assignment) -> dict[str, Plan]:
    """The Plans of the runs, which nobody carries out."""
    networks = Networks(exercise, figures_of(exercise))
    return {run.name: networks.run(run.name).trial(exercise, run.name).plan for run in exercise.said.networks}


def amounts(said: Prediction, right: float, limits: Limits) -> list[float]:
    """What may be voted for, in bits and seconds."""
    quantity = quantity_asked(said.unit)
    return [coherent(parse(one.words, quantity), quantity) for one in options(said, right, limits)]


def prediction(exercise: Assignment, name: str) -> Prediction:
    """One of an exercise, by its name."""
    return next(one for one in exercise.said.predictions if one.name == name)


@pytest.mark.parametrize("name", ["upload", "download"])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.75, 0.942, 0.99])
def test_nobody_votes_for_a_rate_above_the_line(name: str, share: float) -> None:
    """Four rates that a line of 1 Gbit/s carries, well apart, and the right one among them."""
    right = share * LINE_BPS
    found = amounts(prediction(sample(), name), right, Limits(most=LINE_BPS))
    assert all(one <= LINE_BPS for one in found)
    assert all(later > 1.04 * one for one, later in itertools.pairwise(sorted(found)))
    assert min(abs(one - right) for one in found) < right / 200
    if share < 0.95:
        assert LINE_BPS in found


@pytest.mark.parametrize("name", ALL)
def test_the_limits_of_a_figure_are_of_the_network(name: str) -> None:
    """A rate is at most the line's, a part at most the whole, a time at least what the path takes."""
    exercise = load_exercise(name, ROOT)
    plans, figures = plans_of(exercise), figures_of(exercise)
    for said in exercise.said.predictions:
        guess = line_rate_guess(exercise, said, figures.values, plans)
        limits = limits_of(exercise, said, plans, guess)
        if said.unit and said.unit.endswith("bit/s"):
            assert 0 < limits.most <= 10e9
        elif said.unit == "%":
            assert limits.most == 1
        elif said.unit == "ms":
            assert 0.01 < limits.least < 1


def test_the_time_of_a_film_is_at_least_that_of_a_full_line() -> None:
    """60 MB at 1 Gbit/s are 480 ms: no option is below, and one of them is that."""
    exercise = load_exercise("what-a-gigabit-carries", ROOT)
    said, plans = prediction(exercise, "duration"), plans_of(exercise)
    limits = limits_of(exercise, said, plans, None)
    assert limits.least == pytest.approx(0.48)
    found = amounts(said, 0.66, limits)
    assert min(found) == pytest.approx(0.48)


def test_the_right_option_is_not_always_at_one_place() -> None:
    """Its place follows from the name of the prediction, also where a limit leaves no room above it."""
    places = set()
    for name in ALL:
        for said in load_exercise(name, ROOT).said.predictions:
            found = options(said, 0.942, Limits(most=0.95))
            assert [one.letter for one in found] == list("ABCD")
            assert found == options(said, 0.942, Limits(most=0.95))
            places.add(next(one.letter for one in found if one.is_right))
    assert places == set("ABCD")


def test_a_line_tells_nothing_of_what_is_computed(tmp_path: Path) -> None:
    """The longest burst is the exercise's formula of figures: slides neither guess nor measure it."""
    exercise = sample()
    burst, figures, plans = prediction(exercise, "burst"), figures_of(exercise), plans_of(exercise)
    assert line_rate_guess(exercise, burst, figures.values, plans) is None
    assert line_rate_guess(exercise, prediction(exercise, "upload"), figures.values, plans) is not None
    networks = Networks(exercise, figures)
    setups = {run.name: networks.run(run.name) for run in exercise.said.networks}
    results = measured(exercise, setups, tmp_path)
    page = slides_page(exercise, figures, {name: results[setup] for name, setup in setups.items()})
    answers = page.split('class="slide answer"')[1:]
    (slide,) = (one for one in answers if "longest burst" in one)
    assert "computed" in slide
    assert "measured" not in slide
    assert "guess" not in slide
