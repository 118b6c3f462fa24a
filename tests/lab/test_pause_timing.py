"""PAUSE against the numbers of IEEE 802.3 Annex 31B, to the nanosecond of the lab's clock."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.lab.rig import Rig

PREAMBLE, FCS, IFG = 8, 4, 12
QUANTUM_BITS = 512
PAUSE_FRAME = 60
FRAME = 1514
CABLE_NS = 15
SPEEDS_MBPS = (1000, 2500, 10000)

# The first frames are sent one by one, before the sender is ahead of the line.
RING_FILLS = 20

# Each timer of the lab fires on a whole nanosecond, and up to one later.
CLOCK_NS = 3


@dataclass(frozen=True)
class Stream:
    """What a saturated stream and the PAUSE frames against it looked like."""

    speed_mbps: int
    pauses: list[tuple[int, int]]
    arrivals: list[int]

    def octets_ns(self, octets: int) -> float:
        """How long so many octets take on the wire."""
        return octets * 8000 / self.speed_mbps

    def quanta_ns(self, quanta: int) -> float:
        """How long a pause of so many quanta is."""
        return quanta * QUANTUM_BITS * 1000 / self.speed_mbps

    def heard_ns(self, index: int) -> float:
        """When the last bit of the PAUSE frame ``index`` had come to the sender."""
        return self.pauses[index][0] + self.octets_ns(PREAMBLE + PAUSE_FRAME + FCS) + CABLE_NS

    def last_before_silence(self, after_ns: float) -> int:
        """The arrival that opens the first silence longer than two frames after an instant."""
        frame_ns = self.octets_ns(PREAMBLE + FRAME + FCS + IFG)
        first = bisect_right(self.arrivals, after_ns)
        for index in range(first, len(self.arrivals) - 1):
            if self.arrivals[index + 1] - self.arrivals[index] > 2 * frame_ns:
                return index
        pytest.fail("the stream was never silent")


def measure(rig: Rig, speed_mbps: int, *injections: str, reaction_ns: int = 0) -> Stream:
    """Run the stream in a lab."""
    (stream,) = measure_each(rig, {speed_mbps: reaction_ns}, *injections)
    return stream


def measure_each(rig: Rig, reaction_ns: Mapping[int, int], *injections: str) -> list[Stream]:
    """Run it at several speeds, each with its reaction time."""
    calls = [(mbps, FRAME, CABLE_NS, own_ns, *injections) for mbps, own_ns in reaction_ns.items()]
    answers = rig.each("pause_stream.py", calls)
    assert all(len(answer["pauses"]) == len(injections) for answer in answers)
    return [_stream(mbps, answer) for mbps, answer in zip(reaction_ns, answers, strict=True)]


def _stream(speed_mbps: int, measured: dict[str, Any]) -> Stream:
    # From the first arrival on: a float has no room for nanoseconds since 1970 and for parts of them.
    begun_ns = measured["arrivals"][0]
    pauses = [(sent_ns - begun_ns, quanta) for sent_ns, quanta in measured["pauses"]]
    return Stream(speed_mbps, pauses, [at_ns - begun_ns for at_ns in measured["arrivals"]])


def test_frames_follow_each_other_exactly_at_line_rate(rig: Rig) -> None:
    """Back-to-back frames arrive one frame time apart, preamble, FCS and gap included, without drift."""
    for stream in measure_each(rig, dict.fromkeys((100, 1000, 2500, 10000, 25000), 0)):
        frame_ns = stream.octets_ns(PREAMBLE + FRAME + FCS + IFG)
        arrivals = stream.arrivals[RING_FILLS:]
        assert len(arrivals) > 10
        for number, arrival in enumerate(arrivals):
            assert abs(arrival - arrivals[0] - number * frame_ns) <= CLOCK_NS, stream.speed_mbps


def test_silence_begins_with_the_frame_in_flight_and_ends_by_itself(rig: Rig) -> None:
    """After a PAUSE is heard the frame being sent is completed, and nothing follows it.

    Without an XON the sender starts again exactly when the pause time it was given is over.
    """
    for stream in measure_each(rig, dict.fromkeys(SPEEDS_MBPS, 0), "1000:1000"):
        heard_ns = stream.heard_ns(0)
        index = stream.last_before_silence(heard_ns - stream.octets_ns(2 * FRAME))
        latest_ns = heard_ns + stream.octets_ns(PREAMBLE + FRAME + FCS + IFG) + CABLE_NS
        assert stream.arrivals[index] <= latest_ns + CLOCK_NS, stream.speed_mbps
        start_ns = heard_ns + stream.quanta_ns(1000)
        expected_ns = start_ns + stream.octets_ns(PREAMBLE + FRAME + FCS) + CABLE_NS
        assert abs(stream.arrivals[index + 1] - expected_ns) <= CLOCK_NS, stream.speed_mbps


def test_xon_restarts_at_once(rig: Rig) -> None:
    """A PAUSE of zero quanta ends a pause the moment it is heard."""
    for stream in measure_each(rig, dict.fromkeys(SPEEDS_MBPS, 0), "1000:65535", "1300:0"):
        index = stream.last_before_silence(stream.heard_ns(0) - stream.octets_ns(2 * FRAME))
        expected_ns = stream.heard_ns(1) + stream.octets_ns(PREAMBLE + FRAME + FCS) + CABLE_NS
        assert abs(stream.arrivals[index + 1] - expected_ns) <= CLOCK_NS, stream.speed_mbps


def test_a_later_pause_replaces_the_running_one(rig: Rig) -> None:
    """The newer pause time counts from its own arrival, shorter or longer than what was left."""
    stream = measure(rig, 10000, "1000:4000", "1100:1000")
    index = stream.last_before_silence(stream.heard_ns(0) - stream.octets_ns(2 * FRAME))
    start_ns = stream.heard_ns(1) + stream.quanta_ns(1000)
    expected_ns = start_ns + stream.octets_ns(PREAMBLE + FRAME + FCS) + CABLE_NS
    assert abs(stream.arrivals[index + 1] - expected_ns) <= CLOCK_NS


def test_a_pause_takes_effect_after_its_reaction(rig: Rig) -> None:
    """What the standard allows at most (Annex 31B.3.7), to a frame; the pause is as long as without."""
    quanta = {100: 1, 1000: 2, 2500: 60, 10000: 60}
    reactions_ns = {mbps: most * QUANTUM_BITS * 1000 // mbps for mbps, most in quanta.items()}
    for stream in measure_each(rig, reactions_ns, "1000:1000"):
        effect_ns = stream.heard_ns(0) + reactions_ns[stream.speed_mbps]
        last = stream.last_before_silence(stream.heard_ns(0) - stream.octets_ns(2 * FRAME))
        frame_ns = stream.octets_ns(PREAMBLE + FRAME + FCS + IFG)
        # The last one had begun before that, and the next would have begun after it.
        began_ns = stream.arrivals[last] - CABLE_NS - stream.octets_ns(PREAMBLE + FRAME + FCS)
        assert effect_ns - frame_ns - CLOCK_NS - CABLE_NS <= began_ns <= effect_ns + CLOCK_NS
        restart_ns = stream.arrivals[last + 1] - CABLE_NS - stream.octets_ns(PREAMBLE + FRAME + FCS)
        assert abs(restart_ns - effect_ns - stream.quanta_ns(1000)) <= CLOCK_NS, stream.speed_mbps


def test_what_follows_a_pause_is_as_late_as_that(rig: Rig) -> None:
    """The silence between them is as long, begun and ended later; none overtakes another."""
    reaction_ns = 300_000
    stream = measure(rig, 10000, "1000:65535", "1100:0", reaction_ns=reaction_ns)
    last = stream.last_before_silence(stream.heard_ns(0) - stream.octets_ns(2 * FRAME))
    began_ns = stream.arrivals[last] - CABLE_NS - stream.octets_ns(PREAMBLE + FRAME + FCS)
    assert abs(began_ns - stream.heard_ns(0) - reaction_ns) <= stream.octets_ns(FRAME + 24 + CABLE_NS)
    expected_ns = stream.heard_ns(1) + reaction_ns + stream.octets_ns(PREAMBLE + FRAME + FCS) + CABLE_NS
    assert abs(stream.arrivals[last + 1] - expected_ns) <= CLOCK_NS


def test_a_pause_may_end_while_the_last_frame_is_still_on_the_cable(rig: Rig) -> None:
    """The line is free before the port has noticed: what waits goes on when the pause is over."""
    frame_ns = (PREAMBLE + FRAME + FCS + IFG) * 8
    # Each pause is over 74 us after the one before it: six frames and 176 ns, and the last bit takes 500.
    times = [f"{at_us}:5" for at_us in range(500, 3800, 74)]
    stream = rig.script("pause_stream.py", "1000", str(FRAME), "500", "0", *times)
    arrivals = stream["arrivals"]
    assert len(arrivals) == 4_000_000 // frame_ns
    assert min(later - earlier for earlier, later in pairwise(arrivals)) >= frame_ns - CLOCK_NS
