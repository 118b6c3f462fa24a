"""Text to base units, exactly."""

import difflib
import re
from fractions import Fraction
from typing import Final

from wirelab.units.quantities import BYTE_RATE, QUANTITIES, RATE, SIZE, Quantity

_LARGEST: Final = 2**63 - 1
_LONGEST: Final = 100
_NUMBER: Final = r"[0-9]{1,20}(?:\.[0-9]{1,20})?"
_UNIT: Final = r"[^\s.0-9][^.0-9]*?"
_QUANTITY: Final = re.compile(rf"({_NUMBER})\s*([^0-9.\s].*)?", re.ASCII)
_RANGE: Final = re.compile(rf"({_NUMBER})?\s*({_UNIT})?\s*\.\.\s*({_NUMBER})?\s*({_UNIT})?", re.ASCII)
_BYTES: Final = re.compile(r"[kKmMgGtT]?i?(?:B|[Bb]ytes?)(?:/s|ps)?")
# ``kb`` is not among them: it may mean either.
_BITS: Final = re.compile(r"[kKmMgGtT]?(?:(?i:bits?)(?:/[sS]|ps)?|bps)|[KMGT]b(?:/s)?")


class UnitError(ValueError):
    """Text that is not a quantity of the kind that is needed; the message says what would be."""


def parse(text: str, quantity: Quantity) -> int:
    """``text`` such as ``16 KiB`` in base units, exactly.

    Raises UnitError if the text is no number, its unit is missing or not one of the quantity's, or
    the value is not a whole number of base units.
    """
    match = _QUANTITY.fullmatch(_stripped(text, quantity))
    if match is None:
        raise UnitError(f"`{text}` is not a {quantity.name}; write for example `{quantity.example}`")
    return _value(match[1], match[2] or "", quantity)


def parse_nearly(text: str, quantity: Quantity) -> int:
    """``text`` as ``parse`` reads it, rounded, for estimates; a plain count must be whole all the same."""
    match = _QUANTITY.fullmatch(_stripped(text, quantity))
    unit = (match[2] or "").strip() if match else ""
    if match is None or unit not in quantity.units:
        return parse(text, quantity)
    whole = round(Fraction(match[1]) * quantity.units[unit])
    if whole > _LARGEST:
        raise UnitError(f"`{text}` is too large")
    return whole


def parse_range(text: str, quantity: Quantity) -> tuple[int | None, int | None]:
    """The ends of a range in base units, None where it is open.

    ``2.30..2.38 Gbit/s``, ``900 Mbit/s..1.2 Gbit/s``, ``..50``, ``7000..``, or one value for both ends.
    Raises UnitError as ``parse`` does, and if the low end is above the high one.
    """
    stripped = _stripped(text, quantity)
    if not any(mark in stripped for mark in ("..", "-", "<", ">")):
        value = parse(stripped, quantity)
        return value, value
    match = _RANGE.fullmatch(stripped)
    if match is None or not (match[1] or match[3]) or (match[2] and not match[1]):
        msg = f"`{text}` is not a range; write low..high, ..high or low.., such as `{quantity.example_range}`"
        raise UnitError(msg)
    low_unit, high_unit = match[2] or match[4] or "", match[4] or match[2] or ""
    low = _value(match[1], low_unit, quantity) if match[1] else None
    high = _value(match[3], high_unit, quantity) if match[3] else None
    if low is not None and high is not None and low > high:
        raise UnitError(f"`{text}` is empty: its low end is above its high end")
    return low, high


def _stripped(text: str, quantity: Quantity) -> str:
    if len(text) > _LONGEST:
        raise UnitError(f"{len(text)} characters are no {quantity.name} such as `{quantity.example}`")
    return text.strip()


def _value(number: str, unit: str, quantity: Quantity) -> int:
    unit = unit.strip()
    written = f"{number} {unit}".strip()
    if re.match(r"[,_eExX][-+]?[0-9]", unit):
        raise UnitError(f"`{number}{unit}` is no number here: write digits and a point, as `1.5` or `1000`")
    if unit and not quantity.units:
        raise UnitError(f"`{written}` has a unit; a {quantity.name} is a plain number")
    if quantity.units and not unit:
        raise UnitError(f"`{written}` has no unit; a {quantity.name} is written in {quantity.words}")
    if unit and unit not in quantity.units:
        raise UnitError(_wrong_unit(unit, quantity))
    exact = Fraction(number) * quantity.units.get(unit, 1)
    if exact.denominator != 1:
        raise UnitError(f"`{written}` is not a whole number{quantity.base and f' of {quantity.base}'}")
    if exact > _LARGEST:
        raise UnitError(f"`{written}` is too large")
    return exact.numerator


def _wrong_unit(unit: str, quantity: Quantity) -> str:
    written = f"a {quantity.name} is written in {quantity.words}"
    of, others = (_BYTES, "bytes") if quantity is RATE else (_BITS, "bits")
    if quantity in (RATE, BYTE_RATE, SIZE) and of.fullmatch(unit) and unit not in RATE.units:
        return f"`{unit}` counts {others}; {written}"
    known = {one.casefold(): one for one in reversed(list(quantity.units))}
    folded = unit.casefold()
    guess = known.get(folded, quantity.mistakes.get(folded))
    if guess is None:
        for other in QUANTITIES:
            if unit in other.units and other.name != quantity.name:
                return f"`{unit}` is a unit of {other.name}; {written}"
        # With another prefix it is another multiple: T is none of a rate, Ti none of a size.
        near = [one for one in known if one[0] == folded[0] and ("i" in one) == ("i" in folded)]
        guess = next((known[close] for close in difflib.get_close_matches(folded, near, n=1)), None)
    return f"unknown unit `{unit}`; " + (f"did you mean `{guess}`?" if guess else written)
