"""A line at the prompt -> what is to be done."""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from wirelab.errors import InputError, unknown
from wirelab.plan.types import Plan
from wirelab.shell.condition import Condition, read_condition
from wirelab.shell.instant import read_ns
from wirelab.units import COUNT, NS_PER_MS, NS_PER_S, UnitError, parse

DEFAULT_WITHIN_NS: Final = 60 * NS_PER_S
"""How long a condition is waited for unless somebody says."""


_WATCH: Final = re.compile(r"(?P<length>.+?)(?:\s+at\s+(?P<pace>.+))?")
_UNTIL: Final = re.compile(r"until\s+(?P<what>.+?)(?:\s+within\s+(?P<within>.+))?")


@dataclass(frozen=True, slots=True)
class Help:
    """Of a word, or of all."""

    word: str | None


@dataclass(frozen=True, slots=True)
class Quit:
    """The end."""


@dataclass(frozen=True, slots=True)
class Run:
    """Let so much time pass, or less where ``until`` comes true, in the words ``text``."""

    length_ns: int
    until: Condition | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """Go on to the next instant at which something happens to a frame, so many times."""

    count: int


@dataclass(frozen=True, slots=True)
class Show:
    """What waits where: of ports by their label, or of nodes; none is all."""

    of: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Where:
    """The way of a frame so far."""

    frame: int


@dataclass(frozen=True, slots=True)
class Start:
    """The scenario's traffic by its timetable, or items of it at once."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Back:
    """To so much time ago."""

    length_ns: int


@dataclass(frozen=True, slots=True)
class Set:
    """A setting, while the network is up."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Again:
    """From the beginning, with all that was set and perhaps one thing more."""

    key: str | None = None
    value: str = ""


@dataclass(frozen=True, slots=True)
class Save:
    """The network as it is set by now, as a scenario."""

    file: str


@dataclass(frozen=True, slots=True)
class Watch:
    """Let so much time pass and see what waits, so much of it in a second of the watcher's."""

    length_ns: int
    pace_ns: int


@dataclass(frozen=True, slots=True)
class Program:
    """A program at a node."""

    node: str
    argv: tuple[str, ...]
    in_background: bool


Command = Help | Quit | Run | Step | Show | Where | Start | Back | Set | Again | Save | Watch | Program


def read_command(line: str, plan: Plan) -> Command | None:
    """What a line says, None for an empty one or a comment. Raises InputError with the nearest right word."""
    word, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    if not word or word.startswith("#"):
        return None
    if word in _READERS:
        if not rest and word in _EXAMPLES:
            raise _incomplete(word)
        return _READERS[word](rest, plan)
    return _program(word, rest, plan)


def _incomplete(word: str) -> InputError:
    return InputError(f"{word} what? Write for example `{word} {_EXAMPLES.get(word, 'ip -s link')}`")


def _run(rest: str, plan: Plan) -> Run:
    if until := _UNTIL.fullmatch(rest):
        within_ns = read_ns(until["within"]) if until["within"] else DEFAULT_WITHIN_NS
        return Run(within_ns, read_condition(until["what"], plan), until["what"])
    return Run(read_ns(rest))


def _start(rest: str, plan: Plan) -> Start:
    known = [item.name for item in plan.traffic]
    names = tuple(rest.replace(",", " ").split())
    for name in names:
        if name not in known:
            raise InputError(unknown("flow or ping", name, known))
    if not known:
        raise InputError("the scenario has no traffic: run what you like at its nodes")
    return Start(names)


def _count(text: str) -> int:
    """A number from 1 on. Raises InputError."""
    try:
        count = parse(text, COUNT)
    except UnitError as error:
        raise InputError(str(error)) from error
    if count < 1:
        raise InputError("it begins with 1")
    return count


def _setting(text: str) -> tuple[str, str]:
    """``module.fifo 32 KiB`` or ``module.fifo=32 KiB``."""
    key, _, value = re.sub(r"\s*=\s*", " ", text, count=1).partition(" ")
    if not value.strip():
        raise InputError(f"set {key} to what? Write for example `set module.fifo 32 KiB`")
    return key, value.strip()


def _watch(rest: str) -> Watch:
    said = _WATCH.fullmatch(rest)
    assert said is not None  # noqa: S101 - anything matches
    return Watch(read_ns(said["length"]), read_ns(said["pace"]) if said["pace"] else NS_PER_MS)


def _program(word: str, rest: str, plan: Plan) -> Program:
    nodes = [node.name for node in plan.nodes]
    if word not in nodes:
        raise InputError(unknown("command or node", word, (*WORDS, *nodes)), hint="help")
    try:
        argv = shlex.split(rest)
    except ValueError as error:
        raise InputError(f"{rest}: {error}") from None
    in_background = bool(argv) and argv[-1] == "&"
    argv = argv[:-1] if in_background else argv
    if not argv:
        raise _incomplete(word)
    return Program(word, tuple(_address(plan, each) for each in argv), in_background)


def _address(plan: Plan, word: str) -> str:
    """A host or firewall by its name is its address, as in Mininet."""
    if word in {stack.name for stack in plan.stacks}:
        try:
            return plan.address_of(word)
        except ValueError:
            return word
    return word


_EXAMPLES: Final = {
    "run": "10 ms",
    "where": "107",
    "back": "200 us",
    "set": "module.fifo 32 KiB",
    "save": "mine.yaml",
    "watch": "10 ms at 1 ms",
}
_READERS: Final[Mapping[str, Callable[[str, Plan], Command]]] = {
    "start": _start,
    "run": _run,
    "step": lambda rest, _: Step(_count(rest) if rest else 1),
    "show": lambda rest, _: Show(tuple(rest.split())),
    "where": lambda rest, _: Where(_count(rest)),
    "back": lambda rest, _: Back(read_ns(rest)),
    "set": lambda rest, _: Set(*_setting(rest)),
    "again": lambda rest, _: Again(*_setting(rest)) if rest else Again(),
    "save": lambda rest, _: Save(rest),
    "watch": lambda rest, _: _watch(rest),
    "help": lambda rest, _: Help(rest or None),
    "quit": lambda _, __: Quit(),
}
WORDS: Final = tuple(_READERS)
"""The prompt's own; all else begins with the name of a node."""
