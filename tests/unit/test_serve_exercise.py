"""A student at an exercise: what is kept, what is refused, and what the teacher sees of it."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from students import HERE, PREDICTED, kept, ready

from wirelab.serve.desk import Desk, settle
from wirelab.serve.exercises import exercise_called
from wirelab.serve.histogram import LABELS, bin_of
from wirelab.serve.works import Works

if TYPE_CHECKING:
    import pytest
    from served import Served, Visitor

    from wirelab.serve.works import Kept


def test_from_the_story_to_the_marks(served: Served) -> None:
    """Predict, run, see both beside each other, answer, repair, hand in; each mark has its reason."""
    ada = served.student()
    page = ada.get(HERE).text
    fifo = re.search(r"fifo (\d+ KiB)", page)
    assert fifo, "the drawing has the student's own figures"
    assert 'class="network across"' in page
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
    ada.post(f"{HERE}/hand-in", anyway="1")
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


def test_an_answer_that_is_none_stays_typed(served: Served) -> None:
    """The others are kept; what is wrong is said beside the question."""
    ada = ready(served)
    answer = ada.post(f"{HERE}/answer", answer__where="the moon", answer__dropped="159")
    assert answer.status == 422
    assert "unknown answer <code>the moon</code>" in answer.text
    assert set(kept(served).work.answers) == {"dropped"}
    assert kept(served).draft["answer.where"] == "the moon"


def test_an_answer_that_was_typed_is_kept_after_a_reload(served: Served) -> None:
    """The page begins with the draft then, which is no answer yet."""
    ada = ready(served)
    assert ada.post(f"{HERE}/keep", answer__dropped="159").status == 204
    assert ada.post(f"{HERE}/answer", was__answer__dropped="159", answer__dropped="159").status == 200
    assert kept(served).work.answers["dropped"].value == "159"
    assert "answer.dropped" not in kept(served).draft


def test_an_answer_may_have_lines(served: Served) -> None:
    """Browsers end them as networks do. What is kept of it is no draft any more, blanks at its end or not."""
    ada = ready(served)
    assert ada.post(f"{HERE}/keep", **{"answer__upload-why": "Nothing waits.\nIt is empty. "}).status == 204
    answer = ada.post(f"{HERE}/answer", **{"answer__upload-why": "Nothing waits.\r\nIt is empty. "})
    assert answer.status == 200
    assert kept(served).work.answers["upload-why"].value == "Nothing waits.\nIt is empty."
    assert "answer.upload-why" not in kept(served).draft


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


def test_a_run_tells_nothing_of_what_a_repair_must_do(served: Served) -> None:
    """A try of the repair does."""
    ada = ready(served)
    assert "What must hold" not in ada.get(HERE).text
    ada.post(f"{HERE}/repair", doing="try", set__module="aqr113c", set__module__fifo="64 KiB")
    served.wait_for_runs()
    page = ada.get(HERE).text
    assert "What must hold" in page
    assert "download.retransmits" in page


def test_one_result_is_open_and_another_is_a_link_away(served: Served) -> None:
    """The last one; with the pictures of all of them a page is a megabyte. It works without a script, too."""
    ada = ready(served)
    first = "result-" + re.findall(r'id="result-(\d+)"', ada.get(HERE).text)[0]
    ada.post(f"{HERE}/experiment", set__module__fifo="64 KiB")
    served.wait_for_runs()
    last = ada.get(HERE)
    assert len(re.findall('class="panel"', last.text)) == 1
    [link] = re.findall(rf'href="([^"]+)#{first}"', last.text)
    assert last.text.index('id="experiments"') < last.text.index('class="panel"')
    opened = ada.get(link)
    assert len(re.findall('class="panel"', opened.text)) == 1
    assert opened.text.index(f'id="{first}"') < opened.text.index('class="panel"')
    assert opened.text.index('class="panel"') < opened.text.index('id="experiments"')
    assert 'class="panel"' in ada.get(f"{HERE}?open=no-such-number").text


def test_a_run_that_ends_while_the_page_is_made(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says that it runs and looks again: never that it is done, with its questions still closed."""
    ada, kept_before = served.student(), Desk.kept
    ada.post(f"{HERE}/seal", **PREDICTED)
    served.testbed.go.clear()
    ada.post(f"{HERE}/run")

    def kept_and_then_the_run_ends(desk: Desk) -> Kept:
        kept = kept_before(desk)
        served.testbed.go.set()
        served.wait_for_runs()
        return kept

    monkeypatch.setattr(Desk, "kept", kept_and_then_the_run_ends)
    page = ada.get(HERE).text
    assert 'data-events="' in page
    monkeypatch.undo()
    page = ada.get(HERE).text
    assert 'data-events="' not in page
    assert "<fieldset disabled>" not in page


