"""Links as they came out: what is measured of them, why they are so, and the laws that hold for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from recorded import G, Recording, plan, recording, with_ports

from wirelab.errors import LabError
from wirelab.model.expect import Expectation
from wirelab.plan.ceiling import ceiling, ceiling_bps
from wirelab.plan.node import Firewall, Hub, Route
from wirelab.plan.path import flow_path
from wirelab.plan.types import Bus, Cpu, Plan
from wirelab.results.result import read_result
from wirelab.verdict.checks import check, check_laws
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.verdict.checks import Check

MODES = ("100baseT_Half", "100baseT_Full", "2500baseT_Full")


def judged(metric: str, low: int, recorded: Recording, folder: Path, the_plan: Plan | None = None) -> Check:
    """The check of one metric of the client, at exactly ``low``."""
    the_plan = the_plan or plan()
    result = read_result(the_plan, recorded.write(folder))
    return check(Expectation("client", metric, low, low), the_plan, result)


def test_a_link_is_up_or_down(tmp_path: Path) -> None:
    """A word is measured and a word is expected; both ends of the cable are told about."""
    recorded = recording()
    assert judged("link", 1, recorded, tmp_path / "up").verdict is Verdict.PASS
    recorded.cut("client-eth0", "module-line")
    outcome = judged("link", 1, recorded, tmp_path / "down")
    assert (outcome.verdict, outcome.expected, outcome.measured) == (Verdict.FAIL, "up", "down")
    assert outcome.explanation == (
        "expected link up, measured down; client is forced to 2.5 Gbit/s; module.line is forced to 2.5 Gbit/s"
    )


def test_what_was_offered_explains_a_link(tmp_path: Path) -> None:
    """The modes in the words of a scenario, and whose link a port depends on."""
    negotiating = with_ports(plan(), "client-eth0", autoneg=True, advertise=MODES)
    outcome = judged("speed", 2_500_000_000, recording(negotiating), tmp_path / "offer", negotiating)
    assert outcome.explanation == (
        "client offers 100 Mbit/s half, 100 Mbit/s, 2.5 Gbit/s; module.line is forced to 2.5 Gbit/s"
    )
    following = with_ports(plan(), "module-line", follow="module-host")
    outcome = judged("link", 1, recording(following), tmp_path / "follow", following)
    assert outcome.explanation is not None
    assert outcome.explanation.endswith("module.line is forced to 2.5 Gbit/s while module.host has a link")


def test_without_a_link_there_is_no_speed_and_no_duplex(tmp_path: Path) -> None:
    """That is a failed expectation, not one that cannot be judged."""
    recorded = recording()
    recorded.cut("client-eth0", "module-line")
    assert judged("speed", 2_500_000_000, recorded, tmp_path / "speed").measured == "0 bit/s"
    outcome = judged("duplex", 1, recorded, tmp_path / "duplex")
    assert (outcome.verdict, outcome.expected, outcome.measured) == (Verdict.FAIL, "full", "no link")


def test_the_speed_of_the_link_is_the_one_that_counts(tmp_path: Path) -> None:
    """What a port offered at most is forgotten as soon as it is known what came of it."""
    hopeful = with_ports(plan(), "client-eth0", "module-line", autoneg=True, speed_bps=10 * G)
    recorded = recording()
    result = read_result(hopeful, recorded.write(tmp_path))
    assert {hop.rate_bps for hop in flow_path(hopeful, hopeful.flows[1])} == {10 * G}
    linked = result.linked(hopeful)
    assert min(hop.rate_bps for hop in flow_path(linked, linked.flows[1])) == 2_500_000_000
    assert check_laws(hopeful, result) == ()


def test_a_cable_without_a_link_leads_nowhere(tmp_path: Path) -> None:
    """No flow has a path over it."""
    recorded = recording()
    recorded.cut("client-eth0", "module-line")
    result = read_result(plan(), recorded.write(tmp_path))
    assert flow_path(result.linked(plan()), plan().flows[1]) == ()


def test_one_end_alone_has_no_link(tmp_path: Path) -> None:
    """A cable has a link at both ends or at none, and the same all the time."""
    recorded = recording()
    recorded.cut("client-eth0")
    found = check_laws(plan(), read_result(plan(), recorded.write(tmp_path / "one")))
    assert [violation.explanation for violation in found if violation.name == "law.link"] == [
        "module.line to client: one end of the cable has a link, the other has none"
    ]
    recorded = recording()
    recorded.snapshot("download:start")["links"]["client-eth0"]["speed_bps"] = G
    found = check_laws(plan(), read_result(plan(), recorded.write(tmp_path / "changed")))
    assert [violation.name for violation in found] == ["law.link"]


def test_both_ends_are_at_one_speed(tmp_path: Path) -> None:
    """The duplex may differ, that mistake is a classic; the speed cannot."""
    recorded = recording()
    for snapshot in recorded.counters["snapshots"]:
        snapshot["links"]["client-eth0"]["duplex"] = "half"
    assert check_laws(plan(), read_result(plan(), recorded.write(tmp_path / "duplex"))) == ()
    for snapshot in recorded.counters["snapshots"]:
        snapshot["links"]["client-eth0"]["speed_bps"] = 5 * G
    found = check_laws(plan(), read_result(plan(), recorded.write(tmp_path / "speed")))
    assert {violation.name for violation in found} == {"law.link"}


def test_a_cpu_is_not_busy_for_longer_than_there_was_time(tmp_path: Path) -> None:
    """One core serves one frame after the other."""
    recorded = recording()
    recorded.stats("start", "client-eth0")["cpu_busy_ns"] = 0
    recorded.stats("end", "client-eth0")["cpu_busy_ns"] = recorded.snapshot("end")["at_ns"]
    assert check_laws(plan(), read_result(plan(), recorded.write(tmp_path / "full"))) == ()
    assert judged("cpu_busy", 1_000_000, recorded, tmp_path / "share").verdict is Verdict.PASS
    recorded.stats("end", "client-eth0")["cpu_busy_ns"] += 1
    found = check_laws(plan(), read_result(plan(), recorded.write(tmp_path / "more")))
    assert [violation.name for violation in found] == ["law.cpu"]


def test_links_that_are_missing_are_a_broken_lab(tmp_path: Path) -> None:
    """The message names file and field."""
    recorded = recording()
    recorded.snapshot("start")["links"]["client-eth0"]["duplex"] = "both"
    with pytest.raises(LabError, match=r"counters\.json: snapshots\[0\]\.links\.client-eth0\.duplex"):
        read_result(plan(), recorded.write(tmp_path))


def test_a_bus_can_be_slower_than_the_line() -> None:
    """1448 B of payload in what a frame of 1514 B takes on the bus, in whole transactions."""
    slow = with_ports(plan(), "client-eth0", bus=Bus(2 * G, 128, 26, 64))
    assert ceiling_bps(slow, slow.flows[1]) == pytest.approx(1448 / (1514 + 12 * 26 + 64) * 2 * G)
    fast = with_ports(plan(), "client-eth0", bus=Bus(8 * G, 128, 26, 64))
    assert ceiling_bps(fast, fast.flows[1]) == pytest.approx(1448 / 1538 * 2.5 * G)


def test_a_cpu_can_be_slower_than_the_line() -> None:
    """At 2.5G the knee is at 4.9 us a frame; below it the line decides, above it the CPU."""
    for cost_ns, expected_bps in ((4900, 1448 / 1538 * 2.5 * G), (7000, 1448 * 8 / 7e-6)):
        slow = with_ports(plan(), "client-eth0", cpu=Cpu(1, rx_frame_ns=cost_ns))
        assert ceiling_bps(slow, slow.flows[1]) == pytest.approx(expected_bps)
    assert ceiling_bps(slow, slow.flows[0]) == pytest.approx(1448 / 1538 * 2.5 * G)
    bottlenecks = [limit.bottleneck for flow in slow.flows if (limit := ceiling(slow, flow))]
    assert bottlenecks == ["the line from client to module.line", "the CPU of client"]
    by_byte = with_ports(plan(), "client-eth0", cpu=Cpu(1, rx_byte_ps=5000))
    assert ceiling_bps(by_byte, by_byte.flows[1]) == pytest.approx(1448 * 8 / (1514 * 5e-9))


def test_ports_that_share_a_cpu_share_its_time() -> None:
    """A firewall takes a frame in by one port and sends it by another, one after the other."""
    cpu = Cpu(7, rx_frame_ns=4000, tx_frame_ns=3000)
    original = with_ports(plan(), "switch-p1", "switch-p2", cpu=cpu, role="host")
    routed = replace(
        original, switches=(), firewalls=(Firewall("switch", "linux", routes=(Route("a", "b"),)),)
    )
    assert len(flow_path(routed, routed.flows[1])) == 3
    assert ceiling_bps(routed, routed.flows[1]) == pytest.approx(1448 * 8 / 7e-6)


def test_what_enters_a_hub_leaves_it_everywhere_else(tmp_path: Path) -> None:
    """A repeater swallows nothing."""
    repeated = replace(plan(), switches=(), hubs=(Hub("switch", "hub-100"),))
    recorded = recording(repeated)
    result = read_result(repeated, recorded.write(tmp_path / "sound"))
    assert check_laws(repeated, result) == ()
    recorded.stats("end", "switch-p1")["rx_frames"] += 1
    recorded.stats("end", "switch-p1")["rx_wire_frames"] += 1
    found = check_laws(repeated, read_result(repeated, recorded.write(tmp_path / "swallowed")))
    assert "switch.p2: 220 000 frames left, 220 001 had entered switch elsewhere" in [
        violation.explanation for violation in found
    ]


def test_a_path_leads_through_a_hub() -> None:
    """As through a switch."""
    repeated = replace(plan(), switches=(), hubs=(Hub("switch", "hub-100"),))
    assert len(flow_path(repeated, repeated.flows[0])) == 3
