"""samples.jsonl -> ports and flows over virtual time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_type_hints

from wirelab.plan.types import Plan
from wirelab.results.rawjson import Field, parse_json

FILE = "samples.jsonl"


@dataclass(frozen=True, slots=True)
class PortSample:
    """A port at one instant: what waits there, and what it had counted so far; ``paused`` is 0 or 1."""

    queue_bytes: int
    buffer_bytes: int
    paused: int
    dropped_frames: int
    tx_bytes: int
    rx_bytes: int


@dataclass(frozen=True, slots=True)
class FlowSample:
    """A TCP sender at one instant (``ss -i``)."""

    cwnd_segments: int
    rtt_us: float
    bytes_acked: int
    retransmits: int


_TYPES: Final = {kind: get_type_hints(kind) for kind in (PortSample, FlowSample)}


@dataclass(frozen=True, slots=True)
class Sample:
    """Everything at one instant; ``at_ns`` counts from when the network was ready.

    ``flows`` holds the flows whose connection stood at that instant.
    """

    at_ns: int
    ports: Mapping[str, PortSample]
    flows: Mapping[str, FlowSample]


def parse_lines(name: str, text: str) -> tuple[Field, ...]:
    """The documents of a JSON-lines file. Raises LabError naming the line that does not parse."""
    lines = text.splitlines() or [""]
    return tuple(parse_json(name, line, line=number) for number, line in enumerate(lines, 1))


def parse_sample(plan: Plan, raw: Field) -> Sample:
    """One line of the file. Raises LabError when a port of the Plan is missing in it."""
    ports, flows = raw["ports"], raw["flows"]
    return Sample(
        at_ns=raw["at_ns"].integer(),
        ports={port.name: PortSample(**_figures(PortSample, ports[port.name])) for port in plan.ports},
        flows={name: FlowSample(**_figures(FlowSample, sample)) for name, sample in flows.members()},
    )


def _figures(kind: type[PortSample] | type[FlowSample], raw: Field) -> dict[str, Any]:
    """The fields of a sample, which have the same names in the file."""
    fields = ((name, of, raw[name]) for name, of in _TYPES[kind].items())
    return {name: field.number() if of is float else field.integer() for name, of, field in fields}
