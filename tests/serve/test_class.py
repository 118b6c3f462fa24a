"""A whole class at once on a real lab, and a server that is killed twenty times: `make test-serve`."""

from __future__ import annotations

import contextlib
import json
import random
import re
import statistics
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from killed import KilledServer
from program import PASSWORD, Memory, cache_without_measurements, started
from served import Visitor

from wirelab.serve.database import Database
from wirelab.serve.room import DATABASE
from wirelab.serve.works import Works

if TYPE_CHECKING:
    from pathlib import Path

    from served import Answer

STUDENTS = 30
KILLS = 20
HERE = "/exercises/shallow-buffer"
MOST_MEDIAN_S = 0.2
MOST_BYTES = 1536 << 20
WAIT_S = 2_400.0
EVENTS = re.compile(r'data-events="([^"]+)"')
TOLD = re.compile(r"more to run before this one|This one is next|Running: ")


@dataclass
class Student:
    """Somebody who does the exercise from beginning to end, as its page lets a browser do it."""

    name: str
    visitor: Visitor
    waits_s: list[float] = field(default_factory=list)
    untold: int = 0
    failed: str = ""

    def do(self) -> None:
        """All of it; what goes wrong is kept for the test."""
        try:
            self._do()
        except Exception as error:  # noqa: BLE001 - of a thread, to be raised by the test
            self.failed = f"{type(error).__name__}: {error}"

    def _do(self) -> None:
        chance = random.Random(self.name)  # noqa: S311 - the same for the same student
        self._get(HERE)
        predicted = {"burst": "30 kB", "upload": "2.3 Gbit/s", "download": "1.1 Gbit/s", "retransmits": "400"}
        for name, value in predicted.items():
            self._post("keep", **{f"value__{name}": value, f"why__{name}": f"{self.name} says so"})
        sealed = {f"value__{name}": value for name, value in predicted.items()}
        sealed |= {f"why__{name}": f"{self.name} says so" for name in predicted}
        self._post("seal", **sealed)
        self._post("run")
        self._wait()
        self._post("answer", answer__where="module.line", answer__mechanism="FIFO", answer__helps="2")
        self._post("experiment", set__module__fifo=f"{chance.choice((48, 64, 96))} KiB")
        self._wait()
        repair = {"set__module": "aqr113c", "set__module__fifo": "64 KiB"}
        self._post("repair", doing="try", **repair)
        self._wait()
        self._post("repair", doing="hand-in", **repair)
        self._post("hand-in", anyway="1")
        self._wait()
        text = self._get(HERE).text
        assert re.search(r"[\d.]+ of 25 points", text), "no marks"

    def _get(self, path: str) -> Answer:
        begun_s = time.monotonic()
        answer = self.visitor.get(path)
        self.waits_s.append(time.monotonic() - begun_s)
        assert answer.status == 200, answer.text
        return answer

    def _post(self, step: str, **fields: str) -> None:
        begun_s = time.monotonic()
        answer = self.visitor.post(f"{HERE}/{step}", **fields)
        self.waits_s.append(time.monotonic() - begun_s)
        assert answer.status in (200, 204), re.findall(r'role="alert">([^<]+)', answer.text)

    def _wait(self) -> None:
        """Wait as a page does: told how far each part of it is, and got again when one has ended."""
        deadline_s = time.monotonic() + WAIT_S
        while waits_for := EVENTS.search(text := self._get(HERE).text):
            self.untold += not TOLD.search(text)
            assert time.monotonic() < deadline_s, "it takes too long"
            self._listen(waits_for[1])

    def _listen(self, path: str) -> None:
        """Until the server says that a run has ended."""
        has_ended, begun_s = False, time.monotonic()
        with self.visitor.stream(path) as lines:
            for number, line in enumerate(lines):
                if number == 0:
                    self.waits_s.append(time.monotonic() - begun_s)
                if line.startswith("data: "):
                    told = json.loads(line.removeprefix("data: "))
                    has_ended = told["state"] in ("done", "broken")
                    self.untold += not has_ended and not TOLD.search(told["words"])
        assert has_ended, "the server stopped telling"


def test_thirty_students_at_once(tmp_path: Path) -> None:
    """Nothing is lost, everybody is told how far it is, pages are quick, and a laptop has the memory.

    Where all has been measured before nobody waits for a lab, and nobody is told to wait.
    """
    process, url = started(tmp_path / "class", cache_without_measurements(tmp_path / "cache"))
    try:
        teacher = Visitor(url)
        teacher.post("/teacher/sign-in", password=PASSWORD)
        code = re.search(r'big code">([^<]+)', teacher.post("/teacher/courses", title="Networks 1").text)
        assert code
        students = [Student(f"Student {number}", Visitor(url)) for number in range(STUDENTS)]
        for student in students:
            assert student.visitor.post("/join", name=student.name, code=code[1]).status == 200
        threads = [threading.Thread(target=student.do) for student in students]
        most_bytes = 0
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            most_bytes = max(most_bytes, Memory(process.pid).bytes())
            time.sleep(1)
        waits_s = [wait_s for student in students for wait_s in student.waits_s]
        median_s = statistics.median(waits_s)
        print(  # noqa: T201 - what the suite measures
            f"\n{len(waits_s)} answers: median {median_s * 1e3:.0f} ms, 95 % within"
            f" {statistics.quantiles(waits_s, n=20)[-1] * 1e3:.0f} ms; at most {most_bytes >> 20} MiB"
        )
        assert [student.failed for student in students if student.failed] == []
        assert sum(student.untold for student in students) == 0
        table = teacher.get(f"/teacher/courses/{_course(tmp_path)}").text
        assert len(re.findall(r'done-cell">[\d.]+ / 25<', table)) == STUDENTS
        with contextlib.closing(Database(tmp_path / "class" / DATABASE)) as database:
            works = Works(database, time.time).of_course(_course(tmp_path))
            for kept in works.values():
                said = {one.why for one in kept.work.predictions.values()}
                assert said == {f"{kept.work.student} says so"}
        assert median_s < MOST_MEDIAN_S
        assert most_bytes < MOST_BYTES
    finally:
        process.terminate()
        process.wait()


def _course(folder: Path) -> str:
    with contextlib.closing(Database(folder / "class" / DATABASE)) as database:
        row = database.row("SELECT id FROM course")
    assert row
    return str(row["id"])


def test_twenty_kills_lose_nothing(tmp_path: Path) -> None:
    """While three students type and ask for runs; at the end every run is done, and none was lost."""
    chance = random.Random(20)  # noqa: S311 - the same moments in each test
    killed = KilledServer(tmp_path / "class", started)
    process, url = started(tmp_path / "class")
    teacher = Visitor(url)
    teacher.post("/teacher/sign-in", password=PASSWORD)
    teacher.post("/teacher/courses", title="Networks 1")
    process.kill()
    process.wait()
    killed.begin()
    for _ in range(KILLS):
        killed.work_until_killed(chance.uniform(0.2, 4.0))
        killed.require_everything_acknowledged()
    killed.require_all_runs_done(WAIT_S)
    killed.end()
