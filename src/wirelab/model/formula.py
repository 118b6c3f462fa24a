"""Formulas: a quantity computed from measured metrics and a student's figures, as ``fifo / (1 - r / R)``.

They are reckoned in bits, seconds and metres, so a rate times a time is a size; what cannot be added is
refused when the file is read. A minus has blanks around it, for names have hyphens.
"""

import functools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from wirelab.errors import unknown
from wirelab.units import QUANTITIES, Quantity, UnitError, coherent, dimension, parse_nearly

Powers = tuple[int, int, int]
"""Of bits, seconds and metres."""

NONE: Final[Powers] = (0, 0, 0)
_DEEPEST: Final = 30
_LONGEST: Final = 400
_UNITS: Final = {unit: quantity for quantity in reversed(QUANTITIES) for unit in quantity.units}
_FOLDED: Final = {unit.casefold(): unit for unit in reversed(_UNITS)}
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>[0-9]{1,15}(?:\.[0-9]{1,15})?)(?:\s*(?P<unit>"
    + "|".join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))
    + r")(?![\w/]))?"
    r"|(?P<name>(?:[a-z0-9][a-z0-9-]*:)?[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)*)"
    r"|(?P<mark>[-+*/(),]))",
    re.ASCII,
)
_FUNCTIONS: Final = ("max", "min", "sqrt")
_OPERATIONS: Final[Mapping[str, Callable[..., float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "sqrt": math.sqrt,
    "min": min,
    "max": max,
}


class FormulaError(ValueError):
    """Text that is no formula, or one that adds what cannot be added."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number, in bits, seconds and metres if it was written with a unit."""

    amount: float
    powers: Powers = NONE


@dataclass(frozen=True, slots=True)
class Reference:
    """What stands for a figure: ``fifo``, ``download.goodput``, or that of another ``run``."""

    path: str
    run: str | None = None

    def __str__(self) -> str:
        return f"{self.run}:{self.path}" if self.run else self.path


@dataclass(frozen=True, slots=True)
class Operation:
    """``+ - * /``, or a function of its parts."""

    name: str
    parts: "tuple[Formula, ...]"


Formula = Number | Reference | Operation


@functools.lru_cache(maxsize=1024)
def read_formula(text: str) -> Formula:
    """The formula that ``text`` writes. Raises FormulaError saying where it stops being one."""
    if len(text) > _LONGEST:
        raise FormulaError(f"{len(text)} characters are no formula; the limit is {_LONGEST}")
    return _Reader(text).formula()


def references(formula: Formula) -> Iterator[Reference]:
    """Everything that stands for a figure in it."""
    if isinstance(formula, Reference):
        yield formula
    elif isinstance(formula, Operation):
        for part in formula.parts:
            yield from references(part)


def powers_of(formula: Formula, of: Callable[[Reference], Powers]) -> Powers:
    """What kind of quantity comes of it. Raises FormulaError where unlike things are added."""
    if isinstance(formula, Number):
        return formula.powers
    if isinstance(formula, Reference):
        return of(formula)
    parts = [powers_of(part, of) for part in formula.parts]
    if formula.name == "*":
        return _combined(parts[0], parts[1], 1)
    if formula.name == "/":
        return _combined(parts[0], parts[1], -1)
    if formula.name == "sqrt":
        bits, seconds, metres = parts[0]
        if bits % 2 or seconds % 2 or metres % 2:
            raise FormulaError(f"there is no root of {_kind(parts[0])}")
        return bits // 2, seconds // 2, metres // 2
    if unlike := next((part for part in parts if part != parts[0]), None):
        raise FormulaError(f"`{formula.name}` is of {_kind(parts[0])} and {_kind(unlike)}")
    return parts[0]


def amount_of(formula: Formula, of: Callable[[Reference], float]) -> float | None:
    """What comes of it in bits, seconds and metres; None where it is divided by nothing, or is no number."""
    try:
        amount = _amount(formula, of)
    except (ZeroDivisionError, OverflowError, ValueError):
        return None
    return amount if math.isfinite(amount) else None


def quantity_of_unit(unit: str) -> Quantity | None:
    """The quantity that is written in ``unit``, None for no unit that there is."""
    return _UNITS.get(unit)


def unknown_unit(unit: str) -> str:
    """The message for a word that is no unit, with what was probably meant."""
    # KB is of bytes, though kb may be of bits.
    if unit.endswith("B") and (size := _FOLDED.get(unit.casefold())):
        return f"unknown unit `{unit}`; did you mean `{size}`?"
    for quantity in QUANTITIES:
        if meant := quantity.mistakes.get(unit.casefold()):
            return f"unknown unit `{unit}`; did you mean `{meant}`?"
    return unknown("unit", unit, _UNITS)


def fits(powers: Powers, quantity: Quantity) -> bool:
    """Whether a formula of these powers gives that quantity."""
    return powers == dimension(quantity)


def _amount(formula: Formula, of: Callable[[Reference], float]) -> float:
    if isinstance(formula, Number):
        return formula.amount
    if isinstance(formula, Reference):
        return of(formula)
    parts = [_amount(part, of) for part in formula.parts]
    return _OPERATIONS[formula.name](*parts)


def _combined(one: Powers, other: Powers, sign: int) -> Powers:
    bits, seconds, metres = (mine + sign * its for mine, its in zip(one, other, strict=True))
    return bits, seconds, metres


def _kind(powers: Powers) -> str:
    known = (quantity.name for quantity in QUANTITIES if dimension(quantity) == powers and powers != NONE)
    if powers == NONE:
        return "a plain number"
    name = next(known, None)
    return f"a {name}" if name else "no quantity"


class _Reader:
    """Reads one formula from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._split())
        self._depth = 0

    def formula(self) -> Formula:
        whole = self._sum()
        if self._tokens:
            raise FormulaError(f"`{self._text}` is no formula: `{self._tokens[0][0].strip()}` is too much")
        return whole

    def _split(self) -> Iterator[re.Match[str]]:
        at = 0
        while self._text[at:].strip():
            token = _TOKEN.match(self._text, at)
            if token is None:
                raise FormulaError(f"`{self._text}` is no formula from `{self._text[at:].strip()[:20]}` on")
            yield token
            at = token.end()

    def _mark(self, *marks: str) -> str | None:
        """The next token if it is one of these."""
        if self._tokens and self._tokens[0]["mark"] in marks:
            return self._tokens.pop(0)["mark"]
        return None

    def _sum(self) -> Formula:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise FormulaError(f"is nested deeper than {_DEEPEST} levels")
        left = self._product()
        while name := self._mark("+", "-"):
            left = Operation(name, (left, self._product()))
        self._depth -= 1
        return left

    def _product(self) -> Formula:
        left = self._part()
        while name := self._mark("*", "/"):
            left = Operation(name, (left, self._part()))
        return left

    def _part(self) -> Formula:
        if self._mark("("):
            inside = self._sum()
            self._close()
            return inside
        token = self._tokens.pop(0) if self._tokens else None
        if token is not None and token["number"]:
            return _number(token["number"], token["unit"])
        if token is not None and token["name"]:
            return self._function(token["name"]) if self._mark("(") else _reference(token["name"])
        found = f"`{token[0].strip()}`" if token else "its end"
        raise FormulaError(f"`{self._text}` is no formula: expected a number or a name, found {found}")

    def _function(self, name: str) -> Formula:
        if name not in _FUNCTIONS:
            raise FormulaError(unknown("function", name, _FUNCTIONS))
        parts = [self._sum()]
        while self._mark(","):
            parts.append(self._sum())
        self._close()
        if (len(parts) == 1) != (name == "sqrt"):
            raise FormulaError(f"`{name}` is of {'one part' if name == 'sqrt' else 'several parts'}")
        return Operation(name, tuple(parts))

    def _close(self) -> None:
        if not self._mark(")"):
            raise FormulaError(f"`{self._text}` is no formula: a bracket stays open")


def _number(number: str, unit: str | None) -> Number:
    if unit is None:
        return Number(float(number))
    quantity = _UNITS[unit]
    try:
        value = parse_nearly(f"{number} {unit}", quantity)
    except UnitError as error:
        raise FormulaError(str(error)) from None
    return Number(coherent(value, quantity), dimension(quantity))


def _reference(name: str) -> Reference:
    run, colon, path = name.rpartition(":")
    return Reference(path, run if colon else None)
