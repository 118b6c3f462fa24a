"""Every network that any student of an exercise begins with, as the grid of a sweep."""

import itertools
from typing import Final

from wirelab.errors import InputError
from wirelab.model.assignment import Assignment, case_with
from wirelab.model.cases import Case
from wirelab.runner.sweep import Factor

NETWORK: Final = "network"
"""The factor whose values are the exercise's runs, by their names."""


def factors(exercise: Assignment) -> tuple[Factor, ...]:
    """The exercise's runs, where there are several, and the figures that are drawn, each with all its values.

    Raises InputError where there is nothing to choose, and for hidden faults: pages would tell them.
    """
    if exercise.said.faults:
        raise InputError(f"{exercise.name} hides a fault: pages of all its networks would show it")
    runs = tuple(run.name for run in exercise.said.networks)
    figures = tuple(
        Factor(name, tuple(map(scale.value, range(scale.count)))) for name, scale in exercise.scales.items()
    )
    found = (Factor(NETWORK, runs), *figures) if len(runs) > 1 else figures
    if not found:
        raise InputError(f"{exercise.name} has one network, the same for all: there is nothing to choose")
    return found


def networks(exercise: Assignment) -> list[tuple[tuple[str, ...], Case]]:
    """Every point of the grid, the last factor running fastest. Raises InputError for one that cannot be."""
    chosen = factors(exercise)
    keys = [factor.key for factor in chosen]
    points = []
    for values in itertools.product(*(factor.values for factor in chosen)):
        figures = dict(zip(keys, values, strict=True))
        run = exercise.run(figures.pop(NETWORK, None))
        case = case_with(exercise.case(run), exercise.setup(run, figures, None, {}))
        points.append((values, case))
    return points
