"""Round-trip times, summed up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Self

from pydantic import Field

from wirelab.results.values import Amount


@dataclass(frozen=True, slots=True)
class Rtt:
    """Least, mean and most, and percentiles; these are None where nothing was sampled."""

    min_us: Annotated[Amount, Field(alias="min")]
    mean_us: Annotated[Amount, Field(alias="mean")]
    max_us: Annotated[Amount, Field(alias="max")]
    p50_us: Annotated[Amount | None, Field(alias="p50")] = None
    p90_us: Annotated[Amount | None, Field(alias="p90")] = None
    p99_us: Annotated[Amount | None, Field(alias="p99")] = None

    @classmethod
    def of(cls, rtts_us: Sequence[float]) -> Self | None:
        """The summary of single round-trip times, None if there are none."""
        if not rtts_us:
            return None
        mean_us = sum(rtts_us) / len(rtts_us)
        return cls(min(rtts_us), mean_us, max(rtts_us), *percentiles(rtts_us))


FIGURES: Final[Mapping[str, Callable[[Rtt], float | None]]] = {
    "rtt": lambda rtt: rtt.mean_us,
    "rtt_p50": lambda rtt: rtt.p50_us,
    "rtt_p90": lambda rtt: rtt.p90_us,
    "rtt_p99": lambda rtt: rtt.p99_us,
}
"""How each metric about round-trip times is read."""


def percentiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The 50th, 90th and 99th of at least one value.

    Each is the smallest value that so many percent of all do not exceed, the nearest-rank definition
    (NIST/SEMATECH e-Handbook 7.2.6.2): always a value that was measured.
    """
    ascending = sorted(values)
    p50, p90, p99 = (ascending[-(-percent * len(ascending) // 100) - 1] for percent in (50, 90, 99))
    return p50, p90, p99
