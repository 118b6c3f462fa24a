"""One case of an experiment, made into a Plan: every node, port, setting and flow in base units."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from wirelab.model.linking import forced_mode, leader, offered_modes
from wirelab.model.settings import Target
from wirelab.model.topology import MODULE_HOST_PORT, MODULE_LINE_PORT, PortRef
from wirelab.plan.addresses import Addresses
from wirelab.plan.cpu import firewall_cpu, firewall_rules, host_cpu
from wirelab.plan.flows import traffic
from wirelab.plan.physics import bus, equipped, gso_max_segs, netem, pool
from wirelab.plan.sysctls import CONGESTION, ECN, TIMESTAMPS, pinned_sysctls, socket_buffers
from wirelab.plan.types import Cable, Firewall, Host, Hub, Plan, Port, Switch, Transceiver

if TYPE_CHECKING:
    from wirelab.model.cases import Case
    from wirelab.model.experiment import Experiment
    from wirelab.model.topology import Cable as CableModel
    from wirelab.model.topology import NodeKind, Topology
    from wirelab.model.wiring import Wiring
    from wirelab.plan.types import Cpu

WALL_START_S: Final = 300
WALL_S_PER_NODE: Final = 5
"""Ten times what it takes on a slow machine, and much more than any tenth of a virtual second."""


def build_plan(experiment: Experiment, case: Case, seed: int) -> Plan:
    """The Plan of one case. ``seed`` (not negative) is what randomness in the lab starts from."""
    wiring = case.wiring
    topology = wiring.topology
    addresses = Addresses.of(topology)
    items = traffic(experiment.scenario.items, wiring, seed)
    plan = Plan(
        scenario=experiment.scenario.name,
        variant=case.name,
        seed=seed,
        drawing=topology.drawing,
        hosts=tuple(_host(wiring, name, addresses) for name in _named(topology, "host")),
        firewalls=tuple(
            Firewall(
                name,
                wiring.part_name(name) or "",
                nic=wiring.nic_name(name),
                routes=addresses.routes(name),
                nft=firewall_rules(wiring, name),
            )
            for name in _named(topology, "firewall")
        ),
        hubs=tuple(Hub(name, wiring.part_name(name) or "") for name in _named(topology, "hub")),
        switches=tuple(Switch(name, wiring.part_name(name) or "") for name in _named(topology, "switch")),
        modules=tuple(
            Transceiver(
                name,
                wiring.part_name(name) or "",
                PortRef(name, MODULE_HOST_PORT).interface,
                PortRef(name, MODULE_LINE_PORT).interface,
            )
            for name in _named(topology, "module")
        ),
        ports=tuple(_port(wiring, ref, addresses) for ref in topology.ports()),
        cables=tuple(_cable(wiring, cable) for cable in topology.cables),
        traffic=items,
        sysctls={**pinned_sysctls(), **socket_buffers(items)},
    )
    return replace(plan, wall_limit_s=WALL_START_S + WALL_S_PER_NODE * len(plan.nodes))


def _named(topology: Topology, kind: NodeKind) -> list[str]:
    return [name for name, node in topology.nodes.items() if node.kind == kind]


def _host(wiring: Wiring, name: str, addresses: Addresses) -> Host:
    own = {
        CONGESTION: wiring.congestion(name),
        TIMESTAMPS: str(int(wiring.timestamps(name))),
    }
    ecn = wiring.settings.get((Target(name), "ecn"))
    if ecn is not None:
        own[ECN] = str(int(bool(ecn.value)))
    pinned = pinned_sysctls()
    differing = {key: value for key, value in own.items() if pinned[key] != value}
    return Host(
        name,
        wiring.part_name(name) or "",
        sysctls=differing,
        nic=wiring.nic_name(name),
        routes=addresses.routes(name),
    )


def _cable(wiring: Wiring, cable: CableModel) -> Cable:
    a, b = wiring.topology.ends(cable)
    return Cable(a.interface, b.interface, wiring.delay_ns(cable))


def _port(wiring: Wiring, ref: PortRef, addresses: Addresses) -> Port:
    topology = wiring.topology
    node_number = list(topology.nodes).index(ref.node) + 1
    forced = forced_mode(wiring, ref)
    offered = () if forced else offered_modes(wiring, ref)
    followed = leader(wiring, ref)
    trust = wiring.setting(ref, "trust")
    plain = Port(
        name=ref.interface,
        label=topology.label(ref),
        node=ref.node,
        role="host",
        mac=_mac(node_number, ref.number),
        address=addresses.with_prefix(ref),
        speed_bps=(forced or max(offered)).speed_bps,
        mtu_bytes=wiring.mtu_bytes(ref),
        pause_rx=wiring.pause(ref, "pause_rx"),
        pause_tx=wiring.pause(ref, "pause_tx"),
        netem=netem(wiring, ref),
        autoneg=forced is None,
        advertise=tuple(mode.ethtool for mode in offered),
        duplex=forced.duplex if forced else "full",
        pause_autoneg=forced is None,
        follow=followed.interface if followed else None,
        bus=bus(wiring, ref),
        cpu=_cpu(wiring, ref.node, node_number),
        pool=pool(wiring, ref, node_number),
        pfc=wiring.priorities(ref),
        trust="dscp" if trust is not None and trust.value == "dscp" else "pcp",
        gso_max_segs=gso_max_segs(wiring, ref),
    )
    return equipped(plain, wiring, ref)


def _mac(node: int, port: int) -> str:
    """A locally administered address (IEEE 802, 8.4) that says which port of which node it is."""
    port_bytes = port.to_bytes(2)
    return f"02:00:00:{port_bytes[0]:02x}:{node:02x}:{port_bytes[1]:02x}"


def _cpu(wiring: Wiring, node: str, number: int) -> Cpu | None:
    match wiring.topology.nodes[node].kind:
        case "host":
            return host_cpu(wiring, node, number)
        case "firewall":
            return firewall_cpu(wiring, node, number)
        case _:
            return None
