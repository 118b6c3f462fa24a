"""Every setting of a Plan: put into force, then read back and compared.

A tool that does not know a rate may shape nothing and say nothing; a lab that trusts its settings
measures something else than it says. What is read back is the proof.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.guest import links, queues
from wirelab.guest.ethtool import Ethtool
from wirelab.guest.inforce import Setting
from wirelab.guest.namespace import inside, sysfs
from wirelab.guest.shell import run
from wirelab.plan import tc

if TYPE_CHECKING:
    from wirelab.guest.network import Network
    from wirelab.plan.types import Host, Plan, Port, Route, Router


# A module has no stack and says nothing of its own: no neighbour discovery, no multicast reports.
_SILENT = {"net.ipv6.conf.all.disable_ipv6": "1", "net.ipv6.conf.default.disable_ipv6": "1"}
_FORWARDING = {**_SILENT, "net.ipv4.ip_forward": "1"}


class SettingsMismatchError(Exception):
    """The lab did not take a setting."""


def configure(port: Port, cable_delay_ns: int) -> None:
    """Set what belongs to the hardware, while the port is still in the lab's own namespace."""
    tool = Ethtool()
    if port.autoneg:
        tool.negotiate_link(port.name, port.advertise)
    else:
        tool.force_link(port.name, port.speed_bps, port.duplex)
    tool.set_pause(port.name, autoneg=port.pause_autoneg, rx=port.pause_rx, tx=port.pause_tx)
    tool.set_coalesce(port.name, rx_usecs=port.rx_usecs, rx_frames=port.rx_frames)
    tool.set_rings(port.name, rx_frames=port.rx_ring_frames, tx_frames=port.tx_ring_frames)
    tool.close()
    folder = sysfs(None) / "class/net" / port.name
    for name, value in _attributes(port, cable_delay_ns).items():
        (folder / name).write_text(f"{value}\n")


def _attributes(port: Port, cable_delay_ns: int) -> dict[str, int | str]:
    return {
        **_hardware(port),
        "mtu": port.mtu_bytes,
        "etherport/role": port.role,
        "etherport/buffer_bytes": port.buffer_bytes,
        "etherport/xoff_bytes": port.xoff_bytes,
        "etherport/xon_bytes": port.xon_bytes,
        "etherport/cable_delay_ns": cable_delay_ns,
    }


def _hardware(port: Port) -> dict[str, int | str]:
    """What a port has besides a buffer, if it has: bus, CPU, shared memory, priorities."""
    found: dict[str, int | str] = {}
    if port.bus is not None:
        found |= {
            "bus_bps": port.bus.bps,
            "bus_payload_bytes": port.bus.payload_bytes,
            "bus_overhead_bytes": port.bus.overhead_bytes,
            "bus_frame_bytes": port.bus.frame_bytes,
        }
    if port.cpu is not None:
        found |= {
            "cpu": port.cpu.number,
            "cpu_rx_frame_ns": port.cpu.rx_frame_ns,
            "cpu_rx_byte_ps": port.cpu.rx_byte_ps,
            "cpu_tx_frame_ns": port.cpu.tx_frame_ns,
            "cpu_tx_byte_ps": port.cpu.tx_byte_ps,
        }
    if port.pool is not None:
        found |= {"pool": port.pool.number, "pool_bytes": port.pool.size_bytes}
    if port.pfc:
        found |= {"pfc": sum(1 << priority for priority in port.pfc), "trust": port.trust}
    return {f"etherport/{name}": value for name, value in found.items()}


def silence_switches() -> None:
    """Keep the lab's own namespace, where the switches' ports are, from speaking by them."""
    for name, value in _SILENT.items():
        _sysctl(name).write_text(f"{value}\n")


def cable_delay_ns(plan: Plan, port: Port) -> int:
    """The delay of the cable in ``port``."""
    return next(cable.delay_ns for cable in plan.cables if port.name in (cable.a, cable.b))


