"""Metrics: what can be measured of a flow, a ping, a port or the whole network.

``METRICS`` is the one list of them: what a scenario may expect, how a sentence says it and which columns a
table has come from it. How a metric is read stands beside what it is read from: ``results/flow.py``,
``results/ping.py``, ``results/port.py`` and, for the network, ``results/result.py``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

from wirelab.errors import unknown
from wirelab.units import COUNT, MICROSECONDS, RATE, RATIO, SIZE, TIME, Quantity, rounded, show_range

PORT: Final = "port"
NETWORK: Final = "network"
"""The subject that is the sum over everything."""

SubjectKind = Literal["flow", "UDP flow", "copy", "ping", "port", "network"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A metric whose value is one of a few words; a number stands for each, its place among ``values``.

    ``otherwise`` is what there is when it is none of them, -1; ``spellings`` are other words for them, in
    lower case. A name does not end in a unit.
    """

    suffix: ClassVar[str] = ""

    name: str
    values: tuple[str, ...]
    otherwise: str = "none"
    spellings: Mapping[str, str] = field(default_factory=dict)

    def parse(self, text: str) -> tuple[int, int]:
        """The word as both ends of a range. Raises ValueError for another word."""
        text = self.spellings.get(text.lower(), text)
        if text not in self.values:
            raise ValueError(unknown("word", text, self.values))
        index = self.values.index(text)
        return index, index

    def word(self, value: float) -> str:
        """The word that a number stands for."""
        return self.values[int(value)] if value >= 0 else self.otherwise


