"""The axes of a chart, and their ticks: pure functions of numbers in base units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from wirelab.units import unit_for

if TYPE_CHECKING:
    from wirelab.units import Quantity


@dataclass(frozen=True, slots=True)
class Axis:
    """From ``low`` to ``high`` in base units, of which ``per_unit`` make one of the unit in ``label``.

    ``high`` is above ``low``.
    """

    label: str
    low: int
    high: float | Fraction
    per_unit: Fraction = Fraction(1)

    @classmethod
    def of(cls, name: str, quantity: Quantity, high: float, *, unit: str | None = None) -> Axis:
        """The axis of a quantity from 0 to ``high``, in ``unit`` or the one that suits; 1 if that is 0."""
        word = unit or unit_for(high, quantity)
        per_unit = quantity.units[word] if word else Fraction(1)
        return cls(f"{name} ({word})" if word else name, 0, high if high > 0 else float(per_unit), per_unit)

    def ticks(self, at_most: int) -> tuple[Decimal, ...]:
        """Its ticks, in the unit of the label."""
        return ticks(Fraction(self.low) / self.per_unit, Fraction(self.high) / self.per_unit, at_most)

    def up_to(self, high: float, at_most: int) -> Axis:
        """The same, as long as to hold ``high``, and then to its next tick."""
        whole = Fraction(max(self.high, high))
        step = Fraction(tick_step((whole - Fraction(self.low)) / self.per_unit, at_most)) * self.per_unit
        return replace(self, high=-(-whole // step) * step)


def tick_step(span: Fraction, at_most: int) -> Decimal:
    """The smallest step of 1, 2 or 5 times a power of ten of which ``at_most`` ticks cover ``span``.

    Raises ValueError unless ``span`` is above 0 and ``at_most`` at least 2.
    """
    if span <= 0 or at_most < 2:  # noqa: PLR2004 - the two ends
        raise ValueError(f"no ticks for a span of {span} with at most {at_most} of them")
    lowest = (decimal(span) / (at_most - 1)).adjusted()
    steps = (Decimal(digit).scaleb(lowest + more) for more in (0, 1) for digit in (1, 2, 5))
    return next(step for step in steps if Fraction(step) * (at_most - 1) >= span)


def ticks(low: Fraction, high: Fraction, at_most: int) -> tuple[Decimal, ...]:
    """The multiples of a 1-2-5 step from ``low`` to ``high``, both included, ascending.

    There are at most ``at_most`` (2 or more) of them; each has as many decimals as the step needs.
    """
    step = tick_step(high - low, at_most)
    first, last = -(-low // Fraction(step)), high // Fraction(step)
    return tuple(number * step for number in range(first, last + 1))


def tick_label(tick: Decimal) -> str:
    """A tick as text: ``0.5``, ``16 000``."""
    return f"{tick:,f}".replace(",", " ")


def decimal(value: Fraction) -> Decimal:
    """A fraction in decimals."""
    return Decimal(value.numerator) / Decimal(value.denominator)
