"""The bonds of a Plan: awaited until they carry as they are to, and read back as ``ip -d link`` says."""

from typing import TYPE_CHECKING, Any

from wirelab.guest import clock
from wirelab.guest.links import NoLinkError
from wirelab.guest.readback import Readback, readbacks
from wirelab.plan import iproute2
from wirelab.plan.bond import LACP, Bond

if TYPE_CHECKING:  # Mininet is in the lab alone, and some of this is tested without it
    from wirelab.guest.network import Network

# LACP agrees in a few seconds; a port without an answer is given up after three times 30 s (802.1AX, 6.4.4).
_PATIENCE_NS = 100 * clock.NS_PER_S
_LOOK_NS = clock.NS_PER_S // 10


def read_back(network: "Network", node: str) -> list[Readback]:
    """Every setting of the bonds of a node as it is in force."""
    settings: list[Readback] = []
    for bond in network.plan.bonds_of(node):
        link = _link(network, node, bond.name)
        told = link["linkinfo"]["info_data"]
        masters = {name: _link(network, node, name).get("master") for name in bond.ports}
        pairs: dict[str, tuple[Any, Any]] = {
            "mode": (bond.mode, told["mode"]),
            "ports": (" ".join(bond.ports), " ".join(n for n, of in masters.items() if of == bond.name)),
            "mac": (bond.mac, link["address"]),
            "mtu_bytes": (bond.mtu_bytes, link["mtu"]),
            "miimon_ms": (bond.miimon_ms, told["miimon"]),
            "downdelay_ms": (bond.downdelay_ms, told["downdelay"]),
            "updelay_ms": (bond.updelay_ms, told["updelay"]),
        }
        if bond.mode == LACP:
            pairs["xmit_hash_policy"] = (bond.xmit_hash_policy, told["xmit_hash_policy"])
            pairs["lacp_rate"] = (bond.lacp_rate, told["ad_lacp_rate"])
        else:
            pairs["primary"] = (bond.primary or "", told.get("primary", ""))
            pairs["num_grat_arp"] = (bond.num_grat_arp, told["num_peer_notif"])
        if bond.gso_max_segs:
            pairs["gso_max_segs"] = (bond.gso_max_segs, link["gso_max_segs"])
        settings += readbacks(bond.name, pairs)
    return settings


def settle(network: "Network") -> list[Readback]:
    """Wait until every bond knows its links, and have the port carry that is to.

    Raises NoLinkError for a bond of which not all ports have a link.
    """
    settings: list[Readback] = []
    for bond in network.plan.bonds:
        until_ns = clock.now_ns() + _PATIENCE_NS + bond.updelay_ms * clock.NS_PER_MS
        while missing := _missing(network, bond):
            if clock.now_ns() > until_ns:
                raise NoLinkError(f"{bond.label}: {missing}")
            clock.sleep_until(clock.now_ns() + _LOOK_NS)
        if bond.mode == LACP:
            continue
        if _told(network, bond).get("active_slave") != bond.active:
            network.batch(bond.node, "ip", [iproute2.active(bond)])
        active = _told(network, bond).get("active_slave", "")
        settings += readbacks(bond.name, {"active": (bond.active, active)})
    return settings


def _missing(network: "Network", bond: Bond) -> str:
    """What a bond still waits for, empty for nothing."""
    slaves = {name: _link(network, bond.node, name)["linkinfo"]["info_slave_data"] for name in bond.ports}
    down = [network.plan.port(name).label for name, of in slaves.items() if of["mii_status"] != "UP"]
    if down:
        return f"there is no link at {' and '.join(down)}"
    wanted = len(bond.ports) if bond.agrees else 1
    if bond.mode == LACP and (joined := _told(network, bond).get("ad_info", {}).get("num_ports")) != wanted:
        return f"LACP has joined {joined or 0} of its ports, it was to be {wanted}"
    return ""


def _told(network: "Network", bond: Bond) -> dict[str, Any]:
    told: dict[str, Any] = _link(network, bond.node, bond.name)["linkinfo"]["info_data"]
    return told


def _link(network: "Network", node: str, name: str) -> dict[str, Any]:
    (link,) = network.told(node, "ip", f"link show dev {name}")
    answer: dict[str, Any] = link
    return answer
