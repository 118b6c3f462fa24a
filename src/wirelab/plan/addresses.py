"""IP networks: one wherever frames get without a firewall in between, and the routes between them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from wirelab.model.graph import fewest_hops
from wirelab.model.topology import HOST_PORT, PortRef, Topology
from wirelab.plan.node import Route

PREFIX_BITS: Final = 24
_LAST_ADDRESS: Final = 254


@dataclass(frozen=True, slots=True)
class Addresses:
    """The address of every port that has one, and in which network it is.

    Hosts count from 1 in the order of the topology, wherever they are; firewalls down from 254.
    """

    network_of: Mapping[PortRef, int]
    address_of: Mapping[PortRef, str]

    @classmethod
    def of(cls, topology: Topology) -> Self:
        """The addresses of a topology whose cables make no loop."""
        numbers = _networks(topology)
        hosts = [name for name, node in topology.nodes.items() if node.kind == "host"]
        firewalls = [name for name, node in topology.nodes.items() if node.kind == "firewall"]
        network_of, address_of = {}, {}
        for ref in topology.ports():
            if ref.node in hosts:
                if ref.port != HOST_PORT:  # the address of a bond is that of its first port
                    continue
                last = hosts.index(ref.node) + 1
            elif ref.node in firewalls:
                last = _LAST_ADDRESS - firewalls.index(ref.node)
            else:
                continue
            network_of[ref] = numbers[_place(topology, ref)]
            address_of[ref] = f"10.0.{network_of[ref]}.{last}"
        return cls(network_of, address_of)

    def with_prefix(self, ref: PortRef) -> str | None:
        """``10.0.0.1/24``, None for a port that has no address."""
        address = self.address_of.get(ref)
        return None if address is None else f"{address}/{PREFIX_BITS}"

    def routes(self, node: str, *, with_own: bool = False) -> tuple[Route, ...]:
        """The way from a host or firewall to every network that it is not in, if there is one.

        ``with_own`` also to those that it is in, which it has by its addresses.
        """
        own = {network for ref, network in self.network_of.items() if ref.node == node}
        hops = [(node, str(network), "") for network in sorted(own)]
        for gate, network in self.network_of.items():
            if gate.port != HOST_PORT and gate.node != node:
                beyond = (other for ref, other in self.network_of.items() if ref.node == gate.node)
                hops += [(str(network), str(other), self.address_of[gate]) for other in beyond]
        others = sorted({*self.network_of.values()} - own)
        ways = {network: fewest_hops(node, str(network), hops) for network in others}
        gateways = dict.fromkeys(sorted(own), "") if with_own else {}
        gateways |= {network: way[1] for network, way in ways.items() if way}
        return tuple(Route(f"10.0.{network}.0/{PREFIX_BITS}", via) for network, via in gateways.items())


def _place(topology: Topology, ref: PortRef) -> PortRef:
    """What hangs together with a port: its whole node, unless that is a firewall."""
    return ref if topology.nodes[ref.node].kind == "firewall" else PortRef(ref.node, "")


def _networks(topology: Topology) -> dict[PortRef, int]:
    """The number of the network of every place, from 0 in the order of the nodes.

    Without firewalls there is one network, whether its parts are connected or not.
    """
    group = {_place(topology, ref): _place(topology, ref) for ref in topology.ports()}
    if not any(node.kind == "firewall" for node in topology.nodes.values()):
        return dict.fromkeys(group, 0)
    for cable in topology.cables:
        one, other = (group[_place(topology, ref)] for ref in topology.ends(cable))
        group = {place: other if root == one else root for place, root in group.items()}
    roots = list(dict.fromkeys(group.values()))
    return {place: roots.index(root) for place, root in group.items()}
