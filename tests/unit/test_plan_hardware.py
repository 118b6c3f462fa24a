"""What a port has besides a buffer: its link, bus, CPU, shared memory, priorities and queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from examples import SHIPPED, scenario
from hypothesis import given
from hypothesis import strategies as st

from wirelab.model.bus import bus_of
from wirelab.model.experiment import load_file
from wirelab.plan.build import build_plan
from wirelab.plan.capture import Capture
from wirelab.plan.iproute2 import egress, routes
from wirelab.plan.physics import plan_bus
from wirelab.plan.port_settings import settings_of
from wirelab.plan.queue import Queue
from wirelab.plan.types import Cpu, Netem, Plan, Pool

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

G = 1_000_000_000


def plan(folder: Path, settings: str = "", topology: str = "sfp-home", port: str = "client") -> Plan:
    """The Plan of a scenario without traffic, with ``settings`` (the inside of ``with: {}``)."""
    head = f"name: example\nsource: {{title: a test}}\ntopology: {topology}\nwith: {{{settings}}}\n"
    expect = f"expect:\n  {port}: {{link: up}}\n"
    loaded = load_file(scenario(folder, head=head, traffic="traffic: []\n", expect=expect), SHIPPED)
    return build_plan(loaded, loaded.cases[0], 1)


def test_a_forced_port_is_as_it_always_was(tmp_path: Path) -> None:
    """Neither speed nor PAUSE is negotiated where the cable has a speed."""
    for port in plan(tmp_path).ports:
        assert (port.autoneg, port.advertise, port.pause_autoneg, port.follow) == (False, (), False, None)
        assert (port.bus, port.cpu, port.pool, port.pfc) == (None, None, None, ())


def test_a_port_that_negotiates_says_what_it_offers(tmp_path: Path) -> None:
    """By the kernel's names, PAUSE too; its speed is the fastest of them, for want of a better one."""
    port = plan(tmp_path, "client.advertise: 100..2500 Mbit/s", "sfp-auto").port("client-eth0")
    assert port.autoneg
    assert port.pause_autoneg
    assert port.advertise == ("100baseT_Half", "100baseT_Full", "1000baseT_Full", "2500baseT_Full")
    assert port.speed_bps == 2_500_000_000


def test_a_module_follows_its_line(tmp_path: Path) -> None:
    """The side in the slot by the interface name of the other one, the line nobody."""
    built = plan(tmp_path, "", "sfp-auto")
    assert built.port("module-host").follow == "module-line"
    assert built.port("module-line").follow is None


def test_a_hubs_ports_repeat(tmp_path: Path) -> None:
    """They hold nothing and have no queue; the hub is a node of its own."""
    built = plan(tmp_path, "", "hub", "one")
    assert [hub.part for hub in built.hubs] == ["hub-10"]
    for port in built.ports_of("hub"):
        assert (port.role, port.queue, port.duplex, port.speed_bps) == ("repeat", None, "half", 10_000_000)


