"""Priority flow control: one priority is silent, the others are not (IEEE 802.1Q clause 36)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.lab.test_pool import ports

if TYPE_CHECKING:
    from tests.lab.rig import Rig

GBPS = 1e9
PRIORITY_3 = "0x08"
PLAIN_PAUSE = "0"
LINE_BPS = GBPS * 1472 / (1514 + 24)


class Outcome(NamedTuple):
    """What became of the two flows, and the ports they met at: towards the sender, and the sender's."""

    storage_bps: float
    other_bps: float
    lost: int
    switch: dict[str, int]
    sender: dict[str, int]


def run(rig: Rig, pfc: str) -> Outcome:
    """Storage traffic at priority 3 to a slow receiver, other traffic at 2 Gbit/s to a fast one."""
    output = rig.execute("sh", "pfc.sh", pfc)
    assert output.code == 0, output.stderr
    flows = {line.split()[0]: line.split()[1:] for line in output.stdout.splitlines()[:2]}
    storage, other = flows["storage"], flows["other"]
    ingress, _, _, sender = ports(output.stdout)
    assert ingress["rx_wire_frames"] == ingress["rx_frames"] == sender["tx_frames"]
    return Outcome(float(storage[0]), float(other[0]), int(storage[1]) + int(other[1]), ingress, sender)


def test_only_the_lossless_priority_is_paused(rig: Rig) -> None:
    """The sender is silent at priority 3 nine tenths of the time, and never at another."""
    found = run(rig, PRIORITY_3)
    assert found.lost == 0
    assert found.storage_bps == pytest.approx(LINE_BPS, rel=0.005)
    assert found.other_bps == pytest.approx(2 * GBPS, rel=0.005)
    assert found.sender["tx_paused_ns_prio3"] > 0.8e9
    assert all(found.sender[f"tx_paused_ns_prio{priority}"] == 0 for priority in range(8) if priority != 3)
    assert found.switch["tx_pfc_frames"] == found.sender["rx_pfc_frames"] > 0
    assert found.switch["tx_pause_frames"] == found.sender["rx_pause_frames"] == 0


def test_plain_pause_stops_all(rig: Rig) -> None:
    """Without priorities the other flow is paused with the first one: head-of-line blocking."""
    found = run(rig, PLAIN_PAUSE)
    assert found.lost == 0
    assert found.storage_bps == pytest.approx(LINE_BPS, rel=0.005)
    assert found.other_bps < 0.5 * 2 * GBPS
    assert found.switch["tx_pause_frames"] == found.sender["rx_pause_frames"] > 0
    assert found.switch["tx_pfc_frames"] == 0


def test_priorities_need_queues(rig: Rig) -> None:
    """A port made without eight TX queues cannot keep priorities apart, and says so."""
    command = "ip link add name p1 type etherport; echo 8 > /sys/class/net/p1/etherport/pfc"
    output = rig.execute("bash", "-c", command)
    assert output.code != 0
    assert "not supported" in output.stderr
