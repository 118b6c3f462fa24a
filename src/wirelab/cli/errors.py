"""From exceptions to messages and exit codes: no user ever sees a traceback."""

import contextlib
import errno
import os
import re
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import typer
from typer.core import TyperGroup

from wirelab.errors import InputError, LabError, SkipError, WirelabError
from wirelab.lab.cache import Cache

INTERRUPTED: Final = 130
_CLOSED_PIPE: Final = 128 + signal.SIGPIPE
_REFUSALS: Final = {
    errno.EACCES: "run it in a folder of yours, or as a user who may",
    errno.EPERM: "run it in a folder of yours, or as a user who may",
    errno.EROFS: "name a place that can be written",
    errno.ENOSPC: "the disk is full: make room",
    errno.EDQUOT: "your quota is used up: make room",
}
_LONGEST_SHOWN: Final = 100
_WHOLE: Final = "expected a whole number"
_OUR_WORDS: Final[Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]] = (
    (re.compile(r"Value error, "), ""),
    (
        re.compile(r"'([^']*)' is not one of (.*?)\.?$"),
        lambda told: f"`{told[1]}` is none of {_bare(told[2])}",
    ),
    (
        re.compile(r"Input should be a valid integer, .*|'[^']*' is not a valid int(eger)?( range)?\.?$"),
        _WHOLE,
    ),
    (re.compile(r"Input should be greater than or equal to (\S+)"), r"expected at least \1"),
    (re.compile(r"Input should be less than or equal to (\S+)"), r"expected at most \1"),
)
"""What the library that reads a command line says, in any of its versions, and what is said instead."""


class Group(TyperGroup):
    """A group of commands that ends quietly.

    On Ctrl-C, and when its reader goes away: ``wirelab list | head``. Left to typer, both would end
    with the exit code of a failed check in some of its versions.
    """

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own types are private
        """Run the command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise typer.Exit(_CLOSED_PIPE) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None


def exit_code_of(command: Callable[[], int | None]) -> int:
    """Run a command; print what it raises as a message. Returns the exit code.

    SIGTERM and SIGHUP end it as Ctrl-C does: labs are switched off, unfinished results removed.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    _open_streams()
    try:
        code = command() or 0
    except WirelabError as error:
        _print_error(error)
        code = error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001 - whatever it is, the user gets a message
        # Some versions of typer raise click's errors, others their own copy of them.
        usage = getattr(error, "format_message", None)
        if usage is not None:
            _print_usage(usage(), getattr(error, "ctx", None))
            code = InputError.exit_code
        else:
            explained = _explained(error)
            _print_error(explained)
            code = explained.exit_code
    if code == INTERRUPTED:
        _complain("interrupted")
    _close_streams()
    return code


def _print_error(error: WirelabError) -> None:
    messages = [str(problem) for problem in error.problems] if isinstance(error, InputError) else [str(error)]
    word = "skip" if isinstance(error, SkipError) else "error"
    for message in messages:
        _complain(f"{word}: {message}")
    if error.hint:
        _complain(f"hint: {error.hint}")


def _bare(words: str) -> str:
    return words.replace("'", "")


def _print_usage(message: str, context: Any) -> None:  # noqa: ANN401 - typer's own types are private
    """A command line that cannot be understood; a group without a command has its help for a message."""
    if not message or message.lstrip().startswith("Usage:"):
        _complain(message)
    else:
        for others, ours in _OUR_WORDS:
            message = others.sub(ours, message)
        _complain(f"error: {message[:1].lower()}{message[1:]}")
        _complain(f"hint: {context.command_path if context else 'wirelab'} --help")


def _explained(error: Exception) -> WirelabError:
    try:
        Path.cwd()
    except OSError:
        return InputError("the current folder was removed", hint="cd to one that is there")
    if isinstance(error, OSError) and error.errno in _REFUSALS:
        return LabError(f"{error.filename or 'the output'}: {error.strerror}", hint=_REFUSALS[error.errno])
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return InputError(f"{str(error.filename)[:_LONGEST_SHOWN]}...: no file has so long a name")
    return _unexpected(error)


def _unexpected(error: Exception) -> LabError:
    """An error of wirelab's own: the traceback goes to a file, the message says which."""
    text = "".join(traceback.format_exception(error))
    message = f"this should not have happened: {type(error).__name__}: {error}"
    for folder in (_log_folder, lambda: Path(tempfile.gettempdir())):
        with contextlib.suppress(OSError, WirelabError):
            log = folder() / f"wirelab-{os.getpid()}.log"
            log.write_text(text, encoding="utf-8")
            return LabError(message, hint=f"please report it with {log}")
    return LabError(message)


def _log_folder() -> Path:
    return Cache.at(os.environ).folder("logs")


def _complain(text: str) -> None:
    with contextlib.suppress(OSError):
        typer.echo(text, err=True)


def _open_streams() -> None:
    """Let each standard stream that we were started without lead nowhere.

    Else there is none in `sys`, and the next file that is opened gets its number and what is written to it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def _close_streams() -> None:
    """Write out what is buffered: of a reader or terminal that is gone the interpreter must not complain."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
