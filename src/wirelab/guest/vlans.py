"""The VLANs of a Plan: what a switch is told of its ports, and a host of its tags; and both read back."""

from typing import TYPE_CHECKING, Any

from wirelab.guest.readback import Readback, readbacks
from wirelab.plan import iproute2
from wirelab.plan.bond import Bond
from wirelab.plan.types import Plan, Port

if TYPE_CHECKING:  # Mininet is in the lab alone, and some of this is tested without it
    from wirelab.guest.network import Network


def apply(network: "Network") -> None:
    """Tell every switch and host. Raises CommandError with the words of what failed."""
    plan = network.plan
    for switch in plan.switches:
        lines = [iproute2.bridge_vlans(name, port) for name, port in _ports(plan, switch.name)]
        words = " -- ".join(filter(None, lines)).split()
        if words:
            network.run(switch.name, "ovs-vsctl", *words)
    for tagged in plan.tagged:
        network.batch(tagged.node, "ip", iproute2.tagged(tagged))


def read_back(network: "Network", node: str) -> list[Readback]:
    """What is in force at a node."""
    plan = network.plan
    settings: list[Readback] = []
    if node in {switch.name for switch in plan.switches}:
        for name, port in _ports(plan, node):
            if not port.access_vlan and not port.trunk_vlans:
                continue
            said = network.run(node, "ovs-vsctl", "get", "port", name, "vlan_mode", "tag", "trunks")
            mode, tag, trunks = said.splitlines()
            asked = ("trunk", "[]", f"[{', '.join(map(str, port.trunk_vlans))}]")
            if port.access_vlan:
                asked = ("access", str(port.access_vlan), "[]")
            compared = zip(("vlan_mode", "tag", "trunks"), asked, (mode, tag, trunks), strict=True)
            settings += [Readback(name, setting, wanted, actual) for setting, wanted, actual in compared]
    for tagged in plan.tagged_of(node):
        (link,) = network.told(node, "ip", f"link show dev {tagged.name}")
        told = link["linkinfo"]["info_data"]
        pairs: dict[str, tuple[Any, Any]] = {
            "vlan": (tagged.vlan, told["id"]),
            "protocol": ("802.1Q", told["protocol"]),
            "on": (tagged.on, link["link"]),
            "mtu_bytes": (tagged.mtu_bytes, link["mtu"]),
        }
        settings += readbacks(tagged.name, pairs)
    return settings


def _ports(plan: Plan, switch: str) -> list[tuple[str, Port]]:
    """What a bridge has for ports by name, each with a port that has its VLANs: of a bond, the first."""
    ports: list[tuple[str, Port]] = []
    for interface in plan.interfaces_of(switch):
        port = plan.port(interface.ports[0]) if isinstance(interface, Bond) else interface
        if isinstance(port, Port):
            ports.append((interface.name, port))
    return ports
