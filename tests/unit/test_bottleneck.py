"""The bottleneck of a flow is decided by what was counted, and told with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from recorded import G, plan, recording, with_ports

from wirelab.plan.ceiling import ceiling
from wirelab.plan.shape import Shape
from wirelab.plan.types import Bus, Cpu
from wirelab.results.result import read_result
from wirelab.verdict.bottleneck import bottlenecks
from wirelab.verdict.explanation import Bottleneck, Mechanism

if TYPE_CHECKING:
    from pathlib import Path

    from recorded import Recording

    from wirelab.plan.types import Plan


def found(folder: Path, the_plan: Plan, recorded: Recording) -> dict[str, Bottleneck]:
    """The bottleneck of each flow of a recording."""
    result = read_result(the_plan, recorded.write(folder / "raw"))
    return {one.flow: one for one in bottlenecks(the_plan, result)}


def test_a_small_fifo_that_drops_is_named_where_no_line_is_full(tmp_path: Path) -> None:
    """The line behind it was busy for half of the time, and says so."""
    download = found(tmp_path, plan(), recording())["download"]
    assert (download.mechanism, download.where) == (Mechanism.FIFO, "the FIFO of module.line")
    assert download.evidence[0] == "the line from module.line to client was busy 49.2 % of the time"
    assert "159 frames were dropped at module.line (FIFO 16 KiB full)" in download.evidence


def test_a_full_line_is_the_bottleneck_whatever_its_queue_drops(tmp_path: Path) -> None:
    """That a queue before a full line drops is how TCP finds its rate."""
    slow = with_ports(plan(), "module-line", "client-eth0", speed_bps=5 * G // 4)
    flows = found(tmp_path, slow, recording(slow))
    assert flows["download"].where == "the line from module.line to client"
    assert flows["upload"].where == "the line from client to module.line"
    assert flows["upload"].evidence[0] == "the line from client to module.line was busy 98.4 % of the time"
    assert {flow.mechanism for flow in flows.values()} == {Mechanism.LINE}


def test_of_lines_that_are_as_full_the_first_on_the_way_is_named(tmp_path: Path) -> None:
    """It is what makes the next one as busy as itself, whatever their names are."""
    slow = with_ports(plan(), speed_bps=5 * G // 4)
    flows = found(tmp_path, slow, recording(slow, dropped=0))
    assert flows["download"].where == "the line from server to switch.p1"
    assert flows["upload"].where == "the line from client to module.line"


def test_a_switch_that_drops_is_a_queue(tmp_path: Path) -> None:
    """Frames that a module dropped would be a FIFO's."""
    recorded = recording(dropped=0)
    recorded.flows["download.client"]["end"]["sum_sent"]["retransmits"] = 7
    for name in ("download:end", "end"):
        recorded.qdisc(name, "switch-p2")["drops"] = 7
    download = found(tmp_path, plan(), recorded)["download"]
    assert (download.mechanism, download.where) == (Mechanism.QUEUE, "the queue of switch.p2")


def test_bit_errors_are_losses_on_the_way(tmp_path: Path) -> None:
    """No queue was too short for them."""
    recorded = recording(dropped=0)
    recorded.flows["download.client"]["end"]["sum_sent"]["retransmits"] = 7
    for name in ("download:end", "end"):
        recorded.stats(name, "client-eth0")["rx_dropped_fcs"] = 7
    download = found(tmp_path, plan(), recorded)["download"]
    assert (download.mechanism, download.where) == (Mechanism.LOSS, "losses at client")


def test_a_busy_cpu_is_named(tmp_path: Path) -> None:
    """Of all ports of its node together, while the flow ran."""
    costly = with_ports(plan(), "client-eth0", cpu=Cpu(0, tx_frame_ns=9_000))
    recorded = recording(costly, dropped=0)
    for name in ("upload:end", "download:start", "download:end", "end"):
        recorded.stats(name, "client-eth0")["cpu_busy_ns"] = 19 * G // 10
    flows = found(tmp_path, costly, recorded)
    assert (flows["upload"].mechanism, flows["upload"].where) == (Mechanism.CPU, "the CPU of client")
    assert flows["upload"].evidence[0] == "the CPU of client was busy 95.0 % of the time"
    assert flows["download"].mechanism is not Mechanism.CPU


def test_a_busy_bus_is_named_in_its_own_direction(tmp_path: Path) -> None:
    """Each direction of a bus is by itself: acknowledgements do not fill the other one."""
    slow = with_ports(plan(), "client-eth0", bus=Bus(5 * G // 4, 0, 0, 0))
    upload = found(tmp_path, slow, recording(slow, dropped=0))["upload"]
    assert (upload.mechanism, upload.where) == (Mechanism.BUS, "the bus of client")


def test_a_pause_is_the_bottleneck_where_nothing_is_busy(tmp_path: Path) -> None:
    """Somebody else's traffic is what it waits for."""
    recorded = recording(dropped=0)
    for name in ("download:end", "end"):
        recorded.stats(name, "server-eth0")["tx_paused_ns"] = G
    download = found(tmp_path, plan(), recorded)["download"]
    assert (download.mechanism, download.where) == (Mechanism.PAUSE, "PAUSE at server")


def test_a_sender_that_is_told_its_rate_is_the_bottleneck(tmp_path: Path) -> None:
    """iperf3's bitrate is the application's."""
    upload, download = plan().flows
    paced = replace(plan(), traffic=(replace(upload, bitrate_bps=925_000_000), download))  # type: ignore[call-arg]
    found_there = found(tmp_path, paced, recording(paced, dropped=0))["upload"]
    assert (found_there.mechanism, found_there.where) == (Mechanism.APPLICATION, "the bitrate of client")


@pytest.mark.parametrize("flow", ["upload", "download"])
def test_what_is_left_is_the_window(tmp_path: Path, flow: str) -> None:
    """Nothing was busy, lost or paused: the sender waited for acknowledgements."""
    one = found(tmp_path, plan(), recording(dropped=0))[flow]
    assert one.mechanism is Mechanism.WINDOW
    assert one.evidence[-1].startswith("it has ")


def test_a_shaper_is_the_bottleneck_whosever_it_is(tmp_path: Path) -> None:
    """A router's own is found as a line's is, and no flow can have more than it lets pass."""
    rate_bps = 5 * G // 4
    own = with_ports(plan(), "module-line", rate_bps=rate_bps)
    line = with_ports(plan(), "module-line", shape=Shape("tbf", rate_bps, 3200))
    most = [of for one in (own, line) if (of := ceiling(one, one.flows[1]))]
    assert [one.bottleneck for one in most] == ["the shaper of module.line"] * 2
    assert most[0].bps == pytest.approx(most[1].bps, rel=1e-3)
    for number, one in enumerate((own, line)):
        download = found(tmp_path / str(number), one, recording(one))["download"]
        assert (download.mechanism, download.where) == (Mechanism.LINE, "the shaper of module.line")
        full = "159 frames were dropped at module.line (FIFO 16 KiB behind a shaper of 1.25 Gbit/s full)"
        assert full in download.evidence
