"""RED at a switch: what is marked, and when nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.road import carried_out

if TYPE_CHECKING:
    from tests.lab.rig import Rig

MIN_BYTES = 30_000
RAMP = f"""
topology: one-switch
with:
  client: ubuntu20
  client.nic: e1000
  server.nic: e1000
  patch.speed: 100 Mbit/s
  uplink.speed: 1 Gbit/s
  client.ecn: on
  server.ecn: on
  switch.p1.queue: red
  switch.p1.ecn: on
  switch.p1.red_min: {MIN_BYTES // 1000} kB
  switch.p1.red_max: 90 kB
  switch.p1.red_probability: 10 %
traffic:
  - iperf3: {{name: download, from: server, to: client, time: 1 s, congestion: cubicPACING}}
expect:
  download: {{goodput: 50..95 Mbit/s, retransmits: 0}}
"""


@pytest.mark.parametrize("pacing", ["", ", pacing: 80 Mbit/s"])
def test_nothing_is_marked_below_the_threshold(rig: Rig, pacing: str) -> None:
    """A flow that fills its queue is marked; one that is paced below the line's rate never is."""
    _, result = carried_out(rig, RAMP.replace("PACING", pacing))
    read = {(one.port, one.setting): one.actual for one in result.readbacks}
    assert read["switch-p1", "red_min_bytes"] == MIN_BYTES
    assert read["switch-p1", "red_probability_ppm"] == 100_000
    port = result.ports["switch.p1"]
    assert (port.ecn_marks > 0) == (port.queue_high_water_bytes > MIN_BYTES) == (not pacing)
