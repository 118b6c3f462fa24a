"""A hidden fault: each student has one, sees what a technician would, names cause, element and figure."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from classroom import COURSE, DIGEST, NOW, measured, needed
from standin import Wirelab

from wirelab.errors import InputError
from wirelab.exercise import steps
from wirelab.exercise.answers import choices
from wirelab.exercise.draw import Figures, drawn
from wirelab.exercise.marks import marked
from wirelab.exercise.network import Networks
from wirelab.exercise.work import Answered, Work, read_work
from wirelab.model.exercise_reader import read_exercise

if TYPE_CHECKING:
    from wirelab.model.assignment import Assignment

FILE = Path(__file__).parent / "data" / "mystery.yaml"
RIGHT = {
    "small-fifo": ("a FIFO that is too small", "module.line"),
    "lossy": ("a line that loses frames", "module.line"),
    "slow-client": ("a link that is too slow", "client"),
}


def folder(base: Path) -> Path:
    """The exercise, in a catalogue of its own."""
    place = base / "exercises" / "mystery"
    place.mkdir(parents=True)
    shutil.copy(FILE, place / "exercise.yaml")
    return place


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    """It is sound."""
    return read_exercise(folder(tmp_path_factory.mktemp("catalogue")) / "exercise.yaml")


def answers(exercise: Assignment, student: str, **texts: str) -> Work:
    """A work with answers, after its run."""
    work = steps.started(exercise, COURSE, student, NOW)
    work = steps.ran(exercise, work, "run", "network", DIGEST, now=NOW)
    for name, text in texts.items():
        work = steps.answered(exercise, work, name, text, NOW)
    return work


def points(exercise: Assignment, work: Work, base: Path) -> dict[str, float | None]:
    """What the parts get."""
    results = measured(exercise, needed(exercise, work), base)
    return {mark.name: mark.points for mark in marked(exercise, work, results).marks}


def test_each_fault_is_somebodys(exercise: Assignment) -> None:
    """By the same kind of draw as figures; its settings are in the network, with its figure."""
    faults: Counter[str] = Counter()
    for number in range(60):
        figures = drawn(exercise, COURSE, f"student-{number}")
        assert figures.fault is not None
        faults[figures.fault.name] += 1
        settings = dict(Networks(exercise, figures).run().settings)
        if figures.fault.name == "lossy":
            assert settings == {"module.line.loss": figures.values["loss"]}
    assert set(faults) == set(RIGHT)
    assert min(faults.values()) >= 10


def student_with(exercise: Assignment, fault: str) -> tuple[str, Figures]:
    """Somebody who has this fault."""
    for number in range(1000):
        figures = drawn(exercise, COURSE, f"student-{number}")
        if figures.fault is not None and figures.fault.name == fault:
            return f"student-{number}", figures
    raise AssertionError


@pytest.mark.parametrize("fault", RIGHT)
def test_who_finds_it_has_all_points(exercise: Assignment, fault: str, tmp_path: Path) -> None:
    """The cause from a list, the element, and the figure in its unit."""
    student, figures = student_with(exercise, fault)
    cause, element = RIGHT[fault]
    figure = {"small-fifo": figures.values["size"], "lossy": figures.values["loss"]}.get(fault, "100 Mbit/s")
    work = answers(exercise, student, cause=cause, element=element, figure=figure)
    found = points(exercise, work, tmp_path)
    assert (found["cause"], found["element"], found["figure"]) == (4.0, 3.0, 3.0)


def test_who_guesses_has_few(exercise: Assignment, tmp_path: Path) -> None:
    """Another cause has none, the right device half, a figure of another kind none, one near it some."""
    student, figures = student_with(exercise, "small-fifo")
    assert figures.fault is not None
    kib = int(figures.values["size"].removesuffix(" KiB"))
    work = answers(exercise, student, cause="a line that loses frames", element="module.host", figure="1 %")
    found = points(exercise, work, tmp_path / "a")
    assert (found["cause"], found["element"], found["figure"]) == (0.0, 1.5, 0.0)
    work = answers(exercise, student, figure=f"{kib * 1.2:g} KiB")
    assert points(exercise, work, tmp_path / "b")["figure"] == 2.0
    edited = replace(work, answers={"figure": Answered("everything", "2026-11-24T09:30:00Z")})
    assert points(exercise, edited, tmp_path / "c")["figure"] == 0.0


@pytest.mark.parametrize(
    ("of", "due"), [(0.9, 3.0), (1.1, 3.0), (0.75, 2.0), (1.25, 2.0), (0.5, 1.0), (0.49, 0.0)]
)
def test_a_figure_that_is_off_by_just_so_much_has_its_points(
    of: float, due: float, exercise: Assignment, tmp_path: Path
) -> None:
    """Of each value that it may have: none is a whole number of what a computer counts in."""
    seen = set()
    for number in range(200):
        student = f"student-{number}"
        figures = drawn(exercise, COURSE, student)
        loss = figures.values["loss"]
        if figures.fault is None or figures.fault.name != "lossy" or loss in seen:
            continue
        seen.add(loss)
        work = answers(exercise, student, figure=f"{float(loss.removesuffix(' %')) * of:.6g} %")
        assert points(exercise, work, tmp_path / student)["figure"] == pytest.approx(due), loss
    assert len(seen) == 3


def test_who_paused_whom_and_where_it_is_held_up(exercise: Assignment, tmp_path: Path) -> None:
    """Nobody paused anybody here; the element is that of the bottleneck, whichever the fault is."""
    student, _ = student_with(exercise, "small-fifo")
    work = answers(exercise, student, paused="nobody", place="module.line")
    assert points(exercise, work, tmp_path / "a") | {"cause": 0.0} == {
        "cause": 0.0,
        "element": 0.0,
        "figure": 0.0,
        "paused": 1.0,
        "place": 1.0,
    }
    work = answers(exercise, student, paused="client -> module.line", place="server")
    found = points(exercise, work, tmp_path / "b")
    assert (found["paused"], found["place"]) == (0.0, 0.0)


def test_the_list_of_causes_tells_nothing(exercise: Assignment) -> None:
    """Everybody has the same, in the same order; a figure is written, with a unit."""
    lists = set()
    for number in range(20):
        figures = drawn(exercise, COURSE, f"student-{number}")
        lists.add(choices(exercise, exercise.question("cause"), figures))
        assert choices(exercise, exercise.question("figure"), figures) == ()
    assert len(lists) == 1
    with pytest.raises(InputError, match="write it with its unit"):
        steps.answered(exercise, answers(exercise, "ada"), "figure", "much", NOW)


def test_nothing_at_the_terminal_tells_the_fault(tmp_path: Path) -> None:
    """Not the story, nor a run, an experiment, the work or any file beside it; there is no report."""
    wirelab = Wirelab.make(tmp_path)
    place = folder(wirelab.folder)
    student, figures = student_with(read_exercise(place / "exercise.yaml"), "small-fifo")
    shown = [wirelab("exercise", "start", "mystery", "--student", student, "--course", COURSE)]
    shown.append(wirelab("exercise", "run", "--no-cache", *wirelab.lab.options))
    shown.append(wirelab("exercise", "run", "client.rx_usecs=50 us", "--no-cache", *wirelab.lab.options))
    shown.append(wirelab("exercise", "status"))
    assert [code for code, _, _ in shown] == [0, 0, 0, 0]
    out = "".join(text for _, out, err in shown for text in (out, err))
    assert "ethtool -S" in out
    assert "tx_frames" in out
    files = [path for path in (wirelab.folder / "mystery").rglob("*") if path.is_file()]
    assert [path.name for path in files] == ["work.json"]
    assert read_work(files[0]).count("experiment") == 1
    for text in (out, files[0].read_text(encoding="utf-8")):
        assert figures.values["size"] not in text
        assert "fifo" not in text.lower()
        assert "module.line" not in text.replace("module.line,", "")
    code, _, err = wirelab("exercise", "look")
    assert (code, "a technician has no report of a hidden fault" in err) == (2, True)
    code, _, err = wirelab(
        *("exercise", "look", "--capture", "a.pcapng", "--port", "module.line", *wirelab.lab.options)
    )
    assert (code, "nobody can capture at `module.line`" in err) == (2, True)
