"""The processes of labs, seen and stopped from the host."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from pathlib import Path

# Stopped, stopped by a tracer, waiting for a child that is stopped, ended.
_STILL = frozenset("TtDZX")


def _stat(process: int) -> list[str]:
    """The fields of /proc/<process>/stat from the third (the state) on, none if it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def processes_in(session: int) -> list[int]:
    """The processes of the host that belong to a session."""
    numbers = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    return [number for number in numbers if _stat(number)[3:4] == [str(session)]]


def children(process: int) -> list[int]:
    """The processes of the host that a process has started."""
    return [
        int(number)
        for task in Path(f"/proc/{process}/task").iterdir()
        for number in (task / "children").read_text().split()
    ]


class Stops:
    """Stops all labs of this process for a moment, once at each call, up to a number of times."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.count = 0

    def __call__(self, results: Path) -> None:
        """Stop and continue every process; nothing before the lab's own programs have begun."""
        if self.count == self._most or not (results / "flows").exists():
            return
        processes = [process for child in children(os.getpid()) for process in processes_in(child)]
        _send(signal.SIGSTOP, processes)
        while not all(_STILL.issuperset(_stat(process)[:1]) for process in processes):
            os.sched_yield()
        _send(signal.SIGCONT, processes)
        self.count += 1


def leave_room(room_bytes: int, results: Path) -> None:
    """Let a lab write no file longer than that, as if its disk were full, once it has its memory."""
    if not (results / "progress").is_file():
        return
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink() == results.parent:
                _, hard = resource.prlimit(int(process.name), resource.RLIMIT_FSIZE)
                resource.prlimit(int(process.name), resource.RLIMIT_FSIZE, (room_bytes, hard))


def _send(number: signal.Signals, processes: list[int]) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)
