"""What single frames tell of a place that loses them: bursts, what of one finds room, what releases it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median_low
from typing import Annotated, Final, Self

from pydantic import Field

from wirelab.model import ethernet
from wirelab.plan.path import Hop, flow_path
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.results.headers import Headers, read_headers
from wirelab.results.record import Dropped, Event, Frame, Kind, Sent
from wirelab.results.told import PLACING, told_at_ports
from wirelab.results.values import Count, Label
from wirelab.units import BITS_PER_BYTE, NS_PER_US, PS_PER_NS, PS_PER_S, TIME, rounded
from wirelab.verdict.formulas import full_frame_bytes, segment_bytes
from wirelab.verdict.words import count_of

KINDS: Final = PLACING
"""What of a record they are read from."""

_TOGETHER_PS: Final = NS_PER_US * PS_PER_NS
_SEQUENCES: Final = 1 << 32
_HALF: Final = 1 << 31
_GAP_FRAMES: Final = 2

# By number and sequence number: a firewall that has joined segments sends them under one number.
_Segment = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Seen:
    """The least, the one in the middle and the most of some counts."""

    least: Count
    median: Count
    most: Count

    @classmethod
    def of(cls, counts: Sequence[int]) -> Self | None:
        """Of at least one count, None of none."""
        return cls(min(counts), median_low(counts), max(counts)) if counts else None

    def __str__(self) -> str:
        return str(self.median) if self.least == self.most else f"{self.median} ({self.least} to {self.most})"


@dataclass(frozen=True, slots=True)
class Bursts:
    """The bursts of a flow at ``port`` in a window of its time.

    A burst is a row of frames that come one right after the other: between two of them there is no room for a
    third. ``frames`` is how long they were; ``losing`` of them lost some: then ``losing_frames`` came,
    ``found_room`` before the first that did not, ``left`` meanwhile, ``lost`` is what was dropped.
    ``acknowledged`` is what the sender heard of at once, in segments, ``acknowledgements`` by how many.
    """

    port: Label
    window_ns: Annotated[tuple[Count, ...], Field(min_length=2, max_length=2)]
    count: Count
    frames: Seen
    losing: Count = 0
    losing_frames: Seen | None = None
    found_room: Seen | None = None
    left: Seen | None = None
    lost: Seen | None = None
    acknowledged: Seen | None = None
    acknowledgements: Seen | None = None

    def sentences(self, flow: str) -> tuple[str, ...]:
        """The same in words."""
        span = rounded(self.window_ns[1] - self.window_ns[0], TIME)
        at = rounded(self.window_ns[0], TIME, 5)
        told = [
            (
                f"in {span} from {at} on {count_of(self.count)} bursts of {flow} came to {self.port},"
                f" of {self.frames} frames"
            )
        ]
        if self.acknowledged and self.acknowledgements:
            several = self.acknowledgements.median > 1
            what = f"the {self.acknowledgements} acknowledgements" if several else "an acknowledgement"
            told.append(
                f"{what} that the sender hears of at once tell{'' if several else 's'} of"
                f" {self.acknowledged} segments, and release{'' if several else 's'} as many"
            )
        if self.losing_frames and self.found_room and self.left and self.lost:
            told.append(
                f"{count_of(self.losing)} of the bursts lost some: of {self.losing_frames} frames"
                f" {self.found_room} find room while {self.left} leave; {self.lost} are lost"
            )
        return tuple(told)


@dataclass(slots=True)
class _Burst:
    """Frames that came one right after the other, in the order in which they did."""

    segments: list[_Segment] = field(default_factory=list)
    at_ps: list[int] = field(default_factory=list)


def bursts(
    plan: Plan, flow: Flow, port: str, record: Iterable[Frame | Event], window_ns: tuple[int, int]
) -> Bursts | None:
    """What a record tells of a flow at the port with this label, None where no frame of it came there.

    ``plan`` has what the ports agreed on; ``window_ns`` is what of the traffic's time was recorded.
    """
    way = flow_path(plan, flow)
    into = next((hop for hop in way if port in {one.label for one in plan.ports_of(hop.into.node)}), None)
    place = next((one for one in plan.ports if one.label == port), None)
    if into is None or place is None:
        return None
    sender = way[0].out.name
    seen = _Reader(plan, flow, into.into.name, place.name, sender)
    for event in told_at_ports(record, plan.cables):
        seen.read(event)
    found = list(_split(seen.came, _gap_ps(into, full_frame_bytes(plan, flow))))
    lengths = Seen.of([len(burst.segments) for burst in found])
    if lengths is None:
        return None
    losing = [burst for burst in found if not seen.dropped.isdisjoint(burst.segments)]
    room, left = [], []
    for burst in losing:
        first = next(place for place, segment in enumerate(burst.segments) if segment in seen.dropped)
        room.append(first)
        from_ps, until_ps = burst.at_ps[0], burst.at_ps[first]
        left.append(sum(from_ps < at_ps <= until_ps for at_ps in seen.left_ps))
    heard = list(_heard(seen.heard, segment_bytes(plan, flow)))
    return Bursts(
        port=port,
        window_ns=window_ns,
        count=len(found),
        frames=lengths,
        losing=len(losing),
        losing_frames=Seen.of([len(burst.segments) for burst in losing]),
        found_room=Seen.of(room),
        left=Seen.of(left),
        lost=Seen.of([sum(segment in seen.dropped for segment in burst.segments) for burst in losing]),
        acknowledged=Seen.of([segments for segments, _ in heard]),
        acknowledgements=Seen.of([count for _, count in heard]),
    )


@dataclass(slots=True)
class _Reader:
    """Collects what matters of a record, by the interface names of three ports."""

    plan: Plan
    flow: Flow
    into: str
    place: str
    sender: str
    data: dict[int, _Segment] = field(default_factory=dict)
    acks: dict[int, Headers] = field(default_factory=dict)
    came: list[tuple[int, _Segment]] = field(default_factory=list)
    left_ps: list[int] = field(default_factory=list)
    dropped: set[_Segment] = field(default_factory=set)
    heard: list[tuple[int, Headers]] = field(default_factory=list)

    def read(self, event: Frame | Event) -> None:
        """One entry of the record, in the order of time."""
        if isinstance(event, Frame):
            self._frame(event)
        elif event.kind is Kind.ARRIVED and event.port == self.into and event.number in self.data:
            self.came.append((event.at_ps, self.data[event.number]))
        elif isinstance(event, Sent) and event.port == self.place:
            if not event.is_control:
                self.left_ps.append(event.at_ps)
        elif isinstance(event, Dropped) and event.number in self.data:
            if event.port in {self.place, self.into}:
                self.dropped.add(self.data[event.number])
        elif event.kind is Kind.HANDED and event.port == self.sender and event.number in self.acks:
            self.heard.append((event.at_ps, self.acks[event.number]))

    def _frame(self, frame: Frame) -> None:
        headers = read_headers(frame.headers)
        if headers is None or headers.protocol != self.flow.protocol:
            return
        ports = range(self.flow.client_port, self.flow.client_port + self.flow.parallel)
        if headers.destination_port == self.flow.port and headers.source_port in ports:
            if headers.payload_bytes:
                self.data[frame.number] = frame.number, headers.sequence
        elif headers.source_port == self.flow.port and headers.destination_port in ports:
            self.acks[frame.number] = headers


def _gap_ps(hop: Hop, frame_bytes: int) -> int:
    """From here on two frames are not of one burst: another one had room between them."""
    wire_bits = ethernet.wire_bytes(frame_bytes + hop.tag_bytes) * BITS_PER_BYTE
    return _GAP_FRAMES * wire_bits * PS_PER_S // hop.rate_bps


def _split(came: Sequence[tuple[int, _Segment]], gap_ps: int) -> Iterator[_Burst]:
    burst = _Burst()
    for at_ps, segment in came:
        if burst.at_ps and at_ps - burst.at_ps[-1] >= gap_ps:
            yield burst
            burst = _Burst()
        burst.segments.append(segment)
        burst.at_ps.append(at_ps)
    if burst.segments:
        yield burst


def _heard(acks: Sequence[tuple[int, Headers]], size: int) -> Iterator[tuple[int, int]]:
    """How many segments a sender hears of at once that they came, and by how many acknowledgements."""
    newest: dict[int | None, int] = {}
    groups: list[tuple[int, int, int]] = []
    for at_ps, headers in acks:
        connection, told = headers.destination_port, headers.acknowledgement or 0
        ahead = (told - newest.get(connection, told)) % _SEQUENCES
        if ahead >= _HALF:
            continue
        newest[connection] = told
        if groups and at_ps - groups[-1][0] < _TOGETHER_PS:
            _, segments_bytes, count = groups[-1]
            groups[-1] = (at_ps, segments_bytes + ahead, count + 1)
        else:
            groups.append((at_ps, ahead, 1))
    for _, told_bytes, count in groups:
        if told_bytes:
            yield -(-told_bytes // size), count
