"""A Plan's hosts, firewalls, switches, hubs, modules and cables as a Mininet network.

Mininet makes the nodes, the Open vSwitch bridges and the addresses. Its links know no rate above
1 Gbit/s, so a cable here joins two emulated Ethernet ports, and the settings module configures them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mininet.link import Intf, Link
from mininet.net import Mininet
from mininet.node import Host, OVSBridge

from wirelab.guest.shell import run
from wirelab.plan import tc

if TYPE_CHECKING:
    from collections.abc import Callable

    from wirelab.plan.types import Cable as PlanCable
    from wirelab.plan.types import Plan, Port


class PluggedPort(Intf):  # type: ignore[misc]
    """A port that exists already when Mininet hears of it: the cable has made and moved it."""

    def __init__(self, name: str, **params: Any) -> None:  # noqa: ANN401 Mininet's own signature
        super().__init__(name, **params)

    def config(self, **_params: Any) -> dict[str, Any]:  # noqa: ANN401 Mininet's own signature
        """Nothing: settings.apply does it all and reads it back."""
        return {}


class Cable(Link):  # type: ignore[misc]
    """Two emulated Ethernet ports, plugged into each other and moved to their nodes."""

    def __init__(
        self,
        node1: Host,
        node2: Host,
        ports: tuple[Port, Port],
        plugged: PlanCable,
        configure: Callable[[Port, PlanCable], None],
        **params: Any,  # noqa: ANN401 Mininet's own signature
    ) -> None:
        self._configure = configure
        self._ports = ports
        self._plugged = plugged
        self._queues = {port.name: f" numtxqueues {tc.PRIORITIES}" if port.pfc else "" for port in ports}
        super().__init__(node1, node2, intf=PluggedPort, fast=True, **params)

    def makeIntfPair(  # noqa: N802, PLR0913, PLR0917 Mininet's own signature
        self,
        intfname1: str,
        intfname2: str,
        addr1: str | None = None,
        addr2: str | None = None,
        node1: Host = None,
        node2: Host = None,
        deleteIntfs: bool = True,  # noqa: ARG002, FBT001, FBT002, N803
    ) -> None:
        """Make both ports here, have them configured, then move each to its node's namespace."""
        run(
            ["ip", "-batch", "-"],
            text=f"link add name {intfname1} address {addr1}{self._queues[intfname1]} type etherport\n"
            f"link add link {intfname1} name {intfname2} address {addr2}{self._queues[intfname2]} "
            "type etherport\n",
        )
        for port in self._ports:
            self._configure(port, self._plugged)
        moves = [
            f"link set {name} netns {node.pid}\n"
            for name, node in ((intfname1, node1), (intfname2, node2))
            if node.inNamespace
        ]
        if moves:
            run(["ip", "-batch", "-"], text="".join(moves))


class Network:
    """The running network of a Plan."""

    def __init__(self, plan: Plan, configure: Callable[[Port, PlanCable], None]) -> None:
        """Build every node and cable of ``plan``.

        ``configure`` is called for each port before it moves to its node.
        """
        self.plan = plan
        self._net = Mininet(topo=None, controller=None, build=False, autoSetMacs=False)
        for host in plan.hosts:
            self._net.addHost(host.name, cls=Host)
        for node in (*plan.firewalls, *plan.hubs, *plan.modules):
            self._net.addHost(node.name, cls=Host)
        for number, switch in enumerate(plan.switches, start=1):
            self._net.addSwitch(switch.name, cls=OVSBridge, dpid=f"{number:016x}")
        for cable in plan.cables:
            a, b = plan.port(cable.a), plan.port(cable.b)
            Cable(
                self._net.get(a.node),
                self._net.get(b.node),
                (a, b),
                cable,
                configure,
                intfName1=a.name,
                intfName2=b.name,
                addr1=a.mac,
                addr2=b.mac,
            )

    def start_switches(self) -> None:
        """Make the bridges and add their ports."""
        for switch in self.plan.switches:
            self._net.get(switch.name).start([])

    def pid(self, node: str) -> int | None:
        """The process whose namespace a node's ports live in; None for the lab's own namespace."""
        mininet_node = self._net.get(node)
        return int(mininet_node.pid) if mininet_node.inNamespace else None

    def argv(self, node: str, argv: list[str]) -> list[str]:
        """``argv`` as a command that runs in the node."""
        pid = self.pid(node)
        return argv if pid is None else ["mnexec", "-a", str(pid), *argv]
