"""A shaper in front of a port: `rate`, which is htb with the egress queue below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.road import carried_out
from wirelab.verdict.checks import check_laws

if TYPE_CHECKING:
    from tests.lab.rig import Rig

RATE_BPS = 50e6
COUNTED, PAYLOAD = 1514, 1472
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
