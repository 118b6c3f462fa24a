"""samples.jsonl -> ports and flows over virtual time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirelab.results.rawjson import Field, parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirelab.plan.types import Plan

FILE = "samples.jsonl"


@dataclass(frozen=True, slots=True)
class PortSample:
    """A port at one instant: what waits there, and what it had counted so far."""

    queue_bytes: int
    buffer_bytes: int
    paused: bool
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
        ports={port.name: _port(ports[port.name]) for port in plan.ports},
        flows={name: _flow(sample) for name, sample in flows.members()},
    )


def _port(raw: Field) -> PortSample:
    return PortSample(
        queue_bytes=raw["queue_bytes"].integer(),
        buffer_bytes=raw["buffer_bytes"].integer(),
        paused=bool(raw["paused"].integer()),
        dropped_frames=raw["dropped_frames"].integer(),
        tx_bytes=raw["tx_bytes"].integer(),
        rx_bytes=raw["rx_bytes"].integer(),
    )


def _flow(raw: Field) -> FlowSample:
    return FlowSample(
        cwnd_segments=raw["cwnd_segments"].integer(),
        rtt_us=raw["rtt_us"].number(),
        bytes_acked=raw["bytes_acked"].integer(),
        retransmits=raw["retransmits"].integer(),
    )
