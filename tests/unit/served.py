"""A classroom that is served on loopback, with a testbed that leaves recorded files, and who visits it."""

from __future__ import annotations

import contextlib
import hashlib
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from typing import TYPE_CHECKING

import uvicorn
from recorded import recording

from wirelab.errors import LabError
from wirelab.lab.machine import Progress
from wirelab.runner.store import RAW, Store
from wirelab.runner.trial import Runner
from wirelab.serve.carrier import Carrier
from wirelab.serve.queue import RunQueue
from wirelab.serve.room import RESULTS, DataFolder, Room, classroom
from wirelab.serve.server import PLANNERS, Address, configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from wirelab.plan.types import Plan
    from wirelab.serve.carrier import Looks
    from wirelab.serve.shells import Shells

PASSWORD = "correct horse battery"  # noqa: S105 - of a class that is gone after the test
CSRF = re.compile(r'name="csrf" value="([^"]+)"')
WAIT_S = 30


@dataclass
class PretendTestbed:
    """Leaves what was recorded; each run begins when ``go`` lets it, and ``breaks`` while it is told so."""

    go: threading.Event = field(default_factory=threading.Event)
    breaks: bool = False
    plans: list[Plan] = field(default_factory=list)
    is_stopped: bool = False

    def __post_init__(self) -> None:
        self.go.set()

    def run(
        self, plan: Plan, folder: Path, *, cpu: int, on_progress: Callable[[Progress], None], **_: object
    ) -> None:
        """Pretend to carry it out."""
        del cpu
        self.plans.append(plan)
        on_progress(Progress(1.0, 4.0, 0.1))
        while not self.go.wait(0.02):
            if self.is_stopped:
                message = "the run was stopped"
                raise LabError(message)
        if self.breaks:
            message = "the lab broke in a test"
            raise LabError(message)
        recording(plan, dropped=0 if _says_stop(plan) else 159).write(folder / RAW)

    def stop(self) -> None:
        """End what waits."""
        self.is_stopped = True


def _says_stop(plan: Plan) -> bool:
    """Whether the module can say stop, to a switch that listens."""
    listens = {port.node for port in plan.ports if port.pause_rx}
    return "aqr113c" in plan.to_json() and "switch" in listens


def made_room(  # noqa: PLR0913 - all by name but what it is made of
    path: Path,
    testbed: PretendTestbed,
    *,
    root: str = "",
    cpus: int = 2,
    shells: Shells | None = None,
    looks: Looks | None = None,
) -> Room:
    """A classroom in a folder, whose runs the testbed pretends."""
    data = DataFolder.made(path)
    carrier = Carrier(Runner(testbed), Store(data.path / RESULTS), looks)
    return classroom(
        data,
        data.database(),
        lambda runs: RunQueue(runs, carrier, PLANNERS, range(cpus), "a lab"),
        shells=shells,
        root=root,
    )


@dataclass
class Served:
    """A classroom that answers at ``url``."""

    room: Room
    testbed: PretendTestbed
    url: str

    def visitor(self) -> Visitor:
        """A browser that nobody has used before."""
        return Visitor(self.url)

    def teacher(self) -> Visitor:
        """The teacher, signed in."""
        visitor = self.visitor()
        visitor.post("/teacher/sign-in", password=PASSWORD)
        return visitor

    def student(self, name: str = "Ada") -> Visitor:
        """A student who has just joined the first course, which is made if there is none."""
        courses = self.room.courses.all() or [self.room.courses.add("Networks 1")]
        visitor = self.visitor()
        answer = visitor.post("/join", name=name, code=courses[0].code)
        assert answer.status == 200, answer.text
        return visitor

    def wait_for_runs(self) -> None:
        """Wait until nothing waits and nothing runs."""
        deadline_s = time.monotonic() + WAIT_S
        while self.room.queue.counts() != (0, 0):
            assert time.monotonic() < deadline_s, "the queue does not become empty"
            time.sleep(0.02)


@dataclass(frozen=True)
class Answer:
    """What a server answered, after redirections."""

    status: int
    text: str
    url: str
    headers: dict[str, str]


@dataclass
class Visitor:
    """A browser without scripts: it keeps cookies, and sends the token of the page that it saw last."""

    base: str
    jar: CookieJar = field(default_factory=CookieJar)
    csrf: str = ""

    def get(self, path: str, **headers: str) -> Answer:
        """A page."""
        return self._ask(urllib.request.Request(self.base + path, headers=headers))  # noqa: S310 - ours

    def post(self, path: str, *, csrf: str | None = None, **fields: str) -> Answer:
        """Send a form. Names of fields are written with ``__`` for a dot."""
        if not self.csrf:
            self.get("/")
        sent = {name.replace("__", "."): text for name, text in fields.items()}
        sent["csrf"] = self.csrf if csrf is None else csrf
        return self.send(path, urllib.parse.urlencode(sent).encode())

    def send(self, path: str, body: bytes, kind: str = "application/x-www-form-urlencoded") -> Answer:
        """Send whatever it is."""
        return self._ask(
            urllib.request.Request(self.base + path, data=body, headers={"Content-Type": kind})  # noqa: S310
        )

    @contextlib.contextmanager
    def stream(self, path: str) -> Iterator[Iterator[str]]:
        """The lines of an answer that goes on, each as it comes."""
        request = urllib.request.Request(self.base + path)  # noqa: S310 - ours
        with self._opener().open(request, timeout=WAIT_S) as response:
            yield (line.decode().rstrip("\n") for line in response)

    def _opener(self) -> urllib.request.OpenerDirector:
        return urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.jar)
        )

    def _ask(self, request: urllib.request.Request) -> Answer:
        try:
            with self._opener().open(request, timeout=WAIT_S) as response:
                answer = Answer(
                    response.status,
                    response.read().decode(errors="replace"),
                    response.url,
                    dict(response.headers),
                )
        except urllib.error.HTTPError as error:
            answer = Answer(error.code, error.read().decode(), error.url or "", dict(error.headers))
        if found := CSRF.search(answer.text):
            self.csrf = found[1]
        return answer


@contextlib.contextmanager
def serving(room: Room, testbed: PretendTestbed, root: str = "") -> Iterator[Served]:
    """Answer on a free port of loopback until the context ends."""
    # A hash takes a tenth of a second, on purpose; the parameters of this one do not.
    digest = hashlib.scrypt(PASSWORD.encode(), salt=b"salt", n=2, r=1, p=1)
    room.database.set("password", f"scrypt$2$1$1${b'salt'.hex()}${digest.hex()}")
    room.database.set("teacher-generation", "1")
    listening = Address("127.0.0.1", 0).listening()
    port = listening.getsockname()[1]
    config = configuration(room, Address("127.0.0.1", port))
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        deadline_s = time.monotonic() + WAIT_S
        while not server.started:
            assert time.monotonic() < deadline_s, "the server does not come up"
            time.sleep(0.01)
        yield Served(room, testbed, f"http://127.0.0.1:{port}{root}")
    finally:
        testbed.go.set()
        server.should_exit = True
        thread.join(WAIT_S)
        room.database.close()
        listening.close()
