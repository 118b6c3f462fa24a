"""What a teacher sees of a class, how students get into it, and the pages of what cannot be done."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from browser import chromium
from served import PASSWORD, PretendTestbed, made_room, serving
from students import HERE, PREDICTED, kept, ready

from wirelab.errors import InputError
from wirelab.serve.exercises import exercise_called

if TYPE_CHECKING:
    from pathlib import Path

    from served import Served

LONG = "Wolfeschlegelsteinhausenbergerdorffvoralternwarengewissenhaft"[:58]


def cell(text: str, name: str) -> str:
    """The first exercises of a student in the table of the class."""
    found = re.search(rf"{name}</a></th>(.*?)</tr>", text, re.DOTALL)
    assert found
    return found[1]


def test_a_long_name_leaves_room_for_the_table(served: Served) -> None:
    """On a phone the names take less than half of the width; they and their heading stay in view."""
    served.student(LONG)
    course = served.room.courses.all()[0]
    with chromium(served.url) as browser:
        page = browser.person()
        page.goto(f"{served.url}/teacher/sign-in")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.goto(f"{served.url}/teacher/courses/{course.id}")
        tops = page.evaluate(
            "['.who span', '.who button'].map(each => document.querySelector(each).getBoundingClientRect())"
            ".map(box => (box.top + box.bottom) / 2)"
        )
        assert abs(tops[0] - tops[1]) < 2
        page.set_viewport_size({"width": 390, "height": 844})
        page.evaluate("document.querySelector('.wide').scrollLeft = 400")
        for one in ("tbody th", "thead th:first-child"):
            box = page.locator(f"table.class {one}").first.bounding_box()
            assert box["width"] < 390 / 2
            assert -1 <= box["x"] < 390 / 2, one
        browser.look(page, "class-long-name")


def test_the_table_tells_a_run_that_waits_from_one_that_is_under_way(tmp_path: Path) -> None:
    """Who may run is ready; who has asked waits at a place in the line, or their run is under way."""
    testbed = PretendTestbed()
    room = made_room(tmp_path / "class", testbed, cpus=1)
    with serving(room, testbed) as served:
        students = {name: served.student(name) for name in ("Ada", "Bob", "Cai", "Dan")}
        for student in students.values():
            student.post(f"{HERE}/seal", **PREDICTED)
        testbed.go.clear()
        for name in ("Ada", "Bob", "Cai"):
            students[name].post(f"{HERE}/run")
            while not room.queue.counts()[1]:
                time.sleep(0.01)
        teacher = served.teacher()
        course = room.courses.all()[0]
        table = teacher.get(f"/teacher/courses/{course.id}").text
        waiting = {name: re.search(r"no\. (\d) in line", cell(table, name)) for name in ("Bob", "Cai")}
        assert "ready to run network" in cell(table, "Dan")
        assert ">running</a>" in cell(table, "Ada")
        assert [found and found[1] for found in waiting.values()] == ["1", "2"]
        testbed.go.set()
        served.wait_for_runs()


def test_the_page_of_a_student_is_about_the_student(served: Served) -> None:
    """For the teacher it is not "your own code"."""
    served.student()
    [student] = served.room.students.of_course(served.room.courses.all()[0].id)
    page = served.teacher().get(f"/teacher/students/{student.id}").text
    assert "<h2>Ada&#39;s code</h2>" in page
    assert "Your own code" not in page


@pytest.mark.parametrize(
    ("path", "status", "title"),
    [
        ("/nothing", 404, "Page not found"),
        ("/exercises/nobody", 404, "Page not found"),
        ("/bench/nobody", 404, "Page not found"),
        ("/leave", 405, "That is not possible here"),
        ("/teacher", 403, "Not allowed"),
    ],
)
def test_what_cannot_be_is_said_by_its_name(path: str, status: int, title: str, served: Served) -> None:
    """In the heading; an exercise that is not there tells nothing of those that are."""
    answer = served.student().get(path)
    assert (answer.status, f"<h1>{title}</h1>" in answer.text) == (status, True), answer.text
    assert "shallow-buffer" not in answer.text


def test_an_unknown_exercise_is_no_page_for_the_teacher_either(served: Served) -> None:
    """Nor is it one of a class."""
    course = served.room.courses.add("Networks 1")
    answer = served.teacher().get(f"/teacher/courses/{course.id}/exercises/nobody/predictions")
    assert answer.status == 404
    assert "shallow-buffer" not in answer.text


@pytest.mark.parametrize(
    ("referer", "link"),
    [
        ("{url}/bench?a=1", '<a href="/bench?a=1">Back to where you were</a>'),
        ("http://elsewhere.example/x", '<a href="/">To the first page</a>'),
        ("{url}//elsewhere.example/x", '<a href="/">To the first page</a>'),
        ("http://[", '<a href="/">To the first page</a>'),
    ],
)
def test_the_way_back_is_a_link(referer: str, link: str, served: Served) -> None:
    """To a page of ours, and to no other server's whatever a request says."""
    path = "/bench/sfp-mismatch/shell?with.nobody=1"
    answer = served.student().get(path, Referer=referer.format(url=served.url))
    assert answer.status == 422
    assert link in answer.text


