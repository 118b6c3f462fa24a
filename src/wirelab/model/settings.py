"""Settings: what ``with:`` may say about a node, a port, a cable or the whole network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from wirelab.errors import unknown
from wirelab.model.bus import bus_of
from wirelab.model.metric import NETWORK, PRIORITIES
from wirelab.model.modes import AUTO, Duplex, parse_modes
from wirelab.model.packets import parse_packets
from wirelab.model.setting_kind import SettingKind
from wirelab.model.setting_table import CABLE_SETTINGS, NETWORK_SETTINGS, NODE_SETTINGS, PORT_SETTINGS
from wirelab.model.topology import PortError
from wirelab.model.types import Congestion, read_on_off
from wirelab.units import COUNT, RATE, SIZE, Quantity, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wirelab.errors import Problem
    from wirelab.model.parts import PartKind, Parts
    from wirelab.model.topology import Topology
    from wirelab.model.yamlfile import Document, Loc

Value = int | bool | str
QueueKind = Literal["fq_codel", "fq", "cake", "pfifo_fast", "pfifo", "bfifo"]

PART: Final = "part"
FRAMES: Final = " frames"


@dataclass(frozen=True, slots=True)
class Target:
    """What a setting is about: a node, a port of one, a cable, or ``network``."""

    name: str
    port: str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of ``with:``, its value in base units, and where it stands."""

    target: Target
    name: str
    value: Value
    loc: Loc


Trust = Literal["pcp", "dscp"]


class SettingError(ValueError):
    """A line of ``with:`` that names nothing or has a value that does not fit; the message says why."""


@dataclass(frozen=True, slots=True)
class SettingReader:
    """Reads ``with:`` of scenarios on one topology."""

    topology: Topology
    parts: Parts

    def read(self, settings: Mapping[str, str], loc: Loc, document: Document) -> Iterator[Setting | Problem]:
        """Each line of the mapping at ``loc``, as a Setting or as the problem with it."""
        for key, text in settings.items():
            here = (*loc, key)
            try:
                yield self.setting(key, text, here)
            except ValueError as error:
                yield document.problem(here, str(error))

    def setting(self, key: str, text: str, loc: Loc = ()) -> Setting:
        """One line of ``with:``. Raises SettingError or UnitError that says what would be right."""
        target, name, kind = self._what(key)
        return Setting(target, name, self._value(text, kind), loc)

    def quantity(self, key: str) -> Quantity | None:
        """What a setting is measured in, None for words. Raises SettingError if there is no such setting."""
        _, _, kind = self._what(key)
        return kind.kind if isinstance(kind, SettingKind) and isinstance(kind.kind, Quantity) else None

    def _what(self, key: str) -> tuple[Target, str, SettingKind | PartKind]:
        name, *rest = key.split(".")
        node = self.topology.nodes.get(name)
        if node is not None:
            if not rest:
                return Target(name), PART, node.kind
            if len(rest) == 1:
                return self._setting(Target(name), rest[0], NODE_SETTINGS[node.kind], key)
            try:
                ref = self.topology.resolve(".".join([name, *rest[:-1]]))
            except PortError as error:
                raise SettingError(str(error)) from None
            if ref not in self.topology.ports():
                raise SettingError(f"no cable is in `{ref.node}.{ref.port}`")
            if node.kind == "host":
                return self._setting(Target(name), rest[-1], NODE_SETTINGS["host"], key)
            return self._setting(Target(ref.node, ref.port), rest[-1], PORT_SETTINGS[node.kind], key)
        cables = tuple(cable.name for cable in self.topology.cables if cable.name)
        if name in cables or name == NETWORK:
            known = NETWORK_SETTINGS if name == NETWORK else CABLE_SETTINGS
            if len(rest) != 1:
                raise SettingError(f"write `{name}.<setting>`, one of {', '.join(known)}")
            return self._setting(Target(name), rest[0], known, key)
        raise SettingError(unknown("node", name, (*self.topology.nodes, *cables, NETWORK)))

    def _setting(
        self, target: Target, name: str, known: Mapping[str, SettingKind], key: str
    ) -> tuple[Target, str, SettingKind]:
        if name in known:
            return target, name, known[name]
        node = self.topology.nodes.get(target.name)
        if node is not None and target.port is None and name in PORT_SETTINGS[node.kind]:
            raise SettingError(f"`{name}` is a setting of one port: write `{target.name}.<port>.{name}`")
        raise SettingError(unknown(f"setting of {key.rpartition('.')[0]}", name, known))

    def _value(self, text: str, kind: SettingKind | PartKind) -> Value:
        if not isinstance(kind, SettingKind):
            return self._part(kind, text)
        if isinstance(kind.kind, Quantity):
            return kind.parse(text)
        if kind.kind in _READERS:
            return _READERS[kind.kind](text)
        return self._part(cast("PartKind", kind.kind), text)

    def _part(self, kind: PartKind, text: str) -> str:
        if kind == "bus":
            bus_of(text, self.parts.buses)
            return text
        return part_name(self.parts, kind, text)


