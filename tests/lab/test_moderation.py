"""Interrupt moderation: by time, by frames, and by what drivers make of the load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.road import carried_out
from wirelab.units import NS_PER_US

if TYPE_CHECKING:
    from tests.lab.rig import Rig


def test_interrupt_comes_by_either_condition(rig: Rig) -> None:
    """0 means no limit: without a time only the number counts, or a ring that is full."""
    # By microseconds, frames and ring: the interrupts after each of six frames, and what has been received.
    expected = {
        (0, 0, 256): ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
        (0, 1, 256): ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
        (0, 3, 256): ([0, 0, 1, 1, 1, 2], [0, 0, 3, 3, 3, 6]),
        (0, 9, 2): ([0, 1, 1, 2, 2, 3], [0, 2, 2, 4, 4, 6]),
        (1_000_000, 3, 256): ([0, 0, 1, 1, 1, 2], [0, 0, 3, 3, 3, 6]),
        (1_000_000, 0, 256): ([0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]),
        (100, 3, 256): ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
    }
    counted = rig.each("moderation.py", [(*rule, 6) for rule in expected])
    seen = [(count["interrupts"], count["received"]) for count in counted]
    assert dict(zip(expected, seen, strict=True)) == expected


RING_FRAMES = 256
FRAME_NS = 1538 * 8 / 10
"""Of 1514 octets, with what is around them, at 10 Gbit/s."""
CLOCK_NS = 500
"""What a process reads of the clock, before and after."""


def test_a_single_frame_waits_where_time_counts_from_it(rig: Rig) -> None:
    """Intel's EITR is the least time between interrupts: after a pause the next frame interrupts at once."""
    late_us = {"first": 62, "last": 62, "interval": 0}
    calls = [("10000", "100", f"rx_moderation={moderation}", "rx-usecs=62") for moderation in late_us]
    for moderation, told in zip(late_us, rig.each("interrupts.py", calls), strict=True):
        for late_ns in told["late_ns"]:
            assert 0 <= late_ns - late_us[moderation] * NS_PER_US - FRAME_NS < CLOCK_NS, moderation


def test_an_interval_holds_under_load(rig: Rig) -> None:
    """A stream at line rate interrupts once in each interval, neither more often nor less."""
    intervals_us = (20, 62)
    calls = [("10000", "3000", "rx_moderation=interval", f"rx-usecs={usecs}") for usecs in intervals_us]
    for usecs, told in zip(intervals_us, rig.each("interrupts.py", calls), strict=True):
        assert abs(told["interrupts"] - told["took_ns"] / NS_PER_US / usecs) <= 1.5, usecs


def test_the_last_frame_counts_until_so_many_wait(rig: Rig) -> None:
    """`cqe-mode-rx`: a busy port goes by the frames, as the timer begins anew with each."""
    told = rig.script("interrupts.py", "10000", "3000", "rx_moderation=last", "rx-usecs=5", "rx-frames=64")
    assert abs(told["interrupts"] - told["frames"] / 64) < 2


def test_a_full_ring_interrupts_where_each_frame_begins_the_time_anew(rig: Rig) -> None:
    """Frames that come faster than the time would else keep their host asleep until the last one."""
    told = rig.script("interrupts.py", "10000", "3000", "rx_moderation=last", "rx-usecs=100", "rx-frames=0")
    assert told["frames"] > 3000 - RING_FRAMES
    assert told["interrupts"] == told["frames"] // RING_FRAMES


@pytest.mark.parametrize("before", ["first", "interval"])
def test_ethtool_says_cqe_mode(rig: Rig, before: str) -> None:
    """The tool's own word sets what the file shows, and gives back what was there before."""
    file = "/sys/class/net/p1/etherport/rx_moderation"
    ways = f"ip link add p1 type etherport; echo {before} > {file}; for mode in on off"
    shown = rig.execute("sh", "-euc", f"{ways}; do ethtool -C p1 cqe-mode-rx $mode; cat {file}; done")
    assert shown.stdout.split() == ["last", before], shown.stderr


def test_a_driver_adapts_to_a_stream(rig: Rig) -> None:
    """Full frames at line rate, by the drivers' own figures.

    ixgbe goes up by 2 us an interrupt until it finds 48 frames each time (59 us). igb has half the frame's
    octets on the wire in quarters of a microsecond, or 4000 interrupts a second at other speeds than 1G.
    e1000 finds four frames in 50 us, too few for its bulk class.
    """
    # By driver and speed: at the beginning, and when it is busy.
    expected = {
        ("ixgbe", 10_000): (50, 60),
        ("igb", 1000): (162, 192),
        ("igb", 100): (162, 245),
        ("e1000", 1000): (50, 50),
    }
    settings = "rx_moderation=interval", "adaptive-rx=on"
    calls = [(speed, 4000, settings[0], f"rx_adaptive={name}", settings[1]) for name, speed in expected]
    seen = [
        (told["begun"]["rx-usecs"], told["busy"]["rx-usecs"]) for told in rig.each("interrupts.py", calls)
    ]
    assert dict(zip(expected, seen, strict=True)) == expected


