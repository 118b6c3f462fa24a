"""counters.json -> what every port and qdisc had counted at each instant that matters."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self, cast

from wirelab.plan.iproute2 import POLICED
from wirelab.plan.types import SHAPER, Duplex, Plan
from wirelab.results.rawjson import Field

FILE = "counters.json"

START, END = "start", "end"

_INGRESS = ("ingress", "clsact")
_SHAPERS = (SHAPER, "tbf")

# Maxima since the port was made: what lies between two of them means nothing.
_HIGH_WATERS = ("buffer_high_water_bytes", "queue_high_water_bytes")
# What the laws and the reports read. A port may count more: other causes of drops, interrupts.
_STATS = (
    *("tx_frames", "tx_bytes", "rx_wire_frames", "rx_frames", "rx_bytes", "tx_pause_frames"),
    *("rx_pause_frames", "tx_paused_ns", "tx_ring_frames", "tx_flight_frames", "rx_ring_frames"),
    *("buffer_bytes", "rx_dropped_buffer", *_HIGH_WATERS),
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
    parent: str | None = None
    marked_frames: int = 0

    def since(self, earlier: Self) -> Self:
        """What it has counted since ``earlier``, and by how many frames its backlog has grown."""
        return replace(
            self,
            sent_frames=self.sent_frames - earlier.sent_frames,
            dropped_frames=self.dropped_frames - earlier.dropped_frames,
            backlog_frames=self.backlog_frames - earlier.backlog_frames,
            marked_frames=self.marked_frames - earlier.marked_frames,
        )


NO_QUEUE: Final = Qdisc("noqueue", True, 0, 0, 0)  # noqa: FBT003 - the zeros of tc's own word
"""Stands for the qdisc of a port without one: frames go straight to the port, and are not counted."""


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
    """What one port counted, its qdiscs, root first, and its link."""

    stats: Mapping[str, int]
    qdiscs: tuple[Qdisc, ...]
    link: LinkState

    def __getitem__(self, stat: str) -> int:
        """The counter that is called ``stat`` in the file."""
        return self.stats[stat]

    def get(self, stat: str) -> int:
        """The counter with that name, 0 where the port has none: not every port can do everything."""
        return self.stats.get(stat, 0)

    def queue(self, priority: int | None = None) -> Qdisc:
        """The root qdisc, or that of one priority; NO_QUEUE where there is none, or priorities share it."""
        root = next((qdisc for qdisc in self.qdiscs if qdisc.root and qdisc.kind != NO_QUEUE.kind), NO_QUEUE)
        if priority is None:
            return root
        parent = f"1:{priority + 1}" if root.kind == "mq" else None
        return next((qdisc for qdisc in self.qdiscs if parent and qdisc.parent == parent), NO_QUEUE)

    @property
    def marked_frames(self) -> int:
        """Frames that the qdiscs of the port marked instead of dropping them."""
        return sum(qdisc.marked_frames for qdisc in self.qdiscs)

    @property
    def queue_drops(self) -> dict[str, int]:
        """Frames lost in the egress qdiscs: ``queue``, ``police`` and ``netem``, which lose some on purpose.

        netem counts what is dropped below it as its own, too, and so do a policer and a shaper.
        """
        root = self.queue()
        policer = next((qdisc for qdisc in self.qdiscs if qdisc.kind == POLICED), None)
        if root.kind != "netem" and policer is None:
            return {"queue": root.dropped_frames}
        above = (*_INGRESS, *_SHAPERS, POLICED)
        egress = (qdisc for qdisc in self.qdiscs if not qdisc.root and qdisc.kind not in above)
        below = sum(qdisc.dropped_frames for qdisc in egress)
        drops = {"queue": below}
        if policer is not None:
            drops["police"] = policer.dropped_frames - below
        if root.kind == "netem":
            drops["netem"] = root.dropped_frames - sum(drops.values())
        return drops

    def drops(self, direction: str) -> dict[str, int]:
        """The driver's drop counters of ``rx`` or ``tx``, by cause."""
        prefix = f"{direction}_dropped_"
        return {name.removeprefix(prefix): n for name, n in self.stats.items() if name.startswith(prefix)}

    @property
    def drops_by_cause(self) -> dict[str, int]:
        """All frames dropped at the port, those of the egress queue first."""
        drops = self.queue_drops
        for direction in ("rx", "tx"):
            drops |= {f"{direction}_{cause}": n for cause, n in self.drops(direction).items()}
        return drops

    def since(self, earlier: Self) -> Self:
        """What was counted since ``earlier``; the link and the high waters are those of now."""
        before = {(qdisc.root, qdisc.parent): qdisc for qdisc in earlier.qdiscs}
        stats = {name: n if name in _HIGH_WATERS else n - earlier.get(name) for name, n in self.stats.items()}
        qdiscs = (qdisc.since(before.get((qdisc.root, qdisc.parent), NO_QUEUE)) for qdisc in self.qdiscs)
        return type(self)(stats, tuple(qdiscs), self.link)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All counters at one instant; ``at_ns`` counts from when the network was ready.

    ``blocked`` has the frames that each rule of each firewall has dropped.
    """

    name: str
    at_ns: int
    ports: Mapping[str, PortCounters]
    blocked: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def window(item: str | None = None) -> tuple[str, str]:
    """The names of the snapshots at the start and the end of a flow or a ping, or of the whole run."""
    return (f"{item}:{START}", f"{item}:{END}") if item else (START, END)


def parse_snapshots(plan: Plan, raw: Field) -> dict[str, Snapshot]:
    """The snapshots by name. Raises LabError when one that the Plan asks for, or a port, is missing."""
    names = [port.name for port in plan.ports]
    snapshots: dict[str, Snapshot] = {}
    for raw_snapshot in raw["snapshots"].elements():
        snapshot = _snapshot(names, raw_snapshot)
        if snapshot.name in snapshots:
            raise raw_snapshot.broken(f"the snapshot {snapshot.name} is there twice")
        snapshots[snapshot.name] = snapshot
    for name in (START, *(name for item in plan.traffic for name in window(item.name)), END):
        if name not in snapshots:
            raise raw["snapshots"].broken(f"the snapshot {name} is missing")
    return snapshots


def _snapshot(names: Iterable[str], raw: Field) -> Snapshot:
    ports, qdiscs, links, blocked = raw["ports"], raw["qdiscs"], raw["links"], raw.get("blocked")
    return Snapshot(
        name=raw["name"].text(),
        at_ns=raw["at_ns"].integer(),
        ports={name: _port(ports[name], qdiscs[name], links[name]) for name in names},
        blocked={name: rules.integers() for name, rules in blocked.members()} if blocked else {},
    )


def _port(stats: Field, qdiscs: Field, link: Field) -> PortCounters:
    counted = stats.integers()
    for name in _STATS:
        if name not in counted:
            raise stats.broken(f"{name} is missing")
    listed = sorted(map(_qdisc, qdiscs.elements()), key=lambda qdisc: not qdisc.root)
    return PortCounters(counted, tuple(listed), _link(link))


def _link(raw: Field) -> LinkState:
    up = raw["up"].flag()
    duplex = raw["duplex"].text() if up else None
    if duplex not in (None, "full", "half"):
        raise raw["duplex"].broken(f"expected full or half, found {duplex!r}")
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
        parent=parent.text() if parent else None,
        marked_frames=_marked(raw),
    )


def _marked(raw: Field) -> int:
    """Each qdisc has its own word for it, and CAKE counts in each of its tins; others cannot mark."""
    tins = raw.get("tins")
    counted = [raw.get("ecn_mark"), raw.get("marked")]
    counted += [tin.get("ecn_mark") for tin in tins.elements()] if tins else []
    return sum(frames.integer() for frames in counted if frames)
