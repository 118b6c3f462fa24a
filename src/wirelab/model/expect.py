"""What must hold: a range for one metric of one subject.

A subject is a flow, a ping, a port (by its label) or ``network``, the sum over everything.
"""

import re
from dataclasses import dataclass
from typing import Final

from wirelab.model.metric import METRICS, Choice, Metric
from wirelab.units import COUNT, TIME, show

FROM: Final = " from "
_PLURAL: Final = re.compile(r"\b(frame|retransmit|collision)s\b")
_DIGITS: Final = range(3, 18)
"""At first as a figure is shown, at most as many as it has."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """``metric`` of ``subject`` must lie in ``low``..``high``, both included; None is an open end.

    The ends are in the base unit of the metric's quantity: goodput in bit/s, rtt in microseconds, paused in
    parts per million of the time, high water in bytes; a word is a number by its Choice; the rest are counts.
    A ``window`` is the part of the time that it is about, counted as the scenario counts it.
    """

    subject: str
    metric: str
    low: int | None
    high: int | None
    why: str | None = None
    window: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """``download.retransmits``: how ``breaks`` and a verdict name it."""
        return f"{self.subject}.{self.metric}{self.when}"

    @property
    def when(self) -> str:
        """Its window as its name has it: `` from 3.2 s to 5 s``; nothing for all of the time."""
        if self.window is None:
            return ""
        from_ns, to_ns = self.window
        return f"{FROM}{show(from_ns, TIME)} to {show(to_ns, TIME)}"

    @property
    def of(self) -> Metric:
        """The metric with all that is known of it."""
        return METRICS[self.metric]

    @property
    def expected(self) -> str:
        """The range as the scenario writes it: ``2.3..2.38 Gbit/s``."""
        return self.of.shown_range(self.low, self.high)

    def holds(self, measured: float) -> bool:
        """Whether ``measured`` (base unit) lies in the range."""
        return (self.low is None or measured >= self.low) and (self.high is None or measured <= self.high)

    def sentence(self, measured: float) -> str:
        """What was expected and what was measured: ``expected at most 50 retransmits, measured 16 102``."""
        return f"expected {self._words}, measured {self.shown(measured)}"

    def shown(self, measured: float) -> str:
        """A measured value for the eye, with as many digits as tell it from the end that it is beyond."""
        if self.holds(measured):
            return self.of.shown(measured)
        end = self.low if self.low is not None and measured < self.low else self.high
        texts = (self.of.shown(measured, digits) for digits in _DIGITS)
        ends = (self.of.shown(end or 0, digits) for digits in _DIGITS)
        return next((text for text, other in zip(texts, ends, strict=True) if text != other), str(measured))

    @property
    def _words(self) -> str:
        low, high, quantity, noun = self.low, self.high, self.of.quantity, self.of.noun
        if isinstance(quantity, Choice):
            return f"{self.metric} {self.expected}"
        if quantity is COUNT and (low, high) in {(1, 1), (1, None), (None, 1)}:
            noun = _PLURAL.sub(r"\1", noun)
        if high == 0 and quantity is COUNT:
            return f"no {noun}"
        if low is None and high is not None:
            return f"at most {show(high, quantity)} {noun}"
        if high is None and low is not None:
            return f"at least {show(low, quantity)} {noun}"
        return f"{self.expected} {noun}"
