"""A shaper in front of a port: `rate`, which is htb with the egress queue below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.road import carried_out
from wirelab.plan.event import states
from wirelab.units import NS_PER_MS, NS_PER_S
from wirelab.verdict.checks import check_laws

if TYPE_CHECKING:
    from tests.lab.rig import Rig
    from wirelab.plan.types import Plan
    from wirelab.results.result import Result

RATE_BPS = 50e6
FRAME = 1514
COUNTED, PAYLOAD = FRAME, 1472
"""What htb counts of a full datagram, and what iperf3 does."""


@pytest.mark.parametrize(
    "settings",
    [
        "switch: nbase-t",
        "switch: rtl9303",
        "switch: nbase-t, switch.p2.queue: fq_codel",
        "switch: nbase-t, switch.p2.delay: 5 ms",
    ],
)
def test_a_shaper_lets_pass_what_it_is_told(rig: Rig, settings: str) -> None:
    """As many octets a second as its rate has; twice as many come, and each is sent, dropped or waits."""
    text = f"""\
topology: one-switch
with: {{switch.flow_control: off, server.flow_control: off, {settings}, switch.p2.rate: 50 Mbit/s}}
traffic:
  - iperf3: {{name: flood, from: client, to: server, time: 2 s, protocol: udp, bitrate: 100 Mbit/s}}
expect:
  switch.p2: {{drops: 1..}}
"""
    plan, result = carried_out(rig, text)
    assert [violation.explanation for violation in check_laws(plan, result)] == []
    # The end of it is told by the same queue, and may come late.
    _, second_bps, *_ = result.flows["flood"].intervals_bps
    assert second_bps == pytest.approx(RATE_BPS * PAYLOAD / COUNTED, rel=0.001)
    assert result.ports["switch.p2"].drops["queue"] == result.ports["switch.p2"].dropped_frames


def test_a_shaper_lets_a_burst_pass_in_one_piece(rig: Rig) -> None:
    """What a router has joined as it came in leaves at line rate, and then nothing for as long as it took."""
    text = """\
topology: firewall
with:
  client: ubuntu20
  server: ubuntu20
  client.flow_control: off
  server.flow_control: off
  firewall.flow_control: off
  firewall.frame: 0 us
  firewall.p2.rate: 100 Mbit/s
traffic:
  - iperf3: {name: bulk, from: client, to: server, time: 2 s, congestion: reno}
expect:
  bulk: {goodput: 90..96 Mbit/s}
"""
    _, result = carried_out(rig, text)
    segments = result.change("server-eth0")["rx_frames"]
    acknowledgements = result.change("server-eth0")["tx_frames"]
    assert acknowledgements < segments / 4


def test_a_policer_has_its_rate_from_its_instant_on(rig: Rig) -> None:
    """What passes between any two looks is what its rates allow, and each change fills its bucket.

    What it had saved up by then, less than a frame, is forgotten.
    """
    text = """\
topology: one-switch
with:
  switch.flow_control: off
  server.flow_control: off
  switch.p2.shape: {kind: police, rate: 20 Mbit/s, burst: 15 kB}
traffic:
  - iperf3: {name: flood, from: client, to: server, time: 3 s, protocol: udp, bitrate: 100 Mbit/s}
events:
  - {at: 2 s, for: 1 s, with: {switch.p2.shape.rate: 60 Mbit/s}}
  - {at: 3500 ms, with: {switch.p2.shape.burst: 30 kB}}
expect:
  switch.p2: {drops: 1..}
"""
    plan, result = carried_out(rig, text)
    assert result.ports["switch.p2"].drops["police"] == result.ports["switch.p2"].dropped_frames
    assert len(off_bytes(plan, result, "switch-p2")) > 200
    assert max(map(abs, off_bytes(plan, result, "switch-p2"))) <= (1 + len(plan.events)) * FRAME


def test_what_waits_at_the_end_may_come_by_a_later_rate(rig: Rig) -> None:
    """Datagrams count when they come, and no law is broken by a shaper that is faster by then."""
    text = """\
topology: one-switch
with:
  switch.flow_control: off
  server.flow_control: off
  switch.p2.shape: {rate: 100 kbit/s}
  switch.p2.queue_limit: 200 kB
traffic:
  - iperf3: {name: flood, from: client, to: server, time: 2 s, protocol: udp, bitrate: 1 Mbit/s}
  - iperf3: {name: back, from: server, to: client, time: 1 s}
events:
  - {at: 3100 ms, with: {switch.p2.shape.rate: 50 Mbit/s}}
expect:
  flood: {goodput: 150 kbit/s..1 Mbit/s}
"""
    plan, result = carried_out(rig, text)
    assert [violation.explanation for violation in check_laws(plan, result)] == []
    assert (result.flows["flood"].goodput_bps or 0) > 150_000


@pytest.mark.parametrize("settings", ["queue_limit: 200 kB", "delay: 1 ms"])
def test_a_shaper_has_its_rate_from_its_instant_on(rig: Rig, settings: str) -> None:
    """Also where it was to look again a quarter of a second later, and nothing comes meanwhile."""
    datagrams = "protocol: udp, bitrate: 480 kbit/s, payload: 60 kB"
    text = f"""\
topology: one-switch
with:
  switch.flow_control: off
  server.flow_control: off
  switch.p2.shape: {{rate: 50 kbit/s}}
  switch.p2.{settings}
traffic:
  - iperf3: {{name: seldom, from: client, to: server, time: 5 s, {datagrams}}}
events:
  - {{at: 3500 ms, with: {{switch.p2.shape.rate: 50 Mbit/s}}}}
expect:
  seldom: {{lost: ..100 %}}
"""
    plan, result = carried_out(rig, text)
    (event,) = plan.events
    seen = [(sample.at_ns, sample.ports["switch-p2"].tx_bytes) for sample in result.samples]
    begun = max(octets for at_ns, octets in seen if at_ns <= event.at_ns)
    later_ns, octets = next((at_ns, octets) for at_ns, octets in seen if at_ns > event.at_ns + 5 * NS_PER_MS)
    allowed = allowed_bytes(plan, "switch-p2", event.at_ns, later_ns)
    assert octets - begun == pytest.approx(allowed, abs=4 * FRAME)


def off_bytes(plan: Plan, result: Result, port: str) -> list[int]:
    """By how much more or less than its rates allow had left a port that is flooded, at each look."""
    flood = plan.flows[0]
    first_ns = flood.start_ns + 300 * NS_PER_MS
    sent = [
        (sample.at_ns, sample.ports[port].tx_bytes)
        for sample in result.samples
        if first_ns <= sample.at_ns <= flood.end_ns
    ]
    (begin_ns, begun), *later = sent
    return [octets - begun - allowed_bytes(plan, port, begin_ns, at_ns) for at_ns, octets in later]


def allowed_bytes(plan: Plan, port: str, from_ns: int, to_ns: int) -> int:
    """What a port's shaper lets pass of full frames in a part of the time, with a bucket for each event.

    That has passed some milliseconds later; a frame counts with its FCS.
    """
    known = states(plan)
    allowed = 0
    for (at_ns, state), until_ns in zip(known, [at_ns for at_ns, _ in known[1:]] + [to_ns], strict=True):
        shape = state.port(port).shape
        assert shape is not None
        lasts_ns = max(min(until_ns, to_ns) - max(at_ns, from_ns), 0)
        allowed += shape.rate_bps * lasts_ns // (8 * NS_PER_S)
        allowed += shape.burst_bytes if from_ns < at_ns < to_ns - 5 * NS_PER_MS else 0
    return allowed * FRAME // (FRAME + 4)
