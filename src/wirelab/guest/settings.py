"""Every setting of a Plan: put into force, then read back and compared.

A tool that does not know a rate may shape nothing and say nothing; a lab that trusts its settings
measures something else than it says. What is read back is the proof.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.guest import dcb, hardware, links, queues
from wirelab.guest.ethtool import Ethtool
from wirelab.guest.namespace import inside, sysfs
from wirelab.guest.readback import Readback, Value, readbacks
from wirelab.guest.shell import run
from wirelab.plan import tc

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wirelab.guest.network import Network
    from wirelab.plan.types import Plan, Port

# A module has no stack and says nothing of its own: no neighbour discovery, no multicast reports.
_SILENT = {"net.ipv6.conf.all.disable_ipv6": "1", "net.ipv6.conf.default.disable_ipv6": "1"}
_FORWARDING = {**_SILENT, "net.ipv4.ip_forward": "1"}


class SettingsMismatchError(Exception):
    """The lab did not take a setting."""


def silence_switches() -> None:
    """Keep the lab's own namespace, where the switches' ports are, from speaking by them."""
    _write_sysctls(_SILENT)


def apply(network: Network) -> None:
    """Set what belongs to the node: sysctls, addresses, carrier, egress queues, the module's two ways."""
    plan = network.plan
    for name, sysctls in _sysctls(plan).items():
        with inside(network.pid(name)):
            own = {key: value for key, value in sysctls.items() if os.access(_sysctl(key), os.W_OK)}
            _write_sysctls(own)
        # What a namespace may not set is the same for all of the lab: net.core.rmem_max.
        _write_sysctls({key: value for key, value in sysctls.items() if key not in own})
    for firewall in plan.firewalls:
        run(network.argv(firewall.name, ["nft", "-f", "-"]), text=firewall.nft)
    for node in plan.nodes:
        ports = plan.ports_of(node.name)
        _follow(network, ports)
        _batch(network, node.name, "ip", (line for port in ports for line in _ip_lines(port)))
    for stack in plan.stacks:
        routes = (f"route add {route.to} via {route.via}" for route in stack.routes)
        _batch(network, stack.name, "ip", routes)
    # Open vSwitch puts its own qdisc in the place of another's when it adds a port: queues come last.
    for node in plan.nodes:
        queues_of = (tc.egress(port) for port in plan.ports_of(node.name))
        _batch(network, node.name, "tc", chain.from_iterable(queues_of))
    for module in plan.modules:
        ways = ((module.host_port, module.line_port), (module.line_port, module.host_port))
        _batch(network, module.name, "tc", chain.from_iterable(tc.redirect(*way) for way in ways))


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


def _follow(network: Network, ports: Iterable[Port]) -> None:
    """Tie the link of a port to that of another one, which has to be in the same namespace by now."""
    for port in ports:
        if port.follow is not None:
            folder = sysfs(network.pid(port.node)) / "class/net" / port.name
            (folder / "etherport/follow").write_text(f"{port.follow}\n")


def _ip_lines(port: Port) -> list[str]:
    address = [f"addr add {port.address} dev {port.name}"] if port.address else []
    burst = [f"link set {port.name} gso_max_segs {port.gso_max_segs}"] if port.gso_max_segs else []
    return [*address, *burst, f"link set {port.name} up"]


def _batch(network: Network, node: str, tool: str, lines: Iterable[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    if text:
        run(network.argv(node, [tool, "-batch", "-"]), text=text)


def read_back(network: Network) -> tuple[Readback, ...]:
    """Every setting as it is in force, beside what the Plan asks for."""
    plan = network.plan
    settings: list[Readback] = []
    for node in plan.nodes:
        pid, ports = network.pid(node.name), plan.ports_of(node.name)
        qdiscs = _told(network, node.name, "tc", "-j", "qdisc", "show")
        bursts = _bursts(network, ports)
        with inside(pid):
            tool = Ethtool()
        for port in ports:
            folder, cable = sysfs(pid) / "class/net" / port.name, plan.cable_of(port.name)
            by_tools: dict[tuple[str, str], Value] = {
                ("ip link", "gso_max_segs"): bursts.get(port.name, 0),
                **dcb.in_force(port, folder, partial(network.argv, node.name)),
            }
            settings += hardware.read_back(port, cable, tool, folder, by_tools)
            if links.is_forced(plan, port):
                settings += readbacks(port.name, {"carrier": (True, tool.link(port.name).up)})
            settings += queues.read_back(port, qdiscs)
        tool.close()
    for name, sysctls in _sysctls(plan).items():
        with inside(network.pid(name)):
            actual = {key: _read_sysctl(key) for key in sysctls if _sysctl(key).exists()}
        actual |= {key: _read_sysctl(key) for key in sysctls if key not in actual}
        settings += readbacks(name, {key: (asked, actual[key]) for key, asked in sysctls.items()})
    for stack in plan.stacks:
        if stack.routes:
            routes = _told(network, stack.name, "ip", "-j", "route")
            gateways = {route["dst"]: route.get("gateway", "none") for route in routes}
            asked = {
                f"route {route.to}": (route.via, gateways.get(route.to, "none")) for route in stack.routes
            }
            settings += readbacks(stack.name, asked)
    for firewall in plan.firewalls:
        ruleset = _told(network, firewall.name, "nft", "-j", "list", "ruleset")["nftables"]
        added = sum(line.startswith("add rule ") for line in firewall.nft.splitlines())
        settings += readbacks(
            firewall.name, {"nft_rules": (added, sum("rule" in entry for entry in ruleset))}
        )
    return tuple(settings)


def _bursts(network: Network, ports: tuple[Port, ...]) -> dict[str, int]:
    """The longest burst that each of a node's ports is handed; nothing where the Plan bounds none."""
    if not any(port.gso_max_segs for port in ports):
        return {}
    told = _told(network, ports[0].node, "ip", "-d", "-j", "link", "show")
    return {link["ifname"]: link["gso_max_segs"] for link in told}


def _told(network: Network, node: str, *argv: str) -> Any:  # noqa: ANN401 - JSON of any kind
    return json.loads(run(network.argv(node, [*argv])))


def verify(settings: Iterable[Readback]) -> None:
    """Raise SettingsMismatchError, naming every setting that is not in force."""
    wrong = [setting for setting in settings if setting.asked != setting.actual]
    if wrong:
        raise SettingsMismatchError(
            "; ".join(
                f"{setting.port}: {setting.setting} is {setting.actual}, asked for {setting.asked}"
                for setting in wrong
            )
        )


def to_json(settings: Iterable[Readback]) -> str:
    """``settings.json``: one object a line."""
    return "[\n" + ",\n".join(json.dumps(asdict(setting)) for setting in settings) + "\n]\n"
