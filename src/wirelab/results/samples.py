"""samples.jsonl -> ports and flows over virtual time.

The first line has every port, the others have those that count otherwise than in the line before.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_type_hints

from wirelab.plan.types import Plan
from wirelab.results.rawjson import Field, parse_json
from wirelab.results.values import LARGEST

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


def parse_samples(plan: Plan, lines: Iterable[Field]) -> Iterator[Sample]:
    """The lines of the file as samples. Raises LabError when a port of the Plan is missing in the first."""
    ports: dict[str, PortSample] = {}
    for line in lines:
        told, flows = line["ports"], line["flows"]
        for port in plan.ports:
            if port.name not in ports or told.get(port.name):
                ports[port.name] = PortSample(**_figures(PortSample, told[port.name]))
        yield Sample(
            at_ns=line["at_ns"].integer(),
            ports=dict(ports),
            flows={name: FlowSample(**_figures(FlowSample, sample)) for name, sample in flows.members()},
        )


def written_out(lines: Iterable[Field]) -> Iterator[dict[str, Any]]:
    """The lines, which are samples, with every port in each of them."""
    ports: dict[str, Any] = {}
    for line in lines:
        ports = {**ports, **line.value["ports"]}
        yield {**line.value, "ports": ports}


def _figures(kind: type[PortSample] | type[FlowSample], raw: Field) -> dict[str, Any]:
    """The fields of a sample, which have the same names in the file."""
    figures = _TYPES[kind]
    told = raw.value
    # A run has thousands of samples, and next to none is unsound: only those are worth a place. The lab's
    # figures are whole numbers, all of them.
    if type(told) is dict and all(
        type(told.get(name)) is int and 0 <= told[name] <= LARGEST for name in figures
    ):
        return {name: of(told[name]) for name, of in figures.items()}
    fields = ((name, of, raw[name]) for name, of in figures.items())
    return {name: field.number() if of is float else field.integer() for name, of, field in fields}
