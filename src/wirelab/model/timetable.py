"""When each item of the traffic begins, counted from when the network is ready, and when all is over."""

from collections.abc import Sequence
from typing import Final

from wirelab.model.traffic import Item
from wirelab.units import NS_PER_S

FIRST_START_NS: Final = NS_PER_S
GAP_NS: Final = 2 * NS_PER_S
"""The silence between flows that run one after the other: long enough for every queue to run empty."""


def starts_ns(items: Sequence[Item]) -> dict[str, int]:
    """The start of each item by its name; the items are sound."""
    starts: dict[str, int] = {}
    end_ns = FIRST_START_NS - GAP_NS
    for item in items:
        if item.start_ns is not None:
            start_ns = item.start_ns
        elif item.concurrent_with is not None:
            start_ns = starts.get(item.concurrent_with, FIRST_START_NS)
        else:
            start_ns = end_ns + GAP_NS
        starts[item.name] = start_ns
        end_ns = max(end_ns, start_ns + item.longest_ns)
    return starts


def end_ns(items: Sequence[Item]) -> int:
    """When the time of the last item is over, 0 without any."""
    starts = starts_ns(items)
    return max((starts[item.name] + item.longest_ns for item in items), default=0)
