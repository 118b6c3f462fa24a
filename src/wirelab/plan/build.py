"""One case of an experiment, made into a Plan: every node, port, setting and flow in base units."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final, TypeVar

from wirelab.model.cases import Case
from wirelab.model.experiment import Experiment
from wirelab.model.linking import agreed_mode, forced_mode, leader, offered_modes
from wirelab.model.shaping import USUAL, trace_of
from wirelab.model.topology import MODULE_HOST_PORT, MODULE_LINE_PORT, PortRef
from wirelab.model.topology import Cable as CableModel
from wirelab.model.trace import Trace
from wirelab.model.wiring import Wiring
from wirelab.plan.addresses import Addresses
from wirelab.plan.bonds import bonds
from wirelab.plan.cpu import firewall_rules, node_capture, node_cpu
from wirelab.plan.event import linkable
from wirelab.plan.flows import phase_ns, traffic
from wirelab.plan.node import Firewall, Host, Hub, Node, Switch, Transceiver
from wirelab.plan.physics import bus, equipped, gso_max_segs, netem, pause_reaction_ns, pool, shape
from wirelab.plan.sysctls import host_sysctls, memory_bytes, pinned_sysctls, socket_buffers, tcp_memory
from wirelab.plan.tagged import Tagged
from wirelab.plan.traffic import Flow, Item
from wirelab.plan.types import SAMPLE_NS, Cable, Cpu, Event, Netem, Plan, Port
from wirelab.units import NS_PER_MS

WALL_START_S: Final = 300
WALL_S_PER_NODE: Final = 5
"""Ten times what it takes on a slow machine, and much more than any tenth of a virtual second."""

EVENT_SAMPLE_NS: Final = 10 * NS_PER_MS
"""Where something happens it is looked at ten times as often: a twentieth of TCP's shortest timeout."""

Thing = TypeVar("Thing", Port, Cable)


def build_plan(experiment: Experiment, case: Case, seed: int) -> Plan:
    """The Plan of one case. ``seed`` (not negative) is what randomness in the lab starts from."""
    wiring = case.wiring
    topology = wiring.topology
    addresses = Addresses.of(topology)
    pinned = bool(case.events) or any(expectation.window for expectation in case.expectations)
    items = traffic(experiment.scenario.items, wiring, seed, pinned=pinned)
    nodes = [_node(wiring, name, addresses) for name in topology.nodes]
    # A flap comes back to the same state each time: of such events the settings are one object.
    states = {id(event.settings): event.wiring(wiring) for event in case.events}
    wirings = [wiring, *states.values()]
    numbers = {state: number for number, state in enumerate(states, start=1)}
    order = [0, *(numbers[id(event.settings)] for event in case.events)]
    ports_of = _pinned([_ports(state, addresses) for state in wirings])
    cables_of = [tuple(_cable(state, cable) for cable in topology.cables) for state in wirings]
    ports, cables = [ports_of[state] for state in order], [cables_of[state] for state in order]
    hosts = tuple(node for node in nodes if isinstance(node, Host))
    traces = _traces(wiring, seed)
    lab_bytes = memory_bytes(items, {host.name: host.sysctls for host in hosts})
    plan = Plan(
        scenario=experiment.scenario.name,
        variant=case.name,
        seed=seed,
        drawing=topology.drawing,
        hosts=hosts,
        firewalls=tuple(node for node in nodes if isinstance(node, Firewall)),
        hubs=tuple(node for node in nodes if isinstance(node, Hub)),
        switches=tuple(node for node in nodes if isinstance(node, Switch)),
        modules=tuple(node for node in nodes if isinstance(node, Transceiver)),
        ports=ports[0],
        cables=cables[0],
        bonds=bonds(wiring, ports[0], addresses),
        traffic=items,
        sysctls={**pinned_sysctls(), **tcp_memory(lab_bytes), **socket_buffers(items)},
        memory_bytes=lab_bytes,
        wall_limit_s=WALL_START_S + WALL_S_PER_NODE * len(nodes),
        sample_interval_ns=EVENT_SAMPLE_NS if case.events or traces else SAMPLE_NS,
        events=tuple(
            Event(event.at_ns + phase_ns(seed), event.what, _changed(*ports), _changed(*cables))
            for event, ports, cables in zip(case.events, pairwise(ports), pairwise(cables), strict=True)
        ),
        traces=traces,
        sample_at_ns=_edges_ns(case, items, phase_ns(seed)),
    )
    # Of a bond's ports, one that can have a link carries.
    plan = replace(plan, bonds=tuple(bond.after(linkable(plan)) for bond in plan.bonds))
    return replace(plan, tagged=_tagged(plan, addresses, wiring)) if topology.vlans else plan


def _edges_ns(case: Case, items: Iterable[Item], shift_ns: int) -> tuple[int, ...]:
    """The ends of the windows of which samples tell: those of ports, and of flows over TCP."""
    others = {item.name for item in items if not isinstance(item, Flow) or item.protocol == "udp"}
    windows = [one.window for one in case.expectations if one.window and one.subject not in others]
    return tuple(sorted({instant_ns + shift_ns for window in windows for instant_ns in window}))


