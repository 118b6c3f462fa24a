"""counters.json -> what every port and qdisc had counted at each instant that matters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wirelab.plan.types import Duplex, Plan
    from wirelab.results.rawjson import Field

FILE = "counters.json"

START, END = "start", "end"

_INGRESS = ("ingress", "clsact")

# What the laws and the reports read. A port may count more: other causes of drops, interrupts.
_STATS = (
    *("tx_frames", "tx_bytes", "rx_wire_frames", "rx_frames", "rx_bytes", "tx_pause_frames"),
    *("rx_pause_frames", "tx_paused_ns", "tx_ring_frames", "tx_flight_frames", "rx_ring_frames"),
    *("buffer_bytes", "buffer_high_water_bytes", "queue_high_water_bytes", "rx_dropped_buffer"),
)


@dataclass(frozen=True, slots=True)
class Qdisc:
    """One qdisc's statistics as ``tc -s -j qdisc`` tells them; a GSO packet counts as its segments.

    ``parent`` is where it hangs: ``1:4`` is the fourth TX queue below the root ``1:``. ``marked_frames``
    were marked instead of dropped (ECN, RFC 3168).
    """

    kind: str
    root: bool
    sent_frames: int
    dropped_frames: int
    backlog_frames: int
    backlog_bytes: int
    parent: str | None = None
    marked_frames: int = 0


@dataclass(frozen=True, slots=True)
class LinkState:
    """Whether a port has a link, and what both ends agreed on; None where there is none.

    ``pause_rx`` and ``pause_tx`` say whether the port obeys and sends PAUSE.
    """

    up: bool
    speed_bps: int | None
    duplex: Duplex | None
    pause_rx: bool
    pause_tx: bool


@dataclass(frozen=True, slots=True)
class PortCounters:
    """``ethtool -S`` of one port, by the driver's names, its qdiscs, root first, and its link."""

    stats: Mapping[str, int]
    qdiscs: tuple[Qdisc, ...]
    link: LinkState

    def __getitem__(self, stat: str) -> int:
        """The counter with the driver's name ``stat``."""
        return self.stats[stat]

    def get(self, stat: str) -> int:
        """The counter with that name, 0 where the port has none: not every port can do everything."""
        return self.stats.get(stat, 0)

    @property
    def root(self) -> Qdisc | None:
        """The root qdisc, None where frames go to the port directly and nothing is counted."""
        for qdisc in self.qdiscs:
            if qdisc.root and qdisc.kind != "noqueue":
                return qdisc
        return None

    def of_priority(self, priority: int) -> Qdisc | None:
        """The queue of one priority, None where the port does not keep them apart: each has its TX queue."""
        if self.root is None or self.root.kind != "mq":
            return None
        parent = f"1:{priority + 1}"
        return next((qdisc for qdisc in self.qdiscs if qdisc.parent == parent), None)

    @property
    def marked_frames(self) -> int:
        """Frames that the qdiscs of the port marked instead of dropping them."""
        return sum(qdisc.marked_frames for qdisc in self.qdiscs)

    @property
    def dropped_below_root(self) -> int:
        """Frames that qdiscs dropped to which the root qdisc hands its own."""
        egress = (qdisc for qdisc in self.qdiscs if not qdisc.root and qdisc.kind not in _INGRESS)
        return sum(qdisc.dropped_frames for qdisc in egress)

    def drops(self, direction: str) -> dict[str, int]:
        """The driver's drop counters of ``rx`` or ``tx``, by cause."""
        prefix = f"{direction}_dropped_"
        return {name.removeprefix(prefix): n for name, n in self.stats.items() if name.startswith(prefix)}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All counters at one instant; ``at_ns`` counts from when the network was ready.

    ``blocked`` has the frames that each rule of each firewall has dropped.
    """

    name: str
    at_ns: int
    ports: Mapping[str, PortCounters]
    blocked: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def flow_window(flow: str) -> tuple[str, str]:
    """The names of the snapshots at the start and the end of a flow or a ping."""
    return f"{flow}:start", f"{flow}:end"


def parse_snapshots(plan: Plan, raw: Field) -> dict[str, Snapshot]:
    """The snapshots by name. Raises LabError when one that the Plan asks for, or a port, is missing."""
    wanted = [START, *(name for item in plan.traffic for name in flow_window(item.name)), END]
    names = [port.name for port in plan.ports]
    snapshots = {}
    for raw_snapshot in raw["snapshots"].elements():
        snapshot = _snapshot(names, raw_snapshot)
        if snapshot.name in snapshots:
            raise raw_snapshot.broken(f"the snapshot {snapshot.name} is there twice")
        snapshots[snapshot.name] = snapshot
    for name in wanted:
        if name not in snapshots:
            msg = f"the snapshot {name} is missing"
            raise raw["snapshots"].broken(msg)
    return snapshots


def _snapshot(names: Iterable[str], raw: Field) -> Snapshot:
    ports, qdiscs, links = raw["ports"], raw["qdiscs"], raw["links"]
    return Snapshot(
        name=raw["name"].text(),
        at_ns=raw["at_ns"].integer(),
        ports={name: _port(ports[name], qdiscs[name], links[name]) for name in names},
        blocked=_blocked(raw.get("blocked")),
    )


def _blocked(raw: Field | None) -> dict[str, dict[str, int]]:
    if raw is None:
        return {}
    return {
        firewall: {rule: frames.integer() for rule, frames in rules.members()}
        for firewall, rules in raw.members()
    }


def _port(stats: Field, qdiscs: Field, link: Field) -> PortCounters:
    for name in _STATS:
        stats[name].integer()
    return PortCounters(
        stats={name: value.integer() for name, value in stats.members()},
        qdiscs=tuple(sorted(map(_qdisc, qdiscs.elements()), key=lambda qdisc: not qdisc.root)),
        link=_link(link),
    )


def _link(raw: Field) -> LinkState:
    up = raw["up"].flag()
    duplex = raw["duplex"].text() if up else None
    if duplex not in (None, "full", "half"):
        msg = f"expected full or half, found {duplex!r}"
        raise raw["duplex"].broken(msg)
    return LinkState(
        up=up,
        speed_bps=raw["speed_bps"].integer() if up else None,
        duplex=cast("Duplex | None", duplex),
        pause_rx=raw["pause_rx"].flag(),
        pause_tx=raw["pause_tx"].flag(),
    )


def _qdisc(raw: Field) -> Qdisc:
    parent = raw.get("parent")
    return Qdisc(
        kind=raw["kind"].text(),
        root=raw.get("root") is not None,
        sent_frames=raw["packets"].integer(),
        dropped_frames=raw["drops"].integer(),
        backlog_frames=raw["qlen"].integer(),
        backlog_bytes=raw["backlog"].integer(),
        parent=parent.text() if parent else None,
        marked_frames=_marked(raw),
    )


def _marked(raw: Field) -> int:
    """Each qdisc has its own word for it, and CAKE counts in each of its tins; others cannot mark."""
    tins = raw.get("tins")
    counted = [raw.get("ecn_mark"), raw.get("marked")]
    counted += [tin.get("ecn_mark") for tin in tins.elements()] if tins else []
    return sum(frames.integer() for frames in counted if frames)
