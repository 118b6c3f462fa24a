"""Counters that are read now and then, and what they had counted in between."""

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter

Counted = Sequence[tuple[int, int]]
"""What something had counted at each instant."""


def at(counted: Counted, at_ns: int) -> float:
    """What had been counted at an instant: between two samples in proportion, beyond them as at the ends."""
    place = bisect_right(counted, at_ns, key=itemgetter(0))
    if place in (0, len(counted)):
        return counted[max(place - 1, 0)][1]
    (before_ns, before), (after_ns, after) = counted[place - 1 : place + 1]
    return before + (after - before) * (at_ns - before_ns) / (after_ns - before_ns)