def test_an_invitation_that_nobody_can_follow_says_so(served: Served) -> None:
    """An address of loopback is this machine's alone; by another name of the server there is no warning."""
    course = served.room.courses.add("Networks 1")
    teacher, path = served.teacher(), f"/teacher/courses/{course.id}/invitation"
    assert "Only this machine can reach this address" in teacher.get(path).text
    assert "Only this machine" not in teacher.get(path, Host="lab.example.org").text


def test_the_code_of_a_course_is_replaced_after_a_question(served: Served) -> None:
    """The page for the projector leads there and changes nothing itself."""
    course = served.room.courses.add("Networks 1")
    teacher, path = served.teacher(), f"/teacher/courses/{course.id}"
    page = teacher.get(f"{path}/invitation").text
    assert f'action="{path}/code"' not in page
    assert f'href="{path}/code"' in page
    asked = teacher.get(f"{path}/code").text
    assert "students who have joined stay" in asked
    assert served.room.courses.get(course.id) == course
    teacher.post(f"{path}/code")
    changed = served.room.courses.get(course.id)
    assert changed is not None
    assert changed.code != course.code
    assert served.student().get(f"{path}/code").status == 403


def test_a_student_is_removed_after_a_question(served: Served) -> None:
    """With all that they did, and nobody else; who they were is out, and the name is free again."""
    ada = ready(served, "Ada")
    ready(served, "Bob")
    teacher, course = served.teacher(), served.room.courses.all()[0]
    student, bob = served.room.students.of_course(course.id)
    path = f"/teacher/students/{student.id}"
    teacher.post(f"{path}/exercises/shallow-buffer/reset")
    ada.get(HERE)
    page = teacher.get(path).text
    assert f'action="{path}/remove"' not in page
    assert f'href="{path}/remove"' in page
    assert "Remove Ada from" in teacher.get(f"{path}/remove").text
    assert ada.post(f"{path}/remove").status == 403
    assert served.room.students.of_course(course.id) == [student, bob]
    assert ">Bob</a>" in teacher.post(f"{path}/remove").text
    assert served.room.students.of_course(course.id) == [bob]
    assert [student for student, _ in served.room.works.of_course(course.id)] == [bob.id]
    assert served.room.database.rows("SELECT * FROM laid_aside") == []
    assert ada.get("/me").status == 403
    assert teacher.get(path).status == 404
    assert served.visitor().post("/join", name="Ada", code=course.code).status == 200


def test_who_is_removed_while_a_page_of_theirs_is_made_is_told(served: Served) -> None:
    """What would be kept belongs to nobody any more."""
    ready(served)
    [student] = served.room.students.of_course(served.room.courses.all()[0].id)
    works, work = served.room.works, kept(served).work
    [asked] = works.attempts(student.id, "shallow-buffer")
    served.room.students.remove(student.id)
    with pytest.raises(InputError, match=r"exercise\.gone"):
        works.begin(student.id, "shallow-buffer", work)
    with pytest.raises(InputError, match=r"exercise\.gone"):
        works.attempt(asked)


def test_a_closed_exercise_is_on_the_page_only_where_somebody_began_it(served: Served) -> None:
    """In the table and among what can be exported; it can be opened again all the same."""
    ready(served)
    course = served.room.courses.all()[0]
    teacher, path = served.teacher(), f"/teacher/courses/{course.id}"

    def places(text: str, name: str) -> tuple[bool, bool]:
        heading = f'<th scope="col">{exercise_called(name).said.title}</th>'
        return heading in text, f"{path}/exercises/{name}/marks-all.csv" in text

    before, closed = teacher.get(path).text, teacher.post(f"{path}/open").text
    assert [places(before, name) for name in ("shallow-buffer", "the-window")] == [(True, True)] * 2
    assert places(closed, "shallow-buffer") == (True, True)
    assert places(closed, "the-window") == (False, False)
    assert 'name="open.the-window"' in closed
    opened = teacher.post(f"{path}/open", **{"open__the-window": "1"}).text
    assert places(opened, "the-window") == (True, True)


def test_who_has_joined_is_asked_before_they_join_again(served: Served) -> None:
    """By the same invitation they continue; somebody else at the same browser may join all the same."""
    ada = served.student()
    course, other = served.room.courses.all()[0], served.room.courses.add("Networks 2")
    page = ada.get(f"/join/{course.code}").text
    assert "You are Ada in this course." in page
    assert 'name="name"' not in page
    assert f'href="/join/{course.code}?new=1"' in page
    assert 'name="name"' in ada.get(f"/join/{course.code}?new=1").text
    assert 'name="name"' in ada.get(f"/join/{other.code}").text
    assert 'name="name"' in served.visitor().get(f"/join/{course.code}").text
