"""Parts: catalogued devices, each figure with its provenance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from wirelab.errors import unknown
from wirelab.ethernet import frame_bytes
from wirelab.model.types import (
    Congestion,
    Count,
    Figure,
    Microseconds,
    Model,
    Name,
    OnOff,
    PositiveCount,
    Rate,
    Size,
    Text,
)
from wirelab.units import SIZE, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wirelab.errors import Problem
    from wirelab.model.yamlfile import Document

PartKind = Literal["host", "switch", "module", "nic"]

STANDARD_MTU_BYTES: Final = 1500


class Nic(Model):
    """A network card: one port of a host.

    ``rx_usecs`` and ``rx_frames`` are its interrupt moderation as ``ethtool -C`` counts it, the rings
    are in frames, ``xoff`` and ``xon`` are fill levels of its packet buffer.
    """

    title: Text
    speeds: Figure[tuple[Rate, ...]]
    rx_usecs: Figure[Microseconds]
    rx_frames: Figure[Count] | None = None
    rx_ring: Figure[PositiveCount]
    tx_ring: Figure[PositiveCount]
    buffer: Figure[Size]
    xoff: Figure[Size]
    xon: Figure[Size]
    flow_control: Figure[OnOff]


class Host(Model):
    """What an operating system does to a flow, and the card it usually comes with.

    ``rx_usecs`` overrides the moderation of that card, where the system's driver is known to differ.
    """

    title: Text
    nic: Name
    timestamps: Figure[OnOff]
    congestion: Figure[Congestion]
    rx_usecs: Figure[Microseconds] | None = None


class Module(Model):
    """An SFP+ transceiver: port ``host`` faces the switch, port ``line`` the cable.

    ``fifo`` is what it holds in each direction when the two sides run at different speeds.
    ``fifo_unheeded`` is what it effectively holds when it sends PAUSE and the switch ignores it.
    ``host_pause`` and ``line_pause`` say on which side it speaks PAUSE; ``xoff`` and ``xon`` are fill
    levels of the FIFO.
    """

    title: Text
    host_speed: Figure[Rate]
    line_speeds: Figure[tuple[Rate, ...]]
    fifo: Figure[Size]
    fifo_unheeded: Figure[Size] | None = None
    host_pause: Figure[OnOff]
    line_pause: Figure[OnOff]
    xoff: Figure[Size] | None = None
    xon: Figure[Size] | None = None


class Switch(Model):
    """A switch with one shared packet buffer.

    ``queue_limit`` is what one egress queue may hold with flow control off; with it on, ``xoff``,
    ``xon`` and ``headroom`` rule what each ingress port may hold.
    """

    title: Text
    ports: Figure[PositiveCount]
    speeds: Figure[tuple[Rate, ...]]
    buffer: Figure[Size]
    queue_limit: Figure[Size]
    xoff: Figure[Size]
    xon: Figure[Size]
    headroom: Figure[Size]


Part = Nic | Module | Switch | Host


class PartsFile(Model):
    """One file of parts."""

    nics: dict[Name, Nic] = Field(default_factory=dict)
    modules: dict[Name, Module] = Field(default_factory=dict)
    switches: dict[Name, Switch] = Field(default_factory=dict)
    hosts: dict[Name, Host] = Field(default_factory=dict)

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
    modules: Mapping[str, Module] = field(default_factory=dict)
    switches: Mapping[str, Switch] = field(default_factory=dict)
    hosts: Mapping[str, Host] = field(default_factory=dict)

    def names(self, kind: PartKind) -> tuple[str, ...]:
        """The names of all parts of a kind."""
        return tuple(self.of(kind))

    def of(self, kind: PartKind) -> Mapping[str, Part]:
        """All parts of a kind, by name."""
        sections: dict[PartKind, Mapping[str, Part]] = {
            "nic": self.nics,
            "module": self.modules,
            "switch": self.switches,
            "host": self.hosts,
        }
        return sections[kind]

    def kind(self, name: str) -> PartKind | None:
        """The kind of part ``name`` is, None if there is none of that name."""
        kinds: tuple[PartKind, ...] = ("host", "switch", "module", "nic")
        return next((kind for kind in kinds if name in self.of(kind)), None)


def part_problems(parts: PartsFile, document: Document) -> Iterator[Problem]:
    """What is physically impossible in a file of parts."""
    for section in ("nics", "switches", "modules"):
        for name, part in getattr(parts, section).items():
            for key, message in figure_problems(part):
                yield document.problem((section, name, key), message)


def card_problems(parts: PartsFile, nics: Iterable[str], document: Document) -> Iterator[Problem]:
    """The hosts whose card is none of ``nics``."""
    known = set(nics)
    for name, host in parts.hosts.items():
        if host.nic not in known:
            yield document.problem(("hosts", name, "nic"), unknown("nic", host.nic, sorted(known)))


def figure_problems(part: Nic | Switch | Module) -> Iterator[tuple[str, str]]:
    """The figures of a part that contradict each other, as (figure, message)."""
    if isinstance(part, Module):
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
