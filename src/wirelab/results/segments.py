"""What a record tells of a TCP sender: its segments as they leave, and the acknowledgements as they come.

Sequence numbers are bytes from the first one that is seen, and never wrap.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from wirelab.plan.types import Plan
from wirelab.results.connections import FlowEnd, end_of
from wirelab.results.headers import Headers, read_headers
from wirelab.results.record import Connection, Event, Frame, Kind
from wirelab.results.told import told_at_ports
from wirelab.units import PS_PER_NS

_WRAP: Final = 1 << 32
_SACK, _NO_OPERATION, _END_OF_OPTIONS = 5, 1, 0
_BLOCK_BYTES: Final = 8

Block = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Segment:
    """Payload when its last bit has left: from the byte ``first`` up to ``end``."""

    at_ns: int
    first: int
    end: int
    is_retransmission: bool


@dataclass(frozen=True, slots=True)
class Ack:
    """An acknowledgement when its last bit has come; ``sacks`` are the blocks it has besides."""

    at_ns: int
    number: int
    sacks: tuple[Block, ...]


@dataclass(slots=True)
class Sender:
    """The sending end of a connection."""

    segments: list[Segment] = field(default_factory=list)
    acks: list[Ack] = field(default_factory=list)
    states: list[tuple[int, Connection]] = field(default_factory=list)
    _base: int | None = None
    _last: int = 0
    _highest: int = 0

    def place(self, number: int) -> int:
        """The place of a sequence number, near the last one that was asked for."""
        if self._base is None:
            self._base = number
        step = (number - self._base - self._last + _WRAP // 2) % _WRAP - _WRAP // 2
        self._last += step
        return self._last

    def sent(self, at_ns: int, sequence: int, payload_bytes: int) -> None:
        """Take a segment. What has left before is sent again."""
        first = self.place(sequence)
        end = first + payload_bytes
        self.segments.append(Segment(at_ns, first, end, is_retransmission=first < self._highest))
        self._highest = max(self._highest, end)

    def acked(self, at_ns: int, number: int, sacks: Iterable[Block]) -> None:
        """Take an acknowledgement."""
        blocks = tuple((self.place(left), self.place(right)) for left, right in sacks)
        self.acks.append(Ack(at_ns, self.place(number), blocks))


@dataclass(slots=True)
class Senders:
    """Those of all flows of a Plan; ``cut_ns`` is where a record that is full ends."""

    by_end: dict[FlowEnd, Sender] = field(default_factory=dict)
    cut_ns: int | None = None


def read_senders(plan: Plan, record: Iterable[Frame | Event], ready_ns: int) -> Senders:
    """What a record tells of each flow's sender, in ns of the traffic's time."""
    read = Senders()
    ends = _ends(plan)
    ports = {port.name for flow in plan.flows for port in plan.ports_of(flow.sender)}
    frames: dict[int, tuple[FlowEnd, bool, Headers] | None] = {}
    for entry in told_at_ports(record, plan.cables):
        if isinstance(entry, Frame):
            frames[entry.number] = _known(entry, ends)
            continue
        at_ns = entry.at_ps // PS_PER_NS - ready_ns
        if entry.kind is Kind.END:
            read.cut_ns = at_ns
        elif isinstance(entry, Connection):
            end = end_of(plan, entry)
            if end and end.end == "client" and at_ns >= 0:
                read.by_end.setdefault(end, Sender()).states.append((at_ns, entry))
        elif entry.port in ports and entry.kind in {Kind.SENT, Kind.ARRIVED} and at_ns >= 0:
            if (known := frames.get(entry.number)) is None:
                continue
            end, is_forward, headers = known
            sender = read.by_end.setdefault(end, Sender())
            if is_forward and entry.kind is Kind.SENT and headers.payload_bytes:
                sender.sent(at_ns, headers.sequence or 0, headers.payload_bytes)
            elif not is_forward and entry.kind is Kind.ARRIVED and sender.segments:
                sender.acked(at_ns, headers.acknowledgement or 0, sack_blocks(headers.options))
    return read


def _ends(plan: Plan) -> dict[tuple[str, str, int, int], FlowEnd]:
    """The sending end of each connection, by both addresses and ports."""
    return {
        (
            plan.address_of(flow.sender),
            plan.address_of(flow.receiver),
            flow.client_port + number,
            flow.port,
        ): FlowEnd(flow, number, "client")
        for flow in plan.flows
        if flow.protocol == "tcp"
        for number in range(flow.parallel)
    }


def _known(
    frame: Frame, ends: dict[tuple[str, str, int, int], FlowEnd]
) -> tuple[FlowEnd, bool, Headers] | None:
    """Whose frame this is, and whether it goes the way of the flow."""
    headers = read_headers(frame.headers)
    if headers is None or headers.source_port is None or headers.destination_port is None:
        return None
    way = headers.source, headers.destination, headers.source_port, headers.destination_port
    if end := ends.get(way):
        return end, True, headers
    back = headers.destination, headers.source, headers.destination_port, headers.source_port
    if end := ends.get(back):
        return end, False, headers
    return None


def sack_blocks(options: bytes) -> Iterator[Block]:
    """The blocks of the SACK option among a segment's (RFC 2018)."""
    while options and options[0] != _END_OF_OPTIONS:
        length = 1 if options[0] == _NO_OPERATION else options[1] if len(options) > 1 else 0
        if not length:
            return
        if options[0] == _SACK:
            blocks = options[2:length]
            for place in range(0, len(blocks) - _BLOCK_BYTES + 1, _BLOCK_BYTES):
                yield int.from_bytes(blocks[place : place + 4]), int.from_bytes(blocks[place + 4 : place + 8])
        options = options[length:]