@pytest.mark.parametrize(
    ("words", "raw_gbps", "usable_gbps"),
    [
        ("pcie-2 x1", 4.0, (3.1, 3.4)),
        ("pcie-3 x1", 7.877, (6.2, 6.5)),
        ("pcie-3 x4", 31.5, (24.0, 26.0)),
        ("usb-3", 4.0, (3.4, 3.55)),
    ],
)
def test_a_bus_carries_what_is_known_of_it(
    words: str, raw_gbps: float, usable_gbps: tuple[float, float]
) -> None:
    """Line coding first, then what transactions and descriptors leave of it, at an MTU of 1500."""
    bus = plan_bus(*bus_of(words, SHIPPED.parts().buses))
    assert bus.bps == pytest.approx(raw_gbps * G, rel=1e-3)
    frame = 1514
    cost = frame + -(-frame // bus.payload_bytes) * bus.overhead_bytes + bus.frame_bytes
    assert usable_gbps[0] * G < bus.bps * frame / cost < usable_gbps[1] * G


@given(st.sampled_from([1, 2, 4, 8, 16]))
def test_lanes_multiply(lanes: int) -> None:
    """Twice the lanes, twice the rate; a transaction costs the same."""
    buses = SHIPPED.parts().buses
    one, more = (plan_bus(buses["pcie-3"], count) for count in (1, lanes))
    assert abs(more.bps - lanes * one.bps) < lanes
    assert more.overhead_bytes == one.overhead_bytes


def test_a_slot_can_be_a_poorer_one_than_the_cards(tmp_path: Path) -> None:
    """A setting puts the card elsewhere, and another one says what the chipset's largest payload is."""
    fast = plan(tmp_path, "", "one-switch").port("client-eth0").bus
    slow = plan(tmp_path, "client.bus: pcie-3 x1, client.bus_payload: 256 B", "one-switch")
    bus = slow.port("client-eth0").bus
    assert fast is not None
    assert bus is not None
    assert fast.bps // 4 == pytest.approx(bus.bps, abs=1)
    assert (fast.payload_bytes, bus.payload_bytes) == (128, 256)


def test_a_host_and_its_driver_share_a_cpu(tmp_path: Path) -> None:
    """What the system takes and what the driver takes add up; a setting says it all."""
    port = plan(tmp_path, "client: macbook-2019-security, patch.speed: 1 Gbit/s").port("client-eth0")
    assert port.cpu == Cpu(4, 500, 4200, 500, 4200)
    both = "client: macbook-2019-security, client.nic: ax88179-user-driver, patch.speed: 1 Gbit/s"
    assert plan(tmp_path, both).port("client-eth0").cpu == Cpu(4, 19_500, 4200, 19_500, 4200)
    said = f"{both}, client.rx_frame: 7 us, client.tx_byte: 0 ns"
    assert plan(tmp_path, said).port("client-eth0").cpu == Cpu(4, 7000, 4200, 19_500, 0)


def test_a_host_that_captures_has_a_disk_and_a_cpu(tmp_path: Path) -> None:
    """A frame costs more the more of the capture waits to be written; nobody else's does."""
    said = "client.capture_frame: 8 us, client.capture_backlog: 100 MB, client.capture_rate: 130 MB/s"
    built = plan(tmp_path, said)
    client, server = built.port("client-eth0"), built.port("server-eth0")
    assert (client.cpu, client.capture) == (Cpu(4), Capture(8000, 100_000_000, 130_000_000))
    assert (server.cpu, server.capture) == (None, None)


def test_a_firewalls_cost_follows_from_its_rules(tmp_path: Path) -> None:
    """A frame costs the base and every rule up to the one that accepts it; all ports share one core."""
    built = plan(tmp_path, "firewall: nft-1000-rules", "firewall")
    cpus = [port.cpu for port in built.ports_of("firewall")]
    assert cpus == [Cpu(2, rx_frame_ns=800 + 1001 * 6)] * 2
    (firewall,) = built.firewalls
    rules = [line for line in firewall.nft.splitlines() if line.startswith("add rule ")]
    assert len(rules) == 1001
    assert rules[-1].endswith("counter accept")


def test_a_stateful_firewall_compares_a_connection_once(tmp_path: Path) -> None:
    """Its first rule lets pass what belongs to a connection, so the other 1000 cost nothing."""
    built = plan(tmp_path, "firewall: nft-1000-rules, firewall.stateful: on", "firewall")
    assert built.port("firewall-p1").cpu == Cpu(2, rx_frame_ns=806)
    assert "established,related accept" in built.firewalls[0].nft.splitlines()[2]


def test_what_is_blocked_is_in_the_rules(tmp_path: Path) -> None:
    """In front of everything but connections, and it costs the rules that it is."""
    settings = "firewall: nft-1000-rules, firewall.rules: 0, firewall.block: [tcp 5202, udp]"
    built = plan(tmp_path, settings, "firewall")
    lines = built.firewalls[0].nft.splitlines()[2:]
    assert [line.removeprefix("add rule inet firewall forward ") for line in lines] == [
        "tcp dport 5202 counter drop",
        "meta l4proto udp counter drop",
        "counter accept",
    ]
    assert built.port("firewall-p1").cpu == Cpu(2, rx_frame_ns=800 + 3 * 6)


def test_a_memory_that_can_run_out_is_shared(tmp_path: Path) -> None:
    """All ports of a switch have the same pool, unless all their queues together fit into it anyway."""
    assert all(port.pool is None for port in plan(tmp_path).ports)
    built = plan(tmp_path, "switch.buffer: 200 kB")
    assert [port.pool for port in built.ports_of("switch")] == [Pool(2, 200_000)] * 2
    assert all(port.pool is None for port in built.ports if port.node != "switch")
    assert plan(tmp_path, "switch.queue_limit: 1.5 MB").port("switch-p1").pool == Pool(2, 1_569_792)


def test_a_memory_with_cells_has_its_own_queue(tmp_path: Path) -> None:
    """One that counts in cells, and is told its limit by the port; memories without cells keep tc's."""
    own = {"buffer_cell_bytes": "384", "queue_limit_bytes": "107520"}
    built = plan(tmp_path)
    for name, wanted in (("switch-p1", own), ("module-host", {}), ("server-eth0", {})):
        port = built.port(name)
        said = {setting.name: str(value) for setting, value in settings_of(port, built.cable_of(name))}
        assert {key: said[key] for key in own if key in said} == wanted
    coarse = plan(tmp_path, "switch: sfp-2g5, switch.cell: 1 KiB, switch.queue: fq_codel").port("switch-p1")
    assert (coarse.buffer_cell_bytes, coarse.queue) == (1024, Queue("fq_codel"))


def test_dynamic_thresholds_are_the_queues_or_the_ingress_ports(tmp_path: Path) -> None:
    """Who drops limits the queues, who says stop what comes in; both by a memory that all ports share."""
    for settings, alphas in (
        ("switch.alpha: 1/4", [(32, 0)] * 2),
        ("switch.alpha: 2, switch.flow_control: on", [(0, 256)] * 2),
        ("switch.alpha: 2, switch.p1.flow_control: on", [(0, 256), (0, 0)]),
        ("switch.alpha: off", [(0, 0)] * 2),
    ):
        ports = plan(tmp_path, f"switch: sfp-2g5, {settings}").ports_of("switch")
        assert [(port.queue_alpha_128ths, port.xoff_alpha_128ths) for port in ports] == alphas
        dynamic = any(alphas[0])
        assert {port.pool for port in ports} == {Pool(2, 1_500_000) if dynamic else None}
        assert {port.queue.kind for port in ports if port.queue} == {"etherfifo" if dynamic else "bfifo"}
    one_busy = plan(tmp_path, "switch: triumph", "eight-servers")
    assert one_busy.port("switch-p1").queue_alpha_128ths == 32


def test_bursts_are_as_long_as_the_host_is_told(tmp_path: Path) -> None:
    """Nobody says: the kernel's own bound. Where a long path begins they are single frames."""
    assert all(port.gso_max_segs is None for port in plan(tmp_path).ports)
    built = plan(tmp_path, "server.gso_max_segs: 4, client.delay: 1 ms")
    assert {port.label: port.gso_max_segs for port in built.ports if port.gso_max_segs} == {
        "server": 4,
        "client": 1,
    }
    both = plan(tmp_path, "server.gso_max_segs: 1, server.delay: 1 ms")
    assert both.port("server-eth0").gso_max_segs == 1


def test_a_pause_takes_as_long_as_the_standard_allows(tmp_path: Path) -> None:
    """By the speed of the link, unless somebody says otherwise; who does not obey has no reaction."""
    built = plan(tmp_path, "switch.p1.flow_control: on")
    assert built.port("server-eth0").pause_reaction_ns == built.port("switch-p1").pause_reaction_ns == 3072
    assert built.port("client-eth0").pause_reaction_ns == 12_288
    assert built.port("switch-p2").pause_reaction_ns == 0
    said = plan(tmp_path, "switch.pfc: 3, switch.pause_reaction: 1 us, switch.p1.pause_reaction: 0 ns")
    assert [said.port(f"switch-p{number}").pause_reaction_ns for number in (1, 2)] == [0, 1000]


def test_a_link_that_negotiates_is_as_fast_as_both_its_ends(tmp_path: Path) -> None:
    """Behind a module whose two sides run alike it is as fast as the line, in the slot as well."""
    built = plan(tmp_path, "module: 2g5base-t, switch: sfp-2g5, switch.flow_control: on", "sfp-auto")
    assert built.port("switch-p2").speed_bps == 10 * G
    assert built.port("switch-p2").pause_reaction_ns == 12_288
    slow = plan(tmp_path, "client.advertise: 1 Gbit/s", "sfp-auto")
    assert slow.port("client-eth0").pause_reaction_ns == 1024


def test_pfc_takes_the_place_of_pause(tmp_path: Path) -> None:
    """Thresholds and headroom as with PAUSE, a queue for each priority, and no PAUSE on such a port."""
    built = plan(tmp_path, "switch.pfc: [3], switch.trust: dscp, server.pfc: [5, 3]")
    port = built.port("switch-p1")
    assert (port.pfc, port.trust, built.port("server-eth0").pfc) == ((3,), "dscp", (3, 5))
    assert (port.pause_rx, port.pause_tx, port.buffer_bytes) == (False, False, 127_872)
    lines = list(egress(port))
    assert lines[0] == "qdisc replace dev switch-p1 root handle 1: mq"
    assert lines[4] == "qdisc replace dev switch-p1 parent 1:4 etherfifo"
    assert len(lines) == 9


@pytest.mark.parametrize(
    ("settings", "queue", "words"),
    [
        ("", Queue("etherfifo", 107_520), "etherfifo"),
        ("switch.p2.queue_limit: 64 KiB", Queue("etherfifo", 65_536), "etherfifo"),
        ("switch.p2.queue: bfifo", Queue("etherfifo", 107_520), "etherfifo"),
        ("switch: sfp-2g5", Queue("bfifo", 107_500), "bfifo limit 107500"),
        ("switch.queue: fq_codel", Queue("fq_codel"), "fq_codel"),
        (
            "switch.p2.queue: fq_codel, switch.p2.queue_limit: 500 frames, switch.p2.ecn: off",
            Queue("fq_codel", limit_frames=500, ecn=False),
            "fq_codel limit 500 noecn",
        ),
        (
            "switch.p2.queue: cake, switch.p2.queue_limit: 1 MB",
            Queue("cake", 1_000_000),
            "cake memlimit 1000000",
        ),
        ("switch.p2.queue: pfifo_fast", Queue("pfifo_fast"), "pfifo_fast"),
    ],
)
def test_any_port_may_have_another_queue(tmp_path: Path, settings: str, queue: Queue, words: str) -> None:
    """With its limit in what the qdisc counts: bytes or frames."""
    port = plan(tmp_path, settings).port("switch-p2")
    assert port.queue == queue
    assert list(egress(port)) == [f"qdisc replace dev switch-p2 root {words}"]


def test_a_shaper_stands_between_path_and_queue(tmp_path: Path) -> None:
    """What netem has held back comes to the shaper, and what that does not let pass waits in the queue."""
    settings = "switch: sfp-2g5, switch.p2.rate: 50 Mbit/s"
    assert list(egress(plan(tmp_path, settings).port("switch-p2"))) == [
        "qdisc replace dev switch-p2 root handle 1: htb default 1",
        "class replace dev switch-p2 parent 1: classid 1:1 htb rate 50000000bit burst 1600b cburst 1600b",
        "qdisc replace dev switch-p2 parent 1:1 bfifo limit 107500",
    ]
    assert list(egress(plan(tmp_path, f"{settings}, switch.p2.delay: 1 ms").port("switch-p2"))) == [
        "qdisc replace dev switch-p2 root handle 1: netem limit 1000000 delay 1000000ns",
        "qdisc replace dev switch-p2 parent 1: handle 2: htb default 1",
        "class replace dev switch-p2 parent 2: classid 2:1 htb rate 50000000bit burst 1600b cburst 1600b",
        "qdisc replace dev switch-p2 parent 2:1 bfifo limit 107500",
    ]


def _sysctls(built: Plan, name: str) -> Mapping[str, str]:
    return next(host.sysctls for host in built.hosts if host.name == name)


def test_a_host_has_the_tcp_of_its_system(tmp_path: Path) -> None:
    """As far as Linux can be told to; a scenario has the last word."""
    built = plan(tmp_path, "client: macbook-2019")
    assert built.port("client-eth0").gro_max_bytes == 8 * 1500
    assert _sysctls(built, "client")["net.ipv4.tcp_rmem"] == "4096 131072 2097152"
    assert built.port("server-eth0").gro_max_bytes is None
    said = plan(tmp_path, "client: macbook-2019, client.gro_max_segs: 4, client.tcp_rmem: 1 GB")
    assert said.port("client-eth0").gro_max_bytes == 4 * 1500
    assert _sysctls(said, "client")["net.ipv4.tcp_rmem"] == "4096 131072 1000000000"
    assert plan(tmp_path, "client.gro_max_segs: 99").port("client-eth0").gro_max_bytes == 65_536


def test_a_host_may_acknowledge_at_once(tmp_path: Path) -> None:
    """A property of its routes, also of the one to its own network, which came with its address."""
    built = plan(tmp_path, "client.quickack: on, server.quickack: off")
    told = {host.name: list(routes(host, built.ports_of(host.name))) for host in built.hosts}
    assert told["server"] == []
    link = "dev client-eth0 proto kernel scope link src 10.0.0.2"
    assert told["client"] == [f"route change 10.0.0.0/24 {link} quickack 1"]


def test_ecn_of_a_host_is_tcps(tmp_path: Path) -> None:
    """A host that is to use ECN asks for it; its own queue marks as fq_codel does by default."""
    built = plan(tmp_path, "server.ecn: on, client.ecn: off")
    assert {host.name: host.sysctls.get("net.ipv4.tcp_ecn") for host in built.hosts} == {
        "server": "1",
        "client": "0",
    }
    assert built.port("server-eth0").queue == Queue("fq_codel")


def test_a_path_may_reorder(tmp_path: Path) -> None:
    """A share of the frames overtakes those that are delayed."""
    port = plan(tmp_path, "server.delay: 10 ms, server.reorder: 0.5 %").port("server-eth0")
    assert port.netem == Netem(delay_ns=10_000_000, reorder_ratio=0.005)
    assert next(egress(port)).endswith("delay 10000000ns reorder 0.5000%")
