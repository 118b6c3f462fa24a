"""Which PAUSE frames a port obeys, what they stop, and which it sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig

PAUSE_NS = 65535 * 512


@pytest.mark.parametrize(
    ("address", "obeyed"),
    [
        ("reserved", True),
        ("own", True),
        ("0200000000ee", False),
        ("0180c2000000", False),
        ("ffffffffffff", False),
    ],
)
def test_pause_is_obeyed_if_it_is_for_this_port(rig: Rig, address: str, *, obeyed: bool) -> None:
    """IEEE 802.3 Annex 31B.3.3: to the reserved address or the station's own, and no other."""
    paused_ns = rig.script("inject.py", address, "1", "60")["p1"]["tx_paused_ns"]
    assert PAUSE_NS <= paused_ns < 1.01 * PAUSE_NS if obeyed else paused_ns == 0


@pytest.mark.parametrize("queue", ["0", "5"])
def test_pause_stops_every_queue(rig: Rig, queue: str) -> None:
    """PAUSE knows of no priorities: where PFC is off, no queue of eight sends."""
    counted = rig.script("pause_queues.py", queue)
    assert (counted["silent"], counted["all"]) == (0, counted["sent"])


def test_a_port_that_is_down_asks_for_no_pause(rig: Rig) -> None:
    """Nobody is there to be stopped, nor later to be told that it may go on."""
    counted = rig.script("pause_down.py")
    assert counted["held_bytes"] > 2000
    assert (counted["left_bytes"], counted["heard"]) == (0, 0)


def test_who_obeys_no_more_does_not_wait(rig: Rig) -> None:
    """`ethtool -A rx off` ends the pause that is running: nobody would hear its XON."""
    counted = rig.script("obey_no_more.py")
    assert counted["tx_frames"] == 1
    assert 1_000_000 <= counted["tx_paused_ns"] < 2_000_000


def test_a_lost_link_lets_go_of_what_waited(rig: Rig) -> None:
    """Frames in the ring of a port without a link are dropped and counted; who filled it may send again."""
    counted = rig.script("link_lost.py")
    assert counted["held_bytes"] > 50_000
    assert (counted["left_bytes"], counted["paused"]) == (0, 0)
    p3, frames = counted["p3"], counted["held_bytes"] / 1514
    assert p3["tx_ring_frames"] == 0
    assert frames - 1 <= p3["tx_dropped_down"] <= frames, "all but the one on the wire"


def test_xon_is_not_above_xoff(rig: Rig) -> None:
    """Whatever was set: else each frame that leaves the buffer takes the port's own PAUSE back."""
    counted = rig.script("threshold_words.py")["below_xon"]
    assert counted["rx_dropped_buffer"] == 0
    assert counted["tx_pause_frames"] > 0


def test_a_smaller_memory_stops_whoever_fills_it(rig: Rig) -> None:
    """The thresholds of all who share it move, by whichever of their ports it was made smaller."""
    told = rig.script("threshold_words.py")
    assert told["small"]["tx_pause_frames"] == told["large"]["tx_pause_frames"] + 1


def test_pause_says_what_any_priority_needs(rig: Rig) -> None:
    """After PFC, frames of a priority may still be in the buffer: PAUSE stops the sender for them, too."""
    told = rig.script("after_pfc.py")
    before, after = told["on"], told["off"]
    assert after["p2"]["buffer_bytes"] > 5000
    assert after["p1"]["tx_paused_ns"] - before["p1"]["tx_paused_ns"] > 90_000_000
    assert after["p1"]["tx_paused"] == 1
