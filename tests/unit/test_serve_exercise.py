"""A student at an exercise: what is kept, what is refused, and what the teacher sees of it."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from served import PretendTestbed, Served, Visitor, made_room, serving

from wirelab.serve import exercises
from wirelab.serve.exercises import exercise_called
from wirelab.serve.forms import MOST_BYTES
from wirelab.serve.histogram import LABELS, bin_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wirelab.serve.works import Kept

HERE = "/exercises/shallow-buffer"
PREDICTED = {
    "value__burst": "30",
    "unit__burst": "kB",
    "why__burst": "It drains while it fills.",
    "value__upload": "2.3",
    "unit__upload": "Gbit/s",
    "why__upload": "Nothing has to wait.",
    "value__download": "1.1 Gbit/s",
    "unit__download": "Mbit/s",
    "why__download": "TCP sends again.",
    "value__retransmits": "400",
    "why__retransmits": "A guess.",
}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A classroom with nobody in it."""
    testbed = PretendTestbed()
    with serving(made_room(tmp_path / "class", testbed), testbed) as answers:
        yield answers


def kept(served: Served, name: str = "Ada") -> Kept:
    """What is kept of a student's work."""
    course = served.room.courses.all()[0]
    student = next(one for one in served.room.students.of_course(course.id) if one.name == name)
    found = served.room.works.get(student.id, "shallow-buffer")
    assert found is not None
    return found


def ready(served: Served, name: str = "Ada") -> Visitor:
    """A student who has predicted and run the network."""
    visitor = served.student(name)
    assert visitor.post(f"{HERE}/seal", **PREDICTED).status == 200
    assert visitor.post(f"{HERE}/run").status == 200
    served.wait_for_runs()
    visitor.get(HERE)
    return visitor


def test_from_the_story_to_the_marks(served: Served) -> None:
    """Predict, run, see both beside each other, answer, repair, hand in; each mark has its reason."""
    ada = served.student()
    page = ada.get(HERE).text
    fifo = re.search(r"fifo (\d+ KiB)", page)
    assert fifo, "the drawing has the student's own figures"
    assert 'class="network"' in page
    assert "The shallow buffer" in ada.get("/exercises").text
    ada.post(f"{HERE}/seal", **PREDICTED)
    ada.post(f"{HERE}/run")
    served.wait_for_runs()
    page = ada.get(HERE).text
    assert "1.1 Gbit/s" in page
    assert kept(served).work.has_run("network")
    ada.post(f"{HERE}/answer", answer__where="module.line", answer__dropped="159", answer__mechanism="FIFO")
    ada.post(f"{HERE}/experiment", set__module__fifo="64 KiB")
    ada.post(f"{HERE}/repair", doing="try", set__module="aqr113c", set__module__fifo="64 KiB")
    served.wait_for_runs()
    ada.post(f"{HERE}/repair", doing="hand-in", set__module="aqr113c", set__module__fifo="64 KiB")
    ada.post(f"{HERE}/hand-in")
    served.wait_for_runs()
    page = ada.get(HERE).text
    marks = kept(served).marks
    assert marks is not None
    reasons = {mark.name: mark for mark in marks.marks}
    assert reasons["where"].points == 2
    assert reasons["dropped"].points == 1
    assert reasons["repair"].points == 4, reasons["repair"].reason
    assert f"{marks.points:g} of {marks.most} points" in page
    assert reasons["burst"].reason in page
    assert [ran.kind for ran in kept(served).work.runs] == ["run", "experiment", "repair"]


def test_nothing_runs_before_the_predictions_are_sealed(served: Served) -> None:
    """Neither by the button, which is not there, nor by a form that somebody makes."""
    ada = served.student()
    assert f'action="{HERE}/run"' not in ada.get(HERE).text
    answer = ada.post(f"{HERE}/run")
    assert answer.status == 422
    assert "nothing runs before the predictions are sealed" in answer.text
    assert served.testbed.plans == []


