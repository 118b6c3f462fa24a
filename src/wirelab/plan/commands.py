"""A Plan as the lines a person would type to set the same up on real equipment."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from wirelab.plan import dcb, tc
from wirelab.plan.port_settings import PORT_SETTINGS
from wirelab.units import BPS_PER_MBPS, COST, RATE, SIZE, TIME, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wirelab.plan.port_settings import Value
    from wirelab.plan.traffic import Item
    from wirelab.plan.types import Firewall, Hub, Plan, Port


def commands(plan: Plan) -> list[str]:
    """The lines, node by node, then flow by flow; what no command sets stands in comments."""
    return [
        *(f"# {line}" for line in plan.drawing.splitlines()),
        *_cables(plan),
        "",
        "# on every host",
        *(f"sysctl -w {key}={_quoted(value)}" for key, value in plan.sysctls.items()),
        *(line for host in plan.hosts for line in _host(plan, host.name)),
        *(line for switch in plan.switches for line in _switch(plan, switch.name)),
        *(line for firewall in plan.firewalls for line in _firewall(plan, firewall)),
        *(line for hub in plan.hubs for line in _hub(plan, hub)),
        *(line for module in plan.modules for line in _module(plan, module.name)),
        *(line for item in plan.timetable for line in _traffic(plan, item)),
    ]


def _cables(plan: Plan) -> Iterator[str]:
    for cable in plan.cables:
        a, b = plan.port(cable.a), plan.port(cable.b)
        speed = "speed as agreed" if a.autoneg or b.autoneg else show(a.speed_bps, RATE)
        yield f"# cable: {cable.a} to {cable.b}, {speed}, {show(cable.delay_ns, TIME)}"


def _host(plan: Plan, name: str) -> Iterator[str]:
    host = next(host for host in plan.hosts if host.name == name)
    yield ""
    yield f"# on {name}: {host.part}, {host.nic}"
    for key, value in host.sysctls.items():
        yield f"sysctl -w {key}={_quoted(value)}"
    for port in plan.ports_of(name):
        yield from _card(plan, port)
    yield from (f"ip route add {route.to} via {route.via}" for route in host.routes)


def _firewall(plan: Plan, firewall: Firewall) -> Iterator[str]:
    yield ""
    yield f"# on {firewall.name}: {firewall.part}, {firewall.nic}"
    yield "sysctl -w net.ipv4.ip_forward=1"
    for port in plan.ports_of(firewall.name):
        yield from _card(plan, port)
    yield from (f"ip route add {route.to} via {route.via}" for route in firewall.routes)
    yield from (f"nft '{line}'" for line in firewall.nft.splitlines())


def _hub(plan: Plan, hub: Hub) -> Iterator[str]:
    yield ""
    yield f"# in {hub.name}: {hub.part}; a repeater takes no commands, these describe it"
    for port in plan.ports_of(hub.name):
        yield from _port(plan, port)
        yield f"ip link set {port.name} up"


def _card(plan: Plan, port: Port) -> Iterator[str]:
    yield from _port(plan, port)
    yield f"ip address add {port.address} dev {port.name}"
    yield f"ip link set {port.name} up"
    yield from (f"tc {line}" for line in tc.egress(port))


def _switch(plan: Plan, name: str) -> Iterator[str]:
    part = next(switch.part for switch in plan.switches if switch.name == name)
    ports = plan.ports_of(name)
    yield ""
    yield f"# on {name}: {part}"
    yield f"ovs-vsctl add-br {name} -- set-fail-mode {name} standalone"
    for port in ports:
        yield from _port(plan, port)
        yield f"ovs-vsctl add-port {name} {port.name}"
        yield f"ip link set {port.name} up"
        yield from (f"tc {line}" for line in tc.egress(port))


def _module(plan: Plan, name: str) -> Iterator[str]:
    module = next(module for module in plan.modules if module.name == name)
    ports = plan.ports_of(name)
    yield ""
    yield f"# in {name}: {module.part}; a transceiver takes no commands, these describe it"
    for port in ports:
        yield from _port(plan, port)
        yield f"ip link set {port.name} up"
        yield from (f"tc {line}" for line in tc.egress(port))
    for source, target in (
        (module.host_port, module.line_port),
        (module.line_port, module.host_port),
    ):
        yield from (f"tc {line}" for line in tc.redirect(source, target))


def _port(plan: Plan, port: Port) -> Iterator[str]:
    """What a port is set to: what no command sets in comments, by topics, then tool by tool."""
    cable = plan.cable_of(port.name)
    values = [
        (setting, value)
        for setting in PORT_SETTINGS
        if (value := setting.value(port, cable)) is not None and setting.name not in _SHOWN_ELSEWHERE
    ]
    topics: dict[str, list[str]] = {setting.topic: [] for setting, _ in values if setting.topic}
    for setting, value in values:
        if setting.topic:
            topics[setting.topic].append(f"{setting.text} {_shown(setting.name, value)}")
    yield from (f"# {port.name}: {topic}: {', '.join(texts)}" for topic, texts in topics.items())
    if port.pfc:
        yield f"# {port.name}: made with numtxqueues {tc.PRIORITIES}"
    for tool in ("ip link", "ethtool -s", "ethtool -A", *(_CARD_TOOLS if port.role == "host" else ())):
        options = {setting.option: value for setting, value in values if setting.tool == tool}
        yield _TOOLS[tool](port.name, options)
    if port.pfc:
        yield f"dcb {dcb.pfc(port)}"
        yield f"dcb {dcb.trust(port)}"


def _shown(name: str, value: Value) -> str:
    """A value with the unit that the name of its setting ends in."""
    quantity = next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), None)
    return str(value) if quantity is None else show(int(value), quantity)


def _ip_link(port: str, options: Mapping[str, Value]) -> str:
    return f"ip link set {port} {' '.join(f'{option} {value}' for option, value in options.items())}"


def _ethtool_s(port: str, options: Mapping[str, Value]) -> str:
    if options["autoneg"]:
        modes = " ".join(f"{mode.replace('_', '/')} on" for mode in str(options["advertise"]).split())
        return f"ethtool -s {port} autoneg on advertise {modes}"
    speed = int(options["speed"]) // BPS_PER_MBPS
    return f"ethtool -s {port} speed {speed} duplex {options['duplex']} autoneg off"


def _ethtool(letter: str) -> Callable[[str, Mapping[str, Value]], str]:
    def line(port: str, options: Mapping[str, Value]) -> str:
        words = " ".join(
            f"{option} {('off', 'on')[value] if isinstance(value, bool) else value}"
            for option, value in options.items()
        )
        return f"ethtool {letter} {port} {words}"

    return line


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


def _quoted(value: str) -> str:
    return f"'{value}'" if " " in value else value


_SHOWN_ELSEWHERE: Final = ("role", "cable_delay_ns")
_CARD_TOOLS: Final = ("ethtool -C", "ethtool -G")
_TOOLS: Final[Mapping[str, Callable[[str, Mapping[str, Value]], str]]] = {
    "ip link": _ip_link,
    "ethtool -s": _ethtool_s,
    **{f"ethtool {letter}": _ethtool(letter) for letter in ("-A", "-C", "-G")},
}
_UNITS: Final = {"_bytes": SIZE, "_bps": RATE, "_ns": TIME, "_ps": COST}
