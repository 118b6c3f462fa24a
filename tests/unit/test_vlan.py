"""VLANs: from a topology to what the lab is told, and the ceilings that know of tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from examples import SHIPPED

from wirelab.model.experiment import load_file
from wirelab.plan.build import build_plan
from wirelab.plan.ceiling import ceiling_bps, headroom_bytes
from wirelab.plan.commands import commands
from wirelab.plan.path import hops
from wirelab.plan.types import Plan

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """
name: example
source: {title: a test}
topology: two-floors
traffic:
  - iperf3: {name: inside, from: printer, to: server, time: 2 s}
  - iperf3: {name: upstairs, from: desk, to: printer, time: 2 s}
  - iperf3: {name: guests, from: visitor, to: guest, time: 2 s}
expect: {inside: {goodput: 1..2 Gbit/s}, upstairs: {goodput: 1..2 Gbit/s}, guests: {goodput: 1..2 Gbit/s}}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Two floors and a trunk."""
    path = tmp_path / "example.yaml"
    path.write_text(TEXT, encoding="utf-8")
    loaded = load_file(path, SHIPPED)
    return build_plan(loaded, loaded.cases[0], 1)


def test_what_reads_tags_has_the_address(plan: Plan) -> None:
    """The port below it has none, as on Linux."""
    assert plan.address_of("server") == "10.0.0.5"
    assert plan.port("server-eth0").address is None
    assert [interface.name for interface in plan.interfaces_of("server")] == ["server-v10", "server-eth0"]
    assert Plan.from_json(plan.to_json()) == plan


def test_a_tag_takes_four_bytes_of_each_frame(plan: Plan) -> None:
    """Of 1542 bytes then 1448 are payload, on the trunk and where a host reads tags."""
    limits = {flow.name: ceiling_bps(plan, flow) for flow in plan.flows}
    assert limits == dict.fromkeys(("inside", "upstairs", "guests"), pytest.approx(1e9 * 1448 / 1542))
    room = {str(hop): headroom_bytes(hop) for hop in hops(plan)}
    # Three frames, and 27 m of cable there and back.
    assert room["ground.p3 to upper.p3"] - room["ground.p1 to desk"] == 3 * 4 + 34


def test_what_makes_vlans_can_be_typed(plan: Plan) -> None:
    """The very lines that the lab carries out."""
    lines = commands(plan)
    assert "ovs-vsctl set port ground-p1 vlan_mode=access tag=10" in lines
    assert "ovs-vsctl set port ground-p3 vlan_mode=trunk trunks=10,20" in lines
    made = lines.index("ip link add link server-eth0 name server-v10 mtu 1500 type vlan id 10")
    address, up = lines[made + 1 : made + 3]
    assert (address, up) == ("ip address add 10.0.0.5/24 dev server-v10", "ip link set server-v10 up")
