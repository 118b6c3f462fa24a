"""Marks: points with a reason each, and nothing in a work that could raise them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from classroom import DIGEST, diligent, measured, needed, sample

from wirelab.exercise.draw import drawn
from wirelab.exercise.figures import Figure, nearness
from wirelab.exercise.judging import right_options
from wirelab.exercise.marks import Mark, Marks, compared, marked
from wirelab.exercise.seen import seen
from wirelab.exercise.work import Answered, Predicted, Repaired, Seal, Work, seal_of
from wirelab.runner.run_result import VariantResult
from wirelab.units import COUNT, RATE, UnitError, coherent, parse
from wirelab.verdict.checks import Check
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.exercise.measure import Results
    from wirelab.model.assignment import Assignment

AT = "2026-11-24T09:32:00Z"


@pytest.fixture(scope="module")
def exercise() -> Assignment:
    """The sample."""
    return sample()


@pytest.fixture(scope="module")
def results(exercise: Assignment, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """What the networks of the diligent student measure."""
    return measured(exercise, needed(exercise, diligent(exercise)), tmp_path_factory.mktemp("raw"))


def mark(marks: Marks, name: str) -> Mark:
    """The mark of a part."""
    return next(one for one in marks.marks if one.name == name)


@pytest.mark.parametrize(
    ("text", "share", "words"),
    [
        ("1 Gbit/s", 1.0, "0 % off, within 10 %"),
        ("1.1 Gbit/s", 1.0, "10 % off, within 10 %"),
        ("0.9 Gbit/s", 1.0, "10 % off, within 10 %"),
        ("1.11 Gbit/s", 2 / 3, "11 % off, within 25 %"),
        ("750 Mbit/s", 2 / 3, "25 % off, within 25 %"),
        ("1.5 Gbit/s", 1 / 3, "50 % off, within 50 %"),
        ("1.51 Gbit/s", 0.0, "51 % off, not within 50 %"),
        ("0 bit/s", 0.0, "100 % off, not within 50 %"),
    ],
)
def test_a_quantity_is_right_within_10_25_50_percent(text: str, share: float, words: str) -> None:
    """The limits count as within."""
    near = nearness(text, Figure(coherent(parse("1 Gbit/s", RATE), RATE), "Gbit/s"))
    assert (near.share, near.words) == (share, words)


@pytest.mark.parametrize(
    ("said", "count", "share"),
    [
        ("130", 100, 1.0),
        ("77", 100, 1.0),
        ("131", 100, 2 / 3),
        ("50", 100, 2 / 3),
        ("400", 100, 1 / 3),
        ("401", 100, 0.0),
        ("0", 100, 0.0),
        ("0", 0, 1.0),
        ("1", 0, 1.0),
        ("5", 0, 0.0),
    ],
)
def test_a_count_is_right_within_a_factor(said: str, count: int, share: float) -> None:
    """1.3, 2 and 4, above and below; no losses are one or none."""
    assert nearness(said, Figure(coherent(count, COUNT), None)).share == share


def test_what_is_no_quantity_is_not_compared() -> None:
    """A work may say anything."""
    with pytest.raises(UnitError):
        nearness("1 s", Figure(1.0, "Gbit/s"))


def test_a_diligent_student_has_what_is_right(exercise: Assignment, results: Results) -> None:
    """Each part has its points, and words that say what was measured."""
    marks = marked(exercise, diligent(exercise), results)
    assert {one.name: one.points for one in marks.marks if one.part != "prediction"} == {
        "where": 2.0,
        "mechanism": 2.0,
        "dropped": 1.0,
        "helps": mark(marks, "helps").points,
        "upload-why": None,
        "repair": 4.0,
    }
    assert mark(marks, "where").measured == "module.line, 159"
    assert mark(marks, "mechanism").measured == "FIFO: the FIFO of module.line"
    assert mark(marks, "repair").reason == "it holds, and in its control it fails as it must"
    assert (marks.open, marks.most) == (2, exercise.points)
    assert marks.points == pytest.approx(sum(one.points or 0 for one in marks.marks))
    text = mark(marks, "upload-why")
    assert (text.reason, text.said) == ("left to the teacher", "from a slow line to a fast one nothing waits")


def test_prediction_stands_beside_measurement(exercise: Assignment, results: Results) -> None:
    """As soon as its run is there, and not before."""
    work = diligent(exercise)
    figures = drawn(exercise, work.course, work.student)
    network = results[needed(exercise, work)["network"]]
    beside = {one.name: one for one in compared(exercise, work, figures, {"network": network})}
    assert (beside["download"].said, beside["download"].measured[-6:]) == ("1.2 Gbit/s", "Gbit/s")
    assert beside["retransmits"].measured == "161"
    assert list(compared(exercise, work, figures, {})) == []


def _wrong(work: Work, **answers: str) -> Work:
    return replace(
        work, answers={**work.answers, **{name: Answered(text, AT) for name, text in answers.items()}}
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("where", "client"),
        ("where", "module.line module.host client"),
        ("mechanism", "window"),
        ("mechanism", "FIFO or window"),
        ("dropped", "1e400"),
        ("dropped", "159 || true"),
        ("helps", "2 " + "9" * 190),
        ("helps", "\u0662"),
    ],
)
def test_a_wrong_answer_has_no_points(exercise: Assignment, results: Results, name: str, text: str) -> None:
    """Nor has one that names everything, or that is no answer at all."""
    marks = marked(exercise, _wrong(diligent(exercise), **{name: text}), results)
    assert mark(marks, name).points == 0.0


def test_a_repair_counts_if_its_control_fails(exercise: Assignment, tmp_path: Path) -> None:
    """One that does not hold has no points, nor one that holds without its cause, nor what is no repair."""
    work = replace(diligent(exercise), repair=Repaired({"module.fifo": "64 KiB"}, AT))
    marks = marked(exercise, work, measured(exercise, needed(exercise, work), tmp_path / "one"))
    assert mark(marks, "repair").points == 0.0
    assert mark(marks, "repair").reason.startswith(
        "download.retransmits does not hold: expected ..50, measured 161"
    )
    work = diligent(exercise)
    setups = needed(exercise, work)
    found = dict(measured(exercise, setups, tmp_path / "two"))
    found[setups["repair-control"]] = found[setups["repair"]]
    assert mark(marked(exercise, work, found), "repair").reason.startswith("it holds, but in its control")
    for settings in (
        {"server.congestion": "bbr"},
        {"module.fifo": "1 TB"},
        {"module": "x", "a": "b", "c": "d"},
    ):
        work = replace(diligent(exercise), repair=Repaired(settings, AT))
        marks = marked(exercise, work, found)
        assert mark(marks, "repair").points == 0.0
        assert mark(marks, "repair").reason.startswith("no repair: ")


def test_edited_predictions_count_as_not_made(exercise: Assignment, results: Results) -> None:
    """The seal is of the predictions, the student, the course and the time."""
    honest = diligent(exercise)
    assert honest.seal is not None
    better = {**honest.predictions, "retransmits": Predicted("161", "because")}
    before = honest.seal
    for edited in (
        replace(honest, predictions=better),
        replace(honest, seal=replace(before, at="2026-11-24T08:00:00Z")),
        replace(honest, seal=Seal("0" * 64, before.at)),
    ):
        marks = marked(exercise, edited, results)
        assert all(one.points == 0.0 for one in marks.marks if one.part == "prediction")
        assert "the predictions are not the ones that were sealed: they count as not made" in marks.notes
    assert (
        mark(marked(exercise, replace(honest, seal=None), results), "upload").reason
        == "not sealed before the run"
    )


def test_with_the_seals_that_were_given_before_nobody_forges_one(
    exercise: Assignment, results: Results
) -> None:
    """A work that was sealed anew counts as not predicted; so does one whose seal nobody gave."""
    honest = diligent(exercise)
    assert honest.seal is not None
    seals = {"grace": honest.seal.sha256[:12]}
    better = {**honest.predictions, "retransmits": Predicted("161", "because")}
    forged = replace(honest, predictions=better, seal=Seal(seal_of(honest, better, AT), AT))
    assert mark(marked(exercise, forged, results), "retransmits").points == 3.0
    assert mark(marked(exercise, forged, results, seals), "retransmits").points == 0.0
    assert mark(marked(exercise, honest, results, {}), "upload").points == 0.0
    assert marked(exercise, honest, results, seals).points == marked(exercise, honest, results).points


def test_another_students_predictions_are_not_ones_own(exercise: Assignment, tmp_path: Path) -> None:
    """A work with another name on it has that name's networks, and a seal that does not fit."""
    stolen = replace(diligent(exercise, "ada"), student="bob")
    marks = marked(exercise, stolen, measured(exercise, needed(exercise, stolen), tmp_path))
    assert marks.figures == drawn(exercise, stolen.course, "bob").values
    assert all(one.points == 0.0 for one in marks.marks if one.part == "prediction")


