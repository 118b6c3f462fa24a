"""From a case to a Plan: names, addresses, physics and flows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from examples import HEAD, SCENARIOS, SHIPPED, TRAFFIC, experiment, plans, scenario

from wirelab.model.experiment import load_file
from wirelab.plan.build import build_plan
from wirelab.plan.flows import TICK_NS, phase_ns
from wirelab.plan.queue import Queue
from wirelab.plan.traffic import Iperf3
from wirelab.plan.types import Netem
from wirelab.units import NS_PER_S

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.traffic import Flow
    from wirelab.plan.types import Plan

EXPECT_A = "expect:\n  a: {goodput: 1..2 Gbit/s}\n"


def _plan(folder: Path, settings: str = "", traffic: str = TRAFFIC) -> Plan:
    loaded = experiment(folder, settings=settings, traffic=traffic)
    return build_plan(loaded, loaded.cases[0], 1)


def _flows(folder: Path, *items: str) -> tuple[Flow, ...]:
    traffic = "traffic:\n" + "".join(f"  - iperf3: {{{item}}}\n" for item in items)
    loaded = load_file(scenario(folder, traffic=traffic, expect=EXPECT_A), SHIPPED)
    return build_plan(loaded, loaded.cases[0], 1).flows


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_plan_is_one_that_can_be_built(name: str) -> None:
    """Names fit Linux and are unique, cables and flows end at something, two ends agree on speed."""
    for plan in plans(name).values():
        interfaces = [port.name for port in plan.ports]
        nodes = [node.name for node in plan.nodes]
        assert len({*interfaces, *nodes}) == len(interfaces) + len(nodes)
        assert all(len(linux_name) <= 15 for linux_name in (*interfaces, *nodes))
        shared = sum(len(bond.ports) - 1 for bond in plan.bonds)
        assert len({port.mac for port in plan.ports}) == len(interfaces) - shared
        inside = [each.address for stack in plan.stacks for each in plan.interfaces_of(stack.name)]
        addresses = list(filter(None, inside))
        assert len(set(addresses)) == len(addresses) >= len(plan.stacks)
        assert sorted(end for cable in plan.cables for end in (cable.a, cable.b)) == sorted(interfaces)
        for cable in plan.cables:
            a, b = plan.port(cable.a), plan.port(cable.b)
            assert a.autoneg or b.autoneg or a.speed_bps == b.speed_bps
        for flow in plan.flows:
            assert {flow.sender, flow.receiver} <= {host.name for host in plan.hosts}
        assert len({flow.port for flow in plan.flows}) == len(plan.flows)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_plan_obeys_the_hardware(name: str) -> None:
    """XON below XOFF below the buffer, a frame fits everywhere, a hub has no queue."""
    for port in (port for plan in plans(name).values() for port in plan.ports):
        assert 0 < port.xon_bytes < port.xoff_bytes <= port.buffer_bytes
        assert port.buffer_bytes >= port.mtu_bytes + 14
        assert (port.queue is None) == (port.role == "repeat")
        if port.queue is not None and port.queue.limit_bytes is not None:
            assert port.queue.limit_bytes >= port.mtu_bytes + 14


def test_macs_and_addresses_are_fixed() -> None:
    """The same wiring has the same addresses in every run: node and port in the MAC, host in the address."""
    plan = plans("sfp-mismatch")["main"]
    assert {port.name: (port.mac, port.address) for port in plan.ports} == {
        "server-eth0": ("02:00:00:00:01:01", "10.0.0.1/24"),
        "switch-p1": ("02:00:00:00:02:01", None),
        "switch-p2": ("02:00:00:00:02:02", None),
        "module-host": ("02:00:00:00:03:01", None),
        "module-line": ("02:00:00:00:03:02", None),
        "client-eth0": ("02:00:00:00:04:01", "10.0.0.2/24"),
    }


def test_a_switch_without_flow_control_drops_at_its_egress_queue() -> None:
    """Each egress queue has its own limit, the shared buffer takes in whatever comes."""
    port = plans("sfp-mismatch")["main"].port("switch-p2")
    assert port.queue == Queue("etherfifo", 107_520)
    assert (port.buffer_bytes, port.buffer_cell_bytes) == (1_569_792, 384)
    assert not port.pause_tx


def test_a_switch_with_flow_control_bounds_what_comes_in() -> None:
    """XOFF and the headroom bound each ingress port, the egress queue only the shared buffer."""
    port = plans("sfp-flow-control")["main"].port("switch-p1")
    assert (port.xoff_bytes, port.xon_bytes, port.buffer_bytes) == (108_672, 104_832, 127_872)
    assert port.queue == Queue("etherfifo", 1_569_792)
    assert port.pause_tx
    assert port.pause_rx


def test_a_modules_fifo_is_its_egress_queue() -> None:
    """Without PAUSE the FIFO is the only limit: the ingress side never is."""
    for name in ("module-host", "module-line"):
        port = plans("sfp-mismatch")["main"].port(name)
        assert port.queue == Queue("bfifo", 16_384)
        assert port.buffer_bytes > 2 * 16_384
        assert port.tx_ring_frames == 1
        assert not port.pause_tx


def test_a_module_with_pause_says_it_to_the_switch() -> None:
    """Its own thresholds within its FIFO, on the side of the switch; the line side stays silent."""
    plan = plans("sfp-flow-control")["main"]
    host, line = plan.port("module-host"), plan.port("module-line")
    assert (host.pause_tx, line.pause_tx) == (True, False)
    assert (host.xoff_bytes, host.xon_bytes, host.buffer_bytes) == (49_152, 32_768, 65_536)
    assert line.queue == Queue("bfifo", 65_536)


def test_windows_leaves_out_tcp_timestamps() -> None:
    """A host's own sysctls stand beside the pinned ones, so that its segments carry 1460 B."""
    plan = plans("sfp-mismatch")["main"]
    own = {host.name: host.sysctls for host in plan.hosts}
    assert own == {"server": {}, "client": {"net.ipv4.tcp_timestamps": "0"}}
    assert plan.sysctls["net.ipv4.tcp_timestamps"] == "1"
    assert plan.sysctls["net.ipv4.tcp_no_metrics_save"] == "1"


