"""What waits in a queue takes as long as its frames take on the line, or at the shaper before it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from recorded import G, port

from wirelab.plan.path import Hop
from wirelab.plan.shape import Shape
from wirelab.results.counters import LinkState, PortCounters
from wirelab.verdict.waits import wait_ns

MBPS = 1_000_000


def sent(frames: int, frame_bytes: int) -> PortCounters:
    """What a port has sent."""
    link = LinkState(up=True, speed_bps=100 * MBPS, duplex="full", pause_rx=False, pause_tx=False)
    return PortCounters({"tx_frames": frames, "tx_bytes": frames * frame_bytes}, (), link)


def hop(shape: Shape | None = None) -> Hop:
    """A line of 100 Mbit/s, behind a shaper if one is given."""
    out = port("s-p3", "s.p3", "s", speed_bps=100 * MBPS, shape=shape)
    return Hop(out, port("c-eth0", "c", "c", speed_bps=G), 15)


def test_small_frames_take_longer_than_their_bytes() -> None:
    """A frame of 106 B takes 130 B on a line, one of 42 B is padded to 60 B first."""
    assert wait_ns(106_000, hop(), sent(5000, 106)) == pytest.approx(130_000 * 80)
    assert wait_ns(42_000, hop(), sent(5000, 42)) == pytest.approx(84_000 * 80)


def test_a_tag_takes_its_room() -> None:
    """4 B a frame on a trunk."""
    trunk = replace(hop().out, trunk_vlans=(1, 2))
    assert wait_ns(106_000, replace(hop(), out=trunk), sent(9, 106)) == pytest.approx(134_000 * 80)


def test_a_shaper_counts_what_it_is_told_to() -> None:
    """Behind one of 10 Mbit/s that adds 40 B; one that is faster than its line keeps nothing waiting."""
    shape = Shape("cake", 10 * MBPS, 0, overhead_bytes=40)
    assert wait_ns(100_000, hop(shape), sent(9, 100)) == pytest.approx(140_000 * 800)
    least = replace(shape, least_bytes=200)
    assert wait_ns(100_000, hop(least), sent(9, 100)) == pytest.approx(200_000 * 800)
    faster = replace(shape, rate_bps=G)
    assert wait_ns(106_000, hop(faster), sent(9, 106)) == pytest.approx(130_000 * 80)


def test_where_nothing_left_the_bytes_alone_are_told() -> None:
    """No frame says how long the frames are."""
    assert wait_ns(1000, hop(), sent(0, 0)) == pytest.approx(80_000)