def part_name(parts: Parts, kind: PartKind, text: str) -> str:
    """``text`` if a part of this kind has that name. Raises SettingError if not."""
    if text in parts.of(kind):
        return text
    other = parts.kind(text)
    if other is not None:
        raise SettingError(f"`{text}` is a {other}, a {kind} is needed: {', '.join(parts.names(kind))}")
    raise SettingError(unknown(kind, text, parts.names(kind)))


def parse_priorities(text: str) -> tuple[int, ...]:
    """``3, 4`` as priorities of 802.1Q, in order. Raises ValueError for what is none."""
    try:
        priorities = {parse(word, COUNT) for word in text.split(",")}
    except ValueError:
        raise SettingError(f"`{text}` are no priorities; write for example `3` or `[3, 4]`") from None
    if max(priorities) >= PRIORITIES:
        raise SettingError(f"there is no priority {max(priorities)}; they are 0..{PRIORITIES - 1}")
    return tuple(sorted(priorities))


_QUEUE_BYTES: Final = replace(NODE_SETTINGS["switch"]["queue_limit"], kind=SIZE)
_QUEUE_FRAMES: Final = replace(_QUEUE_BYTES, kind=COUNT)


def queue_limit(text: str) -> int | str:
    """``107 kB`` in bytes, or ``1000 frames`` as it is. Raises ValueError for anything else."""
    if not text.endswith(FRAMES):
        return _QUEUE_BYTES.parse(text)
    if not _QUEUE_FRAMES.parse(text.removesuffix(FRAMES)):
        raise SettingError("a queue of 0 frames holds nothing")
    return text


def _word(known: object, what: str) -> Callable[[str], str]:
    """A reader that takes the words of a Literal, and nothing else."""

    def read(text: str) -> str:
        words: tuple[str, ...] = get_args(known)
        if text in words:
            return text
        raise SettingError(unknown(what, text, words))

    return read


def _as_text(parse_text: Callable[[str], object]) -> Callable[[str], str]:
    """A reader that leaves what can be parsed as it is written."""

    def read(text: str) -> str:
        parse_text(text)
        return text

    return read


def _speed(text: str) -> int | str:
    return AUTO if text == AUTO else parse(text, RATE)


_READERS: Final[Mapping[str, Callable[[str], Value]]] = {
    "on_off": read_on_off,
    "congestion": _word(Congestion, "congestion control"),
    "queue": _word(QueueKind, "queue"),
    "queue_limit": queue_limit,
    "speed": _speed,
    "duplex": _word(Duplex, "duplex"),
    "modes": _as_text(parse_modes),
    "priorities": _as_text(parse_priorities),
    "trust": _word(Trust, "trust"),
    "packets": _as_text(parse_packets),
}
