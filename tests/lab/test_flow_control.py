"""PAUSE from end to end: what it protects, what it costs and how it is kept alive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.lab.rig import GBPS, MBPS, NS_PER_S, flow, forward_port, host_port, plan
from wirelab.plan.node import Switch
from wirelab.plan.queue import Queue
from wirelab.plan.types import Cable
from wirelab.results.result import read_result
from wirelab.verdict.checks import check_laws

if TYPE_CHECKING:
    from pathlib import Path

    from tests.lab.rig import Rig
    from wirelab.plan.types import Plan
    from wirelab.results.result import Result

LOSSLESS = {"pause_rx": True, "pause_tx": True}
QUANTUM_BITS = 512
QUANTA = 0xFFFF


def incast(senders: int, *, pause: bool) -> Plan:
    """So many 10G hosts that all send to one 1G host through a switch."""
    settings = LOSSLESS if pause else {}
    forward = {**settings, "buffer_bytes": 127_900 if pause else 1_570_000}
    queue = Queue("bfifo", 1_570_000 if pause else 107_500)
    ports = [
        forward_port("s1", "p0", 100, 1 * GBPS, **forward, queue=queue),
        host_port("sink", 100, 1 * GBPS, **settings),
    ]
    cables = [Cable("s1-p0", "sink-eth0", 15)]
    flows = []
    for number in range(1, senders + 1):
        ports.append(forward_port("s1", f"p{number}", number, 10 * GBPS, **forward, queue=queue))
        # A plain queue: fq_codel takes a long pause for a standing queue, and drops.
        ports.append(host_port(f"h{number}", number, 10 * GBPS, **settings, queue=Queue("pfifo_fast")))
        cables.append(Cable(f"s1-p{number}", f"h{number}-eth0", 15))
        flows.append(flow(f"f{number}", f"h{number}", "sink", number, 2))
    return plan(ports, cables, flows, switches=(Switch("s1", "test"),))


def judged(plan_: Plan, raw: Path) -> Result:
    """The result of a run in which no law was broken."""
    result = read_result(plan_, raw)
    assert [violation.explanation for violation in check_laws(plan_, result)] == []
    return result


def dropped(result: Result) -> int:
    """Frames dropped anywhere, by any cause."""
    return sum(sum(port.drops.values()) for port in result.ports.values())


def test_nothing_is_lost_under_eight_flows(rig: Rig) -> None:
    """With PAUSE on end to end eight senders fill a link ten times slower, and not one frame is dropped."""
    plan_ = incast(8, pause=True)
    result = judged(plan_, rig.run(plan_))
    assert dropped(result) == 0
    assert sum(outcome.retransmits or 0 for outcome in result.flows.values()) == 0
    assert sum(port.tx_pause_frames for port in result.ports.values()) > 0
    total_bps = sum(outcome.goodput_bps or 0 for outcome in result.flows.values())
    assert total_bps == pytest.approx(1 * GBPS * 1448 / 1538, rel=0.02)


def test_the_same_without_pause_loses_frames(rig: Rig) -> None:
    """The control of the test above: without PAUSE the switch has to drop."""
    plan_ = incast(8, pause=False)
    result = judged(plan_, rig.run(plan_))
    assert dropped(result) > 100


def deaf(
    rig: Rig, speed_mbps: int, seconds: float, headroom: int = 80_000, reaction_ns: int = 0
) -> dict[str, Any]:
    """What a port counted whose host took nothing for so long, and with so much room above XOFF."""
    numbers = map(str, (speed_mbps, QUANTA, seconds, headroom, reaction_ns))
    return rig.script("pause_refresh.py", *numbers)


def test_xoff_is_refreshed_before_it_runs_out(rig: Rig) -> None:
    """A receiver that is deaf for long repeats its PAUSE at half the pause time: the sender stays silent."""
    measured = deaf(rig, 1000, 0.2)
    half_s = QUANTA * QUANTUM_BITS / 1e9 / 2
    assert measured["held_s"] == pytest.approx(0.2, rel=0.05)
    assert measured["pause_frames"] == pytest.approx(measured["held_s"] / half_s, abs=2)
    assert measured["frames_while_held"] == 0
    assert measured["dropped"] == 0


FRAME, CONTROL, OVERHEAD = 1514, 60, 24


def headroom_octets(measured: dict[str, int], speed_mbps: int, reaction_ns: int) -> int:
    """What a buffer takes in above XOFF at the most: what has been sent when the sender stops."""
    ns = 2 * measured["cable_delay_ns"] + reaction_ns
    return (
        2 * (FRAME + OVERHEAD) + (CONTROL + OVERHEAD) + int(ns * speed_mbps * MBPS // 8 // NS_PER_S) + FRAME
    )


@pytest.mark.parametrize(
    ("speed_mbps", "reaction_ns"), [(100, 0), (1000, 0), (10_000, 0), (10_000, 3072), (10_000, 20_000)]
)
def test_buffer_never_rises_above_xoff_and_headroom(rig: Rig, speed_mbps: int, reaction_ns: int) -> None:
    """After XOFF a port takes what was under way: the PAUSE, the cable twice, the reaction, two frames."""
    measured = deaf(rig, speed_mbps, 0.02, reaction_ns=reaction_ns)
    most = measured["xoff_bytes"] + headroom_octets(measured, speed_mbps, reaction_ns)
    assert most - 4 * (FRAME + OVERHEAD) < measured["high_water_bytes"] <= most
    assert measured["xoff_bytes"] < measured["high_water_bytes"]
    assert measured["dropped"] == 0


@pytest.mark.parametrize(("reaction_ns", "lost"), [(0, False), (3072, True)])
def test_a_headroom_without_the_reaction_loses(rig: Rig, reaction_ns: int, lost: bool) -> None:  # noqa: FBT001 - a case of a table
    """Three frames, a PAUSE and the cable are enough for who stops at once, not for 60 quanta more."""
    measured = deaf(rig, 10_000, 0.02, 3 * 1538 + 84 + 1250, reaction_ns)
    assert (measured["dropped"] > 0) is lost


@pytest.mark.parametrize("command", ["set p1 down", "set p2 down", "del p1", "del p2"])
def test_a_pause_that_was_heard_ends_with_the_link(rig: Rig, command: str) -> None:
    """No frame takes effect later, neither at a port that is up again nor at one that is gone."""
    counted = rig.script("pause_heard.py", command)
    assert counted["paused_before"] == 0
    assert counted["heard"] == 1
    assert counted["paused_after"] == 0


def test_a_pause_that_was_heard_ends_with_flow_control(rig: Rig) -> None:
    """Who is told to obey no more before the PAUSE took effect never stops."""
    assert rig.script("pause_heard.py", "rx off") == {"paused_before": 0, "heard": 1, "paused_after": 0}


def test_a_reaction_has_its_limits(rig: Rig) -> None:
    """A second at the most."""
    command = (
        "ip link add name p1 type etherport; echo 1000000001 > /sys/class/net/p1/etherport/pause_reaction_ns"
    )
    output = rig.execute("bash", "-c", command)
    assert output.code != 0
    assert "range" in output.stderr
