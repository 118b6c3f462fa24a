"""VLANs: who hears whom, and what crosses a trunk as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.lab.road import carried_out

if TYPE_CHECKING:
    from tests.lab.rig import Rig

FLOORS = """
topology: two-floors
traffic:
  - ping: {name: office, from: desk, to: server, time: 1 s, interval: 100 ms}
  - ping: {name: guests, from: visitor, to: guest, time: 1 s, interval: 100 ms}
expect:
  office: {lost: 0 %}
  guests: {lost: 0 %}
"""


def test_marks_cross_a_trunk_as_they_were(rig: Rig) -> None:
    """PCP and DSCP with the tag; where the tag ends the DSCP is left, and in another VLAN is nothing."""
    assert rig.script("vlan_marks.py") == {"h2": [10, 5, 46], "h3": [0, 0, 46]}


def test_each_is_heard_in_its_own_vlan(rig: Rig) -> None:
    """Every VLAN of every port is read back, and a broadcast of one is no frame of the other."""
    plan, result = carried_out(rig, FLOORS)
    read = {(one.port, one.setting): one.actual for one in result.readbacks}
    assert read["ground-p1", "tag"] == "10"
    assert read["upper-p3", "trunks"] == "[10, 20]"
    assert read["server-v10", "vlan"] == 10
    assert plan.address_of("server") == "10.0.0.5"
    # The guests' ten echoes, and no frame more: ARP has asked before.
    assert result.change("guest-eth0", "office")["rx_frames"] == 0
    assert result.change("guest-eth0", "guests")["rx_frames"] == 10
