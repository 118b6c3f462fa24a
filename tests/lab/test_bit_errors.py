"""Bit errors: how many frames they cost, which ones, and that every one of them is accounted for."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from math import exp, sqrt
from typing import TYPE_CHECKING, Any

import pytest

from tests.lab.test_flow_control import dropped, incast, judged

if TYPE_CHECKING:
    from tests.lab.rig import Rig
    from wirelab.plan.types import Plan

SIGMAS = 4
FCS_BYTES = 4


def received(rig: Rig, bits: int, count: int, length: int, *more: str, seed: int = 1) -> dict[str, Any]:
    """Send ``count`` frames to a port that gets one of so many bits wrong; each is accounted for."""
    words = ("bit_errors.py", str(bits), str(count), str(length), *more)
    output = rig.execute("python3", "-B", *words, seed=seed)
    assert output.code == 0, output.stderr
    told: dict[str, Any] = json.loads(output.stdout)
    counted = told["counted"]
    assert counted["rx_wire_frames"] == told["sent"]["tx_frames"]
    assert counted["rx_frames"] == len(told["came"])
    assert counted["rx_wire_frames"] == counted["rx_frames"] + counted["rx_dropped_fcs"]
    damaged = counted["rx_dropped_fcs"] + counted["rx_damaged_control_frames"]
    assert counted["FrameCheckSequenceErrors"] == counted["rx_crc_errors"] == counted["rx_errors"] == damaged
    return told


@pytest.mark.parametrize(
    ("bits", "length"), [(1_000_000, 1514), (100_000, 60), (10_000, 1514)], ids=["1e-6", "1e-5", "1e-4"]
)
def test_a_frame_is_lost_with_any_of_its_bits(rig: Rig, bits: int, length: int) -> None:
    """At a bit error ratio b a frame of n bits gets through with (1-b)^n, its FCS among the bits."""
    count = 20_000
    lost = count - len(received(rig, bits, count, length)["came"])
    share = 1 - (1 - 1 / bits) ** (8 * (length + FCS_BYTES))
    assert abs(lost - count * share) <= SIGMAS * sqrt(count * share * (1 - share))


def test_errors_come_at_random(rig: Rig) -> None:
    """The frames between two errors have an exponential distribution: e^-1 of the gaps are above the mean."""
    count = 30_000
    came = set(received(rig, 51_200, count, 60)["came"])
    lost = [number for number in range(count) if number not in came]
    gaps = [after - before for before, after in pairwise(lost)]
    mean = 51_200 / (8 * (60 + FCS_BYTES))
    for times in (0.5, 1, 2):
        share = exp(-times)
        longer = sum(gap > times * mean for gap in gaps)
        assert abs(longer - len(gaps) * share) <= SIGMAS * sqrt(len(gaps) * share * (1 - share))


def test_the_seed_says_which_frames(rig: Rig) -> None:
    """The same seed loses the same frames, another one others."""
    first, again, other = (received(rig, 100_000, 2000, 1514, seed=seed)["came"] for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len(first) < 2000


def test_no_error_without_a_rate(rig: Rig) -> None:
    """0 is none, and what a port begins with."""
    assert received(rig, 0, 1000, 1514)["came"] == list(range(1000))


def test_a_damaged_control_frame_says_nothing(rig: Rig) -> None:
    """A MAC looks at the FCS before anything else: a PAUSE frame that is hit pauses nobody."""
    told = received(rig, 1, 5, 60, "pause")
    counted = told["counted"]
    assert told["sent"]["tx_pause_frames"] == counted["rx_damaged_control_frames"] == 5
    assert (counted["rx_pause_frames"], counted["tx_paused"]) == (0, 0)


def test_a_hub_passes_errors_on(rig: Rig) -> None:
    """A repeater has no FCS to check: the stations drop the frame, and count it."""
    told = received(rig, 1, 5, 1514, "hub")
    assert told["counted"]["rx_dropped_fcs"] == 5
    assert (told["wrong"]["rx_frames"], told["wrong"]["rx_dropped_fcs"]) == (5, 0)


def with_errors(plan_: Plan, bits: int, *names: str) -> Plan:
    """The Plan with bit errors at some ports."""
    ports = (replace(port, bits_per_error=bits) if port.name in names else port for port in plan_.ports)
    return replace(plan_, ports=tuple(ports))


def test_flow_control_loses_nothing_but_what_was_hit(rig: Rig) -> None:
    """Errors in data cost the frames that they hit, and no other."""
    plan_ = with_errors(incast(4, pause=True), 20_000_000, *(f"s1-p{number}" for number in range(1, 5)))
    result = judged(plan_, rig.run(plan_))
    hit = sum(port.drops["rx_fcs"] for port in result.ports.values())
    assert hit > 10
    assert dropped(result) == hit
    assert sum(port.tx_pause_frames for port in result.ports.values()) > 0


def test_a_pause_frame_that_was_hit_explains_what_is_dropped(rig: Rig) -> None:
    """Who was told to stop and could not read it goes on: the law of flow control says nothing of that."""
    senders = [f"h{number}-eth0" for number in range(1, 5)]
    plan_ = with_errors(incast(4, pause=True), 20_000, *senders)
    result = judged(plan_, rig.run(plan_))
    unread = sum(result.change(name).get("rx_damaged_control_frames") for name in senders)
    assert unread > 0
    assert sum(port.drops["rx_buffer"] for port in result.ports.values()) > 0
