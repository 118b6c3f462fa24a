"""The command line in processes of its own that need not import it: a server that has forks for each call.

To start an interpreter and to import all that wirelab needs takes ten times what most commands do. A call has
a process, standard streams, a folder and an environment of its own, and its exit code is that of a process.
What it shares with the server is what an interpreter is given at its start: the seed of its hashes, the
encoding of its streams, and umask and limits. `Wirelab.start` starts true interpreters, and other tests do.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCE = Path(__file__).parents[2] / "src"
LIMIT_S = 120
_REQUEST_BYTES = 200_000
_CHECKOUT = SOURCE.parent


@dataclass(frozen=True)
class Server:
    """The process that forks, at the other end of ``control``; it ends when that is closed."""

    process: subprocess.Popen[bytes]
    control: socket.socket

    @classmethod
    def start(cls) -> Server:
        """Start one."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - this file
                [sys.executable, __file__, str(theirs.fileno())],
                env={**os.environ, "PYTHONPATH": str(SOURCE)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        return cls(process, ours)

    def end(self) -> None:
        """End it."""
        self.control.close()
        self.process.wait(LIMIT_S)

    def call(self, code: str, *argv: str, cwd: Path, env: Mapping[str, str]) -> tuple[int, str, str]:
        """Run a program as ``python -c`` does, to its end: exit code, standard output and standard error.

        One call at a time. Raises TimeoutError after LIMIT_S.
        """
        request = {"code": code, "argv": argv, "cwd": str(cwd), "env": dict(env)}
        pipes = [os.pipe(), os.pipe()]
        socket.send_fds(self.control, [json.dumps(request).encode()], [writer for _, writer in pipes])
        for _, writer in pipes:
            os.close(writer)
        pid = int(self.control.recv(64))
        self.control.settimeout(LIMIT_S)
        with ThreadPoolExecutor(len(pipes)) as pool:
            outputs = pool.map(_read, [reader for reader, _ in pipes])
            try:
                status = int(self.control.recv(64))
            except TimeoutError:
                os.kill(pid, 9)
                raise
        out, err = outputs
        return os.waitstatus_to_exitcode(status), out, err


@cache
def server() -> Server:
    """The server of this process."""
    started = Server.start()
    atexit.register(started.end)
    return started


def _read(reader: int) -> str:
    with os.fdopen(reader, encoding="utf-8") as file:
        return file.read()


def _prepare() -> None:
    """What most commands do first, in any order: import it all, and read the parts that are shipped.

    These are kept by their text: a call in whose folder there are others reads those.
    """
    importlib.import_module("jinja2")
    importlib.import_module("wirelab.cli.app")
    experiment = importlib.import_module("wirelab.model.experiment")
    experiment.load("clean-10g", _CHECKOUT)
    # What is there by now is never garbage: forks need not look at it, nor copy it.
    gc.freeze()


def _serve(control: socket.socket) -> str:
    """Fork for each request. Returns in the forks, with what is to be run there; ends if nobody asks."""
    while True:
        request, streams, _, _ = socket.recv_fds(control, _REQUEST_BYTES, 2)
        if not request:
            sys.exit()
        pid = os.fork()
        if pid == 0:
            control.close()
            return _become(json.loads(request), streams)
        for stream in streams:
            os.close(stream)
        control.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        control.send(str(status).encode())


def _become(request: dict[str, object], streams: list[int]) -> str:
    """Have the streams, the folder, the environment and the arguments of a request. Returns its program."""
    for number, stream in enumerate(streams, 1):
        os.dup2(stream, number)
        os.close(stream)
    code, argv, cwd, env = request["code"], request["argv"], request["cwd"], request["env"]
    assert isinstance(code, str)
    assert isinstance(argv, list)
    assert isinstance(env, dict)
    os.chdir(str(cwd))
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["-c", *argv]
    return code


if __name__ == "__main__":
    _prepare()
    program = _serve(socket.socket(fileno=int(sys.argv[1])))
    exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 - as `python -c` does
