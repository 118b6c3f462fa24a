"""The processes of labs, seen and stopped from the host."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from operator import le
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
    """Stops all labs of this process for a moment, a number of times, once their own programs have begun.

    Between two stops they compute for a tick of the host's clock, so it is no matter how fast they are or how
    often somebody looks.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.count = 0

    def __call__(self, results: Path) -> None:
        """Stop and continue every process as often as is left, or until they have ended."""
        if not (results / "flows").exists():
            return
        while self.count < self._most:
            processes = [process for child in children(os.getpid()) for process in processes_in(child)]
            _send(signal.SIGSTOP, processes)
            while not all(_STILL.issuperset(_stat(process)[:1]) for process in processes):
                os.sched_yield()
            ticks = [_computed_ticks(process) for process in processes]
            _send(signal.SIGCONT, processes)
            self.count += 1
            while all(map(le, map(_computed_ticks, processes), ticks)):
                if all(_stat(process)[:1] in ([], ["Z"]) for process in processes):
                    return
                os.sched_yield()


def leave_room(room_bytes: int, results: Path) -> None:
    """Let a lab write no file longer than that, as if its disk were full, once it has its memory."""
    if not (results / "progress").is_file():
        return
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink() == results.parent:
                _, hard = resource.prlimit(int(process.name), resource.RLIMIT_FSIZE)
                resource.prlimit(int(process.name), resource.RLIMIT_FSIZE, (room_bytes, hard))


def _computed_ticks(process: int) -> int:
    """How long it has computed, in clock ticks: utime and stime of proc_pid_stat(5), 0 if it is gone."""
    return sum(map(int, _stat(process)[11:13]))


def _send(number: signal.Signals, processes: list[int]) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)