def test_what_is_typed_is_kept_at_once(served: Served) -> None:
    """A closed laptop loses nothing: it is there on another device, though nothing was handed over."""
    ada = served.student()
    ada.get(HERE)
    assert ada.post(f"{HERE}/keep", value__upload="2.31", why__upload="nothing w").status == 204
    code = re.search(r'class="big code">([0-9A-Z-]+)<', ada.get("/me").text)
    assert code
    other = served.visitor()
    other.post("/resume", code=code[1])
    page = other.get(HERE).text
    assert 'value="2.31"' in page
    assert "nothing w" in page


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("value__upload", "2.3 parsec", "unknown unit `parsec`"),
        ("value__upload", "2300 KiB", "is a unit of size"),
        ("value__upload", "1" * 4001, "That is too long"),
        ("value__upload", "9" * 150, "upload: "),
        ("value__burst", "30 kB; DROP TABLE work", "burst: "),
        ("value__retransmits", "-5", "retransmits: "),
        ("value__retransmits", "", "nothing is written"),
        ("why__upload", "\x1b[31mred", "a character that no terminal should see"),
    ],
)
def test_a_prediction_that_cannot_be_is_refused_and_nothing_is_lost(
    field: str, text: str, words: str, served: Served
) -> None:
    """It says what is wrong; what else was typed is still there, and nothing is sealed."""
    ada = served.student()
    ada.get(HERE)
    ada.post(f"{HERE}/keep", why__burst="It drains while it fills.")
    answer = ada.post(f"{HERE}/seal", **{**PREDICTED, field: text})
    assert answer.status == 422
    assert words in answer.text.replace("&#39;", "'")
    assert kept(served).work.seal is None
    assert "It drains while it fills." in ada.get(HERE).text


def test_a_second_tab_does_not_seal_twice_and_takes_no_answer_back(served: Served) -> None:
    """What the other tab has not touched stays as the first one left it."""
    first = ready(served)
    sealed = kept(served).work
    again = first.post(f"{HERE}/seal", **{**PREDICTED, "value__upload": "9"})
    assert again.status == 422
    assert "do not change any more" in again.text
    assert kept(served).work.seal == sealed.seal
    first.post(f"{HERE}/answer", answer__where="module.line", was__answer__where="")
    # The other tab was opened before: it shows nothing there, and sends that along.
    first.post(f"{HERE}/answer", answer__where="", was__answer__where="", answer__dropped="12")
    answers = kept(served).work.answers
    assert (answers["where"].value, answers["dropped"].value) == ("module.line", "12")


def test_an_answer_that_is_none_stays_typed(served: Served) -> None:
    """The others are kept; what is wrong is said beside the question."""
    ada = ready(served)
    answer = ada.post(f"{HERE}/answer", answer__where="the moon", answer__dropped="159")
    assert answer.status == 422
    assert "unknown answer `the moon`" in answer.text
    assert set(kept(served).work.answers) == {"dropped"}
    assert kept(served).draft["answer.where"] == "the moon"


def test_no_more_experiments_than_allowed_though_they_are_asked_for_at_once(served: Served) -> None:
    """What waits counts as well."""
    ada = ready(served)
    served.testbed.go.clear()
    told = [ada.post(f"{HERE}/experiment", set__module__fifo=f"{16 + 4 * n} KiB").status for n in range(5)]
    assert told == [200, 200, 200, 200, 422]
    served.testbed.go.set()
    served.wait_for_runs()
    ada.get(HERE)
    assert kept(served).work.count("experiment") == 4


def test_what_a_setting_may_not_be_is_refused(served: Served) -> None:
    """One that the exercise does not offer, and a value outside of its range."""
    ada = ready(served)
    assert "setting that may be changed" in ada.post(f"{HERE}/experiment", set__switch__buffer="1 MiB").text
    assert "is not in 8..256 KiB" in ada.post(f"{HERE}/experiment", set__module__fifo="9 MiB").text
    assert ada.post(f"{HERE}/repair", doing="hand-in", set__module="../../etc").status == 422
    assert kept(served).work.runs[1:] == ()


def test_a_closed_exercise_stays_as_it_is(served: Served) -> None:
    """Nothing can be done in it; what was done can be seen."""
    ada = ready(served)
    course = served.room.courses.all()[0]
    served.teacher().post(f"/teacher/courses/{course.id}/open")
    assert "closed" in ada.get("/exercises").text
    before = kept(served).work
    for step, fields in (
        ("answer", {"answer__where": "module.line"}),
        ("keep", {"answer__where": "module.line"}),
        ("experiment", {"set__module__fifo": "64 KiB"}),
        ("hand-in", {}),
    ):
        assert "Your teacher has closed this exercise" in ada.post(f"{HERE}/{step}", **fields).text
    assert kept(served).work == before
    served.teacher().post(f"/teacher/courses/{course.id}/open", open__shallow_buffer="1")
    served.teacher().post(f"/teacher/courses/{course.id}/open", **{"open__shallow-buffer": "1"})
    assert ada.post(f"{HERE}/answer", answer__where="module.line").status == 200


