"""Two runs side by side, frame by frame: the first instant at which they part, and what happened there."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from wirelab.errors import LabError
from wirelab.plan.types import Plan
from wirelab.results.headers import read_headers
from wirelab.results.record import Connection, Dropped, Event, Fill, Frame, Kind, Paused, Sent, read_record
from wirelab.results.result import Result
from wirelab.results.told import told_at_ports
from wirelab.runner.recorded import Recorder
from wirelab.units import NS_PER_S, PS_PER_NS

_WORDS: Final = {
    Kind.QUEUED: "is queued",
    Kind.TX_RING: "enters the transmit ring",
    Kind.SENT: "has left",
    Kind.ARRIVED: "has arrived",
    Kind.STORED: "is in the packet buffer",
    Kind.GIVEN: "has left the packet buffer",
    Kind.RX_RING: "is in the receive ring",
    Kind.HANDED: "is handed to the stack",
    Kind.DROPPED: "is dropped",
}
_TCP_FIGURES: Final = ("una", "next", "cwnd_frames", "ssthresh_frames", "in_flight_frames", "srtt_8us")
_LATEST_EARLIER: Final = 64


@dataclass(frozen=True, slots=True)
class Rerun:
    """A run that can be run again: its Plan, what it measured, and what runs it."""

    plan: Plan
    known: Result
    recorder: Recorder


@dataclass(frozen=True, slots=True)
class Parting:
    """The first instant at which two runs part, in ns of the traffic's time; a sentence for each side."""

    at_ns: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"They part at {self.at_ns / NS_PER_S:.9f} s. Before: {self.before}. After: {self.after}."


def first_parting(before: Rerun, after: Rerun) -> Parting | None:
    """Where two runs part first, None where they are one and the same.

    Both are recorded from the last sample that they have in common to the first that they have not; from
    earlier, where that is in the midst of it. Raises LabError where a record is full before they part.
    """
    if before.known.digest == after.known.digest:
        return None
    interval_ns = before.plan.sample_interval_ns
    until_ns, from_ns = _window_ns(before.known, after.known, interval_ns)
    back_ns = interval_ns
    while True:
        parting, is_from_start = _parting_in(before, after, from_ns, until_ns)
        if parting and not (is_from_start and from_ns):
            return parting
        if not from_ns:
            raise LabError("their records are the same, and their digests are not", hint="report it, please")
        # They had parted before it began: a sample tells of little that goes on.
        from_ns = max(0, from_ns - back_ns)
        back_ns = min(back_ns * 4, _LATEST_EARLIER * interval_ns)


def _window_ns(before: Result, after: Result, interval_ns: int) -> tuple[int, int]:
    """Until and from when their samples are not the same."""
    last_ns = 0
    for ours, theirs in zip(before.samples, after.samples, strict=False):
        if ours != theirs:
            return max(ours.at_ns, theirs.at_ns) + 1, last_ns
        last_ns = ours.at_ns
    longer_ns = max(before.elapsed_ns, after.elapsed_ns)
    return max(longer_ns, last_ns + interval_ns), last_ns


def _parting_in(before: Rerun, after: Rerun, from_ns: int, until_ns: int) -> tuple[Parting | None, bool]:
    """Where two runs part in a window, and whether that is with the first thing that happens in it."""
    streams: list[Iterator[tuple[Event, Frame | None]]] = []
    for run in (before, after):
        recorded = run.recorder.record_between(run.plan, run.known, from_ns, until_ns)
        record = told_at_ports(read_record(recorded.record), run.plan.cables)
        streams.append(_events(record, run.known.status.ready_ns))
    for number, (ours, theirs) in enumerate(itertools.zip_longest(*streams)):
        if ours != theirs:
            told = [event for event, _ in filter(None, (ours, theirs))]
            if any(event.kind is Kind.END for event in told):
                raise LabError("a record is as long as it may be before they part")
            at_ns = min(event.at_ps for event in told) // PS_PER_NS
            sides = (_sentence(before.plan, ours, at_ns), _sentence(after.plan, theirs, at_ns))
            return Parting(at_ns, *sides), number == 0
    return None, True


def _events(record: Iterable[Frame | Event], ready_ns: int) -> Iterator[tuple[Event, Frame | None]]:
    """What happened, each with its frame, in the traffic's time."""
    frames: dict[int, Frame] = {}
    for entry in record:
        at_ps = entry.at_ps - ready_ns * PS_PER_NS
        if isinstance(entry, Frame):
            # When it was told of is the event's.
            frames[entry.number] = replace(entry, at_ps=0)
        elif isinstance(entry, Sent):
            start_ps = entry.start_ps - ready_ns * PS_PER_NS
            yield replace(entry, at_ps=at_ps, start_ps=start_ps), frames.get(entry.number)
        elif isinstance(entry, Paused):
            until_ps = entry.until_ps - ready_ns * PS_PER_NS
            yield replace(entry, at_ps=at_ps, until_ps=until_ps), None
        else:
            yield replace(entry, at_ps=at_ps), frames.get(entry.number)


def _sentence(plan: Plan, told: tuple[Event, Frame | None] | None, at_ns: int) -> str:
    """What happens at one instant, in words."""
    if told is None:
        return "nothing happens any more in this window"
    event, frame = told
    late_ns = event.at_ps // PS_PER_NS - at_ns
    later = f", {late_ns} ns later" if late_ns else ""
    labels = {port.name: port.label for port in plan.ports}
    place = labels.get(event.port, event.port)
    if isinstance(event, Connection):
        ends = f"{event.local}:{event.local_port} to {event.remote}:{event.remote_port}"
        figures = ", ".join(f"{name} {getattr(event, name)}" for name in _TCP_FIGURES)
        return f"the connection {ends} has {figures}{later}"
    if isinstance(event, Paused):
        return f"{place} is paused with {event.quanta} quanta{later}"
    return f"{_frame(event, frame)} {_WORDS.get(event.kind, event.kind.name)} at {place}{_held(event)}{later}"


def _held(event: Event) -> str:
    if isinstance(event, Dropped):
        limit = f" of {event.limit_bytes} B" if event.limit_bytes else ""
        return f", where {event.fill_bytes} B{limit} wait"
    if not isinstance(event, Fill) or event.kind is Kind.HANDED:
        return ""
    if event.kind in {Kind.TX_RING, Kind.RX_RING}:
        return f", which holds {event.fill_frames} frames then"
    return f", which holds {event.fill_bytes} B then"


def _frame(event: Event, frame: Frame | None) -> str:
    if frame is None:
        return f"frame {event.number}"
    headers = read_headers(frame.headers)
    if headers is None:
        return f"a frame of {frame.length_bytes} B"
    sequence = f" with sequence number {headers.sequence}" if headers.sequence is not None else ""
    what = f"{headers.protocol} from {headers.source} to {headers.destination}{sequence}"
    return f"a frame of {frame.length_bytes} B ({what})"
