"""How a bottleneck comes about is told in sentences whose numbers are set, counted or reckoned of both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from recorded import G, plan, recording, with_ports

from wirelab.plan.types import Bus, Cpu, Pool
from wirelab.results.result import read_result
from wirelab.verdict.bottleneck import bottlenecks
from wirelab.verdict.formulas import longest_burst_frames, losing_bps, segment_bytes, window_bps

if TYPE_CHECKING:
    from pathlib import Path

    from recorded import Recording

    from wirelab.plan.types import Plan

KIB = 1024


def told(folder: Path, the_plan: Plan, recorded: Recording, flow: str = "download") -> tuple[str, ...]:
    """The chain of one flow of a recording."""
    result = read_result(the_plan, recorded.write(folder / "raw"))
    return next(one.chain for one in bottlenecks(the_plan, result) if one.flow == flow)


def with_window(recorded: Recording, segments: int) -> Recording:
    """The recording with a congestion window of so many segments in every sample."""
    for sample in recorded.samples:
        for one in sample["flows"].values():
            one["cwnd_segments"] = segments
    return recorded


def test_the_longest_burst_is_the_room_over_what_stays_of_it() -> None:
    """16 KiB where a quarter leaves meanwhile has room for 14 frames of 1514 B, twice that for 28."""
    assert longest_burst_frames(16 * KIB, 1514, 10 * G, 5 * G // 2) == 14
    assert longest_burst_frames(32 * KIB, 1514, 10 * G, 5 * G // 2) == 28
    assert longest_burst_frames(16 * KIB, 1514, 10 * G, 5 * G) == 21
    assert longest_burst_frames(16 * KIB, 1514, G, G) is None


def test_the_longest_burst_agrees_with_a_queue_served_frame_by_frame() -> None:
    """Within a frame: the formula is about a fluid."""
    for limit_frames, ratio in ((10, 4), (43, 4), (20, 2), (64, 10)):
        fits = held = 0
        served = 0.0
        while held < limit_frames:
            fits += 1
            served += 1 / ratio
            held = fits - int(served)
        formula = longest_burst_frames(limit_frames * 1514, 1514, ratio * G, G)
        assert formula is not None
        assert abs(fits - formula) <= 1


def test_a_window_in_each_round_trip_is_a_rate() -> None:
    """13 segments of 1460 B in 126 us are 1.205 Gbit/s."""
    assert window_bps(13, 1460, 126) == pytest.approx(1.205e9, rel=1e-3)


def test_what_reno_gets_at_a_share_of_losses() -> None:
    """At one in 150 its window is 15 segments: the square root of 1.5 x 150."""
    assert losing_bps(1 / 150, 1460, 1000) == pytest.approx(window_bps(15, 1460, 1000))


def test_a_segment_is_what_both_ends_agree_on() -> None:
    """Timestamps take 12 B of it where both have them."""
    the_plan = plan()
    assert segment_bytes(the_plan, the_plan.flows[1]) == 1448
    server, client = the_plan.hosts
    plain = replace(client, sysctls={"net.ipv4.tcp_timestamps": "0"})
    assert segment_bytes(replace(the_plan, hosts=(server, plain)), the_plan.flows[1]) == 1460


def test_a_fifo_tells_what_comes_faster_than_it_leaves(tmp_path: Path) -> None:
    """And how long a burst may be, what was lost, and what TCP's window comes to."""
    comes, burst, lost, window = told(tmp_path, plan(), with_window(recording(), 32))
    assert comes == (
        "frames come from switch.p2 at 10 Gbit/s and leave module.line at 2.5 Gbit/s:"
        " while 4 come, one leaves"
    )
    assert burst.startswith("so a burst of up to 14 frames finds room in its 16 KiB")
    assert "16 KiB / (1 - 2.5 Gbit/s / 10 Gbit/s)" in burst
    assert lost == "159 frames were lost there of 200 000, 1 in 1 258"
    assert window == (
        "in the median TCP had a window of 32 segments for a round trip of 312 us: 32 x 1448 B in each is"
        " 1.19 Gbit/s"
    )


def test_a_window_that_the_goodput_contradicts_is_not_told(tmp_path: Path) -> None:
    """1.56 Gbit/s are no reason for 1.2; what is told then is how long nothing came back, if it was long."""
    words = told(tmp_path / "moving", plan(), with_window(recording(), 42))
    assert not any("in the median TCP" in one or "acknowledged" in one for one in words)
    standing = with_window(recording(), 42)
    for sample in standing.samples:
        if 4.5 * G <= sample["at_ns"] <= 5.5 * G and sample["flows"]:
            sample["flows"]["download"]["bytes_acked"] = 45 * G // 100
    words = told(tmp_path / "standing", plan(), standing)
    assert words[-1] == "nothing new was acknowledged for at least 1.00 s on end, of 2.00 s in all"


