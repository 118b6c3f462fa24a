"""One case of an experiment, made into a Plan: every node, port, setting and flow in base units."""

from dataclasses import replace
from typing import Final

from wirelab.model.cases import Case
from wirelab.model.experiment import Experiment
from wirelab.model.linking import agreed_mode, forced_mode, leader, offered_modes
from wirelab.model.topology import MODULE_HOST_PORT, MODULE_LINE_PORT, PortRef
from wirelab.model.topology import Cable as CableModel
from wirelab.model.wiring import Wiring
from wirelab.plan.addresses import Addresses
from wirelab.plan.cpu import firewall_rules, node_capture, node_cpu
from wirelab.plan.flows import traffic
from wirelab.plan.physics import bus, equipped, gso_max_segs, netem, pause_reaction_ns, pool, shape
from wirelab.plan.sysctls import host_sysctls, memory_bytes, pinned_sysctls, socket_buffers, tcp_memory
from wirelab.plan.types import Cable, Firewall, Host, Hub, Node, Plan, Port, Switch, Transceiver

WALL_START_S: Final = 300
WALL_S_PER_NODE: Final = 5
"""Ten times what it takes on a slow machine, and much more than any tenth of a virtual second."""


def build_plan(experiment: Experiment, case: Case, seed: int) -> Plan:
    """The Plan of one case. ``seed`` (not negative) is what randomness in the lab starts from."""
    wiring = case.wiring
    topology = wiring.topology
    addresses = Addresses.of(topology)
    items = traffic(experiment.scenario.items, wiring, seed)
    nodes = [_node(wiring, name, addresses) for name in topology.nodes]
    number = {name: index for index, name in enumerate(topology.nodes, start=1)}
    ports = {ref: _port(wiring, ref, number[ref.node], addresses) for ref in topology.ports()}
    hosts = tuple(node for node in nodes if isinstance(node, Host))
    lab_bytes = memory_bytes(items, {host.name: host.sysctls for host in hosts})
    return Plan(
        scenario=experiment.scenario.name,
        variant=case.name,
        seed=seed,
        drawing=topology.drawing,
        hosts=hosts,
        firewalls=tuple(node for node in nodes if isinstance(node, Firewall)),
        hubs=tuple(node for node in nodes if isinstance(node, Hub)),
        switches=tuple(node for node in nodes if isinstance(node, Switch)),
        modules=tuple(node for node in nodes if isinstance(node, Transceiver)),
        ports=tuple(
            replace(port, pool=pool(wiring, ref, number[ref.node], ports)) for ref, port in ports.items()
        ),
        cables=tuple(_cable(wiring, cable) for cable in topology.cables),
        traffic=items,
        sysctls={**pinned_sysctls(), **tcp_memory(lab_bytes), **socket_buffers(items)},
        memory_bytes=lab_bytes,
        wall_limit_s=WALL_START_S + WALL_S_PER_NODE * len(nodes),
    )


def _node(wiring: Wiring, name: str, addresses: Addresses) -> Node:
    part = wiring.part_name(name) or ""
    match wiring.topology.nodes[name].kind:
        case "host":
            own = host_sysctls(wiring, name)
            quickack = wiring.of_host(name, "quickack") is True
            routes = addresses.routes(name, with_own=quickack)
            return Host(name, part, own, wiring.nic_name(name), routes, quickack)
        case "firewall":
            rules = firewall_rules(wiring, name)
            return Firewall(name, part, wiring.nic_name(name), addresses.routes(name), rules)
        case "hub":
            return Hub(name, part)
        case "switch":
            return Switch(name, part)
        case "module":
            host, line = PortRef(name, MODULE_HOST_PORT), PortRef(name, MODULE_LINE_PORT)
            return Transceiver(name, part, host.interface, line.interface)


def _cable(wiring: Wiring, cable: CableModel) -> Cable:
    a, b = wiring.topology.ends(cable)
    # Out by one PHY and in by the other: of each, half of what it takes for both.
    mode = agreed_mode(wiring, a)
    phys_ns = sum(wiring.phy_latency_ns(ref, mode) for ref in (a, b)) // 2
    return Cable(a.interface, b.interface, wiring.delay_ns(cable) + phys_ns, phys_ns)


def _port(wiring: Wiring, ref: PortRef, node_number: int, addresses: Addresses) -> Port:
    forced = forced_mode(wiring, ref)
    offered = () if forced else offered_modes(wiring, ref)
    followed = leader(wiring, ref)
    plain = Port(
        name=ref.interface,
        label=wiring.topology.label(ref),
        node=ref.node,
        role="host",
        mac=_mac(node_number, ref.number),
        address=addresses.with_prefix(ref),
        speed_bps=(forced or max(offered)).speed_bps,
        mtu_bytes=wiring.mtu_bytes(ref),
        pause_rx=wiring.pause(ref, "pause_rx"),
        pause_tx=wiring.pause(ref, "pause_tx"),
        netem=netem(wiring, ref),
        rate_bps=int(wiring.value(ref, "rate") or 0),
        shape=shape(wiring, ref),
        autoneg=forced is None,
        advertise=tuple(mode.ethtool for mode in offered),
        duplex=forced.duplex if forced else "full",
        pause_autoneg=forced is None,
        follow=followed.interface if followed else None,
        bus=bus(wiring, ref),
        cpu=node_cpu(wiring, ref.node, node_number),
        capture=node_capture(wiring, ref.node),
        pfc=wiring.priorities(ref),
        trust="dscp" if wiring.value(ref, "trust") == "dscp" else "pcp",
        pause_reaction_ns=pause_reaction_ns(wiring, ref),
        gso_max_segs=gso_max_segs(wiring, ref),
        bits_per_error=wiring.bits_per_error(ref),
        autoneg_ms=0 if forced else wiring.autoneg_ms(ref),
    )
    return equipped(plain, wiring, ref)


def _mac(node: int, port: int) -> str:
    """A locally administered address (IEEE 802, 8.4) that says which port of which node it is."""
    port_bytes = port.to_bytes(2)
    return f"02:00:00:{port_bytes[0]:02x}:{node:02x}:{port_bytes[1]:02x}"
