"""A Plan as the lines a person would type to set the same up on real equipment."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from wirelab.model.trace import OPPORTUNITY_BYTES
from wirelab.plan import iproute2
from wirelab.plan.event import after, changed_lines, changed_settings, opened, shutting, ways_again
from wirelab.plan.node import Firewall, Host, Hub, Node, Switch, Transceiver
from wirelab.plan.port_settings import PortSetting, Value, settings_of
from wirelab.plan.traffic import Item
from wirelab.plan.types import Event, Plan, Port
from wirelab.units import BPS_PER_MBPS, COST, MILLISECONDS, RATE, SIZE, TIME, show

_SHOWN_ELSEWHERE: Final = ("role", "cable_delay_ns")
_UNITS: Final = {"_bytes": SIZE, "_bps": RATE, "_ms": MILLISECONDS, "_ns": TIME, "_ps": COST}


def commands(plan: Plan) -> list[str]:
    """The lines, node by node, then flow by flow; what no command sets stands in comments."""
    nodes = (*plan.hosts, *plan.switches, *plan.firewalls, *plan.hubs, *plan.modules)
    return [
        *(f"# {line}" for line in plan.drawing.splitlines()),
        *_cables(plan),
        "",
        "# on every host",
        *_sysctls(plan.sysctls),
        *(line for node in nodes for line in _node(plan, node)),
        *_shut(plan),
        *(line for item in plan.timetable for line in _traffic(plan, item)),
        *_events(plan),
    ]


def _shut(plan: Plan) -> Iterator[str]:
    """What is taken away when all is set up, before the traffic."""
    if event := shutting(plan):
        yield ""
        yield "# when all is set up"
        yield from _event(opened(plan), plan, event)


def _events(plan: Plan) -> Iterator[str]:
    for event in plan.events:
        later = after(plan, event)
        yield ""
        yield f"# {show(event.at_ns, TIME)} after the start: {event.what}"
        yield from _event(plan, later, event)
        plan = later


def _event(plan: Plan, later: Plan, event: Event) -> Iterator[str]:
    """What is typed at the instant of an event; what no command does stands in comments."""
    for cable in event.cables:
        if cable.plugged != plan.cable_of(cable.a).plugged:
            yield f"# cable {cable.a} to {cable.b}: {'plugged in' if cable.plugged else 'pulled out'}"
    for port in event.ports:
        was = plan.port(port.name)
        changed = changed_settings(was, plan.cable_of(port.name), port, later.cable_of(port.name))
        yield from _told(port, [(setting, value) for setting, value in changed if setting.name != "follow"])
        if port.up != was.up:
            yield f"ip link set {port.name} {'up' if port.up else 'down'}"
            yield from (f"ip {line}" for line in ways_again(later, port) if port.up)
        yield from (f"tc {line}" for line in changed_lines(was, port))


def _cables(plan: Plan) -> Iterator[str]:
    for cable in plan.cables:
        a, b = plan.port(cable.a), plan.port(cable.b)
        speed = "speed as agreed" if a.autoneg or b.autoneg else show(a.speed_bps, RATE)
        phys = f", {show(cable.phys_ns, TIME)} of it in the PHYs" if cable.phys_ns else ""
        yield f"# cable: {cable.a} to {cable.b}, {speed}, {show(cable.delay_ns, TIME)}{phys}"


def _sysctls(sysctls: Mapping[str, str]) -> Iterator[str]:
    for key, value in sysctls.items():
        yield f"sysctl -w {key}={shlex.quote(value)}"


def _node(plan: Plan, node: Node) -> Iterator[str]:
    """What a node is and is told: before its ports, port by port, and after them."""
    yield ""
    match node:
        case Host():
            yield f"# on {node.name}: {node.part}, {node.nic}"
            yield from _sysctls(node.sysctls)
        case Firewall():
            yield f"# on {node.name}: {node.part}, {node.nic}"
            yield from _sysctls({"net.ipv4.ip_forward": "1"})
        case Switch():
            yield f"# on {node.name}: {node.part}"
            yield f"ovs-vsctl add-br {node.name} -- set-fail-mode {node.name} standalone"
        case _:
            kind = "repeater" if isinstance(node, Hub) else "transceiver"
            yield f"# in {node.name}: {node.part}; a {kind} takes no commands, these describe it"
            if isinstance(node, Transceiver):
                yield "# what comes in by one of its ports leaves by the other"
    yield from _interfaces(plan, node)
    if isinstance(node, Host | Firewall):
        yield from (f"ip {line}" for line in iproute2.routes(node, plan.interfaces_of(node.name)))
    if isinstance(node, Firewall):
        yield from (f"nft '{line}'" for line in node.nft.splitlines())


def _followed(plan: Plan, port: Port) -> Iterator[str]:
    """What is typed in each millisecond that has opportunities, where a port follows a trace."""
    trace = plan.trace(port.shape) if port.shape else None
    if trace is None:
        return
    allowed = f"{trace.round_bytes // OPPORTUNITY_BYTES} times {OPPORTUNITY_BYTES} B in {trace.length_ms} ms"
    begun = f"from {show(trace.start_ns, TIME)} after the start on"
    yield f"# {port.name}: follows {trace.name}, {allowed}, {begun}; in each of its milliseconds:"
    burst = f"rate 48bit burst {OPPORTUNITY_BYTES}b"
    yield f"#   tc qdisc change dev {port.name} handle {iproute2.BUCKET} tbf {burst}, as often as it says"
    yield f"#   tc qdisc change dev {port.name} handle {iproute2.KICK} plug release_indefinite"


def _interfaces(plan: Plan, node: Node) -> Iterator[str]:
    """What a node has for ports: those themselves, then the bonds they are in, then what has tags."""
    for port in plan.ports_of(node.name):
        yield from _port(plan, port)
        if port in plan.interfaces_of(node.name):
            yield from _bridged(node, port.name, port)
            if port.address is not None:
                yield f"ip address add {port.address} dev {port.name}"
            yield f"ip link set {port.name} up"
        yield from (f"tc {line}" for line in iproute2.egress(port))
        yield from _followed(plan, port)
    for bond in plan.bonds_of(node.name):
        yield from (f"ip {line}" for line in iproute2.bond(bond))
        yield from _bridged(node, bond.name, plan.port(bond.ports[0]))
        yield from (f"ip {line}" for line in iproute2.bond_up(bond))
    yield from (f"ip {line}" for tagged in plan.tagged_of(node.name) for line in iproute2.tagged(tagged))


def _bridged(node: Node, name: str, port: Port) -> Iterator[str]:
    """What joins a port, or the bond that it is in, to its bridge."""
    if isinstance(node, Switch):
        yield f"ovs-vsctl add-port {node.name} {name}"
        if vlans := iproute2.bridge_vlans(name, port):
            yield f"ovs-vsctl {vlans}"


def _port(plan: Plan, port: Port) -> Iterator[str]:
    """What a port is set to: what no command sets in comments, by topics, then tool by tool."""
    settings = settings_of(port, plan.cable_of(port.name))
    values = [(setting, value) for setting, value in settings if setting.name not in _SHOWN_ELSEWHERE]
    yield from _told(port, values)


def _told(port: Port, values: Sequence[tuple[PortSetting, Value]]) -> Iterator[str]:
    """How some of its settings are set."""
    topics: dict[str, list[str]] = {}
    for setting, value in values:
        if setting.topic:
            topics.setdefault(setting.topic, []).append(f"{setting.text} {_shown(setting.name, value)}")
    yield from (f"# {port.name}: {topic}: {', '.join(texts)}" for topic, texts in topics.items())
    if any(setting.name == "pfc" for setting, _ in values):
        yield f"# {port.name}: made with numtxqueues {iproute2.PRIORITIES}"
    card = ("ethtool -C", "ethtool -G", "ethtool -K") if port.role == "host" else ()
    for tool in ("ip link set", "ethtool -s", "ethtool -A", *card):
        options = {setting.option: value for setting, value in values if setting.tool == tool}
        if not options:
            continue
        words = _phy(options) if tool == "ethtool -s" else " ".join(map(_option, options.items()))
        yield f"{tool} {port.name} {words}"
    if any(setting.name == "pfc" for setting, _ in values):
        yield from (f"dcb {line}" for line in (iproute2.pfc(port), iproute2.trust(port)))


def _shown(name: str, value: Value) -> str:
    """A value with the unit that the name of its setting ends in."""
    quantity = next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), None)
    return str(value) if quantity is None else show(int(value), quantity)


def _phy(options: Mapping[str, Value]) -> str:
    """What is said to ``ethtool -s``."""
    if options["autoneg"]:
        modes = " ".join(f"{mode.replace('_', '/')} on" for mode in str(options["advertise"]).split())
        return f"autoneg on advertise {modes}"
    return f"speed {int(options['speed']) // BPS_PER_MBPS} duplex {options['duplex']} autoneg off"


def _option(option: tuple[str, Value]) -> str:
    """An option as ethtool and ip take it."""
    word, value = option
    return f"{word} {('off', 'on')[value] if isinstance(value, bool) else value}"


def _traffic(plan: Plan, item: Item) -> Iterator[str]:
    yield ""
    yield f"# {item.name}: {item.sender} to {item.receiver}, {show(item.start_ns, TIME)} after the start"
    # What nobody else has stands in a comment.
    prefix = "# " if item.own_program else ""
    receiver = item.receiver_argv()
    if receiver:
        yield f"{prefix}{shlex.join(receiver)}  # on {item.receiver}"
    sender = item.sender_argv(plan.address_of(item.receiver), filtered=bool(plan.firewalls))
    yield f"{prefix}{shlex.join(sender)}  # on {item.sender}"
