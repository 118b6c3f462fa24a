"""What a command prints, on its way to the files that the host reads.

It is written to a pipe: whoever opened the file by a name, as /dev/stdout, would empty it. A pipe makes its
writer wait for the reader, and waiting takes virtual time; so the reader runs before anybody else.
"""

import fcntl
import os
import select
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_PIPE_BYTES = 1 << 20
# What the command starts may be another user's, and opens it by name, too.
_ANYBODY_WRITES = 0o622


class Outlet:
    """A pipe, whose end to write to is ``writable``, and the file that its content goes to."""

    def __init__(self, file: Path) -> None:
        """The file begins anew."""
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self._readable, self.writable = os.pipe()
        fcntl.fcntl(self._readable, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        os.fchmod(self._readable, _ANYBODY_WRITES)
        os.set_blocking(self._readable, False)

    def fileno(self) -> int:
        """What can be read when there is something to pass on."""
        return self._readable

    def pass_on(self) -> None:
        """Pass on what is there."""
        with suppress(BlockingIOError):
            os.splice(self._readable, self._file, _PIPE_BYTES)


def pass_on(outlets: Sequence[Outlet], ended: int) -> None:
    """Pass on what comes until ``ended`` can be read, and then what is there, whoever might still write."""
    poll = select.poll()
    for descriptor in (ended, *(outlet.fileno() for outlet in outlets)):
        poll.register(descriptor, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll()]
        for outlet in outlets:
            if outlet.fileno() in ready or ended in ready:
                outlet.pass_on()
        if ended in ready:
            return


@contextmanager
def first() -> Iterator[None]:
    """Run before anybody else whenever there is something to do; what is started meanwhile does not."""
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