def test_what_a_work_says_was_measured_counts_for_nothing(exercise: Assignment, results: Results) -> None:
    """It is compared with what is measured now, and the teacher is told."""
    work = diligent(exercise)
    marks = marked(exercise, work, results)
    assert "what it says was measured is not what this lab measures: network" in marks.notes
    digest = results[needed(exercise, work)["network"]].digest or ""
    true = replace(work, runs=tuple(replace(ran, digest=digest) for ran in work.runs))
    assert marked(exercise, true, results).notes == ()
    assert marked(exercise, true, results).points == marks.points


def test_what_is_odd_is_told(exercise: Assignment, results: Results) -> None:
    """Another version of the exercise, runs before the seal, too many experiments, unknown names."""
    work = diligent(exercise)
    seal = Seal(seal_of(work, work.predictions, "2026-11-24T10:00:00Z"), "2026-11-24T10:00:00Z")
    experiment = replace(work.runs[0], kind="experiment", settings={"module.fifo": "64 KiB"})
    odd = replace(_wrong(work, nonsense="x"), digest=DIGEST, seal=seal, runs=(*work.runs, *[experiment] * 5))
    notes = "\n".join(marked(exercise, odd, results).notes)
    for words in (
        "another version of this exercise",
        "it answers what nobody asked: nonsense",
        "5 experiments; 4 were allowed",
        "runs from before its predictions were sealed",
    ):
        assert words in notes


