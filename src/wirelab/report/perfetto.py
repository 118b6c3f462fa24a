"""A record as a trace for ui.perfetto.dev: a track for each port and for each flow.

As protobuf, by the few fields of it that are needed: Chrome's JSON format has microseconds, and a counter is
a process's there, not a track's. The numbers are those of protos/perfetto/trace.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from wirelab.plan.types import Plan
from wirelab.report.capture import why_dropped
from wirelab.results.connections import end_of
from wirelab.results.headers import read_headers
from wirelab.results.record import Connection, Dropped, Event, Fill, Frame, Kind, Paused, Sent
from wirelab.results.told import told_at_ports
from wirelab.units import PS_PER_NS

_VARINT, _FIXED64, _BYTES = 0, 1, 2
_PACKET: Final = 1  # of Trace
_TIMESTAMP, _SEQUENCE, _TRACK_EVENT, _TRACK_DESCRIPTOR = 8, 10, 11, 60  # of TracePacket
_UUID, _NAME, _PARENT, _COUNTER = 1, 2, 5, 8  # of TrackDescriptor
_UNIT, _UNIT_NAME = 3, 6  # of CounterDescriptor
_TYPE, _TRACK_UUID, _EVENT_NAME, _COUNTER_VALUE, _FLOW_IDS = 9, 11, 23, 30, 47  # of TrackEvent
_SLICE_BEGIN, _SLICE_END, _INSTANT, _VALUE = 1, 2, 3, 4
_UNIT_COUNT, _UNIT_SIZE_BYTES = 2, 3
_MORE: Final = 0x80

_FILLS: Final = {
    Kind.QUEUED: "egress queue",
    Kind.TX_RING: "egress queue",
    Kind.STORED: "packet buffer",
    Kind.GIVEN: "packet buffer",
}
_RINGS: Final = {
    Kind.TX_RING: "transmit ring",
    Kind.RX_RING: "receive ring",
    Kind.HANDED: "receive ring",
}
_US: Final = "us"


def varint(value: int) -> bytes:
    """A number as protobuf writes it, seven bits a byte, the lowest first."""
    out = bytearray()
    while value >= _MORE:
        out.append(value & 0x7F | _MORE)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(of: int, value: int) -> bytes:
    return varint(of << 3 | _VARINT) + varint(value)


def _text(of: int, value: str) -> bytes:
    return _message(of, value.encode())


def _message(of: int, content: bytes) -> bytes:
    return varint(of << 3 | _BYTES) + varint(len(content)) + content


@dataclass(slots=True)
class PerfettoWriter:
    """Writes packets to a file; each track is described when it is first asked for."""

    file: BinaryIO
    events: int = 0
    _tracks: dict[tuple[int, str], int] = field(default_factory=dict)
    _values: dict[int, int] = field(default_factory=dict)

    def track(self, name: str, parent: int = 0, *, unit: int | None = None, unit_name: str = "") -> int:
        """The number of a track below another one; with a unit it is a counter."""
        if (known := self._tracks.get((parent, name))) is not None:
            return known
        uuid = self._tracks[parent, name] = len(self._tracks) + 1
        track = _number(_UUID, uuid) + _text(_NAME, name)
        if parent:
            track += _number(_PARENT, parent)
        if unit is not None:
            words = _text(_UNIT_NAME, unit_name) if unit_name else b""
            track += _message(_COUNTER, _number(_UNIT, unit) + words)
        self._packet(_message(_TRACK_DESCRIPTOR, track))
        return uuid

    def slice(self, track: int, from_ns: int, until_ns: int, name: str, *, frame: int = 0) -> None:
        """Something that takes a while; all slices of one frame are joined by arrows."""
        flow = varint(_FLOW_IDS << 3 | _FIXED64) + frame.to_bytes(8, "little") if frame else b""
        self._event(from_ns, _SLICE_BEGIN, track, _text(_EVENT_NAME, name) + flow)
        self._event(until_ns, _SLICE_END, track)

    def instant(self, track: int, at_ns: int, name: str) -> None:
        """Something that takes no time."""
        self._event(at_ns, _INSTANT, track, _text(_EVENT_NAME, name))

    def count(self, track: int, at_ns: int, value: int) -> None:
        """What a counter is from now on; that it still is says nothing."""
        if self._values.get(track) == value:
            return
        self._values[track] = value
        self._event(at_ns, _VALUE, track, _number(_COUNTER_VALUE, value))

    def _event(self, at_ns: int, kind: int, track: int, more: bytes = b"") -> None:
        event = _number(_TYPE, kind) + _number(_TRACK_UUID, track) + more
        self._packet(_number(_TIMESTAMP, at_ns) + _message(_TRACK_EVENT, event))
        self.events += kind != _SLICE_END

    def _packet(self, content: bytes) -> None:
        self.file.write(_message(_PACKET, content + _number(_SEQUENCE, 1)))


def write_perfetto(file: BinaryIO, plan: Plan, record: Iterable[Frame | Event], ready_ns: int) -> int | None:
    """Write what a record has of all ports and flows. Raises OSError.

    Returns when the record was as long as it may be, in ns of the traffic's time; None if it is whole.
    """
    writer = PerfettoWriter(file)
    ports = {port.name: port for port in plan.ports}
    # What these hand on was in no ring.
    forwards = {port.name for port in plan.ports if port.role != "host"}
    frames: dict[int, str] = {}
    for entry in told_at_ports(record, plan.cables):
        if isinstance(entry, Frame):
            frames[entry.number] = _named(entry)
            continue
        at_ns = entry.at_ps // PS_PER_NS - ready_ns
        if entry.kind is Kind.END:
            return at_ns
        if at_ns < 0:
            continue
        if isinstance(entry, Connection):
            _connection(writer, plan, entry, at_ns)
            continue
        port = writer.track(ports[entry.port].label if entry.port in ports else entry.port)
        name = frames.get(entry.number, f"frame {entry.number}")
        if isinstance(entry, Sent):
            start_ns = max(entry.start_ps // PS_PER_NS - ready_ns, 0)
            writer.slice(writer.track("on the wire", port), start_ns, at_ns, name, frame=entry.number)
            _count_ring(writer, Kind.TX_RING, port, at_ns, entry.ring_frames)
        elif isinstance(entry, Fill):
            _fill(writer, entry, port, at_ns, forwards=entry.port in forwards)
        elif isinstance(entry, Dropped):
            why = why_dropped(entry, ports.get(entry.port))
            writer.instant(writer.track("drops", port), at_ns, f"{why}: {name}")
        elif isinstance(entry, Paused):
            # Until when holds until the next one: as a counter it can be cut short.
            track = writer.track(f"paused, priority {entry.priority}", port, unit=_UNIT_COUNT)
            writer.count(track, at_ns, entry.quanta)
    return None


def _fill(writer: PerfettoWriter, fill: Fill, port: int, at_ns: int, *, forwards: bool) -> None:
    if name := _FILLS.get(fill.kind):
        writer.count(writer.track(name, port, unit=_UNIT_SIZE_BYTES), at_ns, fill.fill_bytes)
    if fill.kind in _RINGS and not (fill.kind is Kind.HANDED and forwards):
        _count_ring(writer, fill.kind, port, at_ns, fill.fill_frames)


def _count_ring(writer: PerfettoWriter, kind: Kind, port: int, at_ns: int, frames: int) -> None:
    writer.count(writer.track(_RINGS[kind], port, unit=_UNIT_COUNT, unit_name="frames"), at_ns, frames)


def _connection(writer: PerfettoWriter, plan: Plan, connection: Connection, at_ns: int) -> None:
    end = end_of(plan, connection)
    if end is None:
        return
    flow = writer.track(str(end))
    for name, value in (
        ("congestion window", connection.cwnd_frames * connection.mss_bytes),
        ("in flight", connection.in_flight_frames * connection.mss_bytes),
    ):
        writer.count(writer.track(name, flow, unit=_UNIT_SIZE_BYTES), at_ns, value)
    rtt = writer.track("smoothed RTT", flow, unit=_UNIT_COUNT, unit_name=_US)
    writer.count(rtt, at_ns, int(connection.srtt_us))
    lost = writer.track("lost", flow, unit=_UNIT_COUNT, unit_name="segments")
    writer.count(lost, at_ns, connection.lost_frames)


def _named(frame: Frame) -> str:
    """A frame in a few words: ``tcp 5201 seq 12345, 1448 B``."""
    headers = read_headers(frame.headers)
    if headers is None or headers.sequence is None:
        return f"{headers.protocol if headers else 'frame'}, {frame.length_bytes} B"
    if headers.payload_bytes:
        return f"{headers.protocol} seq {headers.sequence}, {headers.payload_bytes} B"
    return f"{headers.protocol} ack {headers.acknowledgement}"
