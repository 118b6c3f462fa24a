"""Who PFC kept silent, and whose frames it does not stop, as sentences tell it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recorded import G, plan, recording, with_ports

from wirelab.model.expect import Expectation
from wirelab.results.result import read_result
from wirelab.verdict.bottleneck import bottlenecks
from wirelab.verdict.checks import check
from wirelab.verdict.explanation import Mechanism

if TYPE_CHECKING:
    from pathlib import Path

    from recorded import Recording

    from wirelab.plan.types import Plan

SOUND = Expectation("download", "retransmits", 0, None)
NETWORK = Expectation("network", "drops", 0, None)
OTHERS = {"download": 0, "upload": 24}


def with_pfc(marks: dict[str, int], **settings: int) -> Plan:
    """The network with PFC at priority 3 between the server and its switch, and its flows with DSCPs."""
    pfc = with_ports(plan(), "server-eth0", "switch-p1", pfc=(3,), trust="dscp", **settings)
    return replace(pfc, traffic=tuple(replace(flow, dscp=marks.get(flow.name, 24)) for flow in pfc.flows))


def silent() -> Recording:
    """A download of which priority 3 of the server was kept silent for 1.05 s of 2.1 s."""
    recorded = recording(dropped=0)
    for name in ("download:end", "end"):
        recorded.stats(name, "switch-p1")["tx_pfc_frames"] = 8120
        recorded.stats(name, "server-eth0").update(rx_pfc_frames=8120, tx_paused_ns_prio3=1_050_000_000)
    return recorded


def overrun(pfc_frames: int) -> Recording:
    """A download of which the switch's buffer dropped 5 frames, and so often told the server to stop."""
    recorded = recording(dropped=0)
    for name in ("download:end", "end"):
        recorded.stats(name, "switch-p1").update(rx_dropped_buffer=5, tx_pfc_frames=pfc_frames)
        recorded.stats(name, "server-eth0")["rx_pfc_frames"] = pfc_frames
    return recorded


def explained(expectation: Expectation, recorded: Recording, folder: Path, the_plan: Plan) -> str:
    """The explanation of one check."""
    result = read_result(the_plan, recorded.write(folder))
    return check(expectation, the_plan, result).explanation or ""


def test_a_priority_that_was_paused_is_told(tmp_path: Path) -> None:
    """Of the flow that has it, and of the network, by whom and for how long."""
    said = explained(SOUND, silent(), tmp_path / "flow", with_pfc({}))
    words = "server was paused 50 % of download's time by switch.p1 at priority 3 (8 120 PFC frames)"
    assert said == f"nothing was dropped; {words}; what was sent again had not been lost"
    said = explained(NETWORK, silent(), tmp_path / "all", with_pfc(OTHERS))
    assert "server was paused 15 % of the whole run by switch.p1 at priority 3 (8 120 PFC frames)" in said


def test_another_priority_was_not_paused(tmp_path: Path) -> None:
    """A flow that is not marked was never stopped."""
    said = explained(SOUND, silent(), tmp_path, with_pfc(OTHERS))
    assert said.startswith("nothing was dropped, no port was paused")


def test_pfc_is_what_bounds_a_flow(tmp_path: Path) -> None:
    """And its chain tells which priority filled which buffer; nobody else's of that priority was there."""
    for marks, mechanism in (({}, Mechanism.PAUSE), (OTHERS, Mechanism.WINDOW)):
        the_plan = with_pfc(marks)
        recorded = silent()
        result = read_result(the_plan, recorded.write(tmp_path / mechanism))
        found = next(one for one in bottlenecks(the_plan, result) if one.flow == "download")
        assert found.mechanism is mechanism
        chain = " ".join(found.chain)
        assert ("switch.p1 filled with priority 3 to its XOFF" in chain) == (not marks)
        assert ("and server was paused 50 % of download's time at priority 3" in chain) == (not marks)
        assert (found.where == "PFC at server") == (not marks)


def test_pfc_is_said_to_be_for_flows_of_its_priority(tmp_path: Path) -> None:
    """What runs beside it at another one has no part in it."""
    upload, download = with_pfc({}).flows
    for dscp in (24, 0):
        recorded = silent()
        beside = replace(upload, start_ns=4 * G, dscp=dscp)
        the_plan = replace(with_pfc({}), traffic=(beside, download))
        result = read_result(the_plan, recorded.write(tmp_path / str(dscp)))
        found = next(one for one in bottlenecks(the_plan, result) if one.flow == "download")
        said = "PFC stops a priority and not a flow: what it was said for is upload to server"
        assert (said in found.chain) == (dscp == 24)


def test_drops_of_a_priority_that_nobody_stops_are_no_matter_of_headroom(tmp_path: Path) -> None:
    """What is told of the buffer is that; as long as it stopped nobody also of the port and the network."""
    tight = {"xoff_bytes": 101_000, "buffer_bytes": 105_000}
    said = "what comes to switch.p1 at priority 0 is not stopped by PFC"
    port = Expectation("switch.p1", "drops", 0, None)
    for name, expectation, pfc_frames in (
        ("flow", SOUND, 0),
        ("beside", SOUND, 7),
        ("port", port, 0),
        ("network", NETWORK, 0),
    ):
        told = explained(expectation, overrun(pfc_frames), tmp_path / name, with_pfc(OTHERS, **tight))
        assert said in told
        assert "XOFF" not in told


def test_drops_where_pfc_stops_are_a_matter_of_headroom(tmp_path: Path) -> None:
    """Its flow's, and the port's where it did stop somebody."""
    tight = {"xoff_bytes": 101_000, "buffer_bytes": 105_000}
    port = Expectation("switch.p1", "drops", 0, None)
    for name, expectation, marks in (("flow", SOUND, {}), ("port", port, OTHERS)):
        told = explained(expectation, overrun(7), tmp_path / name, with_pfc(marks, **tight))
        assert "switch.p1 has 4000 B above XOFF" in told
        assert "not stopped" not in told
    told = explained(SOUND, overrun(0), tmp_path / "none", with_pfc({}, **tight))
    assert "XOFF" not in told
