"""The process of a lab's kernel on its host: how it is started, how far it may go, whether it has ended."""

import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Self

from wirelab.lab.interrupts import interrupts_held


class KernelProcess:
    """It leads a session of its own, which all processes of the lab belong to."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @classmethod
    def start(
        cls,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        console: BinaryIO,
        pass_fds: Sequence[int],
    ) -> Self:
        """Start it with ``env`` and what of ours it is given, and nothing else. Raises OSError."""
        with Path(os.devnull).open("r+b", buffering=0) as nothing:
            return cls(
                subprocess.Popen(  # noqa: S603 argv lists only
                    argv,
                    cwd=cwd,
                    env=env,
                    stdin=nothing,
                    stdout=console,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=pass_fds,
                    # Python ignores SIGXFSZ, and so does the lab's kernel then: too long a file is an error.
                    restore_signals=False,
                )
            )

    @property
    def pid(self) -> int:
        """Its number, and its session's."""
        return self._process.pid

    def limit_files(self, folders: Sequence[Path]) -> None:
        """No file of it gets longer than a disk has room for: with holes it could, and somebody reads it."""
        free_bytes = max(shutil.disk_usage(folder).free for folder in folders)
        with suppress(ProcessLookupError):
            _, hard = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)
            # Who may write less already may not say more.
            most_bytes = free_bytes if hard == resource.RLIM_INFINITY else min(free_bytes, hard)
            resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    def give_way(self, niceness: int) -> None:
        """It alone does: a thread of ours would do so with the interpreter's lock in its hand."""
        if niceness:
            with suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PGRP, self.pid, niceness)

    def has_ended(self, within_s: float = 0.0) -> bool:
        """Whether it has ended, now or within that time."""
        with interrupts_held(), suppress(subprocess.TimeoutExpired):
            self._process.wait(within_s)
            return True
        return False

    def end(self) -> None:
        """End it, and all of its session."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()


@contextmanager
def on_cpu(cpu: int) -> Iterator[None]:
    """Be on one CPU alone, with the thread that calls this and with what it starts meanwhile."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
