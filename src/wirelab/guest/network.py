"""A Plan's hosts, firewalls, switches, hubs, modules and cables as a Mininet network.

Mininet makes the nodes, the Open vSwitch bridges and the addresses. Its links know no rate above
1 Gbit/s, so a cable here joins two emulated Ethernet ports, and the settings module configures them.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mininet.link import Intf
from mininet.net import Mininet
from mininet.node import Host, OVSBridge

from wirelab.guest import ethtool
from wirelab.guest.counters import Counters
from wirelab.guest.shell import run
from wirelab.plan import iproute2
from wirelab.plan.types import Cable, Plan, Port

# Mininet's own: the lab has another before it, for those that Mininet starts (rootfs/overlay).
_MNEXEC = "/usr/bin/mnexec"

Configure = Callable[[Port, Cable, ethtool.Ethtool], None]


class PluggedPort(Intf):  # type: ignore[misc]
    """A port that exists already when Mininet hears of it: the cable has made and moved it."""

    def config(self, **_params: Any) -> dict[str, Any]:  # noqa: ANN401 Mininet's own signature
        """Nothing: settings.apply does it all and reads it back."""
        return {}


class Network:
    """The running network of a Plan, and what is done inside its nodes."""

    def __init__(self, plan: Plan, configure: Configure) -> None:
        """Build every node and cable of ``plan``; ``configure`` sets a port up before it moves there."""
        self.plan = plan
        self._net = Mininet(topo=None, controller=None, build=False, autoSetMacs=False)
        for node in (*plan.hosts, *plan.firewalls, *plan.hubs, *plan.modules):
            self._net.addHost(node.name, cls=Host)
        for number, switch in enumerate(plan.switches, start=1):
            self._net.addSwitch(switch.name, cls=OVSBridge, dpid=f"{number:016x}")
        before_they_move = ethtool.Ethtool()
        for cable in plan.cables:
            self._plug(cable, configure, before_they_move)
        self.tools: dict[str, Counters] = {}
        for node in plan.nodes:
            with self.inside(node.name):
                self.tools[node.name] = Counters()
        for switch in plan.switches:
            self._net.get(switch.name).start([])

    def _plug(self, cable: Cable, configure: Configure, tool: ethtool.Ethtool) -> None:
        """Make both ports here, configure them, then move each to its node's namespace."""
        ports = [self.plan.port(name) for name in (cable.a, cable.b)]
        first, second = (
            f"name {port.name} address {port.mac}"
            f"{f' numtxqueues {iproute2.PRIORITIES}' if port.pfc else ''} type etherport"
            for port in ports
        )
        _batch(["ip"], [f"link add {first}", f"link add link {cable.a} {second}"])
        for port in ports:
            configure(port, cable, tool)
        pids = {port.name: self.pid(port.node) for port in ports}
        _batch(["ip"], [f"link set {name} netns {pid}" for name, pid in pids.items() if pid is not None])
        for port in ports:
            PluggedPort(port.name, self._net.get(port.node), moveIntfFn=lambda *_: None)

    def pid(self, node: str) -> int | None:
        """The process whose namespace a node's ports live in; None for the lab's own namespace."""
        mininet_node = self._net.get(node)
        return int(mininet_node.pid) if mininet_node.inNamespace else None

    def link(self, port: Port) -> ethtool.Link:
        """What the PHY of a port is set to, and whether there is a link."""
        return self.tools[port.node].link(port.name)

    def argv(self, node: str, *argv: str) -> list[str]:
        """``argv`` as a command that runs in the node."""
        pid = self.pid(node)
        return [*argv] if pid is None else [_MNEXEC, "-a", str(pid), *argv]

    def told(self, node: str, *argv: str) -> Any:  # noqa: ANN401 - JSON of any kind
        """What a program that is run in the node says in JSON."""
        return json.loads(run(self.argv(node, *argv)))

    def batch(self, node: str, tool: str, lines: Iterable[str]) -> None:
        """Have ``ip`` or ``tc`` carry out lines in the node, if there are any."""
        _batch(self.argv(node, tool), lines)

    @contextmanager
    def inside(self, node: str) -> Iterator[None]:
        """Be in the node's network namespace. A socket opened inside stays there for good."""
        pid = self.pid(node)
        if pid is None:
            yield
            return
        with Path("/proc/self/ns/net").open("rb") as home, Path(f"/proc/{pid}/ns/net").open("rb") as there:
            try:
                _enter(there.fileno())
                yield
            finally:
                _enter(home.fileno())

    def ports_folder(self, node: str) -> Path:
        """The node's own /sys/class/net: Mininet mounts one in each node, and it shows that node's ports."""
        pid = self.pid(node)
        return Path("/" if pid is None else f"/proc/{pid}/root", "sys/class/net")


def _batch(argv: list[str], lines: Iterable[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    if text:
        run([*argv, "-batch", "-"], text=text)


def _enter(namespace: int) -> None:
    os.setns(namespace, os.CLONE_NEWNET)  # type: ignore[attr-defined] # of Python 3.12, as the lab has it
