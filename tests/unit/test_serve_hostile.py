"""What somebody tries who means no good, or is careless: refused with a clear word, and nothing is lost."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from students import HERE, PREDICTED, kept, ready

from wirelab.serve import bench_pages, exercises
from wirelab.serve.exercises import exercise_called
from wirelab.serve.forms import MOST_BYTES

if TYPE_CHECKING:
    from pathlib import Path

    from served import Served


@pytest.mark.parametrize(
    "name", ["{}/secret", "../secret", "../../../../../../etc/passwd", "/dev/zero", "/proc/self/environ"]
)
def test_a_setting_reads_no_file_of_the_server(name: str, served: Served, tmp_path: Path) -> None:
    """A trace is one: what is wrong with it is said in its own words, and nobody has to be signed in."""
    (tmp_path / "secret").write_text("swordfish\n")
    query = urlencode({"with.provider.p2.shape.trace": name.format(tmp_path)})
    answer = served.visitor().get(f"/bench/mobile-trace?{query}")
    assert "name a trace of the scenario" in answer.text
    assert "swordfish" not in answer.text
    own = urlencode({"with.provider.p2.shape.trace": "traces/synthetic-mobile.trace"})
    assert "name a trace of" not in served.visitor().get(f"/bench/mobile-trace?{own}").text


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
    for path in (run, f"{run}/report", f"events?run={run}", f"{run}/result.json"):
        assert eve.get(f"/runs/{path}").status == 403, path
    assert ada.get(f"/runs/{run}/report").status == 404
    ada.post(f"{HERE}/hand-in", anyway="1")
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
    ada.post(f"{HERE}/hand-in", anyway="1")
    served.wait_for_runs()
    student = served.room.students.of_course(served.room.courses.all()[0].id)[0]
    for attempt in served.room.works.attempts(student.id, "shallow-buffer"):
        for name in ("report", "result.json", "network/plan.json"):
            assert ada.get(f"/runs/{attempt.run}/{name}").status == 404
    assert not list(served.room.folder.rglob("plan.json"))
    assert not list(served.room.folder.rglob("report.html"))


def test_a_mistake_of_the_server_is_a_page_and_a_line_of_its_log(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody sees a traceback but whoever reads the log; the next page is there again."""

    def mistaken() -> tuple[str, ...]:
        message = "a mistake for a test"
        raise RuntimeError(message)

    visitor = served.visitor()
    with monkeypatch.context() as patched:
        patched.setattr(bench_pages, "scenarios", mistaken)
        answer = visitor.get("/bench")
    assert answer.status == 500
    assert "Something went wrong on the server" in answer.text
    assert "a mistake for a test" not in answer.text
    assert "a mistake for a test" in caplog.text
    assert visitor.get("/bench").status == 200


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


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("value__upload", "2.3 parsec", "unknown unit <code>parsec</code>"),
        ("value__upload", "2300 KiB", "counts bytes; a rate is written in"),
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
