"""Bytes in = out + dropped + queued, in networks nobody chose: drawn at random, built and driven for real."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from tests.lab.rig import GBPS, MBPS, NS_PER_MS, flow, forward_port, host_port, plan
from wirelab.plan.node import Switch, Transceiver
from wirelab.plan.queue import Queue
from wirelab.plan.types import Cable
from wirelab.results.result import read_result
from wirelab.verdict.checks import check_laws

if TYPE_CHECKING:
    from tests.lab.rig import Rig
    from wirelab.plan.traffic import Flow
    from wirelab.plan.types import Plan, Port

SPEEDS = (100 * MBPS, 1 * GBPS, 2_500 * MBPS, 10 * GBPS)


def draw(seed: int) -> Plan:
    """A star of hosts around a switch, one behind a module; speeds, queues and PAUSE as they fall."""
    dice = random.Random(seed)  # noqa: S311 a drawn test case
    pause = dice.random() < 0.5
    count = dice.randint(2, 5)
    ports: list[Port] = []
    cables: list[Cable] = []
    for number in range(1, count + 1):
        speed_bps = dice.choice(SPEEDS)
        queue = Queue("bfifo", dice.randint(16_000, 200_000))
        settings = {"pause_rx": pause, "pause_tx": pause, "queue": queue}
        ports.append(forward_port("s1", f"p{number}", number, speed_bps, **settings))
        rx_usecs, rx_frames = dice.choice((0, 10, 100)), dice.choice((0, 8))
        # Without a time the seventh frame would wait for an eighth, for ever.
        rx = {"rx_usecs": rx_usecs, "rx_frames": rx_frames if rx_usecs else 0, "pause_rx": pause}
        if number == 1:
            ports += _behind_module(dice, speed_bps, rx)
            cables.append(Cable("s1-p1", "m1-host", 0))
            cables.append(Cable("m1-line", "h1-eth0", dice.randint(0, 2000)))
        else:
            ports.append(host_port(f"h{number}", number, speed_bps, **rx))
            cables.append(Cable(f"s1-p{number}", f"h{number}-eth0", dice.randint(0, 2000)))
    switch, module = Switch("s1", "drawn"), Transceiver("m1", "drawn", "m1-host", "m1-line")
    return plan(ports, cables, _flows(dice, count), switches=(switch,), modules=(module,))


def _behind_module(dice: random.Random, host_speed_bps: int, rx: dict[str, Any]) -> list[Port]:
    line_speed_bps = dice.choice(SPEEDS)
    fifo = Queue("bfifo", dice.randint(4_000, 64_000))
    return [
        forward_port("m1", "host", 20, host_speed_bps, role="through", queue=fifo),
        forward_port("m1", "line", 21, line_speed_bps, role="through", queue=fifo),
        host_port("h1", 1, line_speed_bps, **rx),
    ]


def _flows(dice: random.Random, count: int) -> list[Flow]:
    flows = []
    for number in range(dice.randint(1, 4)):
        sender, receiver = dice.sample(range(1, count + 1), 2)
        start_ns = dice.randint(0, 1000) * NS_PER_MS
        made = flow(f"f{number}", f"h{sender}", f"h{receiver}", number, 1, start_ns=start_ns)
        flows.append(made)
    return flows


@pytest.mark.parametrize("seed", range(6))
def test_no_law_is_broken(rig: Rig, seed: int) -> None:
    """Every frame that entered a cable, a port, a module or a queue is accounted for when all is over."""
    drawn = draw(seed)
    result = read_result(drawn, rig.run(drawn))
    assert [violation.explanation for violation in check_laws(drawn, result)] == []
