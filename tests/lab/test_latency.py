"""What a PHY and a switch take for a frame, beside the line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.lab.rig import GBPS, NS_PER_S, forward_port, host_port, plan
from wirelab.plan.node import Switch
from wirelab.plan.traffic import Ping
from wirelab.plan.types import Cable
from wirelab.results.result import read_result
from wirelab.verdict.checks import check_laws

if TYPE_CHECKING:
    from tests.lab.rig import Rig

FRAME = 1514
CABLE_NS = 15
WIRE_NS = (8 + FRAME + 4) * 0.8
# Each timer of the lab fires on a whole nanosecond, and up to one later.
CLOCK_NS = 3
NS_PER_US = 1000


def through(rig: Rig, latency_ns: int, count: int, *commands: str) -> dict[str, Any]:
    """Send frames through a bridge; what p2 has let in is accounted for."""
    told = rig.script("forward_latency.py", str(latency_ns), str(count), str(FRAME), *commands)
    for counted in (told["held"], told["counted"]):
        taken = counted.get("rx_frames", 0) + counted.get("rx_dropped_down", 0)
        assert counted.get("rx_wire_frames", 0) == taken + counted.get("rx_ring_frames", 0)
    return told


@pytest.mark.parametrize("latency_ns", [0, 1, 800, 5000, 1_000_000])
def test_a_frame_is_on_its_way_for_what_the_switch_takes(rig: Rig, latency_ns: int) -> None:
    """Two lines, two cables and the latency between them, to the nanosecond."""
    [(_, took_ns)] = through(rig, latency_ns, 1)["arrived"]
    assert 0 <= took_ns - (2 * (WIRE_NS + CABLE_NS) + latency_ns) <= CLOCK_NS


def test_frames_behind_each_other_are_late_by_the_same(rig: Rig) -> None:
    """It is a delay and no bottleneck: what comes at line rate goes on at line rate, in order."""
    at_once, later = (through(rig, latency_ns, 50)["arrived"] for latency_ns in (0, 5000))
    assert [number for number, _ in later] == list(range(50))
    late_ns = [after - before for (_, before), (_, after) in zip(at_once, later, strict=True)]
    assert all(abs(ns - 5000) <= CLOCK_NS for ns in late_ns)


def test_a_frame_that_waits_is_in_the_buffer(rig: Rig) -> None:
    """It is charged from when it has come until it has left the node."""
    told = through(rig, NS_PER_S, 5)
    assert (told["held"]["rx_ring_frames"], told["held"]["buffer_bytes"]) == (5, 5 * FRAME)
    assert (told["counted"]["rx_ring_frames"], told["counted"]["buffer_bytes"]) == (0, 0)
    assert len(told["arrived"]) == 5


@pytest.mark.parametrize(
    ("command", "dropped", "arrived"),
    [
        ("ip link set p2 down", 5, 0),
        ("ip link set p3 down", 0, 0),
        ("ip link set p2 nomaster", 0, 0),
        ("ip link del p4", 0, 0),
        ("echo 0 > /sys/class/net/p2/etherport/forward_latency_ns", 0, 5),
    ],
)
def test_what_happens_meanwhile_loses_nothing_unnamed(
    rig: Rig, command: str, dropped: int, arrived: int
) -> None:
    """A port that goes down drops what it has not passed on; who goes later finds the way gone."""
    told = through(rig, NS_PER_S, 5, command)
    counted = told["counted"]
    assert counted["rx_dropped_down"] == dropped
    assert (counted["rx_ring_frames"], counted["buffer_bytes"]) == (0, 0)
    assert [number for number, _ in told["arrived"]] == list(range(arrived))


def test_a_port_is_deleted_with_frames_on_their_way(rig: Rig) -> None:
    """It takes them with it."""
    assert through(rig, NS_PER_S, 5, "ip link del p2")["arrived"] == []


def test_a_shorter_latency_lets_nobody_overtake(rig: Rig) -> None:
    """Frames that come after a change wait for those before it."""
    send = (
        "echo 0 > /sys/class/net/p2/etherport/forward_latency_ns; "
        "python3 -c \"import sys; sys.path.insert(0, '.'); from inside import *; "
        "packet_socket('p1').send(data_frame()[:14] + (5).to_bytes(4) + bytes(1496))\""
    )
    told = through(rig, NS_PER_S, 5, send)
    assert [number for number, _ in told["arrived"]] == list(range(6))


def rtt_us(rig: Rig, cable_ns: int, latency_ns: int) -> float:
    """The mean round trip of a ping through a switch; ping rounds each to a microsecond."""
    ports = [
        host_port(name, number, 10 * GBPS, rx_usecs=0) for number, name in enumerate(("a", "b"), start=1)
    ]
    ports += [
        forward_port("s1", f"p{number}", number, 10 * GBPS, forward_latency_ns=latency_ns)
        for number in (1, 2)
    ]
    cables = [Cable("a-eth0", "s1-p1", cable_ns), Cable("b-eth0", "s1-p2", cable_ns)]
    ping = Ping(name="ping", sender="a", receiver="b", start_ns=0, duration_ns=NS_PER_S, interval_ns=10**7)
    plan_ = replace(plan(ports, cables, [], switches=(Switch("s1", "test"),)), traffic=(ping,))
    result = read_result(plan_, rig.run(plan_))
    assert [violation.explanation for violation in check_laws(plan_, result)] == []
    rtt = result.pings["ping"].rtt
    assert rtt is not None
    return rtt.mean_us


def test_a_round_trip_is_the_sum_of_what_is_on_its_way(rig: Rig) -> None:
    """Four cables and two passages of the switch, beside what two hosts and four lines take."""
    plain = rtt_us(rig, CABLE_NS, 0)
    assert rtt_us(rig, CABLE_NS + 100 * NS_PER_US, 0) - plain == pytest.approx(400, abs=1.5)
    assert rtt_us(rig, CABLE_NS, 100 * NS_PER_US) - plain == pytest.approx(200, abs=1.5)


@pytest.mark.parametrize(("speed_mbps", "delay_ns"), [(100, 5000), (1000, 0), (1000, 500), (10000, 50)])
def test_no_frame_is_there_before_light_could_bring_it(rig: Rig, speed_mbps: int, delay_ns: int) -> None:
    """From its sender's hands on it takes its line and the cable, however soon after another one has come."""
    shortest_ns = (8 + 60 + 4) * 8000 / speed_mbps
    gaps_ns = [round((delay_ns + 2 * shortest_ns) * part / 100) for part in range(1, 101)]
    told = rig.script("one_by_one.py", str(speed_mbps), str(delay_ns), *map(str, gaps_ns))
    took_ns = [arrived_ns - given_ns for given_ns, arrived_ns in told["pairs"]]
    assert len(took_ns) == len(gaps_ns)
    assert min(took_ns) >= shortest_ns + delay_ns