def test_each_pause_is_told_from_the_receiver_back_to_the_sender(tmp_path: Path) -> None:
    """With whose buffer was full, at what threshold, and for how long who was silent."""
    names = ("server-eth0", "switch-p1", "switch-p2", "module-host")
    listening = with_ports(plan(), *names, pause_rx=True, pause_tx=True)
    recorded = recording(listening, dropped=0)
    recorded.link_as(listening)
    for snapshot in ("download:end", "end"):
        for name in ("switch-p2", "server-eth0"):
            recorded.stats(snapshot, name)["tx_paused_ns"] = 3 * G // 2
            recorded.stats(snapshot, name)["rx_pause_frames"] = 8120
    first, second, *_ = [words for words in told(tmp_path, listening, recorded) if "XOFF" in words]
    assert first.startswith("the packet buffer of module.host filled to its XOFF of 108.7 kB")
    assert "and switch.p2 was paused 7" in first
    assert second.startswith("so the packet buffer of switch.p1 filled to its XOFF of 108.7 kB")
    assert "and server was paused 7" in second


def test_a_line_tells_what_of_a_frame_is_payload(tmp_path: Path) -> None:
    """1448 of 1538 B."""
    slow = with_ports(plan(), "module-line", "client-eth0", speed_bps=5 * G // 4)
    first = told(tmp_path, slow, recording(slow))[0]
    assert first.startswith("a full frame takes 1538 B on a line, 1448 B of it payload: 1.18 Gbit/s is all")


def test_a_cpu_tells_how_many_frames_it_served_and_what_one_took(tmp_path: Path) -> None:
    """Both are counted: what it was busy, over the frames of all its ports."""
    the_plan = with_ports(plan(), "client-eth0", cpu=Cpu(2, rx_frame_ns=9000))
    recorded = recording(the_plan, dropped=0)
    for snapshot in ("download:end", "end"):
        recorded.stats(snapshot, "client-eth0")["cpu_busy_ns"] = 2 * G
    [words] = told(tmp_path, the_plan, recorded)
    assert words == (
        "110 000 frames a second passed client, in and out, and each took its CPU 9.09 us in the mean"
    )


def test_a_bus_tells_what_a_frame_takes_on_it(tmp_path: Path) -> None:
    """1514 B in 12 transactions of 128 B, each with 26 B around it, and 64 B of descriptors."""
    bus = Bus(bps=5 * G // 4, payload_bytes=128, overhead_bytes=26, frame_bytes=64)
    the_plan = with_ports(plan(), "client-eth0", bus=bus)
    [words, *_] = told(tmp_path, the_plan, recording(the_plan, dropped=0))
    whole = 1514 + 12 * 26 + 64
    assert words.startswith(f"a full frame of 1514 B crosses in 12 transactions and takes {whole} B")
    assert "12.1 us at the 1.25 Gbit/s of the bus" in words
    assert whole * 8 / 1.25 == pytest.approx(12_096)


def test_every_bottleneck_of_a_recording_has_its_places(tmp_path: Path) -> None:
    """They are labels of ports of the Plan, or nodes: who looks for what helps begins there."""
    result = read_result(plan(), recording().write(tmp_path / "raw"))
    found = bottlenecks(plan(), result)
    assert [one.at for one in found] == [("client",), ("module.line",)]


def test_a_frame_is_as_long_as_its_hosts_send_it(tmp_path: Path) -> None:
    """A switch that would pass longer ones on changes nothing of them."""
    slow = with_ports(plan(), "module-line", "client-eth0", speed_bps=5 * G // 4)
    jumbo = with_ports(slow, "switch-p1", "switch-p2", "module-host", "module-line", mtu_bytes=9000)
    chains = [told(tmp_path / str(one.ports[1].mtu_bytes), one, recording(one)) for one in (slow, jumbo)]
    assert chains[0] == chains[1]
    assert "a full frame takes 1538 B on a line" in chains[1][0]


def test_an_xoff_that_moves_is_told_as_what_moves_it(tmp_path: Path) -> None:
    """Where it is a share of what is free nothing fills to the most that it may be."""
    shared = with_ports(
        plan(),
        *("server-eth0", "switch-p1"),
        pause_rx=True,
        pause_tx=True,
        pool=Pool(2, 2_000_000),
        xoff_alpha_128ths=2,
    )
    recorded = recording(shared, dropped=0)
    recorded.link_as(shared)
    for snapshot in ("download:end", "end"):
        recorded.stats(snapshot, "server-eth0").update(tx_paused_ns=G, rx_pause_frames=5)
    words = " ".join(told(tmp_path, shared, recorded))
    assert "filled to its XOFF of 1/64 of what was free of 2 MB, at most 108.7 kB" in words
