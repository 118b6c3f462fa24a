"""A long path: delay and loss by tc netem on a port, and the port's own queue below it."""

from __future__ import annotations

import json
from math import sqrt
from typing import TYPE_CHECKING

import pytest

from tests.lab.rig import MBPS, flow, host_port, plan
from tests.lab.road import carried_out
from wirelab.plan.queue import Queue
from wirelab.plan.types import Cable, Netem
from wirelab.results.result import read_result
from wirelab.verdict.checks import check_laws

if TYPE_CHECKING:
    from tests.lab.rig import Rig
    from wirelab.plan.types import Plan

SPEED_BPS = 100 * MBPS
DELAY_NS = 5_000_000


def long_path(loss_ratio: float) -> Plan:
    """Two hosts, five milliseconds apart in each direction; a frame that ``a`` sends may get lost."""
    there = Netem(delay_ns=DELAY_NS, loss_ratio=loss_ratio)
    ports = [
        host_port("a", 1, SPEED_BPS, netem=there, queue=Queue("bfifo", 200_000)),
        host_port("b", 2, SPEED_BPS, netem=Netem(delay_ns=DELAY_NS), queue=Queue("bfifo", 200_000)),
    ]
    slow = flow("f", "a", "b", 1, 5, bitrate_bps=10 * MBPS, payload_bytes=1448)
    return plan(ports, [Cable("a-eth0", "b-eth0", 15)], [slow])


def test_rtt_is_the_delay_of_both_directions(rig: Rig) -> None:
    """A round trip takes both delays, and a frame time or two more."""
    path = long_path(0)
    raw = rig.run(path)
    result = read_result(path, raw)
    assert [violation.explanation for violation in check_laws(path, result)] == []
    samples = [json.loads(line) for line in (raw / "samples.jsonl").read_text().splitlines()]
    rtts_us = [sample["flows"]["f"]["rtt_us"] for sample in samples if "f" in sample["flows"]]
    assert 2 * DELAY_NS / 1000 <= min(rtts_us) < 2 * DELAY_NS / 1000 + 500


def test_loss_is_named_so(rig: Rig) -> None:
    """Frames that netem loses on purpose are counted apart from those that a full queue drops."""
    path = long_path(0.01)
    result = read_result(path, rig.run(path))
    assert [violation.explanation for violation in check_laws(path, result)] == []
    sender = result.ports["a"]
    assert result.flows["f"].retransmits
    assert sum(sender.drops.values()) == sender.drops["netem"]


def test_loss_is_what_was_asked(rig: Rig) -> None:
    """Each datagram is a throw of its own: the count is Poisson's, and four sigmas are one lab in 16 000."""
    _, result = carried_out(
        rig,
        "topology: one-switch\nwith: {client.advertise: 100 Mbit/s, server.loss: 1 %}\ntraffic:\n"
        "  - iperf3: {name: flood, from: server, to: client, time: 5 s, protocol: udp, bitrate: 80 Mbit/s}\n"
        "expect:\n  flood: {goodput: 70..80 Mbit/s}\n",
    )
    flood = result.flows["flood"]
    assert flood.sent_datagrams is not None
    expected = 0.01 * flood.sent_datagrams
    assert expected > 300
    assert flood.lost_datagrams == pytest.approx(expected, abs=4 * sqrt(expected))