def apply(network: Network) -> None:
    """Set what belongs to the node: sysctls, addresses, carrier, egress queues, the module's two ways."""
    plan = network.plan
    for silent in (*plan.modules, *plan.hubs):
        _apply_sysctls(network, silent.name, _SILENT)
    for router in plan.routers:
        _apply_sysctls(network, router.name, _FORWARDING)
        run(network.argv(router.name, ["nft", "-f", "-"]), text=router.nft)
    for host in plan.hosts:
        _apply_sysctls(network, host.name, {**plan.sysctls, **host.sysctls})
    for node in plan.nodes:
        ports = plan.ports_of(node.name)
        _follow(network, ports)
        run(network.argv(node.name, ["ip", "-batch", "-"]), text="".join(map(_ip_lines, ports)))
    for stack in plan.stacks:
        if stack.routes:
            run(network.argv(stack.name, ["ip", "-batch", "-"]), text="".join(map(_route_line, stack.routes)))
    # Open vSwitch puts its own qdisc in the place of another's when it adds a port: queues come last.
    for node in plan.nodes:
        _tc(network, node.name, [line for port in plan.ports_of(node.name) for line in tc.egress(port)])
    for module in plan.modules:
        ways = ((module.host_port, module.line_port), (module.line_port, module.host_port))
        _tc(network, module.name, [line for source, target in ways for line in tc.redirect(source, target)])


def _tc(network: Network, node: str, lines: list[str]) -> None:
    if lines:
        run(network.argv(node, ["tc", "-batch", "-"]), text="".join(f"{line}\n" for line in lines))


def _follow(network: Network, ports: tuple[Port, ...]) -> None:
    """Tie the link of a port to that of another one, which has to be in the same namespace by now."""
    for port in ports:
        if port.follow is not None:
            folder = sysfs(network.pid(port.node)) / "class/net" / port.name
            (folder / "etherport/follow").write_text(f"{port.follow}\n")


def _route_line(route: Route) -> str:
    return f"route add {route.to} via {route.via}\n"


def _apply_sysctls(network: Network, host: str, sysctls: dict[str, str]) -> None:
    # Written as from inside, for /proc/sys/net shows the writer's namespace.
    with inside(network.pid(host)):
        for name, value in sysctls.items():
            _sysctl(name).write_text(f"{value}\n")


def _sysctl(name: str) -> Path:
    return Path("/proc/sys") / name.replace(".", "/")


def _ip_lines(port: Port) -> str:
    address = f"addr add {port.address} dev {port.name}\n" if port.address else ""
    burst = f"link set {port.name} gso_max_segs {port.gso_max_segs}\n" if port.gso_max_segs else ""
    return f"{address}{burst}link set {port.name} up\n"


def read_back(network: Network) -> tuple[Setting, ...]:
    """Every setting as it is in force, beside what the Plan asks for."""
    plan = network.plan
    settings: list[Setting] = []
    for node in plan.nodes:
        pid = network.pid(node.name)
        qdiscs = json.loads(run(network.argv(node.name, ["tc", "-j", "qdisc", "show"])))
        settings += _read_bursts(network, plan.ports_of(node.name))
        with inside(pid):
            tool = Ethtool()
        for port in plan.ports_of(node.name):
            folder = sysfs(pid) / "class/net" / port.name
            settings += _read_link(port, tool, expected=links.is_forced(plan, port))
            settings += _read_port(port, tool, folder, cable_delay_ns(plan, port))
            settings += queues.read_back(port, qdiscs)
        tool.close()
    for name, sysctls in _stack_sysctls(plan).items():
        with inside(network.pid(name)):
            for key, asked in sysctls.items():
                actual = " ".join(_sysctl(key).read_text().split())
                settings.append(Setting(name, key, asked, actual))
    for stack in plan.stacks:
        if stack.routes:
            found = json.loads(run(network.argv(stack.name, ["ip", "-j", "route"])))
            settings += _read_routes(stack, found)
    for router in plan.routers:
        rules = json.loads(run(network.argv(router.name, ["nft", "-j", "list", "ruleset"])))["nftables"]
        count = sum("rule" in each for each in rules)
        wanted = sum(line.startswith("add rule ") for line in router.nft.splitlines())
        settings.append(Setting(router.name, "nft_rules", wanted, count))
    return tuple(settings)