def _traces(wiring: Wiring, seed: int) -> tuple[Trace, ...]:
    """Those that ports of a wiring follow, each once."""
    followed = filter(None, (trace_of(wiring, ref) for ref in wiring.topology.ports()))
    by_name = {trace.name: replace(trace, start_ns=phase_ns(seed)) for trace in followed}
    return tuple(by_name.values())


def _ports(wiring: Wiring, addresses: Addresses) -> tuple[Port, ...]:
    """Every port of a wiring."""
    number = {name: index for index, name in enumerate(wiring.topology.nodes, start=1)}
    ports = {ref: _port(wiring, ref, number[ref.node], addresses) for ref in wiring.topology.ports()}
    return tuple(
        replace(port, pool=pool(wiring, ref, number[ref.node], ports)) for ref, port in ports.items()
    )


def _pinned(states: Sequence[tuple[Port, ...]]) -> list[tuple[Port, ...]]:
    """The ports in each state of a network, with all that cannot come or go while it runs.

    A long path that does nothing yet, a CPU that takes no time, a packet memory that is not the limit, and
    what has a port look again at a shaper that has changed.
    """
    if len(states) == 1:
        return list(states)
    whole = {}
    for port, *others in zip(*states, strict=True):
        known = [port, *others]
        path = next((state for state in known if state.netem), None)
        whole[port.name] = {
            "netem": path and Netem(),
            "gso_max_segs": path.gso_max_segs if path else port.gso_max_segs,
            "cpu": next((Cpu(state.cpu.number) for state in known if state.cpu), None),
            "pool": next((state.pool for state in known if state.pool), None),
            "varies": port.shape is not None and len({state.shape for state in known}) > 1,
        }
    return [tuple(_filled(port, whole[port.name]) for port in state) for state in states]


def _filled(port: Port, whole: Mapping[str, Any]) -> Port:
    own: dict[str, Any] = {name: getattr(port, name) or whole[name] for name in ("netem", "cpu", "pool")}
    shape = port.shape
    if shape and shape.kind == USUAL:
        own["shape"] = replace(shape, varies=whole["varies"])
    return replace(port, **own, gso_max_segs=whole["gso_max_segs"])


def _changed(before: tuple[Thing, ...], now: tuple[Thing, ...]) -> tuple[Thing, ...]:
    """What is otherwise than it was."""
    return tuple(thing for was, thing in zip(before, now, strict=True) if was != thing)


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
    delay_ns = wiring.delay_ns(cable) + phys_ns
    return Cable(a.interface, b.interface, delay_ns, phys_ns, plugged=wiring.is_plugged(cable))


def _port(wiring: Wiring, ref: PortRef, node_number: int, addresses: Addresses) -> Port:
    forced = forced_mode(wiring, ref)
    offered = () if forced else offered_modes(wiring, ref)
    followed = leader(wiring, ref)
    access, trunk = _vlans(wiring, ref)
    inner = trunk or wiring.topology.bond_of(ref)
    plain = Port(
        name=ref.interface,
        label=wiring.topology.label(ref),
        node=ref.node,
        role="host",
        mac=_mac(node_number, _first(wiring, ref).number),
        address=None if inner else addresses.with_prefix(ref),
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
        up=wiring.is_up(ref),
        access_vlan=access,
        trunk_vlans=trunk,
    )
    return equipped(plain, wiring, ref)


def _vlans(wiring: Wiring, ref: PortRef) -> tuple[int, tuple[int, ...]]:
    """The VLAN of an access port, and those of a trunk."""
    vlans = wiring.topology.vlan_of(ref)
    return (0, vlans) if isinstance(vlans, tuple) else (vlans or 0, ())


def _tagged(plan: Plan, addresses: Addresses, wiring: Wiring) -> tuple[Tagged, ...]:
    """What writes and reads tags at hosts whose port is one of a trunk: it has the address."""
    refs = {ref.interface: ref for ref in wiring.topology.ports()}
    tagged = []
    for host in plan.hosts:
        interface = plan.interfaces_of(host.name)[0]
        port = plan.ports_of(host.name)[0]
        if port.trunk_vlans:
            (vlan,) = port.trunk_vlans
            name, address = f"{host.name}-v{vlan}", addresses.with_prefix(refs[port.name])
            mtu_bytes, longest = port.mtu_bytes, port.gso_max_segs
            tagged.append(Tagged(name, host.name, interface.name, vlan, mtu_bytes, address, longest))
    return tuple(tagged)


def _first(wiring: Wiring, ref: PortRef) -> PortRef:
    """The port whose MAC address a port has: its own, in a bond that of the first."""
    bond = wiring.topology.bond_of(ref)
    return ref if bond is None else wiring.topology.resolve(wiring.topology.bonds[bond].ports[0])


def _mac(node: int, port: int) -> str:
    """A locally administered address (IEEE 802, 8.4) that says which port of which node it is."""
    port_bytes = port.to_bytes(2)
    return f"02:00:00:{port_bytes[0]:02x}:{node:02x}:{port_bytes[1]:02x}"
