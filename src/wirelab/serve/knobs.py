"""Knobs: the settings of a network that somebody may turn on the bench, with their positions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, get_args

from wirelab.model.metric import NETWORK
from wirelab.model.modes import AUTO
from wirelab.model.parts import PartKind
from wirelab.model.setting_table import SettingKind, settings_of
from wirelab.model.settings import QueueKind
from wirelab.model.topology import PortRef, Topology
from wirelab.model.types import Congestion
from wirelab.model.wiring import Wiring
from wirelab.units import RATE, SIZE, Quantity, UnitError, parse, show

_SIZES: Final = tuple(f"{1 << power} KiB" for power in range(1, 10))
_LARGE_SIZES: Final = (*(f"{1 << power} KiB" for power in range(4, 10)), "1 MiB", "2 MiB", "4 MiB", "8 MiB")
_ON_OFF: Final = ("on", "off")

_POSITIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "fifo": (*_SIZES, "1 MiB"),
    "buffer": _LARGE_SIZES,
    "queue_limit": _LARGE_SIZES,
    "queue": get_args(QueueKind),
    "flow_control": _ON_OFF,
    "ecn": _ON_OFF,
    "rx_usecs": ("0 us", "10 us", "20 us", "50 us", "100 us", "200 us", "500 us", "1 ms"),
    "congestion": get_args(Congestion),
    "speed": ("10 Mbit/s", "100 Mbit/s", "1 Gbit/s", "2.5 Gbit/s", "5 Gbit/s", "10 Gbit/s", "25 Gbit/s"),
    "length": ("1 m", "10 m", "100 m", "1 km", "10 km", "100 km"),
    "delay": ("100 us", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms", "50 ms", "100 ms"),
    "loss": ("0.001 %", "0.01 %", "0.1 %", "1 %", "5 %"),
    "mtu": ("576 B", "1500 B", "4000 B", "9000 B"),
    "rules": ("0", "10", "100", "1000", "10000"),
}
_QUANTITIES: Final = {"speed": RATE, "queue_limit": SIZE}
"""Of settings that can be a word, too."""
_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "host": ("nic", "rx_usecs", "congestion", "queue", "flow_control", "storage"),
    "switch": ("flow_control", "buffer", "queue", "queue_limit", "ecn"),
    "module": ("fifo", "flow_control"),
    "firewall": ("nic", "rx_usecs", "rules"),
    "cable": ("speed", "length", "delay", "loss"),
    NETWORK: ("mtu",),
}
_PARTS: Final = ("module", "switch", "host", "firewall")


@dataclass(frozen=True, slots=True)
class Knob:
    """A setting: ``key`` is what `with` calls it, ``value`` what it is if nobody turns it, empty if unknown.

    ``positions`` are the values it can be turned to, an empty one standing for the value that it has;
    ``is_scale`` where they have an order.
    """

    key: str
    name: str
    text: str
    value: str
    positions: tuple[str, ...]
    is_scale: bool

    def with_position(self, text: str) -> "Knob":
        """The same with one more position, of which a link tells."""
        return self if text in self.positions else replace(self, positions=(*self.positions, text))


@dataclass(frozen=True, slots=True)
class Element:
    """A node, a cable or the network, with the knobs that it has."""

    name: str
    kind: str
    knobs: tuple[Knob, ...]


def elements(wiring: Wiring) -> tuple[Element, ...]:
    """What can be turned in a network, in the order of its topology."""
    topology = wiring.topology
    found = [_node(wiring, name) for name in topology.nodes]
    found += [
        Element(cable.name, "cable", tuple(_knobs(wiring, cable.name, "cable", None)))
        for cable in topology.cables
        if cable.name
    ]
    found.append(Element(NETWORK, NETWORK, tuple(_knobs(wiring, NETWORK, NETWORK, None))))
    return tuple(element for element in found if element.knobs)


def _node(wiring: Wiring, name: str) -> Element:
    kind = wiring.topology.nodes[name].kind
    ref = next((ref for ref in wiring.topology.ports() if ref.node == name), None)
    knobs = list(_knobs(wiring, name, kind, ref))
    if kind in _PARTS:
        own = wiring.part_name(name) or ""
        positions = _with_own(_parts_of(wiring, kind), own, None)
        knobs.insert(0, Knob(name, "part", "", own, positions, is_scale=False))
    return Element(name, kind, tuple(knob for knob in knobs if len(knob.positions) > 1))


def _knobs(wiring: Wiring, owner: str, kind: str, ref: PortRef | None) -> Iterator[Knob]:
    known = settings_of(kind)
    for name in _OF.get(kind, ()):
        if name not in known:
            continue
        setting = known[name]
        positions = _POSITIONS.get(name) or _parts_of(wiring, setting.kind)
        value = _value(wiring, owner, setting, ref)
        quantity = setting.quantity or _QUANTITIES.get(name)
        positions = _with_own(positions, value, quantity)
        yield Knob(f"{owner}.{name}", name, setting.text, value, positions, quantity is not None)


def _with_own(positions: tuple[str, ...], own: str, quantity: Quantity | None) -> tuple[str, ...]:
    """Positions with the empty one among them: in its place of a scale, where it is known, else in front."""
    others = tuple(text for text in positions if text != own)
    try:
        own_value = None if quantity is None else parse(own, quantity)
    except UnitError:
        # A word such as `auto`, or a queue's limit in frames.
        own_value = None
    if quantity is None or own_value is None:
        return ("", *others)
    below = tuple(text for text in others if parse(text, quantity) < own_value)
    return (*below, "", *(text for text in others if parse(text, quantity) > own_value))


def _parts_of(wiring: Wiring, kind: str) -> tuple[str, ...]:
    """The parts of a kind, by name."""
    return tuple(wiring.parts.of(next(known for known in get_args(PartKind) if known == kind)))


def _value(wiring: Wiring, owner: str, setting: SettingKind, ref: PortRef | None) -> str:
    """What holds if nobody turns it, as far as the wiring tells it in one figure."""
    name = setting.name
    if ref is None:
        return _of_cable(wiring.topology, owner, name)
    if name == "nic":
        return wiring.nic_name(ref.node)
    if name == "flow_control":
        rx, tx = wiring.pause(ref, "rx"), wiring.pause(ref, "tx")
        return "on" if rx and tx else "off" if not (rx or tx) else ""
    found = wiring.value(ref, name)
    return _shown(found, setting.quantity or _QUANTITIES.get(name))


def _of_cable(topology: Topology, owner: str, name: str) -> str:
    if owner == NETWORK:
        return _shown(topology.mtu_bytes, settings_of(NETWORK)[name].quantity)
    cable = next(cable for cable in topology.cables if cable.name == owner)
    if name == "speed":
        return AUTO if cable.speed_bps is None else show(cable.speed_bps, RATE)
    if name == "length":
        return _shown(cable.length_mm, settings_of("cable")[name].quantity)
    return ""


def _shown(value: object, quantity: Quantity | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int) and quantity is not None:
        return show(value, quantity)
    return str(value)
