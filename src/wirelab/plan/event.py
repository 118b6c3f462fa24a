"""A Plan while it runs: how the network is after each event, and what has to be set for that.

Standard library only, for the guest.
"""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_interface, ip_network
from itertools import pairwise

from wirelab.plan import iproute2
from wirelab.plan.node import Route
from wirelab.plan.port_settings import PortSetting, Value, settings_of
from wirelab.plan.tagged import Tagged
from wirelab.plan.types import Cable, Event, Plan, Port

UNPLUGGED = "unplugged"
"""What an end of a cable that is pulled out has to follow for a link: a port that nobody has."""

NEGOTIATIONS = 3
"""So often may ports negotiate in turn: a module's side in the slot begins when its line has a link.

The third time is spare.
"""

_MODE_TOOL = "ethtool -s"
_LINK = ("up", "autoneg", "speed_bps", "duplex", "advertise", "follow", "pause_rx", "pause_tx")


def after(plan: Plan, event: Event) -> Plan:
    """The Plan of the network as it is after one of its events."""
    ports = {port.name: port for port in event.ports}
    cables = {cable.a: cable for cable in event.cables}
    later = replace(
        plan,
        ports=tuple(ports.get(port.name, port) for port in plan.ports),
        cables=tuple(cables.get(cable.a, cable) for cable in plan.cables),
    )
    linked = linkable(later) if plan.bonds else ()
    return replace(later, bonds=tuple(bond.after(linked) for bond in plan.bonds))


def opened(plan: Plan) -> Plan:
    """The network as it is set up: nobody has shut a port or pulled a cable out yet."""
    names = frozenset(port.name for port in plan.ports)
    return replace(
        plan,
        ports=tuple(replace(port, up=True) for port in plan.ports),
        cables=tuple(replace(cable, plugged=True) for cable in plan.cables),
        bonds=tuple(bond.after(names) for bond in plan.bonds),
    )


def shutting(plan: Plan) -> Event | None:
    """What then makes of it the network as it begins, None where nothing is shut or pulled out."""
    ports = tuple(port for port in plan.ports if not port.up)
    cables = tuple(cable for cable in plan.cables if not cable.plugged)
    return Event(0, "in the beginning", ports, cables) if ports or cables else None


def states(plan: Plan) -> list[tuple[int, Plan]]:
    """The network from each instant on: as it begins, then after each event."""
    so_far = [(0, plan)]
    for event in plan.events:
        so_far.append((event.at_ns, after(so_far[-1][1], event)))
    return so_far


def during(plan: Plan, from_ns: int, until_ns: int) -> list[tuple[int, int, Plan]]:
    """The network from one instant to another: each state that it was in, from when, and until when."""
    known = states(plan)
    ends_ns = [*(at_ns for at_ns, _ in known[1:]), until_ns]
    periods = (
        (max(begun_ns, from_ns), min(end_ns, until_ns), state)
        for (begun_ns, state), end_ns in zip(known, ends_ns, strict=True)
    )
    return [period for period in periods if period[0] < period[1]]


def ended(plan: Plan) -> Plan:
    """The network as it is in the end."""
    return states(plan)[-1][1]


def touched(plan: Plan) -> frozenset[str]:
    """The ports that an event is about, itself or by their cable, by name."""
    ports = {port.name for event in plan.events for port in event.ports}
    return frozenset(ports | {name for cable in _cables(plan) for name in (cable.a, cable.b)})


def relinked(plan: Plan) -> dict[str, list[int]]:
    """When an event changes what a port has for a link, by name: those of both its ends, and who follows.

    What is shut in the beginning changes at 0.
    """
    instants_ns: dict[str, list[int]] = {}
    for (_, was), (at_ns, now) in pairwise([(0, opened(plan)), *states(plan)]):
        changed = {
            name
            for cable_was, cable in zip(was.cables, now.cables, strict=True)
            if _link(was, cable_was) != _link(now, cable)
            for name in (cable.a, cable.b)
        }
        followers = {port.name for port in now.ports if port.follow in changed}
        cables = (cable for cable in now.cables if {cable.a, cable.b} & (changed | followers))
        for name in {name for cable in cables for name in (cable.a, cable.b)}:
            instants_ns.setdefault(name, []).append(at_ns)
    return instants_ns


