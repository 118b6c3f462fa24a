"""A record of the driver as a capture: what each port sent, received and dropped, as Wireshark reads it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final

from wirelab import __version__
from wirelab.plan.types import Plan
from wirelab.report.pcapng import Direction, PcapngWriter
from wirelab.results.record import HEADERS_BYTES, Dropped, Event, Frame, Kind, Sent
from wirelab.units import PS_PER_NS, SIZE, show

CAUSES: Final[Mapping[int, str]] = {
    2: "on the cable when it was pulled",
    3: "no link",
    4: "no memory, or not to be segmented",
    5: "given up after collisions",
    19: "packet buffer full",
    20: "shared packet memory full",
    21: "longer than the MTU allows",
    22: "port down",
    23: "no memory",
    24: "damaged by a collision",
    25: "wrong frame check sequence",
    26: "wrong frame check sequence",
}
"""Why a frame is lost, by the place of what counts it in the driver's counters (kernel/driver/counters.h)."""

_QUEUE: Final = "egress queue"
DROPPED: Final = "dropped here: "
"""What the comment of a packet begins with that ends here; the reason follows."""


@dataclass(frozen=True, slots=True)
class Captured:
    """How many packets a capture has, and how many of them tell of a drop.

    ``cut_ns`` is when the record was as long as it may be, None if it is whole.
    """

    packets: int
    drops: int
    cut_ns: int | None


@dataclass(slots=True)
class Packet:
    """A frame at a port, when its last bit had left or come; the comment is what became of it there."""

    event: Event
    direction: Direction
    comment: str = ""


def write_capture(
    file: BinaryIO, plan: Plan, record: Iterable[Frame | Event], ready_ns: int, ports: Collection[str]
) -> Captured:
    """Write what a record has of the ``ports``, by interface name, as pcapng. Raises OSError.

    A frame is stamped when its last bit has left or arrived, in nanoseconds of the traffic's time; its
    packet id is the same at every port. Dropped on arrival, its packet says so; where it never left a
    port it is a packet there that says so. What is earlier than the traffic is left out.
    """
    writer = PcapngWriter(file, f"wirelab {__version__}", HEADERS_BYTES)
    interfaces = {
        port.name: writer.interface(port.label, port.name, port.speed_bps)
        for port in plan.ports
        if port.name in ports
    }
    frames: dict[int, Frame] = {}
    count = drops = 0
    cut_ns = None
    for packet in packets(record, frames, interfaces):
        event = packet.event
        at_ns = event.at_ps // PS_PER_NS - ready_ns
        if event.kind is Kind.END:
            cut_ns = at_ns
            break
        if at_ns < 0:
            continue
        frame = frames[event.number]
        count += 1
        drops += packet.comment.startswith(DROPPED)
        writer.packet(
            interfaces[event.port],
            at_ns,
            frame.headers,
            length_bytes=frame.length_bytes,
            direction=packet.direction,
            number=event.number,
            comment=packet.comment,
        )
    return Captured(count, drops, cut_ns)


def packets(
    record: Iterable[Frame | Event], frames: dict[int, Frame], ports: Collection[str]
) -> Iterator[Packet]:
    """What is a packet at one of ``ports``; ``frames`` has each frame by its number when it is told of."""
    waiting: Packet | None = None
    for entry in record:
        if isinstance(entry, Frame):
            frames[entry.number] = entry
        elif (entry.port in ports or entry.kind is Kind.END) and (packet := _packet(entry)):
            if waiting and _is_end_of(waiting, entry):
                waiting.comment = packet.comment
                continue
            if waiting:
                yield waiting
            waiting = packet
    if waiting:
        yield waiting


def _is_end_of(packet: Packet, event: Event) -> bool:
    """Whether the frame was dropped as it came."""
    came = packet.event
    return isinstance(event, Dropped) and (came.port, came.number) == (event.port, event.number)


def _packet(event: Event) -> Packet | None:
    if isinstance(event, Sent):
        return Packet(event, "outbound", "damaged by a collision" if event.is_damaged else "")
    if isinstance(event, Dropped):
        return Packet(event, "outbound", DROPPED + why_dropped(event))
    return Packet(event, "inbound") if event.kind in {Kind.ARRIVED, Kind.END} else None


def why_dropped(drop: Dropped) -> str:
    """The cause of a drop in words, with the fill and the limit of what had no room."""
    cause = _QUEUE if drop.counter is None else CAUSES.get(drop.counter, f"counter {drop.counter}")
    if drop.limit_bytes:
        return f"{cause} of {show(drop.limit_bytes, SIZE)} is full, {drop.fill_bytes} B waiting"
    return cause
