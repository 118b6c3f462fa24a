"""Who comes into a classroom, who comes back, and who is kept out."""

from __future__ import annotations

import base64
import json
import logging
import random
import re
from typing import TYPE_CHECKING

import pytest
from served import PASSWORD, PretendTestbed, Served, made_room, serving

from wirelab.errors import InputError, LabError
from wirelab.serve.code import RESUME_LETTERS, new_code, read_code
from wirelab.serve.database import Database
from wirelab.serve.limits import Deed, Limits
from wirelab.serve.migrations import MIGRATIONS
from wirelab.serve.password import hashed, is_right
from wirelab.serve.room import DATABASE, DataFolder

if TYPE_CHECKING:
    from pathlib import Path


def own_code(text: str) -> str:
    """The code on a student's page."""
    found = re.search(r'class="big code">([0-9A-Z-]+)<', text)
    assert found
    return found[1]


def test_a_code_survives_being_read_out() -> None:
    """Small letters, blanks instead of dashes, and letters that look like digits."""
    code = new_code(RESUME_LETTERS, random.Random(1).choice)  # noqa: S311 - the same one in each test
    assert read_code(code.lower().replace("-", " ").replace("0", "O").replace("1", "l")) == code
    assert read_code("<script>") == read_code("") == ""


def test_a_student_joins_with_a_code_and_a_name_and_comes_back_with_their_own(served: Served) -> None:
    """On another device, with the code or with the link; no e-mail and no password are asked for."""
    course = served.room.courses.add("Networks 1")
    first = served.visitor()
    joined = first.post("/join", name="  Ada   Lovelace ", code=course.code.lower().replace("-", " "))
    assert joined.status == 200
    code = own_code(joined.text)
    assert "Ada Lovelace" in joined.text
    other = served.visitor()
    assert "Ada Lovelace" in other.get(f"/resume/{code}").text
    assert "Ada Lovelace" in other.post("/resume", code=code).text
    assert own_code(other.get("/me").text) == code


def test_a_link_alone_signs_nobody_in(served: Served) -> None:
    """Programs follow links to show what is behind them: only the button does it."""
    ada = served.student("Ada")
    code = own_code(ada.get("/me").text)
    other = served.visitor()
    other.get(f"/resume/{code}")
    assert other.get("/me").status == 403


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "Please enter a name"),
        ("x" * 61, "longer than 60 letters"),
        ("Ada\u202egnp", "invisible characters"),
        ("ADA", "Somebody in this course already has that name"),
        ("\uff21da", "Somebody in this course already has that name"),
    ],
)
def test_a_name_that_cannot_be_is_refused_with_a_word(name: str, words: str, served: Served) -> None:
    """One that looks like another's is that other's: full-width letters and capitals, too."""
    served.student("Ada")
    course = served.room.courses.all()[0]
    answer = served.visitor().post("/join", name=name, code=course.code)
    assert answer.status == 422
    assert words in answer.text
    assert len(served.room.students.of_course(course.id)) == 1


@pytest.mark.parametrize("has_answer", [False, True])
def test_who_joins_twice_with_one_form_is_one_student(served: Served, has_answer: bool) -> None:  # noqa: FBT001
    """Be the first answer lost or not: of a button pressed twice, the browser shows the last one."""
    course = served.room.courses.add("Networks 1")
    ada = served.visitor()
    ada.get("/")
    token, before = ada.csrf, list(ada.jar)
    ada.post("/join", name="Ada", code=course.code)
    if not has_answer:
        ada.jar.clear()
        for cookie in before:
            ada.jar.set_cookie(cookie)
    again = ada.post("/join", csrf=token, name=" ada ", code=course.code)
    [student] = served.room.students.of_course(course.id)
    assert own_code(again.text) == own_code(ada.get("/me").text) == student.code
    assert ada.post("/join", csrf=token, name="Eve", code=course.code).status == 403
    served.room.students.new_code(student.id)
    assert ada.post("/join", csrf=token, name="Ada", code=course.code).status == 403
    assert "already has that name" in served.visitor().post("/join", name="Ada", code=course.code).text
    assert len(served.room.students.of_course(course.id)) == 1