def _stack_sysctls(plan: Plan) -> dict[str, dict[str, str]]:
    return {
        **{host.name: {**plan.sysctls, **host.sysctls} for host in plan.hosts},
        **{router.name: _FORWARDING for router in plan.routers},
    }


def _read_routes(node: Host | Router, found: list[dict[str, Any]]) -> list[Setting]:
    via = {each["dst"]: each.get("gateway", "none") for each in found}
    return [
        Setting(node.name, f"route {route.to}", route.via, via.get(route.to, "none")) for route in node.routes
    ]


def _read_bursts(network: Network, ports: tuple[Port, ...]) -> list[Setting]:
    """The longest burst that each of a node's ports is handed, where the Plan bounds it."""
    bounds = {port.name: port.gso_max_segs for port in ports if port.gso_max_segs is not None}
    if not bounds:
        return []
    told = json.loads(run(network.argv(ports[0].node, ["ip", "-d", "-j", "link", "show"])))
    found = {each["ifname"]: each["gso_max_segs"] for each in told}
    return [Setting(name, "gso_max_segs", asked, found[name]) for name, asked in bounds.items()]


def _read_link(port: Port, tool: Ethtool, *, expected: bool) -> list[Setting]:
    """The link as it was asked for; where both ends are forced alike there has to be one."""
    link = tool.link(port.name)
    autoneg, pause_rx, pause_tx = tool.pause(port.name)
    pairs: dict[str, tuple[int | str | bool, int | str | bool]] = {
        "autoneg": (port.autoneg, link.autoneg),
        "pause_autoneg": (port.pause_autoneg, autoneg),
        "pause_rx": (port.pause_rx, pause_rx),
        "pause_tx": (port.pause_tx, pause_tx),
    }
    if port.autoneg:
        pairs["advertise"] = (" ".join(sorted(port.advertise)), " ".join(sorted(link.advertise)))
    else:
        pairs["speed_bps"] = (port.speed_bps, link.speed_bps or 0)
        pairs["duplex"] = (port.duplex, link.duplex or "unknown")
    if expected:
        pairs["carrier"] = (1, int(link.up))
    return [Setting(port.name, name, asked, actual) for name, (asked, actual) in pairs.items()]


def _read_port(port: Port, tool: Ethtool, folder: Path, delay_ns: int) -> list[Setting]:
    rx_usecs, rx_frames = tool.coalesce(port.name)
    rx_ring, tx_ring = tool.rings(port.name)
    pairs: dict[str, tuple[int | str | bool, int | str | bool]] = {
        "rx_usecs": (port.rx_usecs, rx_usecs),
        "rx_frames": (port.rx_frames, rx_frames),
        "rx_ring_frames": (port.rx_ring_frames, rx_ring),
        "tx_ring_frames": (port.tx_ring_frames, tx_ring),
        "mac": (port.mac, (folder / "address").read_text().strip()),
    }
    attributes = _attributes(port, delay_ns)
    if port.follow is not None:
        attributes["etherport/follow"] = port.follow
    for name, asked in attributes.items():
        text = (folder / name).read_text().strip()
        pairs[name.rpartition("/")[2]] = (asked, int(text, 0) if isinstance(asked, int) else text)
    return [Setting(port.name, name, asked, actual) for name, (asked, actual) in pairs.items()]


def verify(settings: tuple[Setting, ...]) -> None:
    """Raise SettingsMismatchError, naming every setting that is not in force."""
    wrong = [each for each in settings if each.asked != each.actual]
    if wrong:
        raise SettingsMismatchError(
            "; ".join(
                f"{each.port}: {each.setting} is {each.actual}, asked for {each.asked}" for each in wrong
            )
        )


def to_json(settings: tuple[Setting, ...]) -> str:
    """``settings.json``: one object a line."""
    return "[\n" + ",\n".join(json.dumps(asdict(each)) for each in settings) + "\n]\n"