def test_ixgbe_adapts_by_two_microseconds(rig: Rig) -> None:
    """It begins a stream at 12 us at the most, and never leaves its even steps."""
    settings = ("rx_moderation=interval", "rx_adaptive=ixgbe", "adaptive-rx=on")
    told = rig.script("interrupts.py", "10000", "4000", *settings)
    chosen = [settings["rx-usecs"] for settings in told["chosen"]]
    assert chosen[0] <= 14
    assert chosen == sorted(chosen)
    assert all(usecs % 2 == 0 for usecs in chosen)


def test_a_driver_adapts_once_an_interrupt_whatever_a_frame_costs(rig: Rig) -> None:
    """What comes while the CPU is at a batch is of the same interrupt: it is no interrupt of few frames."""
    free, cheap, dear = (rig.script("adapts.py", "ixgbe", str(cost_ns)) for cost_ns in (0, 10, 1000))
    for told in (cheap, dear):
        assert told["interrupts"] <= 1.1 * free["interrupts"]
        assert min(told["chosen"]) >= 0.9 * min(free["chosen"])


@pytest.mark.parametrize(("moderation", "frames"), [("interval", {256}), ("last", {256, 128, 64})])
def test_dim_takes_its_profiles(rig: Rig, moderation: str, frames: set[int]) -> None:
    """The kernel's own algorithm: it tries others than it begins with, and nothing but its table."""
    usecs = {"interval": {1, 8, 64, 128, 256}, "last": {2, 8, 16, 32, 64}}[moderation]
    settings = (f"rx_moderation={moderation}", "rx_adaptive=dim", "adaptive-rx=on")
    told = rig.script("interrupts.py", "10000", "9000", *settings)
    chosen = [*told["chosen"], told["busy"]]
    assert {settings["rx-usecs"] for settings in chosen} <= usecs
    assert {settings["rx-frames"] for settings in chosen} <= frames
    assert len({settings["rx-usecs"] for settings in chosen}) > 1


def test_adaptation_needs_an_algorithm(rig: Rig) -> None:
    """A card whose driver has none says so, and where it would be said."""
    refused = rig.execute("sh", "-c", "ip link add p1 type etherport; ethtool -C p1 adaptive-rx on")
    assert refused.code != 0
    assert "rx_adaptive" in refused.stderr


def test_frames_that_wait_go_by_the_new_rule(rig: Rig) -> None:
    """What is set while a frame waits holds for it, too."""
    rules = [
        "ethtool -C p2 rx-usecs 0 rx-frames 64 then ethtool -C p2 rx-usecs 0 rx-frames 1",
        "ethtool -C p2 rx-usecs 0 rx-frames 64 then ethtool -C p2 rx-usecs 50 rx-frames 64",
        "ethtool -C p2 rx-usecs 1000000 then ethtool -C p2 rx-usecs 50",
        "ethtool -C p2 rx-usecs 0 rx-frames 64 then ethtool -G p2 rx 1",
        "ethtool -C p2 rx-usecs 1000000 then p2 rx_moderation interval",
    ]
    for rule, told in zip(rules, rig.each("other_rules.py", map(str.split, rules)), strict=True):
        assert told["received"] == [0, 1], rule


def test_moderation_changes_at_an_instant(rig: Rig) -> None:
    """An echo waits as long as a card holds it back by then, or until that tells what it has sent.

    An algorithm that a time was put in the place of is back when that is over.
    """
    text = """
topology: back-to-back
with: {left.nic: rtl8125, left.rx_usecs: 10 us}
traffic:
  - ping: {name: echo, from: left, to: right, time: 4 s, interval: 100 ms}
events:
  - {at: 2 s, for: 1 s, with: {left.rx_usecs: 510 us, right.rx_usecs: 20 us}}
  - {at: 4 s, with: {left.rx_usecs: 1010 us}}
  - {at: 4500 ms, with: {left.tx_usecs: 30 us}}
expect:
  echo: {lost: 0 %}
"""
    plan, result = carried_out(rig, text)
    rtts_us = result.echoes["echo"].rtt_us
    begin, *later = (rtts_us[number] for number in (5, 15, 25, 33, 38))
    assert [rtt_us - begin for rtt_us in later] == pytest.approx([500, 0, 1000, 0], abs=30)
    assert plan.port("right-eth0").rx_adaptive == "e1000"
    read = {(one.port, one.setting): one.actual for one in result.happened.readbacks}
    assert read["right-eth0", "rx_adaptive"] == "e1000"