def test_where_the_lab_broke_nothing_is_marked(exercise: Assignment, results: Results) -> None:
    """Its parts have no points, and no zero either; it is said why."""
    work = diligent(exercise)
    setups = needed(exercise, work)
    error = Check("lab", "", "", Verdict.ERROR, explanation="the disk is full")
    lost = VariantResult(name="network", breaks=None, verdict=Verdict.ERROR, checks=(error,))
    marks = marked(exercise, work, {**results, setups["network"]: lost})
    assert marks.broken
    assert mark(marks, "download").points is None
    assert mark(marks, "where").reason == "the lab broke, so it is not marked: the disk is full"
    assert mark(marks, "repair").points == 4.0


def test_nothing_done_has_no_points(exercise: Assignment, results: Results) -> None:
    """And every part says so."""
    idle = Work(
        exercise=exercise.name, digest=exercise.digest, course="networks-1", student="grace", started=AT
    )
    marks = marked(exercise, idle, results)
    assert (marks.points, marks.open) == (0.0, 0)
    assert {one.reason for one in marks.marks} == {"not predicted", "not answered", "nothing was repaired"}


def test_a_technician_sees_counters_and_no_settings(exercise: Assignment, results: Results) -> None:
    """iperf3, ping and `ethtool -S` of what can be managed; the module is not."""
    network = results[needed(exercise, diligent(exercise))["network"]]
    everything = seen(exercise, network)
    assert {line.subject for line in everything.ports} >= {"module.line", "client"}
    hidden = replace(exercise, said=exercise.said.model_copy(update={"sees": "technician"}))
    tables = seen(hidden, network)
    assert tables.ports == ()
    assert {line.subject for line in tables.counters} == {"server", "switch.p1", "switch.p2", "client"}
    assert {line.subject for line in tables.flows} == {"upload", "download"}


@pytest.mark.parametrize(
    ("right", "values", "numbers"),
    [
        ("highest", [1.0, 3.0, 2.0], [2]),
        ("highest", [1.0, 2.99, 3.0], [2, 3]),
        ("lowest", [1.0, None, 2.0], [1]),
        ("180..220 %", [1.0, 2.1, 4.0], [2]),
        ("300 %..", [1.0, 2.1, None], []),
        ("highest", [None, None], []),
    ],
)
def test_a_choice_is_what_its_run_shows(right: str, values: list[float | None], numbers: list[int]) -> None:
    """The best, and what is as good to 1 %; or so many times what the network has, which is 1 here."""
    assert right_options(right, values, 1.0) == numbers


def test_what_no_run_shows_is_called_computed(exercise: Assignment, results: Results) -> None:
    """The longest burst comes of the student's figures alone; what was downloaded is measured."""
    marks = marked(exercise, diligent(exercise), results)
    burst, download = mark(marks, "burst"), mark(marks, "download")
    assert burst.shown == f"computed {burst.measured}"
    assert download.shown == download.measured
