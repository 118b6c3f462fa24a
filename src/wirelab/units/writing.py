"""Base units to text: exactly, or as many digits as a person wants."""

import re
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Final

from wirelab.units.quantities import BYTES_PER_KIB, Quantity

NO_BREAK_SPACE: Final = "\N{NO-BREAK SPACE}"
_AFTER_A_NUMBER: Final = re.compile(r"(?<=\d) (?=[\d%A-Za-z])")
_PLACES: Final = 9  # as many as a person reads behind the point


def show(value: int, quantity: Quantity) -> str:
    """``value`` (base units, not negative) as short text that ``parse`` reads back to the same value."""
    if not quantity.units:
        return str(value)
    if value == 0 and quantity.rounding:
        return f"0 {quantity.rounding[0]}"
    if value == 0 or (value < quantity.plain_below and value % BYTES_PER_KIB):
        return f"{value} {quantity.base}"
    least = {"%": Fraction(1, 10)}  # nobody says 5000 ppm for half a percent
    written = {
        unit: _decimal(value / size)
        for unit, size in quantity.units.items()
        if unit != "min" and value >= size * least.get(unit, 1) and value * 10**_PLACES % size == 0
    }
    unit = min(written, key=lambda word: (len(written[word].replace(".", "")), -quantity.units[word]))
    return f"{written[unit]} {unit}"


def show_range(low: int | None, high: int | None, quantity: Quantity) -> str:
    """A range as text that ``parse_range`` reads back to the same ends.

    Raises ValueError if both ends are open.
    """
    if low is None and high is None:
        raise ValueError("a range has at least one end")
    if low is not None and low == high:
        return show(low, quantity)
    low_text, high_text = ("" if end is None else show(end, quantity) for end in (low, high))
    unit = high_text.partition(" ")[2]
    if low is not None and unit:
        in_same_unit = low / quantity.units[unit]
        if (in_same_unit * 1000).denominator == 1:
            low_text = _decimal(in_same_unit)
    return f"{low_text}..{high_text}"


def unit_for(value: float, quantity: Quantity) -> str:
    """The unit that ``rounded`` prints ``value`` (base units) in; empty for a count."""
    fitting = (word for word in reversed(quantity.rounding) if abs(value) >= quantity.units[word])
    return next(fitting, quantity.rounding[0] if quantity.rounding else "")


def rounded(value: float, quantity: Quantity, digits: int = 3) -> str:
    """A measured value for the eye: ``1.10 Gbit/s``, ``16 102``.

    ``digits`` (at least 1) is the number of significant digits; a count prints whole.
    """
    if not quantity.units:
        return f"{Decimal(value).quantize(Decimal(1), ROUND_HALF_UP):,}".replace(",", " ")
    size = quantity.units[unit := unit_for(value, quantity)]
    number = Decimal(value) * size.denominator / size.numerator
    # There is no part of a byte.
    decimals = 0 if unit == "B" else max(digits - 1 - max(number.adjusted(), 0), 0) if number else 0
    return f"{number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)} {unit}"


def held(text: str, by: str = NO_BREAK_SPACE) -> str:
    """A text in which a number is not torn from its unit or what it counts, nor at its thousands.

    ``by`` stands there in the place of a space, at which lines are broken.
    """
    return _AFTER_A_NUMBER.sub(by, text)


def _decimal(value: Fraction) -> str:
    return f"{Decimal((value * 10**_PLACES).numerator).scaleb(-_PLACES):f}".rstrip("0").rstrip(".")