def test_a_sysctl_of_one_host_is_that_hosts(tmp_path: Path) -> None:
    """A scenario says the largest of three windows; none of the smaller ones is larger than that."""
    plan = _plan(
        tmp_path, "server.tcp_wmem: 2 GB, server.tcp_sack: 0, client.tcp_rmem: 100 kB, client.tcp_frto: 2"
    )
    server, client = (host.sysctls for host in plan.hosts)
    assert server == {"net.ipv4.tcp_wmem": "4096 16384 2000000000", "net.ipv4.tcp_sack": "0"}
    assert client["net.ipv4.tcp_rmem"] == "4096 100000 100000"
    assert "net.ipv4.tcp_frto" not in client


@pytest.mark.parametrize(
    ("settings", "traffic", "tcp_mib"),
    [
        ("", "", 384),
        ("client.tcp_rmem: 1024 MiB", "", 1152),
        ("client.tcp_wmem: 1024 MiB", "", 384),
        ("", ", window: 128 MiB", 768),
        ("", ", window: 64 MiB, parallel: 8", 2304),
        ("server.tcp_wmem: 2 GB, client.tcp_rmem: 2 GB", "", 3072),
    ],
)
def test_a_lab_has_memory_for_the_buffers_it_is_asked_for(
    settings: str, traffic: str, tcp_mib: int, tmp_path: Path
) -> None:
    """What TCP may hold is on top of the lab's own; what Linux doubles is doubled, and there is an end."""
    plan = _plan(tmp_path, settings, TRAFFIC.replace("time: 10 s", f"time: 10 s{traffic}"))
    assert plan.memory_bytes == (384 + tcp_mib) << 20
    assert plan.sysctls["net.ipv4.tcp_mem"] == " ".join([str(tcp_mib * 256)] * 3)


