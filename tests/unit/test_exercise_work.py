"""A student's work: figures that anybody can draw again, steps in order, a document that is checked."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from classroom import ANSWERS, COURSE, DIGEST, NOW, PREDICTIONS, REPAIR, diligent, predicted, sample

from wirelab.errors import InputError
from wirelab.exercise import steps
from wirelab.exercise.answers import choices
from wirelab.exercise.draw import drawn, index_of, person
from wirelab.exercise.network import Networks
from wirelab.exercise.work import LIMIT_BYTES, Predicted, parse_work, read_work

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.model.assignment import Assignment


@pytest.fixture(scope="module")
def exercise() -> Assignment:
    """The sample."""
    return sample()


def test_figures_can_be_drawn_again_with_any_tool(exercise: Assignment) -> None:
    """By what the documents say, and nothing else: eight bytes of SHA-256, modulo the number of values."""
    digest = hashlib.sha256(b"networks-1\nshallow-buffer\nada\nfifo\n0").digest()
    index = int.from_bytes(digest[:8], "big") % 8
    assert drawn(exercise, COURSE, "ada").values["fifo"] == f"{12 + 4 * index} KiB"


def test_each_student_has_figures_and_all_values_are_had(exercise: Assignment) -> None:
    """The same each time; of 400 students no value is had by fewer than half or more than twice its share."""
    counts = Counter(drawn(exercise, COURSE, f"student-{number}").values["fifo"] for number in range(400))
    assert drawn(exercise, COURSE, "ada") == drawn(exercise, COURSE, "ada")
    assert len(counts) == 8
    assert all(25 <= count <= 100 for count in counts.values())
    other = [drawn(exercise, "networks-2", f"student-{number}").values for number in range(40)]
    assert other != [drawn(exercise, COURSE, f"student-{number}").values for number in range(40)]


def test_a_number_above_the_last_multiple_is_drawn_again() -> None:
    """No value is likelier than another: with 2**63 + 1 of them every other number does not count."""
    count = (1 << 63) + 1
    drawn_again = 0
    for number in range(50):
        digest = hashlib.sha256(f"c\ne\ns{number}\nf\n0".encode()).digest()
        first = int.from_bytes(digest[:8], "big")
        found = index_of(count, "c", "e", f"s{number}", "f")
        assert found < count
        drawn_again += first >= count and found != first % count
    assert drawn_again > 10


@pytest.mark.parametrize(
    ("text", "name"), [(" Ada  Lovelace ", "Ada Lovelace"), ("Ame\u0301lie", "Am\u00e9lie")]
)
def test_a_name_counts_in_one_form(text: str, name: str) -> None:
    """However its accents and blanks were typed, it has the same figures."""
    assert person(text) == name


@pytest.mark.parametrize(
    "text", ["", "  ", "x" * 81, "a\x1b[31mb", "a\u202eb", "a\u200bb", "a\x00b", "\ud800"]
)
def test_what_is_no_name(text: str) -> None:
    """Nothing, a novel, and what nobody can see."""
    with pytest.raises(InputError, match="the name of the student"):
        person(text)


def test_the_steps_lead_through_it(exercise: Assignment) -> None:
    """Predict, run, answer, repair, hand in; after that nothing changes."""
    work = steps.started(exercise, COURSE, "ada", NOW)
    assert steps.next_step(exercise, work).doing == "predict"
    work = steps.sealed(exercise, work, predicted(), NOW)
    assert steps.next_step(exercise, work) == steps.Step("run", "run `network`", "network")
    work = steps.ran(exercise, work, "run", "network", DIGEST, now=NOW)
    for name, text in ANSWERS.items():
        assert steps.next_step(exercise, work).name == name
        work = steps.answered(exercise, work, name, text, NOW)
    assert steps.next_step(exercise, work).doing == "repair"
    work = steps.repaired(exercise, work, REPAIR, NOW)
    assert steps.next_step(exercise, work).doing == "submit"
    work = steps.submitted(exercise, work, NOW)
    assert steps.next_step(exercise, work).doing == "done"
    for change in (
        lambda: steps.answered(exercise, work, "where", "client", NOW),
        lambda: steps.repaired(exercise, work, REPAIR, NOW),
        lambda: steps.sealed(exercise, work, predicted(), NOW),
        lambda: steps.run_asked(exercise, work),
        lambda: steps.submitted(exercise, work, NOW),
    ):
        with pytest.raises(InputError, match="it was handed in at 2026-11-24T09:30:00Z"):
            change()


def test_nothing_runs_before_the_predictions_are_sealed(exercise: Assignment) -> None:
    """No run, no experiment, no repair, no answer."""
    work = steps.started(exercise, COURSE, "ada", NOW)
    for early in (
        lambda: steps.run_asked(exercise, work),
        lambda: steps.experiment_asked(exercise, work, {"module.fifo": "64 KiB"}),
        lambda: steps.repair_asked(exercise, work, REPAIR),
        lambda: steps.ran(exercise, work, "run", "network", DIGEST, now=NOW),
        lambda: steps.answered(exercise, work, "where", "client", NOW),
        lambda: steps.repaired(exercise, work, REPAIR, NOW),
    ):
        with pytest.raises(InputError, match="nothing runs before the predictions are sealed"):
            early()


def test_sealed_predictions_do_not_change(exercise: Assignment) -> None:
    """A second sealing is refused, and a work whose predictions were edited goes no further."""
    work = steps.sealed(exercise, steps.started(exercise, COURSE, "ada", NOW), predicted(), NOW)
    with pytest.raises(InputError, match="were sealed at 2026-11-24T09:30:00Z"):
        steps.sealed(exercise, work, predicted(), NOW)
    edited = replace(work, predictions={**work.predictions, "download": Predicted("0.6 Gbit/s", "because")})
    with pytest.raises(InputError, match="somebody has edited them"):
        steps.run_asked(exercise, edited)
    assert work.is_sealed
    assert not edited.is_sealed
    assert not replace(work, student="bob").is_sealed


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("download", "1.2", "download: `1.2` has no unit"),
        ("download", "1.2 Gbps", "download: unknown unit `Gbps`; did you mean `Gbit/s`"),
        ("download", "1.2 KiB", "download: `KiB` counts bytes"),
        ("download", "9" * 1_000_000, "download: 1000000 characters are too many"),
        ("download", "1" + "0" * 150 + " bit/s", "download: 157 characters are no rate"),
        ("download", "99999999999999999999 Gbit/s", "download: `99999999999999999999 Gbit/s` is too large"),
        ("retransmits", "12.5", "retransmits: `12.5` is not a whole number"),
        ("retransmits", "many", "retransmits: `many` is not a count"),
        ("retransmits", "-1", "retransmits: `-1` is not a count"),
        ("download", "\x1b[2J1 Gbit/s", "download: has a character that no terminal should see"),
        ("download", "", "download: nothing is written"),
    ],
)
def test_a_prediction_is_a_quantity(exercise: Assignment, name: str, value: str, message: str) -> None:
    """Wrong units, a million digits, escape sequences: refused with a clear word, and nothing is sealed."""
    work = steps.started(exercise, COURSE, "ada", NOW)
    with pytest.raises(InputError) as caught:
        steps.sealed(exercise, work, {**predicted(), name: Predicted(value, "because")}, NOW)
    assert message in caught.value.message
    assert work.seal is None


def test_all_predictions_are_sealed_together(exercise: Assignment) -> None:
    """One that is missing, one without its reason and one that nobody asked for are named."""
    work = steps.started(exercise, COURSE, "ada", NOW)
    some = predicted({name: value for name, value in PREDICTIONS.items() if name != "upload"})
    with pytest.raises(InputError, match="upload: is not predicted yet"):
        steps.sealed(exercise, work, some, NOW)
    with pytest.raises(InputError, match="upload, why: nothing is written"):
        steps.sealed(exercise, work, {**predicted(), "upload": Predicted("1 Gbit/s", " ")}, NOW)
    with pytest.raises(InputError, match="unknown prediction `uplod`; did you mean `upload`"):
        steps.sealed(exercise, work, {**predicted(), "uplod": Predicted("1 Gbit/s", "x")}, NOW)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("where", "module.lin", "unknown answer `module.lin`; did you mean `module.line`"),
        ("mechanism", "fifoo", "did you mean `FIFO`"),
        ("dropped", "12 KiB", "a count is a plain number"),
        ("helps", "7", "unknown answer `7`"),
        ("helps", "$(reboot)", "unknown answer"),
        ("upload-why", "x" * 5000, "5000 characters are too many"),
        ("wher", "x", "unknown question `wher`; did you mean `where`"),
    ],
)
def test_an_answer_answers_its_question(exercise: Assignment, name: str, text: str, message: str) -> None:
    """Another word than those to choose from is refused, with the nearest one."""
    work = diligent(exercise)
    with pytest.raises(InputError) as caught:
        steps.answered(exercise, work, name, text, NOW)
    assert message in caught.value.message


def test_an_answer_is_in_a_run(exercise: Assignment) -> None:
    """It is not given before."""
    work = steps.sealed(exercise, steps.started(exercise, COURSE, "ada", NOW), predicted(), NOW)
    with pytest.raises(InputError, match="the answer is in the run `network`, which has not been run yet"):
        steps.answered(exercise, work, "where", "client", NOW)


def test_what_is_chosen_from_has_the_students_figures(exercise: Assignment) -> None:
    """The options of a choice say the figure, not the formula."""
    figures = drawn(exercise, COURSE, "ada")
    texts = [choice.text for choice in choices(exercise, exercise.question("helps"), figures)]
    kib = int(figures.values["fifo"].removesuffix(" KiB"))
    assert texts[0] == f"Twice the FIFO, {2 * kib} KiB"
    assert "nobody" not in texts


def test_experiments_are_counted(exercise: Assignment) -> None:
    """Only settings that are allowed, within their ranges, and no more than so many."""
    work = diligent(exercise)
    for settings, message in (
        (
            {"module.fifoo": "64 KiB"},
            "unknown setting that may be changed `module.fifoo`; did you mean `module.fifo`",
        ),
        ({"module.fifo": "1 MiB"}, "module.fifo: `1 MiB` is not in 8..256 KiB"),
        ({"module.fifo": "64"}, "module.fifo: `64` has no unit"),
        ({"server.congestion": "bbr"}, "unknown setting that may be changed"),
    ):
        with pytest.raises(InputError) as caught:
            steps.experiment_asked(exercise, work, settings)
        assert message in caught.value.message
    for number in range(1, 5):
        name, _ = steps.experiment_asked(exercise, work, {"module.fifo": f"{16 * number} KiB"})
        assert name == f"experiment-{number}"
        work = steps.ran(
            exercise,
            work,
            "experiment",
            name,
            DIGEST,
            now=NOW,
            settings={"module.fifo": f"{16 * number} KiB"},
        )
    with pytest.raises(InputError, match="all 4 experiments are used up"):
        steps.experiment_asked(exercise, work, {"module.fifo": "64 KiB"})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "a repair changes something"),
        ({"module": "aqr113c", "module.fifo": "64 KiB", "client.rx_usecs": "0 us"}, "at most 2"),
        ({"module": "aqr113c"}, "these settings cannot be together"),
        ({"switch.flow_control": "off"}, "unknown setting that may be changed"),
    ],
)
def test_a_repair_changes_what_it_may(exercise: Assignment, settings: dict[str, str], message: str) -> None:
    """And what can be together; the work stays as it was."""
    work = diligent(exercise)
    with pytest.raises(InputError) as caught:
        steps.repaired(exercise, work, settings, NOW)
    assert message in caught.value.message
    assert work.repair is not None


def test_an_equal_network_is_one(exercise: Assignment) -> None:
    """What two students share, or a repair and an option, is run once."""
    networks = Networks(exercise, drawn(exercise, COURSE, "ada"))
    question = exercise.question("helps").choice
    assert question is not None
    assert networks.option(question, 2) == networks.repair(REPAIR)
    assert networks.run() != networks.control(REPAIR)


def test_a_work_comes_back_as_it_was(exercise: Assignment, tmp_path: Path) -> None:
    """As one JSON document, with whatever letters."""
    work = steps.submitted(exercise, diligent(exercise, "\u30a8\u30a4\u30c0 M\u00fcller"), NOW)
    (tmp_path / "work.json").write_text(work.to_json(), encoding="utf-8")
    assert read_work(tmp_path / "work.json") == work


def broken(work_json: str, *path: str | int, value: object) -> bytes:
    """The document with another value at a place."""
    document = json.loads(work_json)
    here: Any = document
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), 2),
        (("schema",), 10**400),
        (("student",), "a\u202eb"),
        (("student",), " ada"),
        (("student",), "../../etc/passwd\x00"),
        (("exercise",), "../secret"),
        (("digest",), "x"),
        (("started",), "yesterday"),
        (("predictions", "download", "value"), 12),
        (("predictions", "download", "value"), "1" * 1_000),
        (("predictions", "download", "why"), "\x1b]0;title\x07"),
        (("predictions",), {f"p{number}": {"value": "1"} for number in range(200)}),
        (("seal", "sha256"), ""),
        (("runs",), [{"kind": "run"}] * 2),
        (("runs", 0, "settings"), {"$(reboot)": "x"}),
        (("runs", 0, "kind"), "free"),
        (("answers",), []),
        (("repair", "settings"), {"module": ["x"]}),
        (("submitted",), "2026-02-30T00:00:00Z"),
    ],
)
def test_what_is_no_work_is_refused(exercise: Assignment, path: tuple[str | int, ...], value: object) -> None:
    """The field is named, and nothing that a terminal obeys is in the message."""
    with pytest.raises(ValueError, match=r"[a-z]+") as caught:
        parse_work(broken(diligent(exercise).to_json(), *path, value=value))
    assert str(path[0]) in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"schema": 1',
        b"[" * 100_000,
        b"9" * 100_000,
        b" " * (LIMIT_BYTES + 1),
    ],
    ids=lambda content: content[:8].decode("latin-1"),
)
def test_half_a_document_is_refused(content: bytes, tmp_path: Path) -> None:
    """Cut short, nested without an end, too long: with the name of the file."""
    (tmp_path / "work.json").write_bytes(content)
    with pytest.raises(InputError, match="is no whole work"):
        read_work(tmp_path / "work.json")
