"""A program that somebody has asked for at the prompt, and the terminal that it writes to."""

import contextlib
import os
import select
import signal
import termios
from collections.abc import Mapping, Sequence

from wirelab.guest.shell import Attached

_MOST_BYTES = 1 << 16
# What is written is there for who reads it as soon as the kernel comes to it; a child may hold the terminal.
_TAIL_MS = 1


class Job:
    """A program in a session of its own. What it prints comes line by line, as it does for a person."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], columns: int) -> None:
        """Start it in the network namespace that the process is in. Raises OSError if there is none."""
        self.output, its = os.openpty()
        try:
            settings = termios.tcgetattr(its)
            # Each line ends as the program ended it, and nothing is echoed.
            settings[1] &= ~termios.OPOST
            settings[3] &= ~termios.ECHO
            termios.tcsetattr(its, termios.TCSANOW, settings)
            termios.tcsetwinsize(its, (0, columns))
            os.set_blocking(self.output, False)
            self._program = Attached(argv, its, its, env, has_session=True)
        except BaseException:
            os.close(self.output)
            raise
        finally:
            os.close(its)
        self.ended = os.pidfd_open(self._program.pid)
        self.is_silent = False
        """Whether nobody is left who could print."""

    def read(self) -> bytes:
        """What it has printed since the last time."""
        try:
            return os.read(self.output, _MOST_BYTES)
        except BlockingIOError:
            return b""
        except OSError:
            self.is_silent = True
            return b""

    def finish(self) -> tuple[bytes, int]:
        """The last that it has printed, and its exit code, as a shell has it. It has ended."""
        tail = b""
        poll = select.poll()
        poll.register(self.output, select.POLLIN)
        while poll.poll(_TAIL_MS) and (more := self.read()):
            tail += more
        for descriptor in (self.output, self.ended):
            os.close(descriptor)
        return tail, self._program.wait()

    def interrupt(self, *, again: bool) -> None:
        """End it as Ctrl-C does, with all that it has started; ``again``: whether it wants to or not."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._program.pid, signal.SIGKILL if again else signal.SIGINT)
