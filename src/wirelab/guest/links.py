"""Which ports have a link, and whether all traffic has one all the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.guest.ethtool import Ethtool
from wirelab.guest.namespace import inside
from wirelab.plan.path import flow_path

if TYPE_CHECKING:
    from wirelab.guest.network import Network
    from wirelab.plan.traffic import Item
    from wirelab.plan.types import Plan, Port


class NoLinkError(Exception):
    """Traffic has no way to go."""


def is_forced(plan: Plan, port: Port) -> bool:
    """Whether there must be a link at a port: both ends of its cable are forced, and neither follows."""
    cable = plan.cable_of(port.name)
    ends = [plan.port(name) for name in (cable.a, cable.b)]
    return not any(end.autoneg or end.follow for end in ends)


def up(network: Network) -> frozenset[str]:
    """The interface names of all ports that have a link."""
    linked = set()
    for node in network.plan.nodes:
        with inside(network.pid(node.name)):
            tool = Ethtool()
        linked |= {port.name for port in network.plan.ports_of(node.name) if tool.link(port.name).up}
        tool.close()
    return frozenset(linked)


def require_ways(network: Network) -> None:
    """Raise NoLinkError if traffic has a cable without a link on its way: it could only wait."""
    plan = network.plan
    linked = up(network)
    for item in plan.timetable:
        cable = broken_cable(plan, linked, item)
        if cable is not None:
            a, b = cable
            msg = (
                f"{item.name}: there is no link between {a.label} and {b.label}; "
                "what does not link has no traffic, write `traffic: []` and expect `link: down`"
            )
            raise NoLinkError(msg)


def broken_cable(plan: Plan, linked: frozenset[str], item: Item) -> tuple[Port, Port] | None:
    """The ends of the first cable on the way of traffic that has no link, None if all have one."""
    for hop in flow_path(plan, item):
        if hop.out.name not in linked or hop.into.name not in linked:
            return hop.out, hop.into
    return None
