"""Bonds: which port carries, when another takes over, and that each connection stays on one cable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.road import carried_out
from wirelab.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from tests.lab.rig import Rig
    from wirelab.results.result import Result

# The server says nothing of its own: Open vSwitch learns again from frames that it has not accounted yet.
PULLED = """
topology: two-cables
with: {server.bond0.primary: eth1}
traffic:
  - iperf3: {name: up, from: client, to: server, time: 4 s, protocol: udp, bitrate: 10 Mbit/s}
events:
  - {at: 2 s, for: 2 s, with: {second.link: down}}
expect:
  up: {lost: ..5 %}
"""

LACP = """
topology: two-by-two
with: {switch.bond0.xmit_hash_policy: POLICY}
traffic:
  - iperf3: {name: up, from: client, to: server, time: 1 s, parallel: 4}
expect:
  up: {goodput: 0.1..2 Gbit/s}
"""

TWO_SWITCHES = """
name: apart
drawing: client -- one -- other, server at both
nodes:
  one: {kind: switch, part: nbase-t}
  other: {kind: switch, part: nbase-t}
  client: {kind: host, part: ubuntu20}
  server: {kind: host, part: ubuntu20}
cables:
  - {name: patch, between: [client, one.p1], speed: 1 Gbit/s, length: 3 m}
  - {name: trunk, between: [one.p2, other.p2], speed: 1 Gbit/s, length: 3 m}
  - {name: first, between: [one.p3, server.eth0], speed: 1 Gbit/s, length: 3 m}
  - {name: second, between: [other.p3, server.eth1], speed: 1 Gbit/s, length: 3 m}
bonds:
  server.bond0: {ports: [server.eth0, server.eth1], mode: active-backup, miimon: 50 ms}
"""

SWITCH_PULLED = """
topology: apart
traffic:
  - iperf3: {name: up, from: client, to: server, time: 3 s}
events:
  - {at: 2 s, with: {first.link: down}}
expect:
  up: {goodput: 0.5..1 Gbit/s, longest_gap: ..260 ms}
"""


def _sent(result: Result, *ports: str) -> list[int]:
    return [result.change(port)["tx_frames"] for port in ports]


def test_the_primary_port_carries_whenever_it_can(rig: Rig) -> None:
    """Another one takes over within a look of the bond, and gives back; every setting is read back."""
    plan, result = carried_out(rig, PULLED)
    (bond,) = plan.bonds
    read = {one.setting: one.actual for one in result.readbacks if one.port == bond.name}
    assert (read["mode"], read["primary"], read["active"]) == ("active-backup", "server-eth1", "server-eth1")
    assert (read["ports"], read["miimon_ms"], read["num_grat_arp"]) == ("server-eth0 server-eth1", 100, 1)
    # 849 datagrams a second, two seconds each; the other port has them back 0.1 s later at the most. And
    # a few frames of what iperf3's ends tell each other.
    first, second = (result.change(port)["rx_frames"] for port in bond.ports)
    assert 1610 <= first <= 1800
    assert 1610 <= second <= 1720


def test_the_same_is_taken_over_each_time(rig: Rig) -> None:
    """To the byte."""
    assert len({carried_out(rig, PULLED)[1].digest for _ in range(2)}) == 1


@pytest.mark.parametrize(("policy", "cables"), [("layer2", 1), ("layer2+3", 1), ("layer3+4", 2)])
def test_a_connection_stays_on_one_cable(rig: Rig, policy: str, cables: int) -> None:
    """Four connections of one host to another differ by their ports alone: only layer 4 tells them apart."""
    plan, result = carried_out(rig, LACP.replace("POLICY", policy))
    read = {(one.port, one.setting): one.actual for one in result.readbacks}
    assert read["switch-bond0", "xmit_hash_policy"] == policy
    assert read["server-bond0", "lacp_rate"] == "slow"
    sent = _sent(result, "switch-p2", "switch-p3")
    assert sum(frames > 1000 for frames in sent) == cables
    assert plan.bonds[0].agrees


def test_the_other_cable_may_lead_to_another_switch(rig: Rig) -> None:
    """Its gratuitous ARP tells both: what went to the one goes by the other."""
    (rig.folder / "topologies").mkdir()
    (rig.folder / "topologies/apart.yaml").write_text(TWO_SWITCHES)
    plan, result = carried_out(rig, SWITCH_PULLED)
    assert result.change("server-eth1")["rx_frames"] > 1000
    assert plan.events[0].at_ns // NS_PER_MS == 2000


def test_a_bond_begins_with_the_port_that_has_a_link(rig: Rig) -> None:
    """One cable is unplugged: the other carries, and the primary port as soon as it has its own."""
    unplugged = "{server.bond0.primary: eth1, second.link: down}"
    text = PULLED.replace("{server.bond0.primary: eth1}", unplugged)
    plan, result = carried_out(
        rig, text.replace("for: 2 s, with: {second.link: down}", "with: {second.link: up}")
    )
    assert plan.bonds[0].active == "server-eth0"
    plugged_ns, later_ns = plan.events[0].at_ns, plan.events[0].at_ns + 500 * NS_PER_MS
    before, after = (
        {port for port in plan.bonds[0].ports if grows(result, port, from_ns, to_ns)}
        for from_ns, to_ns in ((0, plugged_ns), (later_ns, 60 * NS_PER_S))
    )
    assert (before, after) == ({"server-eth0"}, {"server-eth1"})


def grows(result: Result, port: str, from_ns: int, to_ns: int) -> bool:
    """Whether a port receives more than a few frames in a part of the time."""
    within = [s.ports[port].rx_bytes for s in result.samples if from_ns <= s.at_ns <= to_ns]
    return len(set(within)) > 10