def test_students_text_is_text(served: Served) -> None:
    """Markup in a name, a reason or an answer is shown as it was typed, to the student and to the teacher."""
    evil = "<script>alert(1)</script>\"'&{{ 7 * 7 }}"
    ada = served.student("<b>Ada</b>")
    ada.post(f"{HERE}/seal", **{**PREDICTED, "why__upload": evil})
    ada.post(f"{HERE}/run")
    served.wait_for_runs()
    ada.get(HERE)
    ada.post(f"{HERE}/answer", **{"answer__upload-why": evil})
    teacher = served.teacher()
    course = served.room.courses.all()[0]
    student = served.room.students.of_course(course.id)[0]
    for text in (
        ada.get(HERE).text,
        teacher.get(f"/teacher/courses/{course.id}").text,
        teacher.get(f"/teacher/students/{student.id}/exercises/shallow-buffer").text,
    ):
        assert "<script>alert" not in text
        assert "<b>Ada" not in text
        assert "49" not in re.findall(r"\{\{.*?\}\}|&#34;&#39;&amp;(\d+)", text)
    assert (
        "&lt;script&gt;alert(1)"
        in teacher.get(f"/teacher/students/{student.id}/exercises/shallow-buffer").text
    )


def test_nobody_sees_somebody_elses_runs(served: Served) -> None:
    """Nor their report, nor how far they are; their own report waits until the work is handed in."""
    ada, eve = ready(served), served.student("Eve")
    run = served.room.works.attempts(
        served.room.students.of_course(served.room.courses.all()[0].id)[0].id, "shallow-buffer"
    )[0].run
    for path in (f"/runs/{run}", f"/runs/{run}/report", f"/runs/{run}/events", f"/runs/{run}/result.json"):
        assert eve.get(path).status == 403, path
    assert ada.get(f"/runs/{run}/report").status == 404
    ada.post(f"{HERE}/hand-in")
    served.wait_for_runs()
    assert "Bottlenecks" in ada.get(f"/runs/{run}/report").text


