"""The server of a classroom: uvicorn with our application, on one address."""

import contextlib
import functools
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvicorn

from wirelab.errors import InputError, LabError
from wirelab.lab.cache import Cache
from wirelab.lab.select import Lab
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.store import Store
from wirelab.runner.trial import LabTestbed, Runner
from wirelab.serve import bench, exercises, pictures
from wirelab.serve.app import application
from wirelab.serve.carrier import Carrier
from wirelab.serve.queue import Planner, RunQueue
from wirelab.serve.room import RESULTS, DataFolder, Room, classroom
from wirelab.serve.runs import Runs
from wirelab.serve.shells import NICENESS, Shells, sessions_in
from wirelab.serve.talk import MOST_BYTES
from wirelab.serve.trimming import Trimming

_ANSWERS: Final[Mapping[str, Planner]] = {
    bench.KIND: bench.bench_task,
    exercises.KIND: exercises.exercise_task,
    exercises.MARKS: exercises.marks_task,
}
PLANNERS: Final[Mapping[str, Planner]] = {
    **_ANSWERS,
    pictures.KIND: functools.partial(pictures.pictures_task, _ANSWERS),
}
"""Who plans the runs of each kind."""

_GRACE_S: Final = 2
_MOST_HEADER_BYTES: Final = 32 << 10
_MOST_CONNECTIONS: Final = 1_000
_BACKLOG: Final = 512
_WS_AHEAD: Final = 32


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens; below ``root`` of a proxy, and with TLS where there is a certificate."""

    host: str
    port: int
    root: str = ""
    certificate: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        """Raises InputError for what cannot be one."""
        if self.root and (not self.root.startswith("/") or self.root.endswith("/") or "//" in self.root):
            raise InputError(f"--root-path {self.root}: expected a path such as /lab")
        if (self.certificate is None) != (self.key is None):
            raise InputError("--tls-cert and --tls-key belong together")
        for path in (self.certificate, self.key):
            if path is not None and not path.is_file():
                raise InputError("no such file", file=str(path))

    @property
    def url(self) -> str:
        """What somebody on this machine opens."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        host = "127.0.0.1" if host in ("0.0.0.0", "[::]") else host  # noqa: S104 - that is what it is compared with
        return f"{'https' if self.certificate else 'http'}://{host}:{self.port}{self.root}/"

    def listening(self) -> socket.socket:
        """A socket that listens there. Raises LabError that says why there is none."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        opened = socket.socket(family)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((self.host, self.port))
            opened.listen(_BACKLOG)
        except OSError as error:
            opened.close()
            hint = "choose another one with --host and --port"
            raise LabError(f"{self.host} port {self.port}: {error.strerror or error}", hint=hint) from error
        return opened


@dataclass(frozen=True, slots=True)
class Labs:
    """As many labs for runs as ``cpus``, and at most so many shells beside them."""

    lab: Lab
    cpus: Sequence[int]
    most_shells: int


def classroom_with_lab(data: DataFolder, address: Address, labs: Labs, warn: Callable[[str], None]) -> Room:
    """The classroom of a folder, with the labs that its runs and shells take place in."""
    lab, cpus = labs.lab, labs.cpus
    measurements = MeasurementCache.of(Cache.at(os.environ).root, lab, warn)
    testbed = LabTestbed(lab, NICENESS)
    looker = pictures.Looker(testbed, measurements)
    carrier = Carrier(Runner(testbed, measurements), Store(data.path / RESULTS), looker)

    def queue(runs: Runs) -> RunQueue:
        made = RunQueue(runs, carrier, PLANNERS, cpus, measurements.lab_id)
        made.trimming = Trimming(runs, data.path / RESULTS, made.is_repeatable)
        return made

    shells = Shells(sessions_in(lab), cpus, labs.most_shells)
    return classroom(data, data.database(), queue, shells=shells, root=address.root, clock=time.time)


def serve(room: Room, address: Address, listening: socket.socket) -> None:
    """Answer until a signal ends it."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    # The first who opens the bench shall not wait until all of the catalogue has been read.
    threading.Thread(target=_read_catalogue, daemon=True).start()
    uvicorn.Server(configuration(room, address)).run(sockets=[listening])


def configuration(room: Room, address: Address) -> uvicorn.Config:
    """How uvicorn serves a classroom."""
    return uvicorn.Config(
        application(room),
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
        timeout_graceful_shutdown=_GRACE_S,
        h11_max_incomplete_event_size=_MOST_HEADER_BYTES,
        limit_concurrency=_MOST_CONNECTIONS,
        http="h11",
        ws_max_size=MOST_BYTES,
        ws_max_queue=_WS_AHEAD,
        ws_per_message_deflate=False,
    )


def _read_catalogue() -> None:
    """Read every exercise and scenario; what is wrong with one is said where it is asked for."""
    for read, names in (
        (exercises.exercise_called, exercises.exercise_names()),
        (bench.scenario_called, bench.scenarios()),
    ):
        for name in names:
            with contextlib.suppress(InputError):
                read(name)
