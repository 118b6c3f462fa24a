"""A record of the driver as a capture: what each port sent, received and dropped, as Wireshark reads it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final

from wirelab import __version__
from wirelab.errors import LabError
from wirelab.model import ethernet
from wirelab.plan.types import Plan, Port
from wirelab.report.pcapng import Direction, PcapngWriter
from wirelab.results.causes import PLACES, WORDS
from wirelab.results.record import HEADERS_BYTES, Dropped, Event, Frame, Kind, Sent
from wirelab.results.told import PLACING, told_at_ports
from wirelab.units import COUNT, PS_PER_NS, RATE, SIZE, rounded, show

PACKETS: Final = PLACING | {Kind.END}
"""What of a record makes the packets of a capture."""
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
    """A frame at a port as it was there, when its last bit had left or come, and what became of it there.

    Without a frame it is the end of a record that is not whole.
    """

    event: Event
    frame: Frame | None
    direction: Direction
    comment: str = ""


def write_capture(  # noqa: PLR0913 - what is written, of what, and from when
    file: BinaryIO,
    plan: Plan,
    record: Iterable[Frame | Event],
    ready_ns: int,
    ports: Collection[str],
    *,
    from_ns: int = 0,
) -> Captured:
    """Write what a record has of the ``ports``, by interface name, as pcapng. Raises OSError.

    A frame is stamped when its last bit has left or arrived, in nanoseconds of the traffic's time,
    ``from_ns`` at the earliest; its packet id is the same at every port. Dropped on arrival, its packet says
    so; where it never left a port it is a packet there that says so.
    """
    writer = PcapngWriter(file, f"wirelab {__version__}", HEADERS_BYTES, from_ns=from_ns)
    of_names = {port.name: port for port in plan.ports if port.name in ports}
    interfaces = {
        port.name: writer.interface(port.label, port.name, port.speed_bps) for port in of_names.values()
    }
    count = drops = 0
    cut_ns = None
    for packet in packets(told_at_ports(record, plan.cables), of_names):
        event, frame = packet.event, packet.frame
        at_ns = event.at_ps // PS_PER_NS - ready_ns
        if frame is None:
            cut_ns = at_ns
            break
        if at_ns < from_ns:
            continue
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


def packets(record: Iterable[Frame | Event], ports: Mapping[str, Port]) -> Iterator[Packet]:
    """What is a packet at one of ``ports``, by interface name, with the headers that were told last.

    Raises LabError for a frame that was not told of.
    """
    frames: dict[int, Frame] = {}
    waiting: Packet | None = None
    for entry in record:
        if isinstance(entry, Frame):
            frames[entry.number] = entry
        elif (entry.port in ports or entry.kind is Kind.END) and (
            packet := _packet(entry, frames.get(entry.number), ports.get(entry.port))
        ):
            if packet.frame is None and entry.kind is not Kind.END:
                raise LabError(f"the record does not say what frame {entry.number} is")
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


def _packet(event: Event, frame: Frame | None, port: Port | None) -> Packet | None:
    if isinstance(event, Sent):
        return Packet(event, frame, "outbound", WORDS["rx_dropped_collision"] if event.is_damaged else "")
    if isinstance(event, Dropped):
        return Packet(event, frame, "outbound", DROPPED + why_dropped(event, port))
    return Packet(event, frame, "inbound") if event.kind in {Kind.ARRIVED, Kind.END} else None


def why_dropped(drop: Dropped, port: Port | None = None) -> str:
    """The cause of a drop in words, with the limit and the fill of what had no room.

    ``FIFO 16 KiB full, 15 104 B waiting``. ``port`` is where it was, if its queue may be another one.
    """
    if drop.counter is None and not drop.limit_bytes:
        return _by_queue(drop, port)
    if drop.counter is None:
        cause = "FIFO"
    else:
        cause = WORDS.get(PLACES.get(drop.counter, ""), f"counter {drop.counter}")
    if drop.limit_bytes:
        return f"{cause} {show(drop.limit_bytes, SIZE)} full, {rounded(drop.fill_bytes, COUNT)} B waiting"
    return cause


def _by_queue(drop: Dropped, port: Port | None) -> str:
    """What a queue says that drops for another reason than its bytes."""
    if port is None:
        return "by the egress queue"
    if port.netem and port.netem.loss_ratio:
        return "lost by netem, as asked"
    if port.shape and port.shape.kind == "police" and not _is_full(drop, port):
        return "by the policer" if port.shape.kicked else f"policed to {show(port.shape.rate_bps, RATE)}"
    if port.queue is None or port.queue.kind.endswith("fifo"):
        return "egress queue full"
    return f"by {port.queue.kind}"


def _is_full(drop: Dropped, port: Port) -> bool:
    """Whether the queue behind a policer may have had no room: not for the longest frame, at any rate."""
    limit_bytes = port.queue.limit_bytes if port.queue else None
    return limit_bytes is not None and drop.fill_bytes + ethernet.frame_bytes(port.mtu_bytes) > limit_bytes
