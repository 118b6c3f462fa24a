"""Networks that are valid and hardly work: what comes of them is a verdict and never a broken lab."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.road import carried_out
from wirelab.units import NS_PER_S
from wirelab.verdict.checks import check_laws

if TYPE_CHECKING:
    from tests.lab.rig import Rig

HEAD = "topology: one-switch\nwith: {client.advertise: 100 Mbit/s}\n"
ECHO = "ping: {name: echo, from: server, to: client, time: 2 s, interval: 500 ms}"
FLOW = "iperf3: {name: bulk, from: server, to: client, time: 2 s}"


def with_settings(*settings: str) -> str:
    """The head of a scenario with these lines of ``with``."""
    return HEAD.replace("Mbit/s}", f"Mbit/s, {', '.join(settings)}}}")


def test_where_everything_is_lost_nothing_connects(rig: Rig) -> None:
    """Not even ARP comes through: no connection is what was to be found out."""
    text = f"{with_settings('server.loss: 100 %')}traffic:\n  - {ECHO}\n  - {FLOW}\n"
    carried_out(rig, f"{text}expect:\n  echo: {{lost: 100 %}}\n  bulk: {{connects: no}}\n")


def test_a_path_of_ten_seconds_outlasts_a_ping(rig: Rig) -> None:
    """It gives its last request no ten seconds: all are lost, and that is a verdict."""
    text = f"{with_settings('server.delay: 10 s')}traffic:\n  - {ECHO}\n"
    carried_out(rig, f"{text}expect:\n  echo: {{lost: 100 %}}\n")


def test_iperf3_gets_over_round_trips_of_seconds(rig: Rig) -> None:
    """It asks in a loop, without sleeping, until its server has answered; in virtual time that may take."""
    text = f"{with_settings('server.delay: 2 s', 'client.delay: 2 s')}traffic:\n  - {FLOW}\n"
    carried_out(rig, f"{text}expect:\n  bulk: {{connects: yes}}\n")


def test_where_iperf3_loses_its_server_that_is_what_was_found(rig: Rig) -> None:
    """It waits ten seconds for a message. What it says then stands beside the verdict."""
    text = f"{with_settings('server.delay: 12 s')}traffic:\n  - {FLOW}\nexpect:\n  bulk: {{connects: no}}\n"
    _, result = carried_out(rig, text)
    flow = result.flows["bulk"]
    assert flow.lost_connection
    assert (flow.goodput_bps, flow.retransmits) == (None, None)


def test_a_connection_on_which_nothing_comes_has_figures(rig: Rig) -> None:
    """The server ends it after a while: that is goodput of 0, no broken lab and no lost connection."""
    long_frames = with_settings("server.mtu: 9000 B", "client.mtu: 9000 B", "switch.mtu: 1500 B")
    text = f"{long_frames}traffic:\n  - {FLOW}\n"
    _, result = carried_out(rig, f"{text}expect:\n  bulk: {{connects: yes, goodput: 0 bit/s}}\n")
    assert result.flows["bulk"].rtt is not None


def test_a_cpu_that_takes_half_a_second_for_a_frame_is_waited_for(rig: Rig) -> None:
    """What it has not looked at when the traffic is over is not left behind."""
    head = with_settings("client.rx_frame: 500 ms")
    carried_out(rig, f"{head}traffic:\n  - {ECHO}\nexpect:\n  echo: {{lost: ..100 %}}\n")


@pytest.mark.parametrize("tool", ["iperf3", "copy"])
def test_what_is_not_done_in_its_time_tells_how_far_it_came(rig: Rig, tool: str) -> None:
    """A transfer of a minute that may take a second: a figure is missing, and the rest is there."""
    text = (
        f"{HEAD}traffic:\n  - {tool}: {{name: file, from: server, to: client, bytes: 600 MB, within: 1 s}}\n"
        "expect:\n  file: {goodput: 40..95 Mbit/s}\n"
    )
    _, result = carried_out(rig, text)
    flow = result.flows["file"]
    assert flow.duration_s is None
    assert flow.reached_bytes is not None
    assert 100e6 < flow.reached_bytes < 500e6


def test_a_window_of_100_mb_is_given(rig: Rig) -> None:
    """The lab lets sockets have what the scenario says."""
    text = (
        f"{HEAD}traffic:\n  - iperf3: {{name: bulk, from: server, to: client, time: 1 s, window: 100 MB}}\n"
        "expect:\n  bulk: {goodput: 80..95 Mbit/s}\n"
    )
    carried_out(rig, text)


def test_a_flood_into_a_bloated_queue_is_waited_for(rig: Rig) -> None:
    """What it still holds when the traffic is over takes another sixteen seconds, and no frame is left."""
    text = """\
topology: one-switch
with:
  switch.flow_control: off
  server.flow_control: off
  switch.p2.shape: {rate: 10 Mbit/s}
  switch.p2.queue_limit: 100 MB
  switch.buffer: 100 MB
traffic:
  - iperf3: {name: flood, from: client, to: server, time: 2 s, protocol: udp, bitrate: 100 Mbit/s}
expect:
  flood: {lost: ..100 %}
  switch.p2: {drops: 0, queue_high_water: 20..25 MB}
"""
    plan, result = carried_out(rig, text)
    assert [violation.explanation for violation in check_laws(plan, result)] == []
    assert result.elapsed_ns > 16 * NS_PER_S


def test_times_of_more_than_six_digits_are_read_back(rig: Rig) -> None:
    """Tc prints six digits of a delay; that is no other delay than was asked for."""
    head = with_settings("server.delay: 12345678 ns", "server.jitter: 1234567 ns")
    _, result = carried_out(rig, f"{head}traffic:\n  - {ECHO}\nexpect:\n  echo: {{rtt: 11..15 ms}}\n")
    assert all(readback.asked == readback.actual for readback in result.readbacks)
