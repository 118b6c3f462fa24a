"""The ways of all traffic before anything is measured: every cable has a link, and both ends know the way."""

from typing import TYPE_CHECKING

from wirelab.guest import clock
from wirelab.guest.shell import CommandError
from wirelab.plan.event import NEGOTIATIONS, is_open
from wirelab.plan.path import Hop, crossing_ns, flow_path, path
from wirelab.plan.traffic import Item
from wirelab.plan.types import Plan, Port

if TYPE_CHECKING:  # Mininet is in the lab alone, and some of this is tested without it
    from wirelab.guest.network import Network

# What an answer may take beyond what the Plan says it takes: ARP, retries, frames that are lost.
_PATIENCE_S = 10
# ARP's request and answer, then the echo and its: each CPU and each long path is crossed so often.
_CROSSINGS = 4
_LOOK_NS = clock.NS_PER_S // 10
# The longest that somebody waits for what may never come; virtual time in which nothing happens is free.
_LONGEST_S = 600


class NoLinkError(Exception):
    """Traffic has no way to go."""


def is_forced(plan: Plan, port: Port) -> bool:
    """Whether there must be a link at a port: both ends are forced and in use, and neither follows."""
    cable = plan.cable_of(port.name)
    ends = [plan.port(name) for name in (cable.a, cable.b)]
    return is_open(plan, cable) and not any(end.autoneg or end.follow for end in ends)


def await_links(network: "Network") -> None:
    """Sleep until nobody negotiates any more. Raises NoLinkError naming the ports where that never ends."""
    plan = network.plan
    longest_ms = max((port.autoneg_ms for port in plan.ports), default=0)
    until_ns = clock.now_ns() + NEGOTIATIONS * longest_ms * clock.NS_PER_MS
    while longest_ms and any(_negotiates(network, port) for port in plan.ports):
        if clock.now_ns() > until_ns:
            busy = ", ".join(port.label for port in plan.ports if _negotiates(network, port))
            bound = f"{NEGOTIATIONS} times the {longest_ms} ms that the slowest port takes"
            raise NoLinkError(f"{busy}: still negotiating after {bound}")
        clock.sleep_until(clock.now_ns() + _LOOK_NS)


def _negotiates(network: "Network", port: Port) -> bool:
    """Whether a port, or the other end of its cable, is at it: one of the two says so."""
    return bool(network.tools[port.node].stats(port.name)["link_negotiating"])


def require_ways(network: "Network") -> None:
    """Raise NoLinkError if traffic has a cable without a link on its way: it could only wait."""
    plan = network.plan
    linked = frozenset(port.name for port in plan.ports if network.link(port).up)
    for item in plan.timetable:
        cable = broken_cable(plan, linked, item)
        if cable is not None:
            a, b = cable
            raise NoLinkError(
                f"{item.name}: there is no link between {a.label} and {b.label}; "
                "what does not link has no traffic, write `traffic: []` and expect `link: down`"
            )


def broken_cable(plan: Plan, linked: frozenset[str], item: Item) -> tuple[Port, Port] | None:
    """The ends of the first cable on the way of traffic that has no link, None if all have one."""
    way = ((hop.out, hop.into) for hop in flow_path(plan, item))
    return next((ends for ends in way if not linked.issuperset(port.name for port in ends)), None)


def warm_arp(network: "Network") -> None:
    """A ping each way between the ends of all traffic: ARP and the switches' tables are filled.

    Repeated until it is answered, for a path may be meant to lose frames. Raises CommandError when
    nothing comes through where by the Plan something must: then the lab is broken.
    """
    plan = network.plan
    pairs = {(item.sender, item.receiver) for item in plan.traffic}
    for sender, receiver in sorted(pairs | {(receiver, sender) for sender, receiver in pairs}):
        way = (*path(plan, sender, receiver), *path(plan, receiver, sender))
        patience_s = min(_PATIENCE_S + _CROSSINGS * crossing_ns(way) // clock.NS_PER_S, _LONGEST_S)
        echo = ("ping", "-c", "1", "-w", str(patience_s), plan.address_of(receiver))
        try:
            network.run(sender, *echo)
        except CommandError:
            if must_answer(plan, way):
                raise


def must_answer(plan: Plan, way: tuple[Hop, ...]) -> bool:
    """Whether an echo cannot but come back: nothing on its way loses, blocks or outlasts it."""
    blocking = {firewall.name for firewall in plan.firewalls if "icmp" in firewall.nft}
    return (
        not any(hop.out.netem is not None and hop.out.netem.loss_ratio for hop in way)
        and not any(hop.into.bits_per_error or hop.into.node in blocking for hop in way)
        and _CROSSINGS * crossing_ns(way) < _LONGEST_S * clock.NS_PER_S
    )
