"""``wirelab shell``: the network of a scenario at a prompt, and time stands still while one thinks."""

import errno
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Final, Protocol

import typer

from wirelab.cli import options
from wirelab.cli.errors import INTERRUPTED
from wirelab.cli.names import usable_cpus
from wirelab.errors import InputError, Problem
from wirelab.lab.first_use import select_or_take
from wirelab.model.catalogue import find_scenario
from wirelab.model.experiment import load
from wirelab.model.yamlfile import read
from wirelab.shell.session import PICTURES_PER_S, Picture, Session

_LEAVING: Final = (signal.SIGTERM, signal.SIGHUP)
_UP: Final = "\x1b[{count}A\x1b[J"
_STDIN: Final = "standard input"


class Lines(Protocol):
    """Where lines come from: a person at a terminal, or a script."""

    def read(self, session: Session) -> str | None:
        """The next line; None where there is no more. Raises KeyboardInterrupt for one that is given up."""

    def refuse(self, error: InputError) -> None:
        """A line made no sense: say so and go on, or raise."""


def shell_command(  # noqa: PLR0913 - the options of a command line
    name: options.Name,
    *,
    variant: options.Variant = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="SETTING=VALUE", help="A setting on top: `module.fifo=32 KiB`. Repeatable."
        ),
    ] = None,
    seed: options.Seed = options.DEFAULT_SEED,
    kernel: options.Kernel = None,
    root: options.Root = None,
    cpu: Annotated[int | None, typer.Option(min=0, help="The host CPU to use.")] = None,
) -> None:
    """Look at a network while time stands still, and let it go on as far as you say.

    `help` tells what can be said. A script of commands on the standard input gives the same output each
    time. Exit codes: 0 at the end, 2 bad input, 4 error, 130 ended by a signal.
    """
    experiment = load(name, Path.cwd())
    case = experiment.cases[0] if variant is None else experiment.case(variant)
    on_top = list(map(_setting, settings or ()))
    path, _ = find_scenario(name, Path.cwd())
    [chosen_cpu, *_] = usable_cpus([cpu] if cpu is not None else None, 1)
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    lab = select_or_take(kernel, root, say=options.tell)
    written = read(path).tree
    with lab.in_use(), _signals() as ctrl_c:
        session = Session(lab, experiment, case, seed=seed, cpu=chosen_cpu, written=written, settings=on_top)
        with session:
            lines: Lines = _terminal(session) if is_terminal else _Script()
            if is_terminal:
                typer.echo(
                    f"{experiment.scenario.name}, {case.name}: time stands still. `help` tells what to say."
                )
            _converse(session, lines, ctrl_c)


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not value.strip():
        raise InputError(f"--set {text}: write SETTING=VALUE, such as `module.fifo=32 KiB`")
    return key.strip(), value.strip()


def _terminal(session: Session) -> Lines:
    # A script needs none of it, and to read it takes a fifth of a second.
    from wirelab.cli.terminal import Terminal  # noqa: PLC0415

    session.columns = shutil.get_terminal_size().columns
    return Terminal()


def _converse(session: Session, lines: Lines, ctrl_c: "_CtrlC") -> None:
    """Line after line, until there is no more."""
    while not session.is_over:
        try:
            line = lines.read(session)
        except KeyboardInterrupt:
            continue
        if line is None:
            return
        try:
            with ctrl_c.ends(session):
                if _print(session.tell(line), ctrl_c):
                    sys.stdout.write(f"interrupted at {session.now}\n")
        except InputError as error:
            lines.refuse(error)


def _print(said: Iterator[str | Picture], ctrl_c: "_CtrlC") -> bool:
    """Print what is said as it comes; pictures one over the other, where that can be.

    Returns whether somebody has had enough of pictures while the lab stood still, which it cannot tell.
    """
    is_terminal = sys.stdout.isatty()
    drawn, begun_s, count = 0, time.monotonic(), 0
    for part in said:
        if isinstance(part, Picture):
            lines = part.lines
            again = _UP.format(count=drawn) if is_terminal and drawn else ""
            sys.stdout.write(again + "\n".join(lines) + "\n" + ("" if is_terminal else "\n"))
            drawn, count = len(lines), count + 1
            if is_terminal:
                sys.stdout.flush()
                time.sleep(max(0.0, begun_s + count / PICTURES_PER_S - time.monotonic()))
            if ctrl_c.was_pressed:
                return True
        else:
            sys.stdout.write(part)
            drawn = 0
        sys.stdout.flush()
    return False


class _Script:
    """Lines of the standard input, each shown as if somebody had typed it."""

    def __init__(self) -> None:
        self._number = 0

    def read(self, session: Session) -> str | None:
        line = sys.stdin.readline()
        if not line:
            return None
        self._number += 1
        typer.echo(f"{session.now}> {line.rstrip()}")
        return line

    def refuse(self, error: InputError) -> None:
        problem = error.problems[0]
        told = Problem(problem.message, problem.file or _STDIN, problem.line or self._number)
        raise InputError(told.message, file=told.file, line=told.line, hint=error.hint) from error


class _LeaveError(BaseException):
    """A signal says that this is the end, whatever is being done."""


class _CtrlC:
    """Ctrl-C ends what is being done at the prompt; where nothing is, the line that is begun."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self.was_pressed = False

    @contextmanager
    def ends(self, session: Session) -> Iterator[None]:
        """What is done meanwhile ends with Ctrl-C, and the session goes on."""
        self._session, self.was_pressed = session, False
        try:
            yield
        finally:
            self._session = None

    def pressed(self, _number: int, _frame: FrameType | None) -> None:
        """The signal has come."""
        if self._session is None:
            raise KeyboardInterrupt
        self.was_pressed = True
        self._session.interrupt()


@contextmanager
def _signals() -> Iterator[_CtrlC]:
    """Tell Ctrl-C from the signals that mean the end."""
    ctrl_c = _CtrlC()

    def leave(_number: int, _frame: FrameType | None) -> None:
        # One is enough: the lab is being switched off.
        for number in _LEAVING:
            signal.signal(number, signal.SIG_IGN)
        raise _LeaveError

    handlers = {signal.SIGINT: ctrl_c.pressed, **dict.fromkeys(_LEAVING, leave)}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield ctrl_c
    except _LeaveError:
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        # Of a terminal that is gone; its SIGHUP may come later.
        if error.errno != errno.EIO:
            raise
        raise typer.Exit(INTERRUPTED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
