"""The way of a flow, and the most it can carry."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import G, flow, plan, with_ports

from wirelab.plan.ceiling import ceiling_bps, headroom_bytes
from wirelab.plan.path import flow_path, hops, path
from wirelab.plan.types import Netem, Plan

if TYPE_CHECKING:
    from wirelab.plan.traffic import Iperf3

DOWNLOAD = flow("download", "server", "client", 4)


def with_sysctl(host: str, value: str) -> Plan:
    """The Plan with TCP timestamps set on one host."""
    hosts = tuple(
        replace(node, sysctls={"net.ipv4.tcp_timestamps": value}) if node.name == host else node
        for node in plan().hosts
    )
    return replace(plan(), hosts=hosts)


def udp(payload_bytes: int | None) -> Iperf3:
    """A UDP download with datagrams of that size."""
    return replace(DOWNLOAD, protocol="udp", congestion=None, payload_bytes=payload_bytes)


def test_a_path_crosses_every_cable_once() -> None:
    """The download leaves by the server and comes by switch and module to the client."""
    labels = [(hop.out.label, hop.into.label) for hop in flow_path(plan(), DOWNLOAD)]
    assert labels == [("server", "switch.p1"), ("switch.p2", "module.host"), ("module.line", "client")]


def test_no_path_leads_through_a_host() -> None:
    """A host forwards nothing: two networks that only meet in a host are not connected."""
    assert path(plan(), "client", "elsewhere") == ()
    assert ceiling_bps(plan(), replace(DOWNLOAD, receiver="elsewhere")) is None


def test_every_cable_has_two_directions() -> None:
    """Three cables make six hops, each with the delay of its cable."""
    assert len(hops(plan())) == 6
    assert {hop.delay_ns for hop in hops(plan())} == {0, 15}


@pytest.mark.parametrize(
    ("host", "value", "payload"), [("server", "1", 1448), ("client", "0", 1460), ("server", "0", 1460)]
)
def test_the_ceiling_of_tcp_at_mtu_1500(host: str, value: str, payload: int) -> None:
    """Of 1538 B on the wire 1448 are payload, 1460 if either end does without timestamps."""
    assert ceiling_bps(with_sysctl(host, value), DOWNLOAD) == pytest.approx(payload / 1538 * 2.5 * G)


def test_jumbo_frames_raise_the_ceiling() -> None:
    """The smallest MTU on the path decides: 8948 of 9038 B, or 1448 of 1538."""
    jumbo = with_ports(plan(), mtu_bytes=9000)
    assert ceiling_bps(jumbo, DOWNLOAD) == pytest.approx(8948 / 9038 * 2.5 * G)
    assert ceiling_bps(with_ports(jumbo, "client-eth0", mtu_bytes=1500), DOWNLOAD) == pytest.approx(
        1448 / 1538 * 2.5 * G
    )


@given(
    mtu=st.integers(576, 9216), speed_bps=st.sampled_from([10_000_000, G, 25 * G]) | st.integers(1, 10**12)
)
def test_the_ceiling_of_tcp_at_any_mtu_and_speed(mtu: int, speed_bps: int) -> None:
    """IPv4, TCP and its time stamps take 52 B of a packet; 38 B are around it on the wire."""
    changed = with_ports(plan(), mtu_bytes=mtu, speed_bps=speed_bps)
    assert ceiling_bps(changed, DOWNLOAD) == pytest.approx((mtu - 52) * speed_bps / (mtu + 38))
    without = replace(changed, sysctls={"net.ipv4.tcp_timestamps": "0"})
    assert ceiling_bps(without, DOWNLOAD) == pytest.approx((mtu - 40) * speed_bps / (mtu + 38))


@pytest.mark.parametrize(
    ("payload", "wire"),
    [
        (1472, 1538),
        (None, 1538),
        (1, 84),
        (18, 84),
        (19, 85),
        # 1481 B of UDP: a fragment of 1480 and one of 1, padded.
        (1473, 1538 + 84),
        (8192, 5 * 1538 + 24 + 14 + 20 + 8200 - 5 * 1480),
    ],
)
def test_the_ceiling_of_udp_counts_every_fragment(payload: int | None, wire: int) -> None:
    """A datagram above the MTU is sent in fragments, each with its own headers, none below 60 B."""
    assert ceiling_bps(plan(), udp(payload)) == pytest.approx((payload or 1472) / wire * 2.5 * G)


@given(payload=st.integers(1, 65_507), mtu=st.integers(576, 9216))
def test_no_ceiling_is_above_the_line_rate(payload: int, mtu: int) -> None:
    """Whatever the sizes, payload is less than what is on the wire."""
    most = ceiling_bps(with_ports(plan(), mtu_bytes=mtu), udp(payload))
    assert most is not None
    assert 0 < most < 2.5 * G


def test_a_hop_is_lossless_only_with_both_ends() -> None:
    """The receiver must send PAUSE and the sender obey it; the other direction does not matter."""
    for sends, obeys, lossless in ((True, True, True), (True, False, False), (False, True, False)):
        changed = with_ports(plan(), "switch-p1", pause_tx=sends)
        changed = with_ports(changed, "server-eth0", pause_rx=obeys, netem=Netem(delay_ns=1000))
        hop = flow_path(changed, DOWNLOAD)[0]
        assert hop.lossless is lossless


def test_headroom_counts_what_is_under_way() -> None:
    """At 10G: three full frames, a PAUSE frame and a round trip of cable: 4702 B with 3 m of it."""
    hop = flow_path(plan(), DOWNLOAD)[0]
    assert headroom_bytes(hop) == 3 * 1538 + 84 + 38
    assert headroom_bytes(replace(hop, delay_ns=0)) == 3 * 1538 + 84


@pytest.mark.parametrize(("cell", "factor"), [(0, 1), (1, 60 / 84), (384, 384 / 84), (1024, 1024 / 84)])
def test_headroom_counts_cells(cell: int, factor: float) -> None:
    """What follows may be the shortest frames, each of which takes a cell."""
    hop = flow_path(plan(), DOWNLOAD)[0]
    taken = headroom_bytes(replace(hop, into=replace(hop.into, buffer_cell_bytes=cell)))
    assert taken == math.ceil(headroom_bytes(hop) * (1514 / 1538 if cell == 1 else factor))


def test_headroom_counts_the_reaction_of_who_is_stopped() -> None:
    """60 quanta at 10G are 3840 B more, those of the sender; the receiver's are nothing to it."""
    hop = flow_path(plan(), DOWNLOAD)[0]
    slow = replace(hop.out, pause_reaction_ns=3072)
    assert headroom_bytes(replace(hop, out=slow)) == headroom_bytes(hop) + 3840
    assert headroom_bytes(replace(hop, into=replace(hop.into, pause_reaction_ns=3072))) == headroom_bytes(hop)
