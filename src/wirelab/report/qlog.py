"""The TCP flows of a record as qlog: draft-ietf-quic-qlog-main-schema, a contained JSON file.

TCP has no event schema of its own at the IETF. What its sender knows of loss and congestion is what QUIC's
does, so the events are those of draft-ietf-quic-qlog-quic-events, by their names and in their units: tools
that draw these draw TCP. A trace says in its common fields that its protocol is TCP.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, Final

from wirelab import __version__
from wirelab.plan.types import Plan
from wirelab.results.connections import Connections, FlowEnd
from wirelab.results.record import Connection
from wirelab.units import NS_PER_MS, PS_PER_NS, US_PER_MS

_STATES: Final = ("open", "disorder", "cwr", "recovery", "loss")
"""TCP_CA_Open and so on (include/uapi/linux/tcp.h)."""


def write_qlog(file: IO[str], plan: Plan, connections: Connections, ready_ns: int) -> int:
    """Write a trace for each end of each flow. Returns how many events there are. Raises OSError."""
    head = {
        "file_schema": "urn:ietf:params:qlog:file:contained",
        "serialization_format": "application/qlog+json",
        "title": f"{plan.scenario} {plan.variant}, seed {plan.seed}",
        "description": f"wirelab {__version__}: TCP in virtual time",
    }
    # Event by event: all of them as one text would fill the memory.
    file.write(json.dumps(head)[:-1] + ', "traces": [')
    count = 0
    for number, (end, states) in enumerate(connections.states.items()):
        file.write(("," if number else "") + "\n" + json.dumps(_trace(end))[:-1] + ', "events": [')
        for place, event in enumerate(_events(states, ready_ns)):
            file.write(("," if place else "") + "\n" + json.dumps(event))
            count += 1
        file.write("]}")
    file.write("]}\n")
    return count


def _trace(end: FlowEnd) -> dict[str, Any]:
    return {
        "title": str(end),
        "vantage_point": {"name": end.node, "type": end.end},
        "event_schemas": ["urn:ietf:params:qlog:events:quic"],
        "common_fields": {
            "group_id": f"{end.flow.name}.{end.number}",
            "time_format": "relative_to_epoch",
            "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
            "protocol": "TCP",
            "congestion_control": end.flow.congestion or "",
        },
    }


def _events(states: Iterable[Connection], ready_ns: int) -> Iterator[dict[str, Any]]:
    """What changes from one state to the next."""
    known: Mapping[str, float] = {}
    state, lost = None, 0
    for connection in states:
        time = (connection.at_ps / PS_PER_NS - ready_ns) / NS_PER_MS
        now = _metrics(connection)
        if changed := {name: value for name, value in now.items() if known.get(name) != value}:
            yield {"time": time, "name": "quic:recovery_metrics_updated", "data": changed}
        for _ in range(connection.lost_frames - lost):
            yield {"time": time, "name": "quic:packet_lost", "data": {}}
        if connection.state != state:
            change = {"old": _word(state)} if state is not None else {}
            change["new"] = _word(connection.state)
            yield {"time": time, "name": "quic:congestion_state_updated", "data": change}
        known, state, lost = now, connection.state, connection.lost_frames


def _metrics(connection: Connection) -> dict[str, float]:
    """The figures of RFC 9002, in bytes and milliseconds, and TCP's count of what it has sent again."""
    mss_bytes = connection.mss_bytes
    metrics: dict[str, float] = {
        "congestion_window": connection.cwnd_frames * mss_bytes,
        "bytes_in_flight": connection.in_flight_frames * mss_bytes,
        "packets_in_flight": connection.in_flight_frames,
        "retransmissions": connection.retransmissions,
    }
    if connection.srtt_us:
        metrics["smoothed_rtt"] = connection.srtt_us / US_PER_MS
    if connection.ssthresh_bytes is not None:
        metrics["ssthresh"] = connection.ssthresh_bytes
    return metrics


def _word(state: int) -> str:
    return _STATES[state] if state < len(_STATES) else str(state)
