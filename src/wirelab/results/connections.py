"""The TCP connections that a record tells of, by the flow that each is of."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.results.record import Connection, Event, Frame, Kind
from wirelab.units import PS_PER_NS

End = Literal["client", "server"]


@dataclass(frozen=True, slots=True)
class FlowEnd:
    """One end of one connection of a flow: the client is the one that sends; ``number`` counts from 0."""

    flow: Flow
    number: int
    end: End

    @property
    def node(self) -> str:
        """Where it is."""
        return self.flow.sender if self.end == "client" else self.flow.receiver

    def __str__(self) -> str:
        which = f" {self.number + 1}" if self.flow.parallel > 1 else ""
        return f"{self.flow.name}{which} at {self.node}"


@dataclass(slots=True)
class Connections:
    """The states of each end of each flow, in the order of time; ``cut_ns`` is where a full record ends."""

    states: dict[FlowEnd, list[Connection]] = field(default_factory=dict)
    cut_ns: int | None = None


def read_connections(plan: Plan, record: Iterable[Frame | Event], ready_ns: int) -> Connections:
    """What a record tells of the flows' connections; those that programs have for themselves are left out."""
    read = Connections()
    for entry in record:
        if isinstance(entry, Connection):
            if entry.at_ps >= ready_ns * PS_PER_NS and (end := end_of(plan, entry)):
                read.states.setdefault(end, []).append(entry)
        elif not isinstance(entry, Frame) and entry.kind is Kind.END:
            read.cut_ns = entry.at_ps // PS_PER_NS - ready_ns
    return read


def end_of(plan: Plan, connection: Connection) -> FlowEnd | None:
    """Whose end this is, by the ports, which no two flows of a pair of hosts share."""
    local, remote = str(connection.local), str(connection.remote)
    for flow in plan.flows:
        if flow.protocol != "tcp":
            continue
        client, server = plan.address_of(flow.sender), plan.address_of(flow.receiver)
        ports = range(flow.client_port, flow.client_port + flow.parallel)
        if (local, remote, connection.remote_port) == (client, server, flow.port):
            if connection.local_port in ports:
                return FlowEnd(flow, ports.index(connection.local_port), "client")
        elif (
            (local, remote, connection.local_port) == (server, client, flow.port)
            and connection.remote_port in ports
        ):  # fmt: skip
            return FlowEnd(flow, ports.index(connection.remote_port), "server")
    return None
