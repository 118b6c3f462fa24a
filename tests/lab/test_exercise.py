"""The sample exercise in a real lab: its own solution has all points, guesses by a naive rule do not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from wirelab.cli.exercise_look import look_command
from wirelab.errors import InputError
from wirelab.exercise import steps
from wirelab.exercise.draw import drawn
from wirelab.exercise.marks import Mark, Marks, compared, marked
from wirelab.exercise.measure import Bench
from wirelab.exercise.network import Networks
from wirelab.exercise.work import WORK, Predicted, Work
from wirelab.model.catalogue import shipped_root
from wirelab.model.exercise_reader import load_exercise
from wirelab.runner.store import Store
from wirelab.runner.trial import Runner, Trial

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.machine import Progress
    from wirelab.lab.select import Lab
    from wirelab.model.assignment import Assignment
    from wirelab.runner.run_result import VariantResult

NOW = datetime(2026, 11, 24, 9, 30, tzinfo=UTC)
COURSE = "networks-1"


class Silent:
    """Nobody watches."""

    def begun(self, trial: Trial) -> None:
        """A trial has got its CPU."""

    def progress(self, trial: Trial, progress: Progress) -> None:
        """The lab of a trial has come so far."""

    def done(self, trial: Trial, variant: VariantResult) -> None:
        """A trial is judged."""

    def finished(self) -> None:
        """All trials of a job are judged."""


@pytest.fixture(scope="module")
def exercise() -> Assignment:
    """As it is shipped."""
    return load_exercise("shallow-buffer", shipped_root())


@pytest.fixture
def bench(lab: Lab, tmp_path: Path) -> Bench:
    """With what was measured before: students who share figures share runs."""
    return Bench(Runner.of(lab, print, use_cache=True), Store(tmp_path), [0], Silent())


def predicted(work: Work, exercise: Assignment, values: dict[str, str]) -> Work:
    """Sealed predictions."""
    return steps.sealed(exercise, work, {name: Predicted(of, "because") for name, of in values.items()}, NOW)


def graded(exercise: Assignment, work: Work, bench: Bench) -> Marks:
    """Everything run again."""
    networks = Networks(exercise, drawn(exercise, COURSE, work.student))
    return marked(exercise, work, bench.measured(exercise, networks.needed(work), NOW))


def by_name(marks: Marks) -> dict[str, Mark]:
    """Each mark by its part."""
    return {mark.name: mark for mark in marks.marks}


@pytest.mark.parametrize("student", ["grace", "barbara"])
def test_the_storys_own_solution_has_all_points(exercise: Assignment, bench: Bench, student: str) -> None:
    """The formula, what the run shows, the module that can say stop; guesses of the line rate have few."""
    figures = drawn(exercise, COURSE, student)
    kib = int(figures.values["fifo"].removesuffix(" KiB"))
    gbps = float(figures.values["line"].removesuffix(" Gbit/s"))
    burst = f"{kib * 1.024 / (1 - gbps / 10):.1f} kB"
    begun = steps.started(exercise, COURSE, student, NOW)
    naive = {"burst": f"{kib} KiB", "upload": "9 Gbit/s", "download": f"{gbps} Gbit/s", "retransmits": "0"}
    guessing = predicted(begun, exercise, naive)
    name, setup = steps.run_asked(exercise, guessing)
    network = bench.measured(exercise, {name: setup}, NOW)[setup]
    assert network.digest is not None
    seen = {mark.name: mark for mark in compared(exercise, guessing, figures, {name: network})}
    assert seen["retransmits"].points == 0.0
    assert sum(mark.points or 0 for mark in seen.values()) < sum(mark.most for mark in seen.values()) / 2

    values = {one: seen[one].measured.replace(" ", "", 1) for one in ("retransmits",)}
    values |= {"burst": burst, "upload": seen["upload"].measured, "download": seen["download"].measured}
    work = predicted(begun, exercise, values)
    work = steps.ran(exercise, work, "run", name, network.digest, now=NOW)
    dropped = network.figure("module.line", "drops")
    answers = {"where": "module.line", "mechanism": "FIFO", "dropped": f"{dropped:.0f}", "helps": "2"}
    for question, text in {**answers, "upload-why": "nothing waits"}.items():
        work = steps.answered(exercise, work, question, text, NOW)
    work = steps.repaired(exercise, work, {"module": "aqr113c", "module.fifo": "64 KiB"}, NOW)
    marks = graded(exercise, steps.submitted(exercise, work, NOW), bench)
    assert {one: mark.points for one, mark in by_name(marks).items() if mark.points != mark.most} == {
        "upload-why": None
    }
    assert marks.notes == ()


PAUSED = """
title: Say stop
goal: See who stops whom.
story: A module that can say stop.
scenario: sfp-flow-control
questions:
  - paused: {name: who, text: Who pauses whom?, points: 4}
  - element: {name: where, text: What bounds the download?, flow: download, points: 2}
  - port: {name: silent, text: Which port is silent for longest?, most: paused, points: 2}
"""


def test_who_paused_whom(bench: Bench, tmp_path: Path) -> None:
    """The ends of the cable with the longest silence have all points, the other way round there are none."""
    folder = tmp_path / "exercises" / "say-stop"
    folder.mkdir(parents=True)
    (folder / "exercise.yaml").write_text(PAUSED, encoding="utf-8")
    exercise = load_exercise("say-stop", tmp_path)
    begun = steps.started(exercise, COURSE, "ada", NOW)
    name, setup = steps.run_asked(exercise, begun)
    network = bench.measured(exercise, {name: setup}, NOW)[setup]
    work = steps.ran(exercise, begun, "run", name, network.digest or "", now=NOW)
    for question, text in {
        "who": "module.host -> switch.p2",
        "where": "module.line",
        "silent": "switch.p2",
    }.items():
        work = steps.answered(exercise, work, question, text, NOW)
    right = by_name(graded(exercise, work, bench))
    assert {one: mark.points for one, mark in right.items()} == {"who": 4.0, "where": 2.0, "silent": 2.0}
    for question, text in {
        "who": "switch.p2 pauses module.host",
        "where": "switch.p1",
        "silent": "server",
    }.items():
        work = steps.answered(exercise, work, question, text, NOW)
    assert {mark.points for mark in by_name(graded(exercise, work, bench)).values()} == {0.0}


def test_a_technician_captures_at_a_host(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Frames of the last flow, as a capture; of a port inside a module nobody can."""
    folder = tmp_path / "exercises" / "say-stop"
    folder.mkdir(parents=True)
    (folder / "exercise.yaml").write_text(f"{PAUSED}sees: technician\n", encoding="utf-8")
    exercise = load_exercise("say-stop", tmp_path)
    work = steps.started(exercise, COURSE, "ada", NOW)
    name, setup = steps.run_asked(exercise, work)
    network = bench.measured(exercise, {name: setup}, NOW)[setup]
    work = steps.ran(exercise, work, "run", name, network.digest or "", now=NOW)
    (tmp_path / WORK).write_text(work.to_json(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    look_command(capture=tmp_path / "a.pcapng", port="client")
    assert int(capsys.readouterr().out.split(": ")[1].split()[0]) > 1000
    assert (tmp_path / "a.pcapng").stat().st_size > 100_000
    with pytest.raises(InputError, match=r"nobody can capture at `module\.line`"):
        look_command(capture=tmp_path / "b.pcapng", port="module.line")
