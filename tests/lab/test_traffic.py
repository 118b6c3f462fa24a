"""What can happen in a network beside a flow of some seconds: transfers, pings, copies, refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.road import carried_out

if TYPE_CHECKING:
    from tests.lab.rig import Rig

SLOW = "topology: one-switch\nwith: {client.advertise: 100 Mbit/s}\n"
LINE_BPS = 100e6 * 1448 / 1538


def test_a_transfer_ends_when_its_bytes_are_there(rig: Rig) -> None:
    """What it takes is its size over its goodput, and what comes after it begins early, not at its limit."""
    text = (
        f"{SLOW}traffic:\n"
        "  - iperf3: {name: file, from: server, to: client, bytes: 20 MB, within: 60 s, congestion: bbr}\n"
        "  - iperf3: {name: next, from: client, to: server, time: 1 s}\n"
        "expect:\n  file: {duration: 1.6..1.8 s}\n  next: {goodput: 90..95 Mbit/s}\n"
    )
    plan, result = carried_out(rig, text)
    assert result.flows["file"].duration_s == pytest.approx(20e6 * 8 / LINE_BPS, rel=0.03)
    begins_ns = result.snapshots["next:start"].at_ns
    assert begins_ns < plan.flows[0].start_ns + 10 * 10**9
    assert (plan.flows[1].start_ns - begins_ns) % 10**9 == 0


def test_pacing_spaces_a_flow(rig: Rig) -> None:
    """The kernel sends at the rate it is told, and a queue of five frames loses nothing of that.

    But for the first ten segments: those are not paced (tcp_update_skb_after_send).
    """
    text = (
        f"{SLOW.replace('s}', 's, switch.p1.queue: bfifo, switch.p1.queue_limit: 8 kB}')}traffic:\n"
        "  - iperf3: {name: paced, from: server, to: client, time: 2 s, pacing: 50 Mbit/s}\n"
        "expect:\n  paced: {goodput: 45..50 Mbit/s, retransmits: ..10}\n"
    )
    carried_out(rig, text)


def test_an_echo_waits_in_the_queue_of_a_flow(rig: Rig) -> None:
    """On an idle line it takes what two frames take; beside a flow, what the queue in front of it takes."""
    text = (
        f"{SLOW}traffic:\n"
        "  - ping: {name: idle, from: server, to: client, time: 1 s}\n"
        "  - iperf3: {name: bulk, from: server, to: client, time: 2 s}\n"
        "  - ping: {name: loaded, from: server, to: client, time: 2 s, with: bulk}\n"
        "expect:\n"
        "  idle: {rtt_p99: ..0.3 ms, lost: 0 %}\n"
        "  loaded: {rtt_p50: 3..9 ms}\n"
        "  bulk: {rtt_p50: 3..9 ms}\n"
    )
    _, result = carried_out(rig, text)
    longest_us = max(result.echoes["loaded"].rtt_us.values())
    queue_us = 107_500 * 8 / 100
    assert longest_us < queue_us * 1.1


def test_datagrams_beyond_the_line_are_lost(rig: Rig) -> None:
    """Twice the line's rate: half of them arrive."""
    text = (
        f"{SLOW}traffic:\n"
        "  - iperf3: {name: flood, from: server, to: client, time: 1 s, protocol: udp, bitrate: 190 Mbit/s}\n"
        "expect:\n  flood: {lost: 45..55 %}\n"
    )
    carried_out(rig, text)


@pytest.mark.parametrize("pipeline", ["sequential", "overlapped"])
def test_a_copy_takes_the_sum_or_the_slowest_of_its_stages(rig: Rig, pipeline: str) -> None:
    """10 MB: processing 0.5 s and the line 0.85 s; one after the other, or at the same time."""
    text = (
        f"{SLOW}traffic:\n"
        "  - copy: {name: backup, from: server, to: client, bytes: 10 MB, block: 64 KiB, process: 50 ns, "
        f"pipeline: {pipeline}}}\n"
        "expect:\n  backup: {goodput: 10..95 Mbit/s}\n"
    )
    _, result = carried_out(rig, text)
    line_s = 10e6 * 8 / LINE_BPS
    expected_s = 0.5 + line_s if pipeline == "sequential" else line_s
    assert result.flows["backup"].duration_s == pytest.approx(expected_s, rel=0.05)


def test_a_copy_is_no_faster_than_its_line_after_other_traffic(rig: Rig) -> None:
    """Its time begins with the connection, whenever the other end is woken: the load has its driver wait."""
    text = (
        "topology: back-to-back\ntraffic:\n"
        "  - iperf3: {name: bulk, from: left, to: right, time: 1 s}\n"
        "  - copy: {name: first, from: left, to: right, bytes: 1 MB}\n"
        "  - copy: {name: second, from: left, to: right, bytes: 10 MB}\n"
        "expect:\n  first: {goodput: 800..950 Mbit/s}\n  second: {goodput: 900..950 Mbit/s}\n"
    )
    _, result = carried_out(rig, text)
    for name in ("first", "second"):
        flow = result.flows[name]
        assert flow.goodput_bps is not None
        assert flow.path_bps is not None
        assert flow.goodput_bps <= flow.path_bps


def test_requests_cost_a_round_trip_each(rig: Rig) -> None:
    """A copy of many small files is bound by what an exchange takes, not by the line."""
    text = (
        f"{SLOW}traffic:\n"
        "  - ping: {name: echo, from: server, to: client, time: 1 s}\n"
        "  - copy: {name: files, from: server, to: client, bytes: 1 MB, block: 10 kB, requests: 20, "
        "pipeline: sequential}\n"
        "expect:\n  files: {duration: 0.1..1 s}\n"
    )
    _, result = carried_out(rig, text)
    echo_s = sorted(result.echoes["echo"].rtt_us.values())[50] / 1e6
    took_s = result.flows["files"].duration_s
    assert took_s is not None
    assert took_s > 100 * 20 * echo_s * 0.8


def test_what_a_firewall_blocks_does_not_connect(rig: Rig) -> None:
    """The rules are real: without the flow's port no connection comes about, and that is a finding."""
    text = (
        "topology: firewall\nwith: {firewall.block: PACKETS}\ntraffic:\n"
        "  - iperf3: {name: download, from: server, to: client, time: 1 s}\n"
        "expect:\n  download: {connects: WORD}\n"
    )
    carried_out(rig, text.replace("PACKETS", "tcp 5202").replace("WORD", "yes"))
    _, result = carried_out(rig, text.replace("PACKETS", "tcp 5201").replace("WORD", "no"))
    assert result.flows["download"].goodput_bps is None
    assert result.blocked("download")["firewall"]["tcp dport 5201"] > 0


def test_a_firewall_may_block_ping(rig: Rig) -> None:
    """Then nobody is answered, and a flow is as fast as ever."""
    text = (
        "topology: firewall\nwith: {firewall.block: icmp}\ntraffic:\n"
        "  - ping: {name: echo, from: server, to: client, time: 1 s, interval: 100 ms}\n"
        "  - iperf3: {name: download, from: server, to: client, time: 1 s}\n"
        "expect:\n  echo: {lost: 100 %}\n  download: {connects: yes}\n"
    )
    carried_out(rig, text)
