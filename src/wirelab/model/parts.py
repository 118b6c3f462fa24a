"""Parts: catalogued devices, each figure with its provenance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, get_args

from pydantic import Field

from wirelab.errors import unknown
from wirelab.model.bus import Bus, BusError, bus_of
from wirelab.model.ethernet import frame_bytes
from wirelab.model.types import (
    ByteRate,
    Celsius,
    Congestion,
    Cost,
    Count,
    Figure,
    HostSpeed,
    LinkMode,
    Microseconds,
    Model,
    Name,
    OnOff,
    PositiveCount,
    Provenance,
    Rate,
    Size,
    Text,
)
from wirelab.units import SIZE, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wirelab.errors import Problem
    from wirelab.model.yamlfile import Document

PartKind = Literal["host", "firewall", "switch", "hub", "module", "nic", "bus", "storage"]

STANDARD_MTU_BYTES: Final = 1500


class CpuCosts(Model):
    """What a frame costs one CPU core, and each byte of it, on its way in and out."""

    rx_frame: Figure[Cost] | None = None
    rx_byte: Figure[Cost] | None = None
    tx_frame: Figure[Cost] | None = None
    tx_byte: Figure[Cost] | None = None


class Nic(CpuCosts):
    """A network card: one port of a host.

    ``speeds`` are the modes that it offers. ``rx_usecs`` and ``rx_frames`` are its interrupt moderation
    as ``ethtool -C`` counts it, the rings are in frames, ``xoff`` and ``xon`` are fill levels of its
    packet buffer. ``bus`` names what joins it to the host and the lanes: ``pcie-3 x1``. The CPU costs
    are those of its driver, on top of the host's.
    """

    title: Text
    speeds: Figure[tuple[LinkMode, ...]]
    bus: Figure[Text] | None = None
    rx_usecs: Figure[Microseconds]
    rx_frames: Figure[Count] | None = None
    rx_ring: Figure[PositiveCount]
    tx_ring: Figure[PositiveCount]
    buffer: Figure[Size]
    xoff: Figure[Size]
    xon: Figure[Size]
    flow_control: Figure[OnOff]


class Host(CpuCosts):
    """What an operating system does to a flow, and the card it usually comes with.

    ``rx_usecs`` overrides the moderation of that card, where the system's driver is known to differ.
    The CPU costs are those of what looks into every frame; what an ordinary stack costs is nothing here.
    """

    title: Text
    nic: Name
    timestamps: Figure[OnOff]
    congestion: Figure[Congestion]
    rx_usecs: Figure[Microseconds] | None = None


class Storage(Model):
    """Disks of a host, and how fast long files are read from them and written to them."""

    title: Text
    read: Figure[ByteRate]
    write: Figure[ByteRate]


class Temperature(Model):
    """What was measured at a module's case, in degrees Celsius, and where."""

    speed: Rate
    celsius: Celsius
    where: Text
    provenance: Provenance = Field(alias="from")
    note: Text


class Firewall(Model):
    """A machine between networks, with one core for all it forwards, and the card of its ports.

    A frame costs ``frame``, ``byte`` for each of its bytes and ``rule`` for each rule it is compared
    with. ``rules`` stand before the one that lets it pass; a ``stateful`` firewall compares only the
    first packet of a connection with them.
    """

    title: Text
    nic: Name
    frame: Figure[Cost]
    byte: Figure[Cost] | None = None
    rule: Figure[Cost]
    rules: Figure[Count]
    stateful: Figure[OnOff]


class Hub(Model):
    """A repeater: one shared medium in half duplex, at one ``speed``."""

    title: Text
    ports: Figure[PositiveCount]
    speed: Figure[Rate]


class Transceiver(Model):
    """An SFP+ transceiver: port ``host`` faces the switch, port ``line`` the cable.

    ``host_speed`` is the same whatever the line has (the module matches the rates), or that of the
    ``line``. ``temperatures`` are what was measured at its case, as data.
    ``fifo`` is what it holds in each direction when the two sides run at different speeds.
    ``fifo_unheeded`` is what it effectively holds when it sends PAUSE and the switch ignores it.
    ``host_pause`` and ``line_pause`` say on which side it speaks PAUSE; ``xoff`` and ``xon`` are fill
    levels of the FIFO.
    """

    title: Text
    host_speed: Figure[HostSpeed]
    line_speeds: Figure[tuple[LinkMode, ...]]
    fifo: Figure[Size]
    fifo_unheeded: Figure[Size] | None = None
    host_pause: Figure[OnOff]
    line_pause: Figure[OnOff]
    xoff: Figure[Size] | None = None
    xon: Figure[Size] | None = None
    temperatures: tuple[Temperature, ...] = ()


class Switch(Model):
    """A switch with one shared packet buffer.

    ``queue_limit`` is what one egress queue may hold with flow control off; with it on, ``xoff``,
    ``xon`` and ``headroom`` rule what each ingress port may hold.
    """

    title: Text
    ports: Figure[PositiveCount]
    speeds: Figure[tuple[LinkMode, ...]]
    buffer: Figure[Size]
    queue_limit: Figure[Size]
    xoff: Figure[Size]
    xon: Figure[Size]
    headroom: Figure[Size]


