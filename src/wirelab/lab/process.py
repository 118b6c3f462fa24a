"""The one place that starts programs on the host: argument lists, a log, an error that says where to look."""

import contextlib
import errno
import os
import shlex
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from wirelab.errors import LabError

LAST_LINES = 12
GRACE_S = 10.0


def run(  # noqa: PLR0913 - each one is a property of a process
    argv: Sequence[str],
    *,
    log: Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    hint: str | None = None,
    stdout: IO[bytes] | None = None,
    on_line: Callable[[str], object] | None = None,
) -> None:
    """Run a program to its end, its messages appended to ``log``.

    ``stdout`` takes its standard output where that is the product and not a message. ``on_line`` sees every
    line of its messages. The program is ended when we are, whatever ended us. Raises LabError if it cannot be
    started or its exit code is not 0.
    """
    last: deque[str] = deque(maxlen=LAST_LINES)
    stderr = subprocess.STDOUT if stdout is None else subprocess.PIPE
    with log.open("ab") as sink:
        sink.write(f"$ {shlex.join(argv)}\n".encode())
        sink.flush()
        with _running(argv, cwd=cwd, env=env, stdout=stdout or subprocess.PIPE, stderr=stderr) as process:
            for raw in (process.stdout if stdout is None else process.stderr) or ():
                sink.write(raw)
                line = raw.decode(errors="replace").rstrip()
                last.append(line)
                if on_line is not None:
                    on_line(line)
            code = process.wait()
    if code != 0:
        raise _failure(argv, code, last, hint, log)


def output(argv: Sequence[str], *, hint: str | None = None, check: bool = True) -> str:
    """What a program that only tells something writes to its standard output.

    Raises LabError if it cannot be started or, unless ``check`` is False, its exit code is not 0.
    """
    with _running(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        stdout, stderr = process.communicate()
    if check and process.returncode != 0:
        lines = stderr.decode(errors="replace").strip().splitlines()[-LAST_LINES:]
        raise _failure(argv, process.returncode, lines, hint)
    return stdout.decode(errors="replace")


def call(argv: Sequence[str]) -> int:
    """Run a program on the user's own terminal, as one may ask for a password. Returns its exit code."""
    try:
        return subprocess.call(list(argv))  # noqa: S603 - argument lists only
    except OSError as error:
        raise _cannot_start(argv, error.strerror) from error


@contextlib.contextmanager
def _running(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdout: IO[bytes] | int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> Iterator[subprocess.Popen[bytes]]:
    """A program from its start on; if the context is left by an exception, it is ended."""
    # What a program says is read here, and by people who look for help: the same words everywhere.
    env = {**(os.environ if env is None else env), "LC_ALL": "C"}
    if shutil.which(argv[0], path=env.get("PATH")) is None:
        raise _cannot_start(argv, os.strerror(errno.ENOENT))
    try:
        process = subprocess.Popen(  # noqa: S603 - argument lists only
            ["setpriv", "--pdeathsig", "TERM", "--", *argv],  # noqa: S607 - of util-linux, wherever it is
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            umask=0o022,
        )
    except OSError as error:
        raise _cannot_start(argv, error.strerror) from error
    with process:
        try:
            yield process
        except BaseException:
            _end(process)
            raise


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all it started: ask first, then insist."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
            return


def _cannot_start(argv: Sequence[str], why: str | None) -> LabError:
    return LabError(f"cannot run `{argv[0]}`: {why}", hint="`wirelab doctor` names the package it comes from")


def _failure(
    argv: Sequence[str], code: int, last: Iterable[str], hint: str | None, log: Path | None = None
) -> LabError:
    how = f"ended with exit code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"
    parts = [f"`{' '.join(argv[:2])}` {how}", *(f"  {line}" for line in last)]
    if any(os.strerror(errno.ENOSPC) in line for line in parts):
        hint = "the disk is full: make room, or point WIRELAB_CACHE or TMPDIR at a larger one"
    if log is not None:
        parts.append(f"the whole log: {log}")
    return LabError("\n".join(parts), hint=hint)