def test_a_run_is_written_into_the_work_once(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all pages that find it done the first writes it; one that comes later finds it written."""
    ada, room = served.student(), served.room
    ada.post(f"{HERE}/seal", **PREDICTED)
    served.testbed.go.clear()
    ada.post(f"{HERE}/run")
    served.testbed.go.set()
    served.wait_for_runs()
    found, written = room.works.unsettled(), []
    monkeypatch.setattr(Works, "unsettled", lambda _: found)
    monkeypatch.setattr(Works, "change", lambda _, *what: written.append(what))
    settle(room)
    settle(room)
    assert (len(found), len(written)) == (1, 1)


def test_the_teacher_sees_who_is_where_and_takes_the_marks(served: Served) -> None:
    """As a table, a histogram, CSV files and the works themselves."""
    ada = ready(served)
    ada.post(f"{HERE}/hand-in", anyway="1")
    served.student("Bob").get(HERE)
    served.student("=cmd()").post(f"{HERE}/seal", **PREDICTED)
    served.wait_for_runs()
    teacher, course = served.teacher(), served.room.courses.all()[0]
    of = f"/teacher/courses/{course.id}"
    table = teacher.get(of).text
    assert re.search(r"Ada</a></th>\s*<td>.*?/ 25</span>", table, re.DOTALL)
    assert re.search(r"Bob</a></th>\s*<td>.*?predicting", table, re.DOTALL)
    histogram = teacher.get(f"{of}/exercises/shallow-buffer/predictions").text
    assert "2 have predicted, 1 has run it." in histogram
    assert 'class="histogram"' in histogram
    # The first is computed from the figures alone, so that everybody is compared at once.
    assert re.search(r"<p>2 have predicted\. <b>Computed: ", histogram)
    assert "as a percentage of what was measured" in histogram
    assert all(label in histogram for label in LABELS[1:4])
    assert all("%" in label for label in LABELS)
    marks = teacher.get(f"{of}/exercises/shallow-buffer/marks-all.csv")
    assert "Ada" in marks.text
    assert marks.headers["content-disposition"] == 'attachment; filename="shallow-buffer-all.csv"'
    assert "Points Possible" in teacher.get(f"{of}/exercises/shallow-buffer/marks-canvas.csv").text
    assert "Full name" in teacher.get(f"{of}/exercises/shallow-buffer/marks-moodle.csv").text
    assert teacher.get(f"{of}/exercises/shallow-buffer/marks-evil.csv").status == 404


def test_the_teacher_says_who_is_who_in_moodle(served: Served) -> None:
    """By what Moodle exports, however long; who is not in it is named, and in no file. Students cannot."""
    ada = ready(served)
    ada.post(f"{HERE}/hand-in", anyway="1")
    served.student("Bob").get(HERE)
    served.wait_for_runs()
    teacher, course = served.teacher(), served.room.courses.all()[0]
    of = f"/teacher/courses/{course.id}"
    assert ada.post(f"{of}/roster", roster="Student,ID\nAda,1\n").status == 403
    many = "".join(f"Participant {number},Somebody {number}\n" for number in range(500))
    worksheet = f"Identifier,Full name\nParticipant 4711,ada\n{many}"
    page = teacher.post(f"{of}/roster", roster=worksheet)
    assert "in no file for Moodle or Canvas: Bob</p>" in page.text
    assert "Participant 4711" in page.text
    assert "Participant 4711" in teacher.get(f"{of}/exercises/shallow-buffer/marks-moodle.csv").text
    refused = teacher.post(f"{of}/roster", roster="Ada, Bob")
    assert refused.status == 422
    assert "has no column with names" in refused.text
    assert "in no file" not in teacher.post(f"{of}/roster", roster="").text


def test_the_teacher_gives_points_for_what_is_written_in_words(served: Served) -> None:
    """They are among the marks, the student's and the exported ones; more than there are is refused."""
    ada = ready(served)
    ada.post(f"{HERE}/answer", **{"answer__upload-why": "From slow to fast nothing waits."})
    ada.post(f"{HERE}/hand-in", anyway="1")
    served.wait_for_runs()
    before = re.search(r"([\d.]+) of (\d+) points", ada.get(HERE).text)
    assert before
    course = served.room.courses.all()[0]
    student = served.room.students.of_course(course.id)[0]
    teacher, page = served.teacher(), f"/teacher/students/{student.id}/exercises/shallow-buffer"
    assert "From slow to fast nothing waits." in teacher.get(page).text
    for wrong in ("3", "-1", "1e1", "nan", "9" * 100):
        assert teacher.post(f"{page}/points", **{"points__upload-why": wrong}).status == 422
    assert teacher.post(f"{page}/points", points__where="2").status == 422
    assert ada.post(f"{page}/points", **{"points__upload-why": "2"}).status == 403
    teacher.post(f"{page}/points", **{"points__upload-why": "1,5"})
    after = re.search(r"([\d.]+) of (\d+) points", ada.get(HERE).text)
    assert after
    assert float(after[1]) == float(before[1]) + 1.5
    marks = teacher.get(f"/teacher/courses/{course.id}/exercises/shallow-buffer/marks-all.csv").text
    assert ",1.5," in marks


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
