"""The burst picture: what became of each frame around a moment, port by port, as report.html draws it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter, ValidationError

from wirelab.plan.path import Hop, flow_path, hops
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan, Port
from wirelab.report.capture import why_dropped
from wirelab.results.headers import Headers, read_headers
from wirelab.results.record import Dropped, Event, Fill, Frame, Kind, Paused, Sent
from wirelab.results.values import Count, Label, Text
from wirelab.units import BITS_PER_BYTE, NS_PER_S, PS_PER_NS

AROUND_NS: Final = 2_000_000
"""How much of a run is shown on either side of a moment."""
LANES_MAX: Final = 24
_CONTROL: Final = 2
_OTHER: Final = 3
_ON_WIRE_BYTES: Final = 8 + 4
FRAMES_MAX: Final = 200_000

_Bounded: Final = Field(max_length=20 * FRAMES_MAX)
_Times = Annotated[tuple[Count, ...], _Bounded]
_Figures = Annotated[tuple[int, ...], _Bounded]
_Texts = Annotated[tuple[Text, ...], _Bounded]


@dataclass(frozen=True, slots=True)
class Bars:
    """Frames on the wire at a port. Times are columns of differences, the first from the moment's start.

    ``frame`` is the place of a frame in the moment's columns.
    """

    frame: _Figures = ()
    start_ns: _Figures = ()
    length_ns: _Times = ()


@dataclass(frozen=True, slots=True)
class Fills:
    """What a queue or a buffer holds, from each instant on."""

    at_ns: _Figures = ()
    fill_bytes: _Times = ()


@dataclass(frozen=True, slots=True)
class Drops:
    """Frames lost at a port, and why."""

    frame: _Figures = ()
    at_ns: _Figures = ()
    why: _Texts = ()


@dataclass(frozen=True, slots=True)
class Lane:
    """One port. ``holds`` is what ``fills`` is about, queue or buffer, and "" if nothing waited there."""

    label: Label
    sent: Bars
    received: Bars
    holds: Text
    limit_bytes: Count
    fills: Fills
    drops: Drops
    paused_from_ns: _Figures = ()
    paused_ns: _Times = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """Some ms of a run: ``at_ns`` is what it is about, both it and ``from_ns`` in the traffic's time.

    The columns are one figure a frame, as it was first seen: ``kind`` is 0 with the flow, 1 against it,
    2 PAUSE or PFC, 3 else.
    """

    title: Text
    at_ns: Count
    from_ns: Count
    until_ns: Count
    lanes: Annotated[tuple[Lane, ...], Field(max_length=LANES_MAX)]
    number: _Times = ()
    length_bytes: _Times = ()
    kind: _Times = ()
    sequence: _Figures = ()
    payload_bytes: _Figures = ()
    what: _Texts = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """The moments of one variant that are worth a look; ``flow`` is the traffic that its lanes follow."""

    variant: Text
    digest: Text
    flow: Text
    moments: Annotated[tuple[Moment, ...], Field(max_length=8)]

    def to_json(self) -> bytes:
        """As it is kept, and as the page has it."""
        return _ADAPTER.dump_json(self)


_ADAPTER: Final = TypeAdapter(Picture)


def parse_picture(content: bytes) -> Picture:
    """What ``to_json`` wrote. Raises ValueError where it is none."""
    try:
        return _ADAPTER.validate_json(content)
    except ValidationError as error:
        raise ValueError(f"no picture: {error.errors(include_url=False)[0]['msg']}") from None


def followed(plan: Plan, port: str, at_ns: int) -> tuple[str, tuple[Hop, ...]]:
    """The traffic that passes by a port at an instant, and its way; what sends there is preferred."""

    def rank(item: Flow) -> tuple[bool, bool]:
        way = flow_path(plan, item)
        return not any(hop.out.name == port for hop in way), not item.start_ns <= at_ns <= item.end_ns

    passing = [
        item
        for item in plan.flows
        if any(port in (hop.out.name, hop.into.name) for hop in flow_path(plan, item))
    ]
    if not passing:
        return "", tuple(hop for hop in hops(plan) if port in (hop.out.name, hop.into.name))[:1]
    best = min(passing, key=rank)
    return f"{best.name}: {best.sender} to {best.receiver}", flow_path(plan, best)


@dataclass(slots=True)
class _LaneUnderWay:
    port: Port
    sent: list[tuple[int, int, int]] = field(default_factory=list)
    received: list[tuple[int, int, int]] = field(default_factory=list)
    queue: list[tuple[int, int]] = field(default_factory=list)
    buffer: list[tuple[int, int]] = field(default_factory=list)
    drops: list[tuple[int, int, Dropped]] = field(default_factory=list)
    pauses: list[tuple[int, int]] = field(default_factory=list)
    longest_bytes: int = 0

    def frame(self, event: Event, place: int, at: int, length_ns: int) -> None:
        """What became of a frame here."""
        if isinstance(event, Dropped):
            self.drops.append((place, at, event))
        elif isinstance(event, Sent):
            self.sent.append((place, at - length_ns, length_ns))
        else:
            self.received.append((place, at - length_ns, length_ns))

    def fill(self, event: Fill, at: int, length_bytes: int) -> None:
        """What waits here from now on. That a frame has left the queue is told by its place in the ring."""
        if event.kind is Kind.QUEUED:
            self.queue.append((at, event.fill_bytes))
        elif event.kind is Kind.TX_RING and self.queue:
            self.queue.append((at, max(0, self.queue[-1][1] - length_bytes)))
        elif event.kind in {Kind.STORED, Kind.GIVEN}:
            self.buffer.append((at, event.fill_bytes))

    def pause(
        self, pending: dict[tuple[str, int], tuple[int, int]], event: Paused, at: int, until: int
    ) -> None:
        """It is to be silent, still, or no longer."""
        key = (event.port, event.priority)
        if key in pending:
            start, ends = pending.pop(key)
            if event.quanta and at <= ends:
                pending[key] = (start, until)
                return
            self.pauses.append((start, min(ends, at)))
        if event.quanta:
            pending[key] = (at, until)

    def lane(self, length_ns: int) -> Lane:
        """The same for the page, in a moment of that length."""
        dropped = Counter(drop.counter is None for *_, drop in self.drops)
        shown = {name: _from_start(fills) for name, fills in self._fills()}
        highest = {name: max(now for _, now in fills) for name, fills in shown.items()}
        if dropped:
            holds = "queue" if dropped[True] >= dropped[False] else "buffer"
        else:
            holds = max(highest, key=lambda name: highest[name])
        # Less than two frames is one that passes through.
        waits = bool(dropped) or highest[holds] >= 2 * self.longest_bytes
        fills = shown[holds] if waits and highest[holds] else []
        queue_bytes = (self.port.queue and self.port.queue.limit_bytes) or 0
        pauses = sorted(
            (max(0, start), min(until, length_ns))
            for start, until in self.pauses
            if until > 0 and until > start
        )
        return Lane(
            self.port.label,
            _bars(self.sent),
            _bars(self.received),
            holds if fills else "",
            (queue_bytes if holds == "queue" else self.port.buffer_bytes) if fills else 0,
            Fills(_differences([at for at, _ in fills]), tuple(now for _, now in fills)),
            Drops(
                tuple(place for place, *_ in self.drops),
                _differences([at for _, at, _ in self.drops]),
                tuple(why_dropped(drop, self.port) for *_, drop in self.drops),
            ),
            _differences([start for start, _ in pauses]),
            tuple(until - start for start, until in pauses),
        )

    def _fills(self) -> Iterator[tuple[str, list[tuple[int, int]]]]:
        yield "queue", self.queue
        yield "buffer", self.buffer


def moment(  # noqa: PLR0913, PLR0917 - what a moment is about
    title: str,
    at_ns: int,
    record: Iterable[Frame | Event],
    way: Sequence[Hop],
    ready_ns: int,
    around_ns: int = AROUND_NS,
) -> Moment:
    """What a record has of the ports of a way, around an instant of the traffic's time."""
    ports = list({port.name: port for hop in way for port in (hop.out, hop.into)}.values())[:LANES_MAX]
    from_ns, until_ns = max(0, at_ns - around_ns), at_ns + around_ns
    base_ps = (ready_ns + from_ns) * PS_PER_NS
    lanes = {port.name: _LaneUnderWay(port) for port in ports}
    outs = {hop.out.name for hop in way}
    frames: dict[int, Frame] = {}
    shown: dict[int, Frame] = {}
    kinds: dict[int, int] = {}
    places: dict[int, int] = {}
    wire_ns: dict[int, int] = {}
    open_pauses: dict[tuple[str, int], tuple[int, int]] = {}
    for entry in record:
        if isinstance(entry, Frame):
            frames[entry.number] = entry
            continue
        at = (entry.at_ps - base_ps) // PS_PER_NS
        lane = lanes.get(entry.port)
        if lane is None or at > until_ns - from_ns:
            continue
        frame = frames.get(entry.number)
        if isinstance(entry, Paused):
            lane.pause(open_pauses, entry, at, (entry.until_ps - base_ps) // PS_PER_NS)
        elif isinstance(entry, Fill):
            lane.fill(entry, at, frame.length_bytes if frame else 0)
        elif at >= 0 and frame is not None and entry.kind in {Kind.SENT, Kind.ARRIVED, Kind.DROPPED}:
            if entry.number not in kinds and len(kinds) == FRAMES_MAX:
                break
            # What a port of the way sends that sends goes with the flow, and what the others receive.
            against = (entry.port in outs) is (entry.kind is Kind.ARRIVED)
            place = places.setdefault(entry.number, len(places))
            shown.setdefault(entry.number, frame)
            kinds.setdefault(entry.number, int(against and not isinstance(entry, Dropped)))
            if isinstance(entry, Sent):
                wire_ns[entry.number] = (entry.at_ps - entry.start_ps) // PS_PER_NS
            lane.longest_bytes = max(lane.longest_bytes, frame.length_bytes)
            lane.frame(entry, place, at, wire_ns.get(entry.number) or _wire_ns(frame, lane.port))
    for (port, _), (start, until) in open_pauses.items():
        lanes[port].pauses.append((start, until))
    return Moment(
        title,
        at_ns,
        from_ns,
        until_ns,
        tuple(lane.lane(until_ns - from_ns) for lane in lanes.values()),
        **_columns(list(shown.values()), list(kinds.values())),
    )


def _columns(frames: Sequence[Frame], kinds: Sequence[int]) -> dict[str, Any]:
    headers = [read_headers(frame.headers) for frame in frames]
    return {
        "number": tuple(frame.number for frame in frames),
        "length_bytes": tuple(frame.length_bytes for frame in frames),
        "kind": tuple(_kind(of, kind) for of, kind in zip(headers, kinds, strict=True)),
        "sequence": tuple(_known(of.sequence if of else None) for of in headers),
        "payload_bytes": tuple(_known(of.payload_bytes if of else None) for of in headers),
        "what": tuple(_what(of) for of in headers),
    }


def _kind(headers: Headers | None, kind: int) -> int:
    if headers is None:
        return _OTHER
    return _CONTROL if headers.protocol in {"pause", "pfc"} else kind


def _known(figure: int | None) -> int:
    return -1 if figure is None else figure


def _what(headers: Headers | None) -> str:
    if headers is None:
        return "a frame without a whole header"
    ports = (headers.source_port, headers.destination_port)
    source, destination = (
        address if port is None else f"{address} port {port}"
        for address, port in zip((headers.source, headers.destination), ports, strict=True)
    )
    return f"{headers.protocol.upper()} {source} to {destination}"


def _wire_ns(frame: Frame, port: Port) -> int:
    """How long it is on the wire where nobody saw it leave: with preamble and FCS."""
    return (frame.length_bytes + _ON_WIRE_BYTES) * BITS_PER_BYTE * NS_PER_S // port.speed_bps


def _bars(bars: Sequence[tuple[int, int, int]]) -> Bars:
    places, starts, lengths = zip(*bars, strict=True) if bars else ((), (), ())
    return Bars(places, _differences(starts), lengths)


def _from_start(fills: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same without what was before the moment, but for what was there when it began."""
    before = [now for at, now in fills if at < 0]
    return [(0, before[-1] if before else 0), *((at, now) for at, now in fills if at >= 0)]


def _differences(figures: Sequence[int]) -> tuple[int, ...]:
    return tuple(after - before for before, after in pairwise((0, *figures)))
