"""Every network that any of 200 students has: solved by the story's rules, and not by guesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.exercises.bench import bench
from tests.exercises.marking import lost_by_understanding, results_of, share_of_guessing
from tests.exercises.solutions import solutions
from tests.exercises.student import NOW, figures_of, networks_of, students_of
from wirelab.exercise.draw import Figures
from wirelab.exercise.network import Networks
from wirelab.exercise.seen import seen
from wirelab.model.catalogue import shipped_root
from wirelab.model.exercise_reader import load_exercise

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.select import Lab
    from wirelab.runner.run_result import VariantResult

STUDENTS = 200
MYSTERY = "mystery-network"


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", [name for name in solutions() if name != MYSTERY])
def test_nobodys_figures_make_it_trivial_or_impossible(name: str, lab: Lab, tmp_path: Path) -> None:
    """The story's rules have all points, naive ones at most half, and there is something to be repaired."""
    exercise, solution = load_exercise(name, shipped_root()), solutions()[name]
    here = bench(lab, tmp_path)
    lost: list[str] = []
    for student in students_of(exercise, STUDENTS).values():
        results = results_of(exercise, student, solution, here)
        lost += lost_by_understanding(exercise, student, solution, results)
        if (share := share_of_guessing(exercise, student, solution, results)) > 0.5:
            lost.append(f"{student}: guesses have {share:.2f} of the points")
        repair = exercise.said.repair
        assert repair is not None
        untouched = results[Networks(exercise, figures_of(exercise, student)).run(repair.run)]
        if all(check.verdict == "pass" for check in untouched.checks):
            lost.append(f"{student}: there is nothing to repair")
    assert lost == []


TOLD_BY = {"bad-cable": "rx_dropped_fcs", "mismatch": "tx_late_collisions"}
"""What `ethtool -S` shows of a fault that looks like another one else."""
VISIBLE = (
    ("idle", "rtt_p50"),
    ("busy", "rtt_p99"),
    ("busy", "lost"),
    ("download", "goodput"),
    ("upload", "goodput"),
)


@pytest.mark.timeout(7200)
def test_every_hidden_fault_can_be_seen(lab: Lab, tmp_path: Path) -> None:
    """Each changes by a fifth what iperf3 or ping show; the healthy network is as the story has it."""
    exercise, solution = load_exercise(MYSTERY, shipped_root()), solutions()[MYSTERY]
    here = bench(lab, tmp_path)
    student = "student 0"
    healthy_one = Networks(exercise, Figures(figures_of(exercise, student).values)).run()
    healthy = here.measured(exercise, {"healthy": healthy_one}, NOW)[healthy_one]
    assert 88e6 < (healthy.figure("download", "goodput") or 0) < 93.5e6
    hidden = []
    for words, one in students_of(exercise, STUDENTS).items():
        (network,) = networks_of(exercise, one, solution).values()
        found = here.measured(exercise, {"network": network}, NOW)[network]
        assert found.digest is not None, words
        if not any(_differs(found, healthy, *figure) for figure in VISIBLE):
            hidden.append(words)
        if words in TOLD_BY:
            counted = {name for line in seen(exercise, found).counters for name in line.figures}
            assert TOLD_BY[words] in counted, words
    assert hidden == []


def _differs(found: VariantResult, healthy: VariantResult, subject: str, metric: str) -> bool:
    value, well = found.figure(subject, metric) or 0.0, healthy.figure(subject, metric) or 0.0
    return abs(value - well) > 0.2 * max(well, 1.0)
