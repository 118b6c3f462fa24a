"""What must hold: a range for one metric of one subject.

A subject is a flow, a port (by its label) or ``network``, the sum over everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from wirelab.units import COUNT, MICROSECONDS, RATE, RATIO, SIZE, Quantity, rounded, show_range

if TYPE_CHECKING:
    from collections.abc import Mapping

NETWORK: Final = "network"

SubjectKind = Literal["flow", "port", "network"]

METRICS: Final[Mapping[str, Quantity]] = {
    "goodput": RATE,
    "retransmits": COUNT,
    "rtt": MICROSECONDS,
    "drops": COUNT,
    "pause_sent": COUNT,
    "pause_received": COUNT,
    "paused": RATIO,
    "queue_high_water": SIZE,
    "buffer_high_water": SIZE,
}
"""Every metric and the quantity it is measured in."""

METRICS_OF: Final[Mapping[SubjectKind, tuple[str, ...]]] = {
    "flow": ("goodput", "retransmits", "rtt"),
    "port": ("drops", "pause_sent", "pause_received", "paused", "queue_high_water", "buffer_high_water"),
    "network": ("drops", "pause_sent", "retransmits"),
}
"""The metrics each kind of subject has."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """``metric`` of ``subject`` must lie in ``low``..``high``, both included; None is an open end.

    The ends are in the base unit of ``METRICS[metric]``: goodput in bit/s, rtt (the mean) in
    microseconds, paused in parts per million of the time, high water in bytes, the rest are counts.
    ``line`` is where the scenario says so.
    """

    subject: str
    metric: str
    low: int | None
    high: int | None
    why: str | None = None
    line: int | None = None

    @property
    def name(self) -> str:
        """``download.retransmits``: how ``breaks`` and a verdict name it."""
        return f"{self.subject}.{self.metric}"

    @property
    def quantity(self) -> Quantity:
        """What the metric is measured in."""
        return METRICS[self.metric]

    @property
    def expected(self) -> str:
        """The range as the scenario writes it: ``2.3..2.38 Gbit/s``."""
        return show_range(self.low, self.high, self.quantity)

    def holds(self, measured: float) -> bool:
        """Whether ``measured`` (base unit) lies in the range."""
        return (self.low is None or measured >= self.low) and (self.high is None or measured <= self.high)

    def shown(self, measured: float) -> str:
        """A measured value of this metric, rounded for the eye."""
        return rounded(measured, self.quantity)
