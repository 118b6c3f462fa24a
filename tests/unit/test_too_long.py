"""Datagrams that are too long for a router on their way, and a sender that stops, are explained as such."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from examples import SHIPPED, scenario

from wirelab.model.experiment import load_file
from wirelab.plan.build import build_plan
from wirelab.results.flow import FlowResult
from wirelab.verdict.too_long import TooLong, too_long

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """name: example
source: {{title: a test}}
topology: firewall
with: {{client.mtu: 9000 B, firewall.p1.mtu: 9000 B, firewall.p2.mtu: {mtu} B, server.mtu: {mtu} B}}
"""
TRAFFIC = """traffic:
  - iperf3: {name: u, from: client, to: server, time: 1 s, protocol: udp, bitrate: 50 Mbit/s, payload: 4000 B}
"""


def _found(folder: Path, *, mtu: int, sent: int) -> TooLong | None:
    head, expect = HEAD.format(mtu=mtu), "expect: {u: {lost: 0 %}}\n"
    loaded = load_file(scenario(folder, head=head, traffic=TRAFFIC, expect=expect), SHIPPED)
    plan = build_plan(loaded, loaded.cases[0], 1)
    measured = FlowResult(
        name="u",
        sender="client",
        receiver="server",
        goodput_bps=0,
        retransmits=None,
        sent_datagrams=sent,
        lost_datagrams=sent,
        protocol="udp",
    )
    return too_long(plan, plan.flows[0], measured)


def test_a_sender_that_a_router_refused_is_told_of(tmp_path: Path) -> None:
    """The MTU falls on the way, DF is set, and one datagram of a second is all that was sent."""
    found = _found(tmp_path, mtu=1400, sent=1)
    assert found is not None
    assert found.at == "firewall.p2"
    assert found.words == (
        "client sent 1 of 1 562 datagrams: packets of 4028 B are longer than the MTU of firewall.p2, 1400 B,"
        " and no router may fragment them (DF); told so, it stopped"
    )


@pytest.mark.parametrize(("mtu", "sent"), [(1400, 1500), (9000, 1)], ids=["all sent", "short enough"])
def test_nothing_is_said_where_nothing_was_refused(tmp_path: Path, mtu: int, sent: int) -> None:
    """Where most was sent it was not that, nor where the MTU stays as it is."""
    assert _found(tmp_path, mtu=mtu, sent=sent) is None