def test_a_technician_sees_no_inside(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters, and neither charts nor ports; no report and no Plan, not even when it is handed in."""
    open_one = exercise_called("shallow-buffer")
    closed = replace(open_one, said=open_one.said.model_copy(update={"sees": "technician"}))
    monkeypatch.setattr(exercises, "_read", lambda _: closed)
    ada = ready(served)
    page = ada.get(HERE).text
    assert "Counters" in page
    assert "Over virtual time" not in page
    assert "queue high water" not in page
    ada.post(f"{HERE}/hand-in")
    served.wait_for_runs()
    student = served.room.students.of_course(served.room.courses.all()[0].id)[0]
    for attempt in served.room.works.attempts(student.id, "shallow-buffer"):
        for name in ("report", "result.json", "network/plan.json"):
            assert ada.get(f"/runs/{attempt.run}/{name}").status == 404
    assert not list(served.room.folder.rglob("plan.json"))
    assert not list(served.room.folder.rglob("report.html"))


def test_a_run_tells_nothing_of_what_a_repair_must_do(served: Served) -> None:
    """A try of the repair does."""
    ada = ready(served)
    assert "What must hold" not in ada.get(HERE).text
    ada.post(f"{HERE}/repair", doing="try", set__module="aqr113c", set__module__fifo="64 KiB")
    served.wait_for_runs()
    page = ada.get(HERE).text
    assert "What must hold" in page
    assert "download.retransmits" in page


def test_the_teacher_sees_who_is_where_and_takes_the_marks(served: Served) -> None:
    """As a table, a histogram, CSV files and the works themselves."""
    ada = ready(served)
    ada.post(f"{HERE}/hand-in")
    served.student("Bob").get(HERE)
    served.student("=cmd()").post(f"{HERE}/seal", **PREDICTED)
    served.wait_for_runs()
    teacher, course = served.teacher(), served.room.courses.all()[0]
    of = f"/teacher/courses/{course.id}"
    table = teacher.get(of).text
    assert re.search(r"Ada</a></th>\s*<td>.*?/ 25</span>", table, re.DOTALL)
    assert re.search(r"Bob</a></th>\s*<td>.*?predicts", table, re.DOTALL)
    histogram = teacher.get(f"{of}/exercises/shallow-buffer/predictions").text
    assert "2 have predicted, 1 have run it." in histogram
    assert 'class="histogram"' in histogram
    marks = teacher.get(f"{of}/exercises/shallow-buffer/marks-all.csv")
    assert "Ada" in marks.text
    assert marks.headers["content-disposition"] == 'attachment; filename="shallow-buffer-all.csv"'
    assert "Points Possible" in teacher.get(f"{of}/exercises/shallow-buffer/marks-canvas.csv").text
    assert "Full name" in teacher.get(f"{of}/exercises/shallow-buffer/marks-moodle.csv").text
    assert teacher.get(f"{of}/exercises/shallow-buffer/marks-evil.csv").status == 404


def test_a_student_begins_anew_when_the_teacher_says_so(served: Served) -> None:
    """The old work is laid aside: in the database, and shown to nobody."""
    ready(served)
    ready(served, "Bob")
    course = served.room.courses.all()[0]
    student = served.room.students.of_course(course.id)[0]
    served.teacher().post(f"/teacher/students/{student.id}/exercises/shallow-buffer/reset")
    assert served.room.works.get(student.id, "shallow-buffer") is None
    assert kept(served, "Bob").work.seal is not None
    laid = served.room.database.rows("SELECT * FROM laid_aside")
    assert [row["student"] for row in laid] == [student.id]


def test_works_leave_as_an_archive_that_grading_takes(served: Served) -> None:
    """No student's name is a part of a path in it."""
    ready(served, "../../etc/passwd")
    course = served.room.courses.all()[0]
    teacher = served.teacher()
    url = f"/teacher/courses/{course.id}/exercises/shallow-buffer/works.zip"
    answer = teacher.get(url)
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/zip"


def test_a_form_that_is_none_or_too_large_changes_nothing(served: Served) -> None:
    """A million digits, JSON, bytes that are no text, and a thousand fields."""
    ada = served.student()
    ada.get(HERE)
    before = kept(served)
    token = urlencode({"csrf": ada.csrf}).encode()
    assert ada.send(f"{HERE}/keep", token + b"&value.upload=" + b"1" * 1_000_000).status == 422
    assert ada.send(f"{HERE}/keep", b'{"value.upload": "1"}', "application/json").status == 422
    assert ada.send(f"{HERE}/keep", token + b"&value.upload=%ff%fe").status == 422
    assert ada.send(f"{HERE}/keep", token + b"&value.upload=1%00").status == 422
    assert ada.send(f"{HERE}/keep", token + b"&a=1" * 1000).status == 422
    assert ada.send(f"{HERE}/keep", token + b"&value.upload=" + b"1" * MOST_BYTES).status == 422
    assert kept(served) == before


@pytest.mark.parametrize(
    "path",
    [
        "/exercises/..%2f..%2fetc%2fpasswd",
        "/exercises/x'%20OR%201=1--",
        "/bench/..%2f..%2fscenarios%2fecn",
        "/bench/%2fetc%2fpasswd",
        "/runs/x'%20OR%20'1'='1",
        "/runs/..%2f..%2fclassroom.sqlite/report",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/resume/%0d%0aSet-Cookie:%20x=1",
    ],
)
def test_a_path_leads_nowhere_but_to_pages(path: str, served: Served) -> None:
    """Neither to files, nor into the database, nor into the headers of an answer."""
    answer = served.student().get(path)
    assert answer.status in (404, 422), answer.text
    assert "root:" not in answer.text
    assert "Set-Cookie: x" not in str(answer.headers)


def test_two_students_have_networks_of_their_own(served: Served) -> None:
    """And the same network is run once, for whoever asks first."""
    figures = set()
    for name in ("Ada", "Bob", "Cai", "Dee", "Eli", "Fay"):
        page = served.student(name).get(HERE).text
        figures.add(tuple(re.findall(r"(?:fifo|speed) (\d[\d.]* \S+)", page)))
    assert len(figures) > 2


def test_a_prediction_stands_in_the_histogram_by_its_part_of_what_was_measured() -> None:
    """Within a tenth is right; both ends of the middle are in it."""
    assert [LABELS[bin_of(said, 100)] for said in (10, 90, 100, 110, 111, 500)] == [
        LABELS[0],
        LABELS[4],
        LABELS[4],
        LABELS[4],
        LABELS[5],
        LABELS[8],
    ]
    assert LABELS[bin_of(0, 0)] == LABELS[4]
    assert LABELS[bin_of(5, 0)] == LABELS[8]


def test_students_at_once_lose_nothing(served: Served) -> None:
    """Twenty type and hand over at the same time: each has what they typed."""
    visitors = {f"Student {number}": served.student(f"Student {number}") for number in range(20)}

    def work(name: str, visitor: Visitor) -> None:
        visitor.get(HERE)
        visitor.post(f"{HERE}/keep", why__burst=f"of {name}")
        visitor.post(f"{HERE}/seal", **{**PREDICTED, "why__upload": f"by {name}"})

    threads = [threading.Thread(target=work, args=item) for item in visitors.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in visitors:
        found = kept(served, name)
        assert found.work.predictions["upload"].why == f"by {name}"


def test_an_exercise_is_read_once() -> None:
    """Pages ask for it again and again."""
    assert exercise_called("shallow-buffer") is exercise_called("shallow-buffer")