def test_a_wrong_code_is_refused_and_guessing_is_slow(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """After some wrong ones even the right one has to wait: what is guessed is a matter of luck."""
    course = served.room.courses.add("Networks 1")
    visitor = served.visitor()
    assert "No course has this code" in visitor.post("/join", name="Eve", code="00000-00000").text
    for _ in range(Deed.WRONG_CODE.at_once):
        answer = visitor.post("/resume", code="00000-00000-00000")
    assert answer.status == 429
    assert "try again in" in answer.text
    assert visitor.post("/join", name="Eve", code=course.code).status == 429
    assert "no course has this code" in caplog.text


def test_only_the_teacher_sees_the_teachers_pages(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    """A student and a stranger are refused with a clear word, and it is logged who it was."""
    ada = served.student("Ada")
    course = served.room.courses.all()[0]
    student = served.room.students.of_course(course.id)[0]
    pages = [
        "/teacher",
        f"/teacher/courses/{course.id}",
        f"/teacher/courses/{course.id}/invitation",
        f"/teacher/courses/{course.id}/exercises/shallow-buffer/predictions",
        f"/teacher/courses/{course.id}/exercises/shallow-buffer/marks-all.csv",
        f"/teacher/courses/{course.id}/exercises/shallow-buffer/works.zip",
        f"/teacher/students/{student.id}",
        f"/teacher/students/{student.id}/exercises/shallow-buffer",
    ]
    for visitor in (ada, served.visitor()):
        for path in pages:
            answer = visitor.get(path)
            assert (answer.status, "This page is for the teacher" in answer.text) == (403, True), path
            assert student.code not in answer.text
    assert f"student:{student.id}" in caplog.text
    teacher = served.teacher()
    assert [teacher.get(path).status for path in pages[:4]] == [200] * 4
    for path in (
        "/teacher/courses",
        f"/teacher/courses/{course.id}/code",
        f"/teacher/students/{student.id}/code",
    ):
        assert ada.post(path, title="mine").status == 403
    assert served.room.courses.all() == [course]


def test_a_new_code_of_a_student_ends_the_old_sessions(served: Served) -> None:
    """Whoever had the old one is out; the work stays with the student."""
    ada = served.student("Ada")
    student = served.room.students.of_course(served.room.courses.all()[0].id)[0]
    served.teacher().post(f"/teacher/students/{student.id}/code")
    assert ada.get("/me").status == 403
    fresh = served.room.students.get(student.id)
    assert fresh is not None
    assert "Ada" in served.visitor().post("/resume", code=fresh.code).text


def test_the_password_is_set_once_by_the_link_of_the_first_start(tmp_path: Path) -> None:
    """No other link does it, a short one is none, and afterwards the link is dead."""
    testbed = PretendTestbed()
    room = made_room(tmp_path / "class", testbed)
    key = room.set_up_key
    assert key
    with serving(room, testbed) as served:
        # The harness has set one: as it was before.
        room.database.write("DELETE FROM setting WHERE name = 'password'")
        visitor = served.visitor()
        assert visitor.get("/set-up/0000").status == 403
        assert visitor.get(f"/set-up/{key}").status == 200
        short = visitor.post("/set-up", key=key, password="short", again="short")  # noqa: S106 - a wrong one
        assert "fewer than 10 characters" in short.text
        differ = visitor.post("/set-up", key=key, password=PASSWORD, again=PASSWORD + "x")
        assert "not the same" in differ.text
        assert "Courses" in visitor.post("/set-up", key=key, password=PASSWORD, again=PASSWORD).text
        assert visitor.get(f"/set-up/{key}").status == 403


def test_a_password_is_kept_as_a_salted_hash() -> None:
    """Twice the same one is not the same hash; a wrong one, and a huge one, are not right."""
    one, other = (hashed(PASSWORD, salt * 16) for salt in (b"a", b"b"))
    assert one != other
    assert PASSWORD not in one
    assert is_right(PASSWORD, one)
    assert is_right(PASSWORD, other)
    assert not is_right(PASSWORD + "x", one)
    assert not is_right("x" * 1_000_000, one)


def test_a_password_is_not_guessed_quickly(served: Served) -> None:
    """After some wrong ones even the right one has to wait."""
    visitor = served.visitor()
    for _ in range(Deed.WRONG_PASSWORD.at_once):
        assert visitor.post("/teacher/sign-in", password="wrong wrong").status == 403  # noqa: S106 - a wrong one
    assert visitor.post("/teacher/sign-in", password=PASSWORD).status == 429


def test_a_made_up_session_is_nobodys(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    """Signed with another key, or not at all, or with a part of a real one: logged, and worth nothing."""
    ada = served.student("Ada")
    (cookie,) = (one.value for one in ada.jar if one.name == "wirelab")
    claim = base64.b64encode(json.dumps({"teacher": served.room.generation}).encode()).decode()
    for made_up in (claim, f"{claim}.aaaa.bbbb", f"{claim}.{(cookie or '').partition('.')[2]}", "x" * 3000):
        assert served.visitor().get("/teacher", Cookie=f"wirelab={made_up}").status == 403
    assert "did not sign" in caplog.text


def test_a_form_of_another_site_does_nothing(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    """Without the token of the session, or with that of another one."""
    teacher, other = served.teacher(), served.teacher()
    other.get("/teacher")
    for token in ("", other.csrf, "x"):
        answer = teacher.post("/teacher/courses", csrf=token, title="Not mine")
        assert answer.status == 403
        assert "does not come from this page" in answer.text
    assert served.room.courses.all() == []
    assert "without the token of its session" in caplog.text


def test_what_was_done_too_often_may_be_done_later() -> None:
    """So many at once, and one more after each pause; somebody else is not slowed down."""
    now_s = [0.0]
    limits = Limits(lambda: now_s[0])
    deed = Deed.WRONG_PASSWORD
    assert [limits.take(deed, "eve") for _ in range(deed.at_once)] == [0.0] * deed.at_once
    assert limits.take(deed, "eve") == pytest.approx(deed.seconds_each)
    assert limits.take(deed, "ada") == 0
    now_s[0] = deed.seconds_each
    assert limits.take(deed, "eve") == 0
    assert limits.take(deed, "eve") > 0


def test_a_database_is_brought_up_to_date_step_by_step(tmp_path: Path) -> None:
    """One of the first version gets what came later, and keeps what it had."""
    path = tmp_path / DATABASE
    old = Database(path)
    old.set("kept", "yes")
    for table in ("laid_aside", "closed", "attempt", "work", "asked", "run"):
        old.write(f"DROP TABLE {table}")
    old.write("ALTER TABLE course DROP COLUMN roster")
    old.write("ALTER TABLE student DROP COLUMN joined_by")
    old.write("PRAGMA user_version = 1")
    old.close()
    new = Database(path)
    assert new.setting("kept") == "yes"
    assert new.rows("SELECT * FROM run") == []
    assert new.row("PRAGMA user_version")[0] == len(MIGRATIONS)  # type: ignore[index]
    new.close()


def test_a_database_of_a_newer_wirelab_is_not_touched(tmp_path: Path) -> None:
    """It says what helps; so does a file that is no database."""
    path = tmp_path / DATABASE
    Database(path).write("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="made by a newer wirelab"):
        Database(path)
    (tmp_path / "other").write_bytes(b"not a database" * 100)
    with pytest.raises(LabError, match="cannot be used as a database"):
        Database(tmp_path / "other")


def test_one_server_at_a_time_has_a_folder(tmp_path: Path) -> None:
    """A second one is told so; nobody else on the machine may read it."""
    folder = DataFolder.made(tmp_path / "class")
    assert (tmp_path / "class").stat().st_mode & 0o077 == 0
    with folder.only_one(), pytest.raises(InputError, match="another `wirelab serve`"), folder.only_one():
        pass
    with folder.only_one():
        pass


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """With the path and what helps."""
    (tmp_path / "file").touch()
    with pytest.raises(LabError, match="cannot be used for a classroom") as told:
        DataFolder.made(tmp_path / "file" / "class")
    assert told.value.hint == "name a folder that can be written with --data"


def test_the_log_has_one_line_for_each_thing(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever the path is that somebody asks for."""
    caplog.set_level(logging.WARNING)
    served.visitor().get("/teacher/students/x%0aWARNING%20forged%1b[31m")
    assert all(
        "\n" not in record.getMessage() and "\x1b" not in record.getMessage() for record in caplog.records
    )