LINK: Final = Choice("link", ("down", "up"))
CONNECTS: Final = Choice(
    "connects",
    ("no", "yes"),
    spellings={**dict.fromkeys(("on", "true", "yes"), "yes"), **dict.fromkeys(("off", "false", "no"), "no")},
)
DUPLEX: Final = Choice("duplex", ("half", "full"), otherwise="no link")


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its ``quantity``, whose it may be, and its words.

    ``noun`` is what a sentence calls a number of it, ``column`` the head of its column in tables: its name
    unless another is given, and none where that is empty. ``needs_traffic`` is False for what a port has
    without any. What is ``in_windows`` can be told of a part of the time, too. ``better`` is which of two
    figures whoever uses the network would choose, empty where neither is good or bad in itself.
    """

    name: str
    quantity: Quantity | Choice
    subjects: tuple[SubjectKind, ...]
    noun: str
    meaning: str
    column: str | None = None
    needs_traffic: bool = True
    in_windows: bool = False
    better: Literal["more", "less", ""] = ""
    since: str = "0.1.0"

    @property
    def title(self) -> str:
        """The head of its column, empty if it has none."""
        return self.name.replace("_", " ") if self.column is None else self.column

    def shown(self, value: float, digits: int = 3) -> str:
        """A measured value, rounded for the eye."""
        quantity = self.quantity
        return quantity.word(value) if isinstance(quantity, Choice) else rounded(value, quantity, digits)

    def shown_range(self, low: int | None, high: int | None) -> str:
        """A range as a scenario writes it: ``2.3..2.38 Gbit/s``. Raises ValueError if both ends are open."""
        quantity = self.quantity
        return quantity.word(low or 0) if isinstance(quantity, Choice) else show_range(low, high, quantity)


_TCP: Final = ("flow", "copy")
_FLOW: Final = (*_TCP, "UDP flow")
_RTT: Final = ("flow", "ping")
_GAP: Final = (
    "the longest time in which nothing new was acknowledged, to 10 ms where something happens, else to 100 ms"
)
_RECOVERY: Final = (
    "how long after the last event 100 ms begin that bring 90 % of what the second before the first event did"
)
_CONNECTS: Final = "whether the sender reached its receiver and kept the connection"
_LOST: Final = "the share of what was sent that did not come"


def _rtt_percentile(percent: int, noun: str, meaning: str) -> Metric:
    return Metric(
        f"rtt_p{percent}", MICROSECONDS, _RTT, noun, meaning, f"p{percent}", in_windows=True, better="less"
    )


PRIORITIES: Final = 8
"""802.1Q has eight."""
PAUSED_PRIORITY: Final = "paused_priority_"


def _paused_priority(number: int) -> Metric:
    noun, meaning = f"of the time paused at priority {number}", f"how long PFC kept priority {number} silent"
    return Metric(f"{PAUSED_PRIORITY}{number}", RATIO, (PORT,), noun, meaning, f"priority {number} paused")


METRICS: Final[Mapping[str, Metric]] = {
    metric.name: metric
    for metric in (
        Metric(
            "goodput",
            RATE,
            (*_FLOW, NETWORK),
            "of goodput",
            "payload that the receiver got, by its own clock",
            in_windows=True,
            better="more",
        ),
        Metric(
            "goodput_first", RATE, _FLOW, "of goodput at first", "that of its first second", "", better="more"
        ),
        Metric(
            "goodput_last",
            RATE,
            _FLOW,
            "of goodput at last",
            "that of its last whole second",
            "",
            better="more",
        ),
        Metric(
            "share", RATIO, _FLOW, "of all goodput", "its part of the goodput of all flows", "", better="more"
        ),
        Metric(
            "retransmits",
            COUNT,
            (*_TCP, NETWORK),
            "retransmits",
            "segments that were sent again",
            in_windows=True,
            better="less",
        ),
        Metric("rtt", MICROSECONDS, _RTT, "of mean RTT", "mean round-trip time", "mean RTT", better="less"),
        _rtt_percentile(50, "of median RTT", "the median of the round-trip times"),
        _rtt_percentile(90, "of RTT, 90 % of the time", "their 90th percentile"),
        _rtt_percentile(99, "of RTT, 99 % of the time", "their 99th percentile"),
        Metric(
            "duration",
            TIME,
            (*_TCP, NETWORK),
            "for all of it",
            "what a transfer of a given size takes",
            better="less",
        ),
        Metric(
            "longest_gap", TIME, _TCP, "without an acknowledgement", _GAP, "", in_windows=True, better="less"
        ),
        Metric("recovers_within", TIME, _TCP, "to recover", _RECOVERY, "", better="less"),
        Metric("lost", RATIO, ("UDP flow", "ping"), "lost", _LOST, in_windows=True, better="less"),
        Metric("connects", CONNECTS, ("flow", "UDP flow"), "", _CONNECTS, ""),
        Metric(
            "drops",
            COUNT,
            (PORT, NETWORK),
            "dropped frames",
            "frames lost, for any cause",
            "dropped",
            in_windows=True,
            better="less",
        ),
        Metric("pause_sent", COUNT, (PORT, NETWORK), "PAUSE frames sent", "PAUSE frames sent", "PAUSE sent"),
        Metric(
            "pause_received", COUNT, (PORT,), "PAUSE frames received", "those that came", "PAUSE received"
        ),
        Metric("paused", RATIO, (PORT,), "of the time paused", "how long its peer kept it silent"),
        Metric("queue_high_water", SIZE, (PORT,), "in the egress queue", "the most that it held"),
        Metric("buffer_high_water", SIZE, (PORT,), "in the packet buffer", "the most that it held"),
        Metric("link", LINK, (PORT,), "", "whether there is a link", "", needs_traffic=False),
        Metric("speed", RATE, (PORT,), "of link speed", "that of the link, or 0", "", needs_traffic=False),
        Metric("duplex", DUPLEX, (PORT,), "", "what the link came to", "", needs_traffic=False),
        Metric("ecn_marks", COUNT, (PORT,), "frames marked (ECN)", "frames marked (RFC 3168)", "ECN marks"),
        Metric("collisions", COUNT, (PORT,), "frames that collided", "collisions on a shared medium"),
        Metric("late_collisions", COUNT, (PORT,), "late collisions", "those after 512 bit times"),
        Metric("cpu_busy", RATIO, (PORT,), "of the CPU's time", "how busy its frames kept it", "CPU busy"),
        Metric("pfc_sent", COUNT, (PORT,), "PFC frames sent", "PFC frames sent", "PFC sent"),
        Metric("pfc_received", COUNT, (PORT,), "PFC frames received", "those that came", "PFC received"),
        *map(_paused_priority, range(PRIORITIES)),
    )
}


def metrics_of(kind: SubjectKind) -> tuple[Metric, ...]:
    """The metrics that a kind of subject has."""
    return tuple(metric for metric in METRICS.values() if kind in metric.subjects)
