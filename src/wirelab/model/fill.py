"""A student's figures in the words of an exercise: ``{fifo}`` in a text, ``{2 * fifo}`` in a setting."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Final

from wirelab.errors import unknown
from wirelab.model.formula import (
    FormulaError,
    Number,
    Reference,
    amount_of,
    fits,
    powers_of,
    quantity_of_unit,
    read_formula,
    references,
    unknown_unit,
)
from wirelab.units import COUNT, Quantity, from_coherent, rounded, show

_DIGITS: Final = 3
_PLACES: Final = 9
_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_IN_DRAWING: Final = re.compile(
    r"\{(?P<figure>[^{}]*)\}(?P<blank> ?)(?P<filling>(?P<one>[ =~-])(?P=one){2,})?"
)
"""A figure, and what may follow it in a drawing: blanks, or a cable."""
_IN_UNIT: Final = re.compile(r"(?P<formula>.+?)\s+in\s+(?P<unit>\S+)\s*")


def placeholders(text: str) -> Iterator[str]:
    """What stands between braces."""
    for match in _BRACES.finditer(text):
        yield match[1]


def filled_text(text: str, figures: Mapping[str, str]) -> str:
    """``text`` with a student's figures: ``{fifo}``, or ``{2 * fifo in KiB}``, rounded.

    In a drawing the blanks or the cable after a figure give way to it, so that the lines still meet.
    Raises FormulaError for what is neither.
    """
    return _IN_DRAWING.sub(lambda match: _fitted(match, figures), text)


def unfilled_text(text: str) -> str:
    """``text`` with a gap where each student has a figure of their own."""
    return _BRACES.sub("\N{HORIZONTAL ELLIPSIS}", text)


def filled_setting(text: str, figures: Mapping[str, str], quantity: Quantity | None) -> str:
    """A value of ``with``, whose quantity is None for words. Raises FormulaError."""
    whole = _BRACES.fullmatch(text.strip())
    if whole is None or whole[1].strip() in figures or quantity is None:
        return _BRACES.sub(lambda match: _word(match[1].strip(), figures), text)
    value = from_coherent(computed(whole[1], figures, quantity), quantity)
    if value < 0:
        raise FormulaError(f"`{text}` is less than nothing")
    return show(round(value), quantity)


def _fitted(match: re.Match[str], figures: Mapping[str, str]) -> str:
    shown, filling = _shown(match["figure"], figures), match["filling"] or ""
    width = len(filling) + len(match["figure"]) + len("{}") - len(shown)
    return shown + match["blank"] + (match["one"] * max(1, width) if filling else "")


def computed(text: str, figures: Mapping[str, str], quantity: Quantity) -> float:
    """A formula of figures, in bits, seconds and metres. Raises FormulaError if it is no such quantity."""
    formula = read_formula(text)
    powers = powers_of(formula, lambda reference: figure_number(reference, figures).powers)
    if not fits(powers, quantity):
        raise FormulaError(f"`{text}` gives no {quantity.name}")
    amount = amount_of(formula, lambda reference: figure_number(reference, figures).amount)
    if amount is None:
        raise FormulaError(f"`{text}` is divided by nothing")
    return amount


def figure_number(reference: Reference, figures: Mapping[str, str]) -> Number:
    """The number of a student's figure. Raises FormulaError where it is none."""
    number = as_number(_word(str(reference), figures))
    if number is None:
        raise FormulaError(f"`{reference}` is `{figures[str(reference)]}`, which is no number")
    return number


def as_number(text: str) -> Number | None:
    """What is written, if it is a number with its unit."""
    try:
        formula = read_formula(text)
    except ValueError:
        return None
    return formula if isinstance(formula, Number) else None


def _shown(inside: str, figures: Mapping[str, str]) -> str:
    if inside.strip() in figures:
        return figures[inside.strip()]
    match = _IN_UNIT.fullmatch(inside.strip())
    if match is None:
        names = [str(reference) for reference in references(read_formula(inside))]
        if names == [inside.strip()]:
            raise FormulaError(unknown("figure", inside.strip(), figures))
        raise FormulaError(f"`{{{inside}}}` needs a unit: write `{{{inside} in KiB}}`, or `in 1`")
    unit = match["unit"]
    quantity = COUNT if unit == "1" else quantity_of_unit(unit)
    if quantity is None:
        raise FormulaError(unknown_unit(unit))
    value = from_coherent(computed(match["formula"], figures, quantity), quantity)
    if quantity is COUNT:
        return f"{value:.3g}"
    number, _, _ = rounded_in(value, quantity, unit).partition(" ")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def rounded_in(value: float, quantity: Quantity, unit: str) -> str:
    """``value`` (base units) in one unit, with three digits."""
    if quantity is COUNT:
        return rounded(value, COUNT)
    number = value / float(quantity.units[unit])
    places = max(0, _DIGITS - 1 - math.floor(math.log10(abs(number)))) if number else 0
    return f"{number:.{min(places, _PLACES)}f} {unit}"


def _word(name: str, figures: Mapping[str, str]) -> str:
    if name not in figures:
        raise FormulaError(unknown("figure", name, figures))
    return figures[name]
