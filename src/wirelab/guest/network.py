"""A Plan's hosts, firewalls, switches, hubs, modules and cables as a Mininet network.

Mininet makes the nodes, the Open vSwitch bridges and the addresses. Its links know no rate above
1 Gbit/s, so a cable here joins two emulated Ethernet ports, and the settings module configures them.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from mininet.link import Intf
from mininet.net import Mininet

from wirelab.guest import ethtool
from wirelab.guest.counters import Counters
from wirelab.guest.namespace import NetworkNamespace
from wirelab.guest.nodes import Bridge, Namespace
from wirelab.guest.shell import Batch, CommandError, run
from wirelab.plan import iproute2
from wirelab.plan.types import Cable, Plan, Port

# The programs that are told what to do line by line, and what each answers without doing anything.
# They do not forget: tc shows the qdiscs of the device alone that it was last asked for by name, and ip no
# addresses any more once it has shown links.
BATCHES = {
    "ip": (("ip", "-d", "-j"), "link show dev lo"),
    "tc": (("tc", "-s", "-j"), "qdisc show"),
}

Configure = Callable[[Port, Cable, ethtool.Ethtool], None]


class PluggedPort(Intf):  # type: ignore[misc]
    """A port, or a bond, that exists already when Mininet hears of it: it has been made and moved."""

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
            self._net.addHost(node.name, cls=Namespace)
        for number, switch in enumerate(plan.switches, start=1):
            self._net.addSwitch(switch.name, cls=Bridge, dpid=f"{number:016x}")
        self._batches: dict[tuple[NetworkNamespace | None, str], Batch] = {}
        self._plug(configure)
        self.tools: dict[str, Counters] = {}
        for node in plan.nodes:
            with self.inside(node.name):
                self.tools[node.name] = Counters()
        if plan.switches:
            Bridge.start_all([self._net.get(switch.name) for switch in plan.switches])

    def _plug(self, configure: Configure) -> None:
        """Make the ports of every cable here, configure and move them, and make bonds of them."""
        here = Batch(*BATCHES["ip"])
        here.run(line for cable in self.plan.cables for line in self._made(cable))
        before_they_move = ethtool.Ethtool()
        ends = [(self.plan.port(name), cable) for cable in self.plan.cables for name in (cable.a, cable.b)]
        for port, cable in ends:
            configure(port, cable, before_they_move)
        homes = {port.name: self._namespace(port.node) for port, _ in ends}
        here.run(f"link set {name} netns {home.path}" for name, home in homes.items() if home)
        for bond in self.plan.bonds:
            self.batch(bond.node, "ip", iproute2.bond(bond))
        bonded = {name: bond.name for bond in self.plan.bonds for name in bond.ports}
        for name, node in {bonded.get(port.name, port.name): port.node for port, _ in ends}.items():
            PluggedPort(name, self._net.get(node), moveIntfFn=lambda *_: None)

    def _made(self, cable: Cable) -> tuple[str, str]:
        """To ip: how the two ports of a cable are made."""
        first, second = (
            f"name {port.name} address {port.mac}"
            f"{f' numtxqueues {iproute2.PRIORITIES}' if port.pfc else ''} type etherport"
            for port in map(self.plan.port, (cable.a, cable.b))
        )
        return f"link add {first}", f"link add link {cable.a} {second}"

    def _namespace(self, node: str) -> NetworkNamespace | None:
        """Where a node's ports live; None for the lab's own namespace."""
        namespace: NetworkNamespace | None = self._net.get(node).namespace
        return namespace

    def link(self, port: Port) -> ethtool.Link:
        """What the PHY of a port is set to, and whether there is a link."""
        return self.tools[port.node].link(port.name)

    def run(self, node: str, *argv: str, text: str | None = None) -> str:
        """What a program prints that is run to its end in the node's network namespace, as ``shell.run``."""
        with self.inside(node):
            return run(argv, text=text)

    def batch(self, node: str, tool: str, lines: Iterable[str]) -> None:
        """Have ``ip`` or ``tc`` carry out lines in the node, if there are any."""
        if lines := tuple(lines):
            with self._batch(node, tool) as batch:
                batch.run(lines)

    def told(self, node: str, tool: str, line: str) -> Any:  # noqa: ANN401 - JSON of any kind
        """What ``ip`` or ``tc`` answers in the node: ``ip`` with details, ``tc`` with statistics."""
        with self._batch(node, tool) as batch:
            return batch.told(line)

    @contextmanager
    def _batch(self, node: str, tool: str) -> Iterator[Batch]:
        """The one of the node's namespace, started when it is first needed, and again when it has failed."""
        key = (self._namespace(node), tool)
        if key not in self._batches:
            with self.inside(node):
                self._batches[key] = Batch(*BATCHES[tool])
        try:
            yield self._batches[key]
        except CommandError:
            del self._batches[key]
            raise

    def forget_tools(self) -> None:
        """Have other programs and sockets than the process that this one was forked from."""
        self._batches = {}
        for node in self.plan.nodes:
            with self.inside(node.name):
                self.tools[node.name] = Counters()

    def inside(self, node: str) -> AbstractContextManager[None]:
        """Be in the node's network namespace. A socket or a program opened inside stays there for good."""
        namespace = self._namespace(node)
        return namespace.inside() if namespace else nullcontext()

    def ports_folder(self, node: str) -> Path:
        """/sys/class/net as the node sees it: the folder of that node's ports."""
        namespace = self._namespace(node)
        return (namespace.sys() if namespace else Path("/sys")) / "class/net"
