"""What must hold: a range for one metric of one subject.

A subject is a flow, a ping, a port (by its label) or ``network``, the sum over everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from wirelab.errors import unknown
from wirelab.units import COUNT, MICROSECONDS, RATE, RATIO, SIZE, TIME, Quantity, rounded, show_range

if TYPE_CHECKING:
    from collections.abc import Mapping

NETWORK: Final = "network"

SubjectKind = Literal["flow", "UDP flow", "copy", "ping", "port", "network"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What is measured is one of a few words; a number stands for each, its place among ``values``.

    ``otherwise`` is what there is when it is none of them, -1.
    """

    name: str
    values: tuple[str, ...]
    otherwise: str = "none"

    def parse(self, text: str) -> tuple[int, int]:
        """The word as both ends of a range. Raises ValueError for another word."""
        if text not in self.values:
            raise ValueError(unknown("word", text, self.values))
        index = self.values.index(text)
        return index, index

    def word(self, value: float) -> str:
        """The word that a number stands for."""
        return self.values[int(value)] if value >= 0 else self.otherwise


LINK: Final = Choice("link", ("down", "up"))
CONNECTS: Final = Choice("connects", ("no", "yes"))
DUPLEX: Final = Choice("duplex", ("half", "full"), otherwise="no link")

PRIORITIES: Final = 8
"""802.1Q has eight."""
PAUSED_PRIORITY: Final = "paused_priority_"

RTT_METRICS: Final = ("rtt", "rtt_p50", "rtt_p90", "rtt_p99")
"""The mean, and percentiles."""

METRICS: Final[Mapping[str, Quantity | Choice]] = {
    "goodput": RATE,
    "retransmits": COUNT,
    "rtt": MICROSECONDS,
    "rtt_p50": MICROSECONDS,
    "rtt_p90": MICROSECONDS,
    "rtt_p99": MICROSECONDS,
    "duration": TIME,
    "lost": RATIO,
    "connects": CONNECTS,
    "drops": COUNT,
    "pause_sent": COUNT,
    "pause_received": COUNT,
    "paused": RATIO,
    "queue_high_water": SIZE,
    "buffer_high_water": SIZE,
    "link": LINK,
    "speed": RATE,
    "duplex": DUPLEX,
    "ecn_marks": COUNT,
    "collisions": COUNT,
    "late_collisions": COUNT,
    "cpu_busy": RATIO,
    "pfc_sent": COUNT,
    "pfc_received": COUNT,
    **{f"{PAUSED_PRIORITY}{priority}": RATIO for priority in range(PRIORITIES)},
}
"""Every metric and the quantity it is measured in."""

METRICS_OF: Final[Mapping[SubjectKind, tuple[str, ...]]] = {
    "flow": ("goodput", "retransmits", *RTT_METRICS, "duration", "connects"),
    "UDP flow": ("goodput", "lost", "connects"),
    "copy": ("goodput", "retransmits", "duration"),
    "ping": (*RTT_METRICS, "lost"),
    "port": (
        "drops",
        "pause_sent",
        "pause_received",
        "paused",
        "queue_high_water",
        "buffer_high_water",
        "link",
        "speed",
        "duplex",
        "ecn_marks",
        "collisions",
        "late_collisions",
        "cpu_busy",
        "pfc_sent",
        "pfc_received",
        *(f"{PAUSED_PRIORITY}{priority}" for priority in range(PRIORITIES)),
    ),
    "network": ("drops", "pause_sent", "retransmits", "duration"),
}
"""The metrics each kind of subject has."""

LINK_METRICS: Final = ("link", "speed", "duplex")
"""What can be told of a port without any traffic."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """``metric`` of ``subject`` must lie in ``low``..``high``, both included; None is an open end.

    The ends are in the base unit of ``METRICS[metric]``: goodput in bit/s, rtt (the mean) in
    microseconds, paused in parts per million of the time, high water in bytes; a word is a number by
    its Choice; the rest are counts.
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
    def quantity(self) -> Quantity | Choice:
        """What the metric is measured in."""
        return METRICS[self.metric]

    @property
    def expected(self) -> str:
        """The range as the scenario writes it: ``2.3..2.38 Gbit/s``."""
        if isinstance(self.quantity, Choice):
            return self.quantity.word(self.low or 0)
        return show_range(self.low, self.high, self.quantity)

    def holds(self, measured: float) -> bool:
        """Whether ``measured`` (base unit) lies in the range."""
        return (self.low is None or measured >= self.low) and (self.high is None or measured <= self.high)

    def shown(self, measured: float) -> str:
        """A measured value of this metric, rounded for the eye."""
        if isinstance(self.quantity, Choice):
            return self.quantity.word(measured)
        return rounded(measured, self.quantity)
