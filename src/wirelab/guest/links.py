"""Which ports have a link, and whether all traffic has one all the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.guest.ethtool import Ethtool
from wirelab.guest.namespace import inside

if TYPE_CHECKING:
    from wirelab.guest.network import Network
    from wirelab.plan.traffic import Flow, Ping
    from wirelab.plan.types import Plan, Port


class NoLinkError(Exception):
    """Traffic has no way to go."""


def is_forced(plan: Plan, port: Port) -> bool:
    """Whether there must be a link at a port: both ends of its cable are forced, and neither follows."""
    cable = next(each for each in plan.cables if port.name in (each.a, each.b))
    ends = [plan.port(name) for name in (cable.a, cable.b)]
    return not any(end.autoneg or end.follow for end in ends)


def up(network: Network) -> frozenset[str]:
    """The interface names of all ports that have a link."""
    found = set()
    for node in network.plan.nodes:
        with inside(network.pid(node.name)):
            tool = Ethtool()
        found |= {port.name for port in network.plan.ports_of(node.name) if tool.link(port.name).up}
        tool.close()
    return frozenset(found)


def require_ways(network: Network) -> None:
    """Raise NoLinkError if traffic has a cable without a link on its way: it could only wait."""
    plan = network.plan
    linked = up(network)
    for each in plan.traffic:
        cable = broken_cable(plan, linked, each)
        if cable is not None:
            a, b = cable
            msg = (
                f"{each.name}: there is no link between {a.label} and {b.label}; "
                "what does not link has no traffic, write `traffic: []` and expect `link: down`"
            )
            raise NoLinkError(msg)


def broken_cable(plan: Plan, linked: frozenset[str], item: Flow | Ping) -> tuple[Port, Port] | None:
    """The ends of the first cable on the way of traffic that has no link, None if all have one."""
    for a, b in _way(plan, item.sender, item.receiver):
        if a.name not in linked or b.name not in linked:
            return a, b
    return None


def _way(plan: Plan, one: str, other: str) -> list[tuple[Port, Port]]:
    """The cables between two nodes: there is one way or none, for cables make no loop."""
    ends = [(plan.port(cable.a), plan.port(cable.b)) for cable in plan.cables]
    hops = [*ends, *((b, a) for a, b in ends)]
    ways: list[list[tuple[Port, Port]]] = [[]]
    seen = {one}
    for way in ways:
        here = way[-1][1].node if way else one
        if here == other:
            return way
        for hop in hops:
            if hop[0].node == here and hop[1].node not in seen:
                seen.add(hop[1].node)
                ways.append([*way, hop])
    return []
