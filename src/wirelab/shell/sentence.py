"""What happens to a frame, and what a frame is, in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from wirelab.plan.types import Event as Happening
from wirelab.plan.types import Plan
from wirelab.report.capture import why_dropped
from wirelab.results.headers import Headers, read_headers
from wirelab.results.record import Connection, Dropped, Event, Fill, Frame, Kind, Paused, Sent
from wirelab.shell.instant import shown
from wirelab.units import PS_PER_NS

_DOES: Final[Mapping[Kind, str]] = {
    Kind.QUEUED: "enters the egress queue",
    Kind.TX_RING: "moves into the TX ring",
    Kind.SENT: "has been sent",
    Kind.ARRIVED: "has arrived",
    Kind.STORED: "is in the packet buffer",
    Kind.GIVEN: "room came free in the packet buffer",
    Kind.RX_RING: "is in the RX ring",
    Kind.HANDED: "is handed on",
}


class Words:
    """The words for a Plan's network, in which instants count from ``ready_ns``."""

    def __init__(self, plan: Plan, ready_ns: int) -> None:
        self._labels = {port.name: port.label for port in plan.ports}
        self._ready_ns = ready_ns
        self._names: dict[str, str] = {}
        for stack in plan.stacks:
            for interface in plan.interfaces_of(stack.name):
                if interface.address:
                    self._names[interface.address.partition("/")[0]] = stack.name
        self._flows: dict[tuple[int | None, int | None], str] = {
            (flow.client_port, flow.port): flow.name for flow in plan.flows
        }

    def label(self, port: str) -> str:
        """How a person names a port."""
        return self._labels.get(port, port)

    def instant(self, at_ps: int) -> str:
        """When something was recorded."""
        return shown(at_ps // PS_PER_NS - self._ready_ns)

    def frame(self, headers: bytes, length_bytes: int) -> str:
        """What a frame is, by its first bytes."""
        read = read_headers(headers)
        if read is None:
            return f"{length_bytes} B"
        tags = (f"VLAN {vlan}" for vlan in read.vlans)
        return ", ".join(filter(None, (self._ends(read), _contents(read), *tags, f"{length_bytes} B")))

    def _ends(self, read: Headers) -> str:
        source = self._names.get(read.source, read.source)
        destination = self._names.get(read.destination, read.destination)
        if read.source_port is None:
            return f"{read.protocol} {source} to {destination}"
        ports = (read.source_port, read.destination_port)
        flow = self._flows.get(ports) or self._flows.get(ports[::-1])
        named = f"{read.protocol} of {flow}" if flow else read.protocol
        return f"{named}, {source}:{ports[0]} to {destination}:{ports[1]}"

    def event(self, event: Event) -> str:
        """What has happened, without when."""
        where = self.label(event.port)
        who = f"frame {event.number}" if event.number else ""
        match event:
            case Dropped():
                does = f"{who} is dropped: {why_dropped(event)}"
            case Paused(quanta=0):
                does = "may send again"
            case Paused():
                does = f"is paused until {self.instant(event.until_ps)}"
            case Connection():
                return self._connection(event)
            case Fill():
                does = f"{who} {_DOES[event.kind]}{_fill(event)}"
            case Sent(is_control=True):
                does = f"{who}, PAUSE or PFC, has been sent"
            case _:
                does = f"{who} {_DOES.get(event.kind, event.kind.name.lower())}"
        return f"{where}: {does.strip()}"

    def _connection(self, event: Connection) -> str:
        ends = (event.local_port, event.remote_port)
        flow = self._flows.get(ends) or self._flows.get(ends[::-1])
        name = f"{flow}, {'sender' if ends in self._flows else 'receiver'}" if flow else f"tcp {ends[0]}"
        return (
            f"{name}: cwnd {event.cwnd_frames}, in flight {event.in_flight_frames},"
            f" lost {event.lost_frames}, retransmissions {event.retransmissions}"
        )

    def line(self, event: Event) -> str:
        """The same with its instant."""
        return f"{self.instant(event.at_ps)}  {self.event(event)}"

    def lines(self, record: Iterable[Frame | Event], *, of_one: bool = False) -> Iterator[str]:
        """What a record tells, an entry a line; what a frame is when that is new, of one without when."""
        known: dict[int, str] = {}
        for entry in record:
            if not isinstance(entry, Frame):
                yield f"{self.line(entry)}\n"
            elif (headline := self.headline(entry)) != known.get(entry.number):
                known[entry.number] = headline
                yield f"{headline}\n" if of_one else f"{self.instant(entry.at_ps)}  {headline}\n"

    def headline(self, frame: Frame) -> str:
        """What a recorded frame is."""
        return f"frame {frame.number}: {self.frame(frame.headers, frame.length_bytes)}"


def _contents(read: Headers) -> str:
    if read.sequence is None:
        return ""
    if read.payload_bytes:
        return f"{read.payload_bytes} B from {read.sequence} on, {read.flags}"
    return f"{read.flags} {read.acknowledgement}" if read.acknowledgement else read.flags


def _fill(event: Fill) -> str:
    match event.kind:
        case Kind.RX_RING:
            return f", {event.fill_frames} there"
        case Kind.TX_RING:
            return f", {event.fill_frames} there; {event.fill_bytes} B left in the queue"
        case Kind.QUEUED:
            return f", {event.fill_bytes} B in {event.fill_frames} there"
    return f", {event.fill_bytes} B there"


def heard(said: Mapping[str, Any], events: Sequence[Happening]) -> Iterator[str]:
    """What the process in the lab says, as text. Root of the lab can have it say anything.

    ``events`` are those of the network's Plan.
    """
    if isinstance(out := said.get("out"), str):
        yield out.encode("latin-1", errors="replace").decode(errors="replace")
    elif isinstance(note := said.get("note"), str):
        yield f"{note}\n"
    elif (number := event_number(said, events)) is not None:
        yield f"event: {events[number].what}\n"
    elif isinstance(done := said.get("done"), dict) and (code := done.get("code")):
        yield f"exit {code}\n"


def event_number(said: Mapping[str, Any], events: Sequence[Happening]) -> int | None:
    """Which event the process in the lab says has happened, None if it says something else."""
    number = said.get("event")
    return number if type(number) is int and 0 <= number < len(events) else None
