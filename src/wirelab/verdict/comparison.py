"""A published figure beside the lab's: how far they are apart. Pure functions of numbers in base units."""

import math
import statistics
from collections.abc import Iterable
from typing import Final

from wirelab.model.metric import Choice, Metric
from wirelab.units import COUNT

MOST_OFF: Final = 0.25
"""What is further off than this needs a cause that has a name."""


def is_counted(metric: Metric) -> bool:
    """Whether it is a ratio that says how far two values of a metric are apart, and not a relative error."""
    return metric.quantity is COUNT


def error(metric: Metric, low: float | None, high: float | None, measured: float) -> float:
    """How far ``measured`` is from what was published: 0.03 for 3 % too much, -0.03 for 3 % too little.

    Of a published range the nearer end counts, and nothing within it is wrong. Counts are by their ratio: 0.5
    for 3 instead of 2, -0.5 for 2 instead of 3. Infinite where one of them is 0 and the other is not, and
    where one word stands for another.
    """
    if (low is None or measured >= low) and (high is None or measured <= high):
        return 0.0
    if isinstance(metric.quantity, Choice):
        return math.inf
    if low is not None and measured < low:
        if not is_counted(metric):
            return measured / low - 1
        return 1 - low / measured if measured else -math.inf
    return measured / high - 1 if high else math.inf


def is_miss(how_far: float) -> bool:
    """Whether an error is more than ``MOST_OFF``."""
    return abs(how_far) > MOST_OFF


def median_off(errors: Iterable[float]) -> float | None:
    """The median of errors without their signs; None where there are none."""
    values = [abs(value) for value in errors]
    return statistics.median(values) if values else None