def test_a_long_path_is_netem_above_the_queue(tmp_path: Path) -> None:
    """Delay, jitter and loss of a port are netem's; the port keeps the queue in front of its wire."""
    plan = _plan(tmp_path, "server.delay: 10 ms, server.jitter: 1 ms, client.loss: 0.01 %")
    server, client = plan.port("server-eth0"), plan.port("client-eth0")
    assert server.netem == Netem(delay_ns=10_000_000, jitter_ns=1_000_000)
    assert client.netem == Netem(loss_ratio=0.0001)
    assert (server.queue, client.queue) == (Queue("fq_codel"), Queue("fq_codel"))
    assert plan.port("switch-p1").netem is None


def test_flows_run_one_after_the_other_unless_told(tmp_path: Path) -> None:
    """The first after a second, the next two seconds after all before; `with` and `start` say otherwise."""
    flows = _flows(
        tmp_path,
        "name: a, from: server, to: client, time: 10 s",
        "name: b, from: client, to: server, time: 5 s",
        "name: c, from: server, to: client, time: 20 s, with: b",
        "name: d, from: server, to: client, time: 1 s",
        "name: e, from: server, to: client, time: 1 s, start: 0 s",
    )
    begin_ns = {flow.name: flow.start_ns - phase_ns(1) for flow in flows}
    assert begin_ns == {"a": NS_PER_S, "b": 13 * NS_PER_S, "c": 13 * NS_PER_S, "d": 35 * NS_PER_S, "e": 0}


def test_every_iperf3_port_is_pinned_and_nobody_elses(tmp_path: Path) -> None:
    """Servers from 5201, clients from 40001, parallel streams each their own."""
    flows = _flows(
        tmp_path,
        "name: a, from: server, to: client, time: 1 s",
        "name: b, from: server, to: client, time: 1 s, parallel: 4",
        "name: c, from: server, to: client, time: 1 s",
    )
    assert [(flow.port, flow.client_port, flow.parallel) for flow in flows] == [
        (5201, 40001, 1),
        (5202, 40002, 4),
        (5203, 40006, 1),
    ]


def test_congestion_control_is_the_flows_then_the_hosts(tmp_path: Path) -> None:
    """It is pinned for each TCP flow; UDP has none but a payload that fills a frame."""
    traffic = "traffic:\n" + "".join(
        f"  - iperf3: {{name: {name}, from: {sender}, to: {to}, time: 1 s{more}}}\n"
        for name, sender, to, more in (
            ("a", "server", "client", ""),
            ("b", "server", "client", ", congestion: reno"),
            ("c", "client", "server", ""),
            ("d", "client", "server", ", protocol: udp, bitrate: 1 Gbit/s"),
        )
    )
    head = f"{HEAD}with: {{server.congestion: bbr, client.mtu: 1400 B}}\n"
    loaded = load_file(scenario(tmp_path, head=head, traffic=traffic, expect=EXPECT_A), SHIPPED)
    flows = build_plan(loaded, loaded.cases[0], 1).flows
    assert [
        (flow.congestion, flow.payload_bytes, flow.bitrate_bps) for flow in flows if isinstance(flow, Iperf3)
    ] == [
        ("bbr", None, None),
        ("reno", None, None),
        ("cubic", None, None),
        (None, 1372, 10**9),
    ]


def test_a_larger_network_may_take_longer_to_come_farther() -> None:
    """It is set up node by node before anything happens that tells of progress."""
    small, large = plans("pcie-x1")["x1"], next(iter(plans("incast").values()))
    assert small.wall_limit_s < large.wall_limit_s


def test_the_seed_moves_the_start_within_a_tick_and_changes_nothing_else(tmp_path: Path) -> None:
    """Randomness is an argument: of the lab, and of the phase in which all flows start together."""
    loaded = experiment(tmp_path)
    one, other = (build_plan(loaded, loaded.cases[0], seed) for seed in (1, 2))
    assert all(0 <= phase_ns(seed) < TICK_NS for seed in range(100))
    shifted = tuple(replace(flow, start_ns=flow.start_ns - phase_ns(1) + phase_ns(2)) for flow in one.flows)
    assert replace(one, seed=2, traffic=shifted) == other