def _cables(plan: Plan) -> Iterator[Cable]:
    return (cable for event in plan.events for cable in event.cables)


def _link(plan: Plan, cable: Cable) -> tuple[object, ...]:
    """What decides whether there is a link at a cable, and which."""
    ends = (plan.port(cable.a), plan.port(cable.b))
    return cable.plugged, *(getattr(end, name) for end in ends for name in _LINK)


def is_open(plan: Plan, cable: Cable) -> bool:
    """Whether nobody has shut an end of a cable, or pulled it out."""
    return cable.plugged and plan.port(cable.a).up and plan.port(cable.b).up


def linkable(plan: Plan) -> frozenset[str]:
    """The ports at whose cables nobody has shut an end, and which are not pulled out."""
    return frozenset(name for cable in plan.cables if is_open(plan, cable) for name in (cable.a, cable.b))


def pulled_end(plan: Plan, cable: Cable) -> Port:
    """The end at which a cable is pulled out: one that follows no other port."""
    ends = (plan.port(cable.a), plan.port(cable.b))
    return next((end for end in ends if end.follow is None), ends[0])


def changed_settings(
    before: Port, cable_before: Cable, port: Port, cable: Cable
) -> list[tuple[PortSetting, Value]]:
    """The settings of a port that an event changes, each with its new value; a mode is told as a whole."""
    was, now = settings_of(before, cable_before), settings_of(port, cable)
    values = {setting.name: value for setting, value in was}
    other = {setting.name for setting, value in now if values.get(setting.name) != value}
    mode = any(setting.tool == _MODE_TOOL for setting, _ in now if setting.name in other)
    changed = [
        (setting, value)
        for setting, value in now
        if setting.name in other or (mode and setting.tool == _MODE_TOOL)
    ]
    kept = {setting.name for setting, _ in now}
    # What a port has no more of is 0, or a name that is empty; a link has left its other mode.
    gone = [(setting, type(value)()) for setting, value in was if setting.name not in kept]
    return changed + [(setting, value) for setting, value in gone if setting.tool != _MODE_TOOL]


def changed_lines(before: Port, port: Port) -> list[str]:
    """To tc: what an event changes of the path, the shaper and the queue of a port."""
    was, now = set(iproute2.egress(before)), list(iproute2.egress(port))
    changed = [line for line in now if line not in was]
    if port.shape != before.shape and port.shape and port.shape.kind == "police":
        again = iproute2.policer_again(port, port.shape)
        changed = [again if line.startswith("filter ") else line for line in changed]
    # A tbf that is told its limit tells the queue below it so, too.
    if port.shape != before.shape and port.shape and port.shape.kind == "tbf":
        queues = now[-len(iproute2.queue_parents(port)) :]
        changed += [line for line in queues if line not in changed]
        if port.shape.kicked:
            changed.append(iproute2.kick(port))
    return changed


def ways_again(plan: Plan, port: Port) -> list[str]:
    """To ip: the ways of a host or firewall whose port is opened: those by it were forgotten.

    Those by a port that is shut come back when that is opened.
    """
    stacks = [stack for stack in plan.stacks if stack.name == port.node]
    interfaces = plan.interfaces_of(port.node)
    shut = {one.name for one in plan.ports_of(port.node) if not one.up}
    away = [
        ip_interface(one.address).network
        for one in interfaces
        if one.address and (one.on if isinstance(one, Tagged) else one.name) in shut
    ]
    lines: list[str] = []
    for stack in stacks:
        near = [route for route in stack.routes if not any(_is_by(route, network) for network in away)]
        lines += iproute2.routes(replace(stack, routes=tuple(near)), interfaces)
    return [line.replace("route add", "route replace", 1) for line in lines]


def _is_by(route: Route, network: IPv4Network | IPv6Network) -> bool:
    """Whether a route begins in a network: by a gateway there, or as the way to it."""
    return ip_address(route.via) in network if route.via else ip_network(route.to) == network