Part = Nic | Transceiver | Switch | Host | Hub | Firewall | Bus | Storage


class PartsFile(Model):
    """One file of parts."""

    nics: dict[Name, Nic] = Field(default_factory=dict)
    modules: dict[Name, Transceiver] = Field(default_factory=dict)
    switches: dict[Name, Switch] = Field(default_factory=dict)
    hubs: dict[Name, Hub] = Field(default_factory=dict)
    hosts: dict[Name, Host] = Field(default_factory=dict)
    firewalls: dict[Name, Firewall] = Field(default_factory=dict)
    buses: dict[Name, Bus] = Field(default_factory=dict)
    storage: dict[Name, Storage] = Field(default_factory=dict)

    def named(self) -> Iterator[tuple[str, str]]:
        """Every part as (section, name)."""
        for section in KINDS:
            for name in getattr(self, section):
                yield section, name


KINDS: Final = tuple(PartsFile.model_fields)


@dataclass(frozen=True, slots=True)
class Parts:
    """Every part that can be named."""

    nics: Mapping[str, Nic] = field(default_factory=dict)
    modules: Mapping[str, Transceiver] = field(default_factory=dict)
    switches: Mapping[str, Switch] = field(default_factory=dict)
    hubs: Mapping[str, Hub] = field(default_factory=dict)
    hosts: Mapping[str, Host] = field(default_factory=dict)
    firewalls: Mapping[str, Firewall] = field(default_factory=dict)
    buses: Mapping[str, Bus] = field(default_factory=dict)
    storage: Mapping[str, Storage] = field(default_factory=dict)

    def names(self, kind: PartKind) -> tuple[str, ...]:
        """The names of all parts of a kind."""
        return tuple(self.of(kind))

    def of(self, kind: PartKind) -> Mapping[str, Part]:
        """All parts of a kind, by name."""
        sections: dict[PartKind, Mapping[str, Part]] = {
            "nic": self.nics,
            "module": self.modules,
            "switch": self.switches,
            "hub": self.hubs,
            "host": self.hosts,
            "firewall": self.firewalls,
            "bus": self.buses,
            "storage": self.storage,
        }
        return sections[kind]

    def kind(self, name: str) -> PartKind | None:
        """The kind of part ``name`` is, None if there is none of that name."""
        return next((kind for kind in get_args(PartKind) if name in self.of(kind)), None)


def part_problems(parts: PartsFile, document: Document) -> Iterator[Problem]:
    """What is physically impossible in a file of parts."""
    for section in ("nics", "switches", "modules"):
        for name, part in getattr(parts, section).items():
            for key, message in figure_problems(part):
                yield document.problem((section, name, key), message)


def card_problems(
    parts: PartsFile, nics: Iterable[str], buses: Mapping[str, Bus], document: Document
) -> Iterator[Problem]:
    """The hosts and firewalls whose card is none of ``nics``, the cards whose bus is none of ``buses``."""
    known = set(nics)
    for section in ("hosts", "firewalls"):
        for name, part in getattr(parts, section).items():
            if part.nic not in known:
                yield document.problem((section, name, "nic"), unknown("nic", part.nic, sorted(known)))
    for name, nic in parts.nics.items():
        try:
            if nic.bus is not None:
                bus_of(nic.bus.value, buses)
        except BusError as error:
            yield document.problem(("nics", name, "bus", "value"), str(error))


def figure_problems(part: Nic | Switch | Transceiver) -> Iterator[tuple[str, str]]:
    """The figures of a part that contradict each other, as (figure, message)."""
    if isinstance(part, Transceiver):
        room = part.fifo.value
        if part.fifo.value < frame_bytes(STANDARD_MTU_BYTES):
            yield "fifo", fifo_message(part.fifo.value, STANDARD_MTU_BYTES)
        speaks = part.host_pause.value or part.line_pause.value
        if speaks:
            for key in ("xoff", "xon"):
                if getattr(part, key) is None:
                    yield key, "is missing: a module that speaks PAUSE has thresholds"
    else:
        room = part.buffer.value
    if part.xoff is None or part.xon is None:
        return
    yield from threshold_problems(xoff=part.xoff.value, xon=part.xon.value, room=room)
    if isinstance(part, Switch) and part.xoff.value + part.headroom.value > room:
        yield "headroom", f"XOFF + headroom is more than the buffer, {show(room, SIZE)}"


def threshold_problems(*, xoff: int, xon: int, room: int) -> Iterator[tuple[str, str]]:
    """What is wrong with PAUSE thresholds in a buffer of ``room`` bytes, as (figure, message)."""
    if xon >= xoff:
        yield "xon", f"XON {show(xon, SIZE)} must be below XOFF {show(xoff, SIZE)}"
    if xoff > room:
        yield "xoff", f"XOFF {show(xoff, SIZE)} is more than the buffer holds, {show(room, SIZE)}"


def fifo_message(fifo_bytes: int, mtu_bytes: int) -> str:
    """The message for a FIFO into which no full frame fits."""
    frame = show(frame_bytes(mtu_bytes), SIZE)
    return f"a FIFO of {show(fifo_bytes, SIZE)} does not hold one frame, {frame} at MTU {mtu_bytes}"
