"""counters.json -> what every port and qdisc had counted at each instant that matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wirelab.plan.types import Plan
    from wirelab.rawjson import Field

FILE = "counters.json"

START, END = "start", "end"

_INGRESS = ("ingress", "clsact")

# What the laws and the reports read. A port may count more: other causes of drops, interrupts.
_STATS = (
    "tx_frames",
    "tx_bytes",
    "rx_wire_frames",
    "rx_frames",
    "rx_bytes",
    "tx_pause_frames",
    "rx_pause_frames",
    "tx_paused_ns",
    "tx_ring_frames",
    "tx_flight_frames",
    "rx_ring_frames",
    "buffer_bytes",
    "buffer_high_water_bytes",
    "queue_high_water_bytes",
    "rx_dropped_buffer",
)


@dataclass(frozen=True, slots=True)
class Qdisc:
    """One qdisc's statistics as ``tc -s -j qdisc`` tells them; a GSO packet counts as its segments."""

    kind: str
    root: bool
    sent_frames: int
    dropped_frames: int
    backlog_frames: int
    backlog_bytes: int


@dataclass(frozen=True, slots=True)
class PortCounters:
    """``ethtool -S`` of one port, by the driver's names, and its qdiscs, root first."""

    stats: Mapping[str, int]
    qdiscs: tuple[Qdisc, ...]

    def __getitem__(self, stat: str) -> int:
        """The counter with the driver's name ``stat``."""
        return self.stats[stat]

    @property
    def root(self) -> Qdisc | None:
        """The root qdisc, None where frames go to the port directly and nothing is counted."""
        for qdisc in self.qdiscs:
            if qdisc.root and qdisc.kind != "noqueue":
                return qdisc
        return None

    @property
    def dropped_below_root(self) -> int:
        """Frames that qdiscs dropped to which the root qdisc hands its own."""
        egress = (each for each in self.qdiscs if not each.root and each.kind not in _INGRESS)
        return sum(each.dropped_frames for each in egress)

    def drops(self, direction: str) -> dict[str, int]:
        """The driver's drop counters of ``rx`` or ``tx``, by cause."""
        prefix = f"{direction}_dropped_"
        return {name.removeprefix(prefix): n for name, n in self.stats.items() if name.startswith(prefix)}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All counters at one instant; ``at_ns`` counts from when the network was ready."""

    name: str
    at_ns: int
    ports: Mapping[str, PortCounters]


def flow_window(flow: str) -> tuple[str, str]:
    """The names of the snapshots at a flow's start and end."""
    return f"{flow}:start", f"{flow}:end"


def parse_snapshots(plan: Plan, document: Field) -> dict[str, Snapshot]:
    """The snapshots by name. Raises LabError when one that the Plan asks for, or a port, is missing."""
    wanted = [START, *(name for flow in plan.flows for name in flow_window(flow.name)), END]
    names = [port.name for port in plan.ports]
    found = {}
    for each in document["snapshots"].elements():
        snapshot = _snapshot(names, each)
        if snapshot.name in found:
            msg = f"the snapshot {snapshot.name} is there twice"
            raise each.broken(msg)
        found[snapshot.name] = snapshot
    for name in wanted:
        if name not in found:
            msg = f"the snapshot {name} is missing"
            raise document["snapshots"].broken(msg)
    return found


def _snapshot(names: Iterable[str], raw: Field) -> Snapshot:
    ports, qdiscs = raw["ports"], raw["qdiscs"]
    return Snapshot(
        name=raw["name"].text(),
        at_ns=raw["at_ns"].integer(),
        ports={name: _port(ports[name], qdiscs[name]) for name in names},
    )


def _port(stats: Field, qdiscs: Field) -> PortCounters:
    for name in _STATS:
        stats[name].integer()
    return PortCounters(
        stats={name: value.integer() for name, value in stats.members()},
        qdiscs=tuple(sorted((_qdisc(each) for each in qdiscs.elements()), key=lambda q: not q.root)),
    )


def _qdisc(raw: Field) -> Qdisc:
    return Qdisc(
        kind=raw["kind"].text(),
        root=raw.get("root") is not None,
        sent_frames=raw["packets"].integer(),
        dropped_frames=raw["drops"].integer(),
        backlog_frames=raw["qlen"].integer(),
        backlog_bytes=raw["backlog"].integer(),
    )
