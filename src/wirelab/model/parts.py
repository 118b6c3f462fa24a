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

    rx_frame: Figure[Cost] | None = Field(default=None, description="CPU time for each frame that comes in.")
    rx_byte: Figure[Cost] | None = Field(default=None, description="CPU time for each byte that comes in.")
    tx_frame: Figure[Cost] | None = Field(default=None, description="CPU time for each frame that goes out.")
    tx_byte: Figure[Cost] | None = Field(default=None, description="CPU time for each byte that goes out.")


class Nic(CpuCosts):
    """A network card: one port of a host. The CPU costs are those of its driver, on top of the host's."""

    title: Text = Field(description="What it is called.")
    speeds: Figure[tuple[LinkMode, ...]] = Field(description="The link modes that it offers.")
    bus: Figure[Text] | None = Field(
        default=None,
        description="What joins it to the host, and the lanes: `pcie-3 x1`. Without one the bus is no limit.",
    )
    rx_usecs: Figure[Microseconds] = Field(
        description="How long an interrupt may be held back to collect frames, as `ethtool -C rx-usecs`."
    )
    rx_frames: Figure[Count] | None = Field(
        default=None, description="After how many frames it comes at once, as `ethtool -C rx-frames`."
    )
    rx_ring: Figure[PositiveCount] = Field(description="Frames that the host may have to fetch.")
    tx_ring: Figure[PositiveCount] = Field(description="Frames that wait in the card.")
    buffer: Figure[Size] = Field(description="The memory for received frames, before the bus.")
    xoff: Figure[Size] = Field(description="The fill of the buffer at which it sends PAUSE.")
    xon: Figure[Size] = Field(description="The fill at which it lets the peer go on.")
    flow_control: Figure[OnOff] = Field(description="Whether it offers PAUSE.")


class Host(CpuCosts):
    """What an operating system does to a flow, and the card it usually comes with.

    The CPU costs are those of what looks into every frame; what an ordinary stack costs is nothing here.
    """

    title: Text = Field(description="What it is called.")
    nic: Name = Field(description="The card that it usually comes with.")
    timestamps: Figure[OnOff] = Field(description="TCP timestamps (RFC 7323); 12 bytes of each segment.")
    congestion: Figure[Congestion] = Field(description="The congestion control that its TCP sends with.")
    rx_usecs: Figure[Microseconds] | None = Field(
        default=None, description="Interrupt moderation, where its driver is known to differ from the card's."
    )


class Storage(Model):
    """Disks of a host, and how fast long files are read from them and written to them."""

    title: Text = Field(description="What it is called.")
    read: Figure[ByteRate] = Field(description="How fast long files are read.")
    write: Figure[ByteRate] = Field(description="How fast long files are written.")


class Temperature(Model):
    """What was measured at a module's case."""

    speed: Rate = Field(description="The link speed.")
    celsius: Celsius = Field(description="What was measured at the case.")
    where: Text = Field(description="In which switch, and how warm the room was.")
    provenance: Provenance = Field(description="How sure it is.", alias="from")
    note: Text = Field(description="Who says so.")


class Firewall(Model):
    """A machine between networks, with one core for all it forwards."""

    title: Text = Field(description="What it is called.")
    nic: Name = Field(description="The card of its ports.")
    frame: Figure[Cost] = Field(description="CPU time for each frame.")
    byte: Figure[Cost] | None = Field(default=None, description="CPU time for each byte of a frame.")
    rule: Figure[Cost] = Field(description="CPU time for each rule that a frame is compared with.")
    rules: Figure[Count] = Field(description="Rules before the one that lets a frame pass.")
    stateful: Figure[OnOff] = Field(
        description="Whether only the first packet of a connection meets the rules."
    )


class Hub(Model):
    """A repeater: one shared medium in half duplex."""

    title: Text = Field(description="What it is called.")
    ports: Figure[PositiveCount] = Field(description="How many ports it has.")
    speed: Figure[Rate] = Field(description="The speed of its one medium, in half duplex.")


class Transceiver(Model):
    """An SFP+ transceiver: port ``host`` faces the switch, port ``line`` the cable."""

    title: Text = Field(description="What it is called.")
    host_speed: Figure[HostSpeed] = Field(
        description="Its speed towards the switch: a fixed one, or `line` for that of the cable."
    )
    line_speeds: Figure[tuple[LinkMode, ...]] = Field(
        description="The link modes that it offers to the cable."
    )
    fifo: Figure[Size] = Field(
        description="What it holds in each direction where its two sides run at different speeds."
    )
    fifo_unheeded: Figure[Size] | None = Field(
        default=None, description="What it effectively holds when it sends PAUSE and the switch ignores it."
    )
    host_pause: Figure[OnOff] = Field(description="Whether it speaks PAUSE with the switch.")
    line_pause: Figure[OnOff] = Field(description="Whether it speaks PAUSE with the cable.")
    xoff: Figure[Size] | None = Field(
        default=None, description="The fill of the FIFO at which it sends PAUSE."
    )
    xon: Figure[Size] | None = Field(default=None, description="The fill at which it lets the peer go on.")
    temperatures: tuple[Temperature, ...] = Field(
        default=(), description="What was measured at its case, as data."
    )


class Switch(Model):
    """A switch with one shared packet buffer."""

    title: Text = Field(description="What it is called.")
    ports: Figure[PositiveCount] = Field(description="How many ports it has.")
    speeds: Figure[tuple[LinkMode, ...]] = Field(description="The link modes that each port offers.")
    buffer: Figure[Size] = Field(description="The packet memory that all ports share.")
    queue_limit: Figure[Size] = Field(description="What one egress queue may hold, with flow control off.")
    xoff: Figure[Size] = Field(
        description="What one ingress port may hold before it sends PAUSE, with flow control on."
    )
    xon: Figure[Size] = Field(description="The fill at which it lets the peer go on.")
    headroom: Figure[Size] = Field(description="What a port still takes after XOFF, for what is under way.")


Part = Nic | Transceiver | Switch | Host | Hub | Firewall | Bus | Storage


class PartsFile(Model):
    """One file of parts."""

    nics: dict[Name, Nic] = Field(default_factory=dict, description="Network cards.")
    modules: dict[Name, Transceiver] = Field(default_factory=dict, description="Transceivers.")
    switches: dict[Name, Switch] = Field(default_factory=dict, description="Switches.")
    hubs: dict[Name, Hub] = Field(default_factory=dict, description="Repeaters.")
    hosts: dict[Name, Host] = Field(
        default_factory=dict, description="Computers: what an operating system does to a flow, and a card."
    )
    firewalls: dict[Name, Firewall] = Field(
        default_factory=dict, description="Machines between networks that look at every frame."
    )
    buses: dict[Name, Bus] = Field(default_factory=dict, description="What joins a card to its host.")
    storage: dict[Name, Storage] = Field(default_factory=dict, description="Disks.")

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
