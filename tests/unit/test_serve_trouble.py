"""A classroom in which something is gone, full or asked for at once: nobody else loses a page or a result."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from served import PASSWORD, PretendTestbed, Served, Visitor, made_room
from students import HERE, kept, ready

from wirelab.exercise.draw import drawn
from wirelab.runner.store import RESULT
from wirelab.serve.bench import Bench
from wirelab.serve.desk import result_of
from wirelab.serve.exercises import exercise_called
from wirelab.serve.limits import Deed
from wirelab.serve.queue import RunQueue
from wirelab.serve.room import RESULTS, Room
from wirelab.serve.runs import Runs

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def second_device(served: Served, name: str = "Ada") -> Visitor:
    """The same student, at another browser."""
    [course] = served.room.courses.all()
    code = next(one.code for one in served.room.students.of_course(course.id) if one.name == name)
    visitor = served.visitor()
    visitor.post("/resume", code=code)
    visitor.get(HERE)
    return visitor


def remove_results(served: Served) -> None:
    """Somebody has tidied up."""
    for folder in served.room.folder.iterdir():
        shutil.rmtree(folder)


def test_results_that_are_gone_cost_nobody_a_page_and_are_run_again(served: Served) -> None:
    """Whether they are in a work yet or not; marks are given again when somebody asks for them."""
    ada = ready(served)
    ada.post(f"{HERE}/experiment", set__module__fifo="64 KiB")
    served.wait_for_runs()
    ada.post(f"{HERE}/hand-in", anyway="1")
    served.wait_for_runs()
    remove_results(served)
    bob, teacher = served.student("Bob"), served.teacher()
    [course] = served.room.courses.all()
    for visitor, path in (
        (bob, HERE),
        (bob, "/exercises"),
        (teacher, f"/teacher/courses/{course.id}"),
        (ada, HERE),
    ):
        assert visitor.get(path).status == 200
    # Found gone by the look before, asked for by this one.
    ada.get(HERE)
    served.wait_for_runs()
    ada_id = served.room.students.of_course(course.id)[0].id
    asked = served.room.works.attempts(ada_id, "shallow-buffer")
    found = {one.kind: served.room.runs.get(one.run) for one in asked}
    assert {kind for kind, run in found.items() if run and served.room.results_of(run)} == {
        "run",
        "experiment",
    }
    assert kept(served).work.count("experiment") == 1


def test_a_damaged_result_keeps_only_its_own_run_out_of_the_work(served: Served) -> None:
    """What cannot be read is told to the log, and the others are settled."""
    ada = ready(served)
    served.testbed.go.clear()
    for fifo in ("64 KiB", "128 KiB"):
        ada.post(f"{HERE}/experiment", set__module__fifo=fifo)
    served.testbed.go.set()
    served.wait_for_runs()
    first, _ = served.room.works.unsettled()
    found = served.room.runs.get(first.run)
    assert found is not None
    folder = served.room.results_of(found)
    assert folder is not None
    (folder / RESULT).unlink()
    assert served.student("Bob").get(HERE).status == 200
    assert [run.name for run in kept(served).work.runs if run.kind == "experiment"] == ["experiment-2"]
    assert served.room.works.unsettled() == [first]
    # It is as if it had been trimmed.
    ada.get(HERE)
    served.wait_for_runs()
    ada.get(HERE)
    assert served.room.works.unsettled() == []
    assert kept(served).work.count("experiment") == 2


def test_a_result_that_was_damaged_later_is_made_anew(served: Served) -> None:
    """The page of the exercise comes all the same, the teacher's too, and the figures are there again."""
    ada = ready(served)
    [course] = served.room.courses.all()
    [one] = served.room.students.of_course(course.id)
    [attempt] = [done for done in served.room.works.attempts(one.id, "shallow-buffer") if done.kind == "run"]

    def folder() -> Path | None:
        run = served.room.runs.get(attempt.run)
        return served.room.results_of(run) if run else None

    before = folder()
    assert before is not None
    (before / RESULT).write_text("{}")
    result_of.cache_clear()  # as the server begins
    assert ada.get(HERE).status == served.teacher().get(f"/teacher/courses/{course.id}").status == 200
    ada.get(HERE)
    served.wait_for_runs()
    assert ada.get(HERE).status == 200
    after = folder()
    assert after is not None
    assert after != before


