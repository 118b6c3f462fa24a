"""The one place inside the lab that runs programs."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_PEEK = os.WEXITED | os.WNOHANG | os.WNOWAIT


class CommandError(Exception):
    """A program of the lab failed; the text is what it said."""

    def __init__(self, argv: Sequence[str], code: int, said: str) -> None:
        super().__init__(f"{' '.join(argv)}: exit {code}: {said.strip()}")


def run(argv: Sequence[str], *, text: str | None = None) -> str:
    """Run a program to its end and return what it printed.

    ``text`` is its standard input, for programs that read a batch of commands.
    Raises CommandError with the program's own words when it fails.
    """
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=False)  # noqa: S603 argv lists only
    if done.returncode != 0:
        raise CommandError(argv, done.returncode, done.stderr or done.stdout)
    return done.stdout


class Batch:
    """``ip`` or ``tc``, kept open: to start one takes longer than what it is told to do.

    It ends at the first line that fails.
    """

    def __init__(self, argv: Sequence[str], idle: str) -> None:
        """Start ``argv`` in the network namespace that the process is in; it is to speak JSON.

        ``idle`` is a line that changes nothing and is answered, as one that sets something is not.
        """
        self._argv = [*argv, "-batch", "-"]
        self._idle = idle
        self._process = subprocess.Popen(  # noqa: S603 argv lists only
            self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, lines: Iterable[str]) -> None:
        """Carry out lines. Raises CommandError with its words when one fails."""
        self._ask((*lines, self._idle))

    def told(self, line: str) -> Any:  # noqa: ANN401 - JSON of any kind
        """What it answers to a line. Raises CommandError with its words when that fails."""
        return json.loads(self._ask((line,)))

    def _ask(self, lines: Iterable[str]) -> str:
        """The answer to the one of the lines that is answered."""
        commands, answers = self._process.stdin, self._process.stdout
        assert commands is not None and answers is not None  # noqa: S101, PT018 they are pipes
        with contextlib.suppress(BrokenPipeError):
            commands.write("".join(f"{line}\n" for line in lines))
            commands.flush()
        if answer := answers.readline():
            return answer
        said = self._process.stderr.read() if self._process.stderr else ""
        raise CommandError(self._argv, self._process.wait(), said)


class Program:
    """A program that runs on while the lab goes about other things; what it prints goes to files."""

    def __init__(
        self,
        argv: Sequence[str],
        stdout: Path,
        stderr: Path,
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        # Kept open: two system calls more in every run would move its random numbers.
        self._files = out, err = stdout.open("w"), stderr.open("w")
        self._process = subprocess.Popen(  # noqa: S603 argv lists only
            argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd, env=env
        )

    @property
    def code(self) -> int | None:
        """The exit code, or None while it runs. Death by signal N is 128 + N, as a shell says it."""
        code = self._process.poll()
        return 128 - code if code is not None and code < 0 else code

    def wait(self) -> int:
        """Wait for the end and return the exit code."""
        self._process.wait()
        code = self.code
        assert code is not None  # noqa: S101 it has just ended
        return code

    def send(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def reaping(but: int) -> Iterator[None]:
    """As the first process: whoever ends without a parent is gone at once, and nobody takes it for alive.

    ``but`` is the child that somebody waits for.
    """

    def reap(*_: object) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitid(os.P_ALL, 0, _PEEK)) and ended.si_pid != but:
                os.waitpid(ended.si_pid, 0)

    before = signal.signal(signal.SIGCHLD, reap)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, before)


class Attached:
    """A program that writes to descriptors and has no input."""

    def __init__(  # noqa: PLR0913 each one is a property of a process
        self,
        argv: Sequence[str],
        stdout: int,
        stderr: int,
        env: Mapping[str, str],
        *,
        cwd: Path | None = None,
        has_session: bool = False,
    ) -> None:
        """Start it, with ``has_session`` in one of its own. Raises OSError if there is no such program."""
        self._process = subprocess.Popen(  # noqa: S603 argv lists only
            argv,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
            env=env,
            start_new_session=has_session,
        )
        self.pid = self._process.pid

    def wait(self) -> int:
        """Wait for the end and return the exit code. Death by signal N is 128 + N, as a shell says it."""
        code = self._process.wait()
        return 128 - code if code < 0 else code
