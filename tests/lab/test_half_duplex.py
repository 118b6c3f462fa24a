"""Half duplex: one at a time, by CSMA/CD of IEEE 802.3 clause 4."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig

ON_WIRE = 1514 + 24


def hub(rig: Rig, **options: float) -> dict[str, Any]:
    """Run stations on a hub; nothing may be unaccounted for."""
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", f"{value}")]
    counted = rig.script("hub.py", *words)
    for station, port in zip(counted["stations"], counted["hub"], strict=True):
        assert station["tx_frames"] == port["rx_wire_frames"] == port["rx_frames"]
        heard = station["rx_frames"] + station["rx_filtered_frames"]
        assert port["tx_frames"] == station["rx_wire_frames"] == heard
    sent = [station["tx_frames"] for station in counted["stations"]]
    for own, port in zip(sent, counted["hub"], strict=True):
        assert port["tx_frames"] == sum(sent) - own
    return counted


@pytest.mark.parametrize("mtu_bytes", [576, 1500, 9000])
@pytest.mark.parametrize(("speed_mbps", "time_s"), [(10, 20), (100, 5)])
def test_a_lone_sender_has_the_line_for_itself(
    rig: Rig, speed_mbps: int, time_s: int, mtu_bytes: int
) -> None:
    """One sender meets nobody: half duplex is as fast as full duplex."""
    arguments = ("--speed", str(speed_mbps), "--duplex", "half", "--udp", "--time", str(time_s))
    measured = rig.script("one_flow.py", *arguments, "--mtu", str(mtu_bytes))
    on_wire = mtu_bytes + 14 + 24
    assert measured["goodput_bps"] == pytest.approx(speed_mbps * 1e6 * (mtu_bytes - 28) / on_wire, rel=0.001)


def test_every_station_of_a_hub_hears_every_frame(rig: Rig) -> None:
    """What one sends, all others hear, and each frame once."""
    counted = hub(rig, speed=10, senders=1, time=2)
    on_the_air = {station["rx_wire_frames"] + station["tx_frames"] for station in counted["stations"]}
    assert len(on_the_air) == 1
    assert on_the_air.pop() > 1000


@pytest.mark.parametrize("senders", [2, 3])
def test_senders_of_a_hub_share_what_one_would_have(rig: Rig, senders: int) -> None:
    """With long frames a shared Ethernet stays busy: 90 % and more of a lone sender's goodput in sum.

    Boggs, Mogul, Kent: Measured Capacity of an Ethernet, 1988, figure 3: above 9.5 Mbit/s on the wire
    for frames of 1536 bytes and few stations.
    """
    measured = hub(rig, speed=10, senders=senders, time=10)
    total_bps = sum(measured["goodput_bps"])
    line_bps = 10e6 * 1472 / ON_WIRE
    assert 0.9 * line_bps < total_bps < line_bps
    stations = measured["stations"]
    assert sum(station["tx_collisions"] for station in stations) > 100
    assert all(station["LateCollisions"] == 0 for station in stations)


def test_collisions_are_counted_by_how_a_frame_left(rig: Rig) -> None:
    """A frame left at once, after one collision or after more, or was given up; no frame is in two."""
    counted = hub(rig, speed=10, senders=3, time=5)
    for station in counted["stations"][1:]:
        attempts_min = (
            station["SingleCollisionFrames"]
            + 2 * station["MultipleCollisionFrames"]
            + 16 * station["tx_dropped_collisions"]
        )
        assert station["tx_collisions"] >= attempts_min
        assert station["tx_frames"] >= station["SingleCollisionFrames"] + station["MultipleCollisionFrames"]
        assert station["MultipleCollisionFrames"] > 0


def test_who_waits_for_a_medium_that_becomes_his_own_sends_from_the_first_bit(rig: Rig) -> None:
    """A frame that waited is sent by the new rules, in its time; one on the wire is sent once, to its end."""
    arrivals = rig.script("duplex_changes.py", "40")["arrivals"]
    gaps_ns = [later - earlier for earlier, later in pairwise(arrivals)]
    assert len(gaps_ns) > 500
    # A call that fails takes User-Mode Linux 1 us at once: what is due meanwhile is that late.
    assert min(gaps_ns) >= ON_WIRE * 800 - 1000


def test_whose_medium_becomes_his_own_in_the_gap_waits_for_its_end(rig: Rig) -> None:
    """The gap between two frames of a port is that of full duplex, too (IEEE 802.3 clause 4.2.3.2.2)."""
    gaps_ns = rig.script("duplex_in_gap.py", "100", "3000", "6000", "9000")["gaps_ns"]
    assert gaps_ns == [ON_WIRE * 800] * 4


def test_who_waits_for_a_medium_that_is_gone_waits_no_more(rig: Rig) -> None:
    """What has not begun when the link is lost is lost with it, and counted: nobody sends without a link."""
    told = rig.script("medium_gone.py")
    gained = {name: count - told["before"][name] for name, count in told["after"].items()}
    assert gained["FramesWithDeferredXmissions"] == 0
    assert (gained["tx_frames"], gained["tx_dropped_down"], gained["tx_ring_frames"]) == (0, 1, 0)


def test_who_had_to_wait_is_counted_once_and_not_if_it_collided(rig: Rig) -> None:
    """IEEE 802.3 clause 30.3.1.1.9: delayed on its first attempt, and not involved in any collision."""
    told = rig.script("waits_and_meets.py")
    waited, met = told["waited"], told["met"]
    assert (waited["FramesWithDeferredXmissions"], waited["tx_collisions"]) == (10, 0)
    assert met["tx_collisions"] >= 60
    assert met["FramesWithDeferredXmissions"] == 10


def test_a_station_does_not_take_what_is_for_another(rig: Rig) -> None:
    """A card lets in what is for it, for a group or for all; all else costs its host no interrupt."""
    told = rig.script("others.py")
    for way in ("own", "group", "all", "looking"):
        assert (told[way]["rx_frames"], told[way]["rx_filtered_frames"]) == (10, 0), way
    others = told["others"]
    assert (others["rx_wire_frames"], others["rx_filtered_frames"]) == (10, 10)
    assert others["rx_frames"] == others["interrupts"] == 0
    assert told["otherhost"] == 10


def test_a_hub_has_no_longest_frame(rig: Rig) -> None:
    """It repeats bits, whatever the MTU of its ports is."""
    counted = rig.script("long_frames_on_a_hub.py")
    assert counted["rx_frames"] == 5


def test_a_hub_repeats_the_same_run(rig: Rig) -> None:
    """The draws of the back-off come from the lab's seed."""
    first, second = (hub(rig, speed=10, senders=3, time=2) for _ in range(2))
    assert first == second


def test_a_duplex_mismatch_hurts_in_one_direction(rig: Rig) -> None:
    """The half-duplex end sees late collisions and gives up; the other one sees nothing, and both lose.

    Shalunov, Carlson: Detecting Duplex Mismatch on Ethernet, PAM 2005.
    """
    matched = rig.script("one_flow.py", "--speed", "100", "--time", "5")
    arguments = ("--speed", "100", "--time", "5", "--duplex", "half", "--receiver-duplex", "full")
    measured = rig.script("one_flow.py", *arguments)
    half, full = measured["sender"], measured["receiver"]
    assert half["LateCollisions"] > 0
    assert half["LateCollisions"] == half["tx_dropped_collisions"]
    assert half["FramesAbortedDueToXSColls"] == 0
    assert half["FrameCheckSequenceErrors"] == half["rx_dropped_collision"]
    assert half["rx_dropped_collision"] > 0
    assert full["tx_collisions"] == full["rx_dropped_collision"] == 0
    assert full["tx_frames"] == half["rx_wire_frames"] == half["rx_frames"] + half["rx_dropped_collision"]
    assert measured["goodput_bps"] < matched["goodput_bps"] / 10
