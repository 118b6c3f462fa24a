"""The way of a flow through the cables. Standard library only: the lab asks whether there is one."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from wirelab.model.graph import every_way, fewest_hops
from wirelab.plan.event import linkable
from wirelab.plan.traffic import Item
from wirelab.plan.types import Plan, Port

_CLASS_SELECTOR_SHIFT: Final = 3
"""RFC 2474: of the six bits of a DSCP the upper three are the class, as old as IP's precedence."""
_PS_PER_NS: Final = 1000
VLAN_TAG_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class Hop:
    """One cable in one direction: frames leave by ``out`` and arrive at ``into``.

    It is one of ``lanes`` cables between two bonds over which connections between two hosts are spread.
    """

    out: Port
    into: Port
    delay_ns: int
    lanes: int = 1

    def __str__(self) -> str:
        """``server to switch.p1``."""
        return f"{self.out.label} to {self.into.label}"

    @property
    def rate_bps(self) -> int:
        """The line rate, that of the slower end."""
        return min(self.out.speed_bps, self.into.speed_bps)

    @property
    def tag_bytes(self) -> int:
        """What the tag of a VLAN adds to each frame."""
        return VLAN_TAG_BYTES if self.out.trunk_vlans or self.into.trunk_vlans else 0

    @property
    def served_bps(self) -> int:
        """What empties the egress queue: the line, or the shaper before it."""
        shaper = self.out.shaper
        return min(self.rate_bps, shaper.rate_bps) if shaper else self.rate_bps

    @property
    def lossless(self) -> bool:
        """Whether the receiving end can stop the sending one before its buffer overflows."""
        return self.into.pause_tx and self.out.pause_rx

    def stops(self, dscp: int) -> bool:
        """Whether that holds for frames with a DSCP: by PAUSE, or by PFC of the priority it gives them."""
        if not self.into.pfc:
            return self.lossless
        given = priority(self.into, dscp)
        return given in self.into.pfc and given in self.out.pfc and given == priority(self.out, dscp)


def priority(port: Port, dscp: int) -> int:
    """The priority a port gives a frame: PFC sorts by it. No frame of a Plan has a tag that would say one."""
    return dscp >> _CLASS_SELECTOR_SHIFT if port.pfc and port.trust == "dscp" else 0


def hops(plan: Plan) -> tuple[Hop, ...]:
    """Every cable of the Plan, once in each direction."""
    ports = {port.name: port for port in plan.ports}
    lanes = _lanes(plan)
    return tuple(
        Hop(ports[out], ports[into], cable.delay_ns, lanes.get(out, 1))
        for cable in plan.cables
        for out, into in ((cable.a, cable.b), (cable.b, cable.a))
    )


def _lanes(plan: Plan) -> dict[str, int]:
    """Of the ports of bonds that spread connections, how many of the bond carry."""
    linked = linkable(plan) if plan.bonds else ()
    shared = {bond: bond.carrying(linked) for bond in plan.bonds if bond.spreads}
    return {name: len(carrying) for bond, carrying in shared.items() for name in bond.ports}


def _standing_by(plan: Plan) -> frozenset[str]:
    """The ports of bonds that carry nothing now."""
    linked = linkable(plan) if plan.bonds else ()
    return frozenset(name for bond in plan.bonds for name in bond.ports if name not in bond.carrying(linked))


def _edges(plan: Plan, sender: str, without: Container[str]) -> Iterator[tuple[str, str, Hop]]:
    """The hops that what a node sends may take, but for those at some ports; hosts pass nothing on."""
    ends = {host.name for host in plan.hosts} - {sender}
    for hop in hops(plan):
        if hop.out.node not in ends and hop.out.name not in without and hop.into.name not in without:
            yield hop.out.node, hop.into.node, hop


def path(plan: Plan, sender: str, receiver: str) -> tuple[Hop, ...]:
    """The hops from one node to another, the fewest; empty when no cable leads there.

    By the ports of bonds that carry; where several share, by the first of them.
    """
    return fewest_hops(sender, receiver, _edges(plan, sender, _standing_by(plan))) or ()


def ways(plan: Plan, sender: str, receiver: str) -> tuple[tuple[Hop, ...], ...]:
    """All ways that there may be from one node to another: by each port of a bond, whichever carries."""
    if not plan.bonds:
        return (path(plan, sender, receiver),)
    return every_way(sender, receiver, _edges(plan, sender, ())) or ((),)


def spanned(plan: Plan, sender: str, receiver: str) -> tuple[Hop, ...]:
    """The hops of all these ways, each once."""
    return tuple(dict.fromkeys(hop for way in ways(plan, sender, receiver) for hop in way))


def carrying(plan: Plan, sender: str, receiver: str) -> tuple[Hop, ...]:
    """The hops of those of these ways that are only by ports of bonds that carry now, each once."""
    found = every_way(sender, receiver, _edges(plan, sender, _standing_by(plan))) if plan.bonds else None
    return tuple(dict.fromkeys(hop for way in found or (path(plan, sender, receiver),) for hop in way))


def flow_path(plan: Plan, flow: Item) -> tuple[Hop, ...]:
    """The hops of what the sender of some traffic sends."""
    return path(plan, flow.sender, flow.receiver)


def crossing_ns(way: Iterable[Hop]) -> int:
    """How long a full frame takes on a way through paths, switches and CPUs, if it waits for no other."""
    total_ns = 0
    for hop in way:
        total_ns += hop.delay_ns + hop.into.forward_latency_ns
        if hop.out.netem is not None:
            total_ns += hop.out.netem.delay_ns + hop.out.netem.jitter_ns
        if hop.out.cpu is not None:
            total_ns += hop.out.cpu.tx_frame_ns + hop.out.cpu.tx_byte_ps * hop.out.mtu_bytes // _PS_PER_NS
        if hop.into.cpu is not None:
            total_ns += hop.into.cpu.rx_frame_ns + hop.into.cpu.rx_byte_ps * hop.into.mtu_bytes // _PS_PER_NS
        total_ns += sum(port.capture.frame_ns for port in (hop.out, hop.into) if port.capture)
    return total_ns