def test_on_a_full_disk_pages_can_still_be_looked_at(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """That somebody was here is not worth their page."""
    ada = ready(served)
    served.room.database.write("UPDATE student SET seen_s = 0")

    class Full:
        """The database's file when the disk is full."""

        def __init__(self, connection: sqlite3.Connection) -> None:
            self._connection = connection

        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:  # noqa: ANN401 - those of any statement
            """Reads, and writes nothing."""
            if sql.startswith("UPDATE"):
                raise sqlite3.OperationalError("database or disk is full")
            return self._connection.execute(sql, *values)

        def __getattr__(self, name: str) -> object:
            return getattr(self._connection, name)

    database = served.room.database
    monkeypatch.setattr(database, "_writer", Full(database._writer))  # noqa: SLF001 - a disk is not filled in a test
    assert ada.get("/exercises").status == 200
    assert ada.get("/bench").status == 200


def test_an_experiment_whose_lab_breaks_costs_nothing(served: Served) -> None:
    """It is offered again with its settings, and takes the place of none: each has a name of its own."""
    ada = ready(served)

    def experiment(fifo: str, *, breaks: bool = False) -> str:
        served.testbed.breaks = breaks
        assert ada.post(f"{HERE}/experiment", set__module__fifo=fifo).status == 200
        served.wait_for_runs()
        return ada.get(HERE).text

    for fifo in ("64 KiB", "96 KiB"):
        page = experiment(fifo, breaks=True)
        assert "Experiments left: 4" in page
        assert f'name="set.module.fifo" value="{fifo}"' in page
    assert "Experiments left: 3" in experiment("128 KiB")
    assert "Experiments left: 2" in experiment("64 KiB")
    assert "Experiments left: 1" in experiment("32 KiB")
    page = experiment("16 KiB")
    assert "You have used all your experiments" in page
    assert 'name="set.module.fifo" value="96 KiB"' not in page
    assert ada.post(f"{HERE}/experiment", set__module__fifo="96 KiB").status == 422
    found = [(run.name, run.settings["module.fifo"]) for run in kept(served).work.runs[1:]]
    assert found == [
        ("experiment-3", "128 KiB"),
        ("experiment-1", "64 KiB"),
        ("experiment-4", "32 KiB"),
        ("experiment-5", "16 KiB"),
    ]


def test_an_experiment_that_was_broken_is_none_more_than_allowed(served: Served) -> None:
    """Though somebody else asks for the same, and it is measured after all."""
    ada = ready(served)
    served.testbed.breaks = True
    ada.post(f"{HERE}/experiment", set__module__fifo="64 KiB")
    served.wait_for_runs()
    served.testbed.breaks = False
    for fifo in ("16 KiB", "24 KiB", "32 KiB", "48 KiB"):
        assert ada.post(f"{HERE}/experiment", set__module__fifo=fifo).status == 200
    [student] = served.room.students.of_course(served.room.courses.all()[0].id)
    [broken, *_] = [one for one in served.room.works.attempts(student.id, "shallow-buffer") if one.settings]
    served.wait_for_runs()
    ada.get(HERE)
    run = served.room.runs.get(broken.run)
    assert run is not None
    served.room.queue.ask(run.spec, "teacher")
    served.wait_for_runs()
    assert ada.get(HERE).status == 200
    assert kept(served).work.count("experiment") == 4


def test_a_repair_whose_lab_breaks_is_tried_again(served: Served) -> None:
    """By the same name; another one has its own."""
    ada = ready(served)
    for fifo, breaks in (("64 KiB", True), ("64 KiB", False), ("32 KiB", False)):
        served.testbed.breaks = breaks
        assert ada.post(f"{HERE}/repair", doing="try", set__module__fifo=fifo).status == 200
        served.wait_for_runs()
        page = ada.get(HERE).text
        assert ("Run it again" in page) == breaks
    assert [run.name for run in kept(served).work.runs if run.kind == "repair"] == ["repair-1", "repair-2"]


def test_experiments_that_are_asked_for_at_once_are_both_kept(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From two devices: each has a name of its own, and none takes the place of the other."""
    ready(served)
    devices = [second_device(served), second_device(served)]
    both = threading.Barrier(2)
    ask = RunQueue.ask

    def together(queue: RunQueue, *asked: Any, **options: Any) -> object:  # noqa: ANN401 - what any run asks for
        # Until the other one has read what there is, too; where they take turns, that never is so.
        with suppress(threading.BrokenBarrierError):
            both.wait(0.5)
        return ask(queue, *asked, **options)

    monkeypatch.setattr(RunQueue, "ask", together)
    fifos = ("64 KiB", "128 KiB")
    with ThreadPoolExecutor() as threads:
        told = [
            threads.submit(device.post, f"{HERE}/experiment", set__module__fifo=fifo)
            for device, fifo in zip(devices, fifos, strict=True)
        ]
        assert [one.result().status for one in told] == [200, 200]
    served.wait_for_runs()
    devices[0].get(HERE)
    settings = [dict(run.settings) for run in kept(served).work.runs if run.kind == "experiment"]
    assert sorted(one["module.fifo"] for one in settings) == sorted(fifos)


def test_a_run_that_was_just_taken_is_not_carried_out_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the database says for a moment that it still waits."""
    testbed = PretendTestbed()
    room = made_room(tmp_path / "class", testbed)
    taken, go_on, begin = threading.Event(), threading.Event(), Runs.begin

    def late(runs: Runs, run_id: str) -> None:
        taken.set()
        go_on.wait(10)
        begin(runs, run_id)

    monkeypatch.setattr(Runs, "begin", late)
    room.queue.start()
    spec = Bench.read("sfp-mismatch", "", {}).spec
    room.queue.ask(spec, "ada")
    assert taken.wait(10)
    room.queue.ask(spec, "bob")
    waiting, _ = room.queue.counts()
    go_on.set()
    room.queue.stop()
    assert waiting == 0


def test_passwords_that_are_tried_at_once_are_as_many_guesses(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To look at one takes its time, in which others come; the right one costs no guess."""
    for _ in range(2 * Deed.WRONG_PASSWORD.at_once):
        assert served.visitor().post("/teacher/sign-in", password=PASSWORD).status == 200
    monkeypatch.setattr(Room, "is_teacher", lambda *_: time.sleep(0.3))
    tried = 3 * Deed.WRONG_PASSWORD.at_once
    visitors = [served.visitor() for _ in range(tried)]
    for visitor in visitors:
        visitor.get("/teacher/sign-in")
    with ThreadPoolExecutor(tried) as threads:
        guesses = [threads.submit(one.post, "/teacher/sign-in", password="wrong wrong") for one in visitors]  # noqa: S106 - a wrong one
        told = [one.result().status for one in guesses]
    assert told.count(403) <= Deed.WRONG_PASSWORD.at_once
    assert told.count(429) == tried - told.count(403)


def test_a_course_has_a_name_by_which_figures_can_be_drawn(served: Served) -> None:
    """Characters that nobody sees are refused when it is made, not when its students open an exercise."""
    teacher = served.teacher()
    teacher.get("/teacher")
    refused = teacher.post("/teacher/courses", title="Networks \N{ZERO WIDTH JOINER}1")
    assert refused.status == 422
    assert "U+200D" in refused.text
    teacher.post("/teacher/courses", title="  Networks   1 ")
    [course] = served.room.courses.all()
    assert course.title == "Networks 1"
    drawn(exercise_called("shallow-buffer"), course.title, "Ada")


def test_a_code_is_in_no_log(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    """A personal link that is opened with an old cookie, or of which a page breaks."""
    served.student()
    [course] = served.room.courses.all()
    [student] = served.room.students.of_course(course.id)
    served.visitor().get(f"/resume/{student.code}", Cookie="wirelab=an-old-one")
    assert "asked for /resume/..." in caplog.text
    assert student.code not in caplog.text


def test_nobody_else_on_the_machine_reads_what_students_wrote(tmp_path: Path) -> None:
    """Also where the folder was there before, open to all."""
    (tmp_path / "class").mkdir(mode=0o755)
    made_room(tmp_path / "class", PretendTestbed())
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "class").iterdir()}
    assert modes[RESULTS] == 0o700
    assert {mode & 0o077 for mode in modes.values()} == {0}
