"""What belongs to a node of a Plan, and the queues of its ports: put into force, then read back."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wirelab.guest import bonds, hardware, links, queues, shapers, vlans
from wirelab.guest.interfaces import Interfaces
from wirelab.guest.network import Network
from wirelab.guest.readback import Readback, readbacks
from wirelab.plan import iproute2
from wirelab.plan.node import Firewall, Host
from wirelab.plan.types import Plan, Port

# A module has no stack and says nothing of its own: no neighbour discovery, no multicast reports.
_SILENT = {"net.ipv6.conf.all.disable_ipv6": "1", "net.ipv6.conf.default.disable_ipv6": "1"}
_FORWARDING = {**_SILENT, "net.ipv4.ip_forward": "1"}

_CONGESTION = "net.ipv4.tcp_congestion_control"
_AVAILABLE = "net.ipv4.tcp_available_congestion_control"
_ALLOWED = "net.ipv4.tcp_allowed_congestion_control"


def silence_switches() -> None:
    """Keep the lab's own namespace, where the switches' ports are, from speaking by them."""
    _write_sysctls(_SILENT)


def apply(network: Network) -> None:
    """Set what belongs to the node: sysctls, addresses, carrier, egress queues."""
    plan = network.plan
    _apply_sysctls(network)
    for firewall in plan.firewalls:
        network.run(firewall.name, "nft", "-f", "-", text=firewall.nft)
    for node in plan.nodes:
        ports = plan.ports_of(node.name)
        for port in ports:
            # The other port has to be in the same namespace by now.
            if port.follow is not None:
                file = network.ports_folder(node.name) / port.name / "etherport/follow"
                file.write_text(f"{port.follow}\n")
        with network.inside(node.name):
            interfaces = Interfaces()
            for port in ports:
                interfaces.bring_up(port)
    for bond in plan.bonds:
        network.batch(bond.node, "ip", iproute2.bond_up(bond))
    vlans.apply(network)
    for stack in plan.stacks:
        network.batch(stack.name, "ip", iproute2.routes(stack, plan.interfaces_of(stack.name)))
    # Open vSwitch puts its own qdisc in the place of another's when it adds a port: queues come last.
    for node in plan.nodes:
        ports = plan.ports_of(node.name)
        network.batch(node.name, "tc", (line for port in ports for line in iproute2.egress(port)))


def _apply_sysctls(network: Network) -> None:
    if any(_CONGESTION in host.sysctls for host in network.plan.hosts):
        # A namespace begins with none, dctcp for one, that are not allowed to everybody (tcp_cong.c).
        _write_sysctls({_ALLOWED: _read_sysctl(_AVAILABLE)})
    for name, sysctls in _sysctls(network.plan).items():
        with network.inside(name):
            own = {key: value for key, value in sysctls.items() if os.access(_sysctl(key), os.W_OK)}
            _write_sysctls(own)
        # What a namespace may not set is the same for all of the lab: net.core.rmem_max.
        _write_sysctls({key: value for key, value in sysctls.items() if key not in own})


def _sysctls(plan: Plan) -> dict[str, Mapping[str, str]]:
    """What each node's namespace is set to; a switch's ports are in the lab's own."""
    return {
        **{silent.name: _SILENT for silent in (*plan.modules, *plan.hubs)},
        **{firewall.name: _FORWARDING for firewall in plan.firewalls},
        **{host.name: {**plan.sysctls, **host.sysctls} for host in plan.hosts},
    }


def _write_sysctls(sysctls: Mapping[str, str]) -> None:
    # Written as from inside, for /proc/sys/net shows the writer's namespace.
    for name, value in sysctls.items():
        _sysctl(name).write_text(f"{value}\n")


def _read_sysctl(name: str) -> str:
    return " ".join(_sysctl(name).read_text().split())


def _sysctl(name: str) -> Path:
    return Path("/proc/sys") / name.replace(".", "/")


def read_back(network: Network) -> list[Readback]:
    """Every setting as it is in force, beside what the Plan asks for."""
    plan = network.plan
    settings: list[Readback] = []
    for node in plan.nodes:
        settings += read_ports(network, node.name, plan.ports_of(node.name))
        settings += bonds.read_back(network, node.name)
        settings += vlans.read_back(network, node.name)
    for name, sysctls in _sysctls(plan).items():
        with network.inside(name):
            actual = {key: _read_sysctl(key) for key in sysctls if _sysctl(key).exists()}
        actual |= {key: _read_sysctl(key) for key in sysctls if key not in actual}
        settings += readbacks(name, {key: (asked, actual[key]) for key, asked in sysctls.items()})
    for stack in plan.stacks:
        settings += _read_routes(network, stack, are_up=all(port.up for port in plan.ports_of(stack.name)))
    for firewall in plan.firewalls:
        ruleset = json.loads(network.run(firewall.name, "nft", "-j", "list", "ruleset"))
        listed = sum("rule" in entry for entry in ruleset["nftables"])
        settings.append(Readback(firewall.name, "nft_rules", len(firewall.rules), listed))
    return settings


def read_ports(network: Network, node: str, ports: Sequence[Port]) -> list[Readback]:
    """Of that, what belongs to some ports of a node."""
    settings: list[Readback] = []
    qdiscs = network.told(node, "tc", "qdisc show")
    bursts: dict[str, dict[str, Any]] = {}
    if any(port.gso_max_segs or port.gro_max_bytes for port in ports):
        bursts = {link["ifname"]: link for link in network.told(node, "ip", "link show")}
    for port in ports:
        settings += hardware.read_back(network, port, bursts.get(port.name, {}))
        if links.is_forced(network.plan, port):
            settings += readbacks(port.name, {"carrier": (True, network.link(port).up)})
        shaped = port.rate_bps and network.told(node, "tc", f"class show dev {port.name}")
        told = _detailed(network, port) if port.queue and port.queue.red else qdiscs
        settings += queues.read_back(port, told, shaped or ())
        if port.shape is not None:
            with network.inside(node):
                settings += shapers.read_back(port, port.shape)
    return settings


def _detailed(network: Network, port: Port) -> list[dict[str, Any]]:
    """The qdiscs of a port with what tc tells of them only when it is asked for details."""
    shown = network.run(port.node, "tc", "-d", "-j", "qdisc", "show", "dev", port.name)
    # Asked for one device, it leaves out which.
    return [{**qdisc, "dev": port.name} for qdisc in json.loads(shown)]


def _read_routes(network: Network, stack: Host | Firewall, *, are_up: bool) -> Iterator[Readback]:
    """By which gateway each way leads, and whether what comes by it is acknowledged at once.

    The ways by a port that is shut are forgotten.
    """
    if not stack.routes:
        return
    quickack = isinstance(stack, Host) and stack.quickack
    ways = {way["dst"]: way for way in network.told(stack.name, "ip", "route")}
    for route in stack.routes:
        if not are_up and route.to not in ways:
            continue
        way = ways.get(route.to, {})
        yield Readback(stack.name, f"route {route.to}", route.via, way.get("gateway", ""))
        metrics = {name: value for metric in way.get("metrics", ()) for name, value in metric.items()}
        yield Readback(stack.name, f"quickack {route.to}", quickack, metrics.get("quickack") == 1)
