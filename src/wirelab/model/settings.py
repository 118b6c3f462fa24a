"""Settings: what ``with:`` may say about a node, a port, a cable or the whole network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from wirelab.errors import unknown
from wirelab.model.expect import NETWORK
from wirelab.model.topology import PortError
from wirelab.model.types import Congestion, read_on_off
from wirelab.units import COUNT, LENGTH, MICROSECONDS, RATE, RATIO, SIZE, TIME, Quantity, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wirelab.errors import Problem
    from wirelab.model.parts import PartKind, Parts
    from wirelab.model.topology import NodeKind, Topology
    from wirelab.model.yamlfile import Document, Loc

Value = int | bool | str
HostQueue = Literal["fq_codel", "fq"]
Kind = Quantity | Literal["on_off", "nic", "congestion", "host_queue"]

PART: Final = "part"

_PATH: Final[Mapping[str, Kind]] = {"speed": RATE, "delay": TIME, "jitter": TIME, "loss": RATIO}
_PAUSE: Final[Mapping[str, Kind]] = {
    "flow_control": "on_off",
    "pause_rx": "on_off",
    "pause_tx": "on_off",
    "xoff": SIZE,
    "xon": SIZE,
}
_HOST: Final[Mapping[str, Kind]] = {
    "nic": "nic",
    "rx_usecs": MICROSECONDS,
    "rx_frames": COUNT,
    "rx_ring": COUNT,
    "tx_ring": COUNT,
    "buffer": SIZE,
    "mtu": SIZE,
    "queue": "host_queue",
    "timestamps": "on_off",
    "congestion": "congestion",
    **_PAUSE,
    **_PATH,
}
_SWITCH: Final[Mapping[str, Kind]] = {
    "buffer": SIZE,
    "queue_limit": SIZE,
    "headroom": SIZE,
    "mtu": SIZE,
    **_PAUSE,
}
_MODULE: Final[Mapping[str, Kind]] = {"fifo": SIZE, "mtu": SIZE, **_PAUSE}
_CABLE: Final[Mapping[str, Kind]] = {"speed": RATE, "length": LENGTH, "delay": TIME, "loss": RATIO}
_NETWORK: Final[Mapping[str, Kind]] = {"mtu": SIZE}

NODE_SETTINGS: Final[Mapping[NodeKind, Mapping[str, Kind]]] = {
    "host": _HOST,
    "switch": _SWITCH,
    "module": _MODULE,
}
PORT_SETTINGS: Final[Mapping[NodeKind, Mapping[str, Kind]]] = {
    "host": {},
    "switch": {**_SWITCH, **_PATH},
    "module": {**_MODULE, **_PATH},
}


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
                target, name, kind = self._what(key)
                yield Setting(target, name, self._value(text, kind), here)
            except ValueError as error:
                yield document.problem(here, str(error))

    def _what(self, key: str) -> tuple[Target, str, Kind | PartKind]:
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
            known = _NETWORK if name == NETWORK else _CABLE
            if len(rest) != 1:
                raise SettingError(f"write `{name}.<setting>`, one of {', '.join(known)}")
            return self._setting(Target(name), rest[0], known, key)
        raise SettingError(unknown("node", name, (*self.topology.nodes, *cables, NETWORK)))

    def _setting(
        self, target: Target, name: str, known: Mapping[str, Kind], key: str
    ) -> tuple[Target, str, Kind]:
        if name in known:
            return target, name, known[name]
        node = self.topology.nodes.get(target.name)
        if node is not None and target.port is None and name in PORT_SETTINGS[node.kind]:
            raise SettingError(f"`{name}` is a setting of one port: write `{target.name}.<port>.{name}`")
        raise SettingError(unknown(f"setting of {key.rpartition('.')[0]}", name, known))

    def _value(self, text: str, kind: Kind | PartKind) -> Value:
        if isinstance(kind, Quantity):
            return parse(text, kind)
        match kind:
            case "on_off":
                return read_on_off(text)
            case "congestion":
                return _word(text, get_args(Congestion), "congestion control")
            case "host_queue":
                return _word(text, get_args(HostQueue), "queue")
            case _:
                return part_name(self.parts, kind, text)


def part_name(parts: Parts, kind: PartKind, text: str) -> str:
    """``text`` if a part of this kind has that name. Raises SettingError if not."""
    if text in parts.of(kind):
        return text
    other = parts.kind(text)
    if other is not None:
        raise SettingError(f"`{text}` is a {other}, a {kind} is needed: {', '.join(parts.names(kind))}")
    raise SettingError(unknown(kind, text, parts.names(kind)))


def _word(text: str, known: tuple[str, ...], what: str) -> str:
    if text in known:
        return text
    raise SettingError(unknown(what, text, known))
