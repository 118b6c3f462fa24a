"""One case of an experiment, made into a Plan: every node, port, setting and flow in base units."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

from wirelab.ethernet import udp_payload_bytes
from wirelab.model.topology import HOST_PORT, MODULE_HOST_PORT, MODULE_LINE_PORT, PortRef
from wirelab.plan.physics import device, netem
from wirelab.plan.sysctls import CONGESTION, TIMESTAMPS, pinned_sysctls
from wirelab.plan.types import Cable, Flow, Host, Module, Plan, Port, Switch
from wirelab.units import NS_PER_S

if TYPE_CHECKING:
    from wirelab.model.cases import Case
    from wirelab.model.experiment import Experiment
    from wirelab.model.scenario import Iperf3
    from wirelab.model.topology import Cable as CableModel
    from wirelab.model.wiring import Wiring

FIRST_START_NS: Final = NS_PER_S
GAP_NS: Final = 2 * NS_PER_S
"""The silence between flows that run one after the other: long enough for every queue to run empty."""
TICK_NS: Final = NS_PER_S // 250
FIRST_SERVER_PORT: Final = 5201
FIRST_CLIENT_PORT: Final = 40001
PREFIX_BITS: Final = 24
WALL_START_S: Final = 120
WALL_S_PER_VIRTUAL_S: Final = 30
"""Ten times what a saturated 10G link takes on a slow machine: past it the lab hangs."""


def build_plan(experiment: Experiment, case: Case, seed: int) -> Plan:
    """The Plan of one case. ``seed`` (not negative) is what randomness in the lab starts from."""
    wiring = case.wiring
    topology = wiring.topology
    flows = _flows(experiment.scenario.flows, wiring, phase_ns(seed))
    end_ns = max((flow.start_ns + flow.duration_ns for flow in flows), default=0)
    return Plan(
        scenario=experiment.scenario.name,
        variant=case.name,
        seed=seed,
        drawing=topology.drawing,
        hosts=tuple(_host(wiring, name) for name, node in topology.nodes.items() if node.kind == "host"),
        switches=tuple(
            Switch(name, wiring.part_name(name) or "")
            for name, node in topology.nodes.items()
            if node.kind == "switch"
        ),
        modules=tuple(
            Module(
                name,
                wiring.part_name(name) or "",
                PortRef(name, MODULE_HOST_PORT).interface,
                PortRef(name, MODULE_LINE_PORT).interface,
            )
            for name, node in topology.nodes.items()
            if node.kind == "module"
        ),
        ports=tuple(_port(wiring, ref) for ref in topology.ports()),
        cables=tuple(_cable(wiring, cable) for cable in topology.cables),
        flows=flows,
        sysctls=pinned_sysctls(),
        wall_limit_s=WALL_START_S + WALL_S_PER_VIRTUAL_S * -(-end_ns // NS_PER_S),
    )


def _host(wiring: Wiring, name: str) -> Host:
    own = {
        CONGESTION: wiring.congestion(name),
        TIMESTAMPS: str(int(wiring.timestamps(name))),
    }
    pinned = pinned_sysctls()
    differing = {key: value for key, value in own.items() if pinned[key] != value}
    return Host(name, wiring.part_name(name) or "", sysctls=differing, nic=wiring.nic_name(name))


def _cable(wiring: Wiring, cable: CableModel) -> Cable:
    a, b = wiring.topology.ends(cable)
    return Cable(a.interface, b.interface, wiring.delay_ns(cable))


def _port(wiring: Wiring, ref: PortRef) -> Port:
    topology = wiring.topology
    node_number = list(topology.nodes).index(ref.node) + 1
    made = device(wiring, ref)
    return Port(
        name=ref.interface,
        label=topology.label(ref),
        node=ref.node,
        role=made.role,
        mac=f"02:00:00:00:{node_number:02x}:{ref.number:02x}",
        address=_address(wiring, ref.node) if made.role == "host" else None,
        speed_bps=wiring.speed_bps(ref),
        mtu_bytes=wiring.mtu_bytes(ref),
        pause_rx=wiring.pause(ref, "pause_rx"),
        pause_tx=wiring.pause(ref, "pause_tx"),
        rx_usecs=made.rx_usecs,
        rx_frames=made.rx_frames,
        rx_ring_frames=made.rx_ring_frames,
        tx_ring_frames=made.tx_ring_frames,
        buffer_bytes=made.buffer_bytes,
        xoff_bytes=made.xoff_bytes,
        xon_bytes=made.xon_bytes,
        queue=made.queue,
        netem=netem(wiring, ref),
    )


def _address(wiring: Wiring, node: str) -> str:
    hosts = [name for name, each in wiring.topology.nodes.items() if each.kind == "host"]
    return f"10.0.0.{hosts.index(node) + 1}/{PREFIX_BITS}"


def phase_ns(seed: int) -> int:
    """How far into a tick of the lab's kernel the traffic starts: the part of chance in when one starts.

    Everything else about a run is either stated or drawn inside the lab. TCP's timers run from tick to
    tick, so a path that drops decides differently for another phase. Even over a tick (4 ms).
    """
    return random.Random(seed).randrange(TICK_NS)  # noqa: S311 - a draw that must repeat


def _flows(written: tuple[Iperf3, ...], wiring: Wiring, shift_ns: int) -> tuple[Flow, ...]:
    flows: dict[str, Flow] = {}
    client_port = FIRST_CLIENT_PORT
    for index, flow in enumerate(written):
        flows[flow.name] = Flow(
            name=flow.name,
            sender=flow.sender,
            receiver=flow.receiver,
            protocol=flow.protocol,
            start_ns=_start_ns(flow, flows, shift_ns),
            duration_ns=flow.time,
            port=FIRST_SERVER_PORT + index,
            client_port=client_port,
            congestion=None if flow.protocol == "udp" else flow.congestion or wiring.congestion(flow.sender),
            bitrate_bps=flow.bitrate,
            payload_bytes=flow.payload or (_datagram_bytes(wiring, flow) if flow.protocol == "udp" else None),
            parallel=flow.parallel,
        )
        client_port += flow.parallel
    return tuple(flows.values())


def _start_ns(flow: Iperf3, earlier: dict[str, Flow], shift_ns: int) -> int:
    if flow.start is not None:
        return flow.start + shift_ns
    if flow.together is not None:
        return earlier[flow.together].start_ns
    if not earlier:
        return FIRST_START_NS + shift_ns
    return max(each.start_ns + each.duration_ns for each in earlier.values()) + GAP_NS


def _datagram_bytes(wiring: Wiring, flow: Iperf3) -> int:
    """The largest payload that neither end has to fragment."""
    ends = (PortRef(name, HOST_PORT) for name in (flow.sender, flow.receiver))
    return udp_payload_bytes(min(wiring.mtu_bytes(ref) for ref in ends))
