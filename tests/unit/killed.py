"""A classroom in a process of its own, with students who type and ask until it is killed."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from served import Visitor

from wirelab.serve.database import Database
from wirelab.serve.room import DATABASE

if TYPE_CHECKING:
    from collections.abc import Callable

UNIT = Path(__file__).parent
SOURCE = UNIT.parents[1] / "src"
WAIT_S = 60.0
STUDENTS = ("Ada", "Cai", "Dee")
HERE = "/exercises/shallow-buffer"
LOST = (OSError, urllib.error.URLError, http.client.HTTPException)
"""What a client meets whose server dies: it knows nothing of what became of its request."""

PROGRAM = """
import sys, threading, uvicorn
sys.path[:0] = {paths!r}
from pathlib import Path
from served import PretendTestbed, made_room, PASSWORD
from wirelab.serve.app import application
from wirelab.serve.server import Address
class Slow(PretendTestbed):
    def run(self, plan, folder, **options):
        threading.Event().wait(0.15)
        super().run(plan, folder, **options)
room = made_room(Path({folder!r}), Slow())
if not room.courses.all():
    room.courses.add("Networks 1")
listening = Address("127.0.0.1", 0).listening()
print(listening.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(application(room), log_config=None, access_log=False)).run(sockets=[listening])
"""


def pretended(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """A server whose runs are pretended, and its address."""
    program = PROGRAM.format(paths=[str(UNIT), str(SOURCE)], folder=str(folder))
    process = subprocess.Popen(  # noqa: S603 - the program above
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert process.stdout
    return process, f"http://127.0.0.1:{int(process.stdout.readline())}"


@dataclass
class KilledServer:
    """The server, and what it has acknowledged to its students."""

    folder: Path
    start: Callable[[Path], tuple[subprocess.Popen[str], str]]
    process: subprocess.Popen[str] | None = None
    url: str = ""
    jars: dict[str, Visitor] = field(default_factory=dict)
    typed: dict[str, str] = field(default_factory=dict)
    asked: dict[str, set[str]] = field(default_factory=dict)
    count: int = 0

    def begin(self) -> None:
        """Start it, on another port than before; students keep their cookies."""
        self.process, self.url = self.start(self.folder)
        for visitor in self.jars.values():
            visitor.base = self.url
        for name in STUDENTS:
            if name not in self.jars:
                self._join(name)

    def _join(self, name: str) -> None:
        with contextlib.closing(Database(self.folder / DATABASE)) as database:
            row = database.row("SELECT code FROM course")
        visitor = Visitor(self.url)
        assert row
        assert visitor.post("/join", name=name, code=row["code"]).status == 200
        visitor.get(HERE)
        self.jars[name] = visitor
        self.asked[name] = set()

    def work_until_killed(self, after_s: float) -> None:
        """All students at once type and ask for runs, until SIGKILL; then it is started again."""
        stop = threading.Event()
        threads = [threading.Thread(target=self._work, args=(name, stop)) for name in self.jars]
        for thread in threads:
            thread.start()
        time.sleep(after_s)
        self.kill()
        stop.set()
        for thread in threads:
            thread.join()
        self.begin()

    def kill(self) -> None:
        """Without a word."""
        assert self.process
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def _work(self, name: str, stop: threading.Event) -> None:
        visitor = self.jars[name]
        with contextlib.suppress(*LOST):
            while not stop.is_set():
                self.count += 1
                text = f"{name} {self.count}"
                if visitor.post(f"{HERE}/keep", why__burst=text).status == 204:
                    self.typed[name] = text
                size = 16 + 4 * (self.count % 60)
                answer = visitor.post("/bench/sfp-mismatch", **{"with.module.fifo": f"{size} KiB"})
                if "/runs/" in answer.url:
                    self.asked[name].add(answer.url.rpartition("/")[2])

    def require_everything_acknowledged(self) -> None:
        """Each student's last acknowledged words are there, or newer ones; each run that was asked for is."""
        for name, visitor in self.jars.items():
            page = visitor.get(HERE).text
            if name in self.typed:
                kept = page.partition('name="why.burst"')[2].partition(">")[2].partition("<")[0]
                assert kept.startswith(f"{name} "), f"{name} typed {self.typed[name]!r}, kept is {kept!r}"
                assert int(kept.split()[1]) >= int(self.typed[name].split()[1])
            for run in self.asked[name]:
                assert visitor.get(f"/runs/{run}").status == 200, f"{name} asked for {run}"

    def require_all_runs_done(self, within_s: float = WAIT_S) -> None:
        """What was asked for before the kills is run after them."""
        deadline_s = time.monotonic() + within_s
        with contextlib.closing(Database(self.folder / DATABASE)) as database:
            while left := database.rows("SELECT id, state, message FROM run WHERE state != 'done'"):
                assert time.monotonic() < deadline_s, [tuple(row) for row in left]
                assert not [row["message"] for row in left if row["state"] == "broken"]
                time.sleep(0.1)
            found = database.row("PRAGMA integrity_check")
            assert found
            assert found[0] == "ok"

    def end(self) -> None:
        """Switch it off."""
        self.kill()
