"""The factors of a sweep: the settings that vary, their values, and the grid that these make."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wirelab.errors import InputError
from wirelab.model.vary import quantity_of, varied
from wirelab.units import UnitError, parse, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wirelab.model.cases import Case
    from wirelab.units import Quantity

MOST_POINTS: Final = 10_000

_RANGE: Final = re.compile(r"(?P<low>.+?)\.\.(?P<high>[^*+]+)(?P<how>[*+])(?P<step>.+)")
_BARE: Final = re.compile(r"[0-9.]+")


@dataclass(frozen=True, slots=True)
class Factor:
    """A setting and the values it takes, as a scenario would write them."""

    key: str
    values: tuple[str, ...]


def read_factors(texts: Iterable[str], case: Case) -> tuple[Factor, ...]:
    """``--vary``, each ``key=`` and a list of values; a range is ``8 KiB..256 KiB*2`` or ``0..100+25``.

    A number without a unit is in the base unit of the setting. Raises InputError, with the nearest right
    word for a key that does not exist.
    """
    factors = tuple(_read_factor(text, case) for text in texts)
    keys = [factor.key for factor in factors]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(f"--vary {key}: given twice; write all its values in one list")
    count = math.prod(len(factor.values) for factor in factors)
    if count > MOST_POINTS:
        raise InputError(f"{count} points are too many for one sweep, at most {MOST_POINTS}")
    return factors


def grid(case: Case, factors: Sequence[Factor]) -> list[tuple[tuple[str, ...], Case]]:
    """Every point, the last factor running fastest: its values, and the case with them on top.

    Raises InputError for a point that cannot be.
    """
    keys = [factor.key for factor in factors]
    points = itertools.product(*(factor.values for factor in factors))
    return [(values, varied(case, dict(zip(keys, values, strict=True)))) for values in points]


def _read_factor(text: str, case: Case) -> Factor:
    key, equals, listed = text.partition("=")
    if not equals or not key or not listed:
        msg = f"--vary {text}: expected key=value,value... such as module.fifo=8KiB..256KiB*2"
        raise InputError(msg)
    quantity = quantity_of(case, key)
    values = (value for part in listed.split(",") for value in _values(part.strip(), key, quantity))
    distinct = tuple(dict.fromkeys(itertools.islice(values, MOST_POINTS + 1)))
    if len(distinct) > MOST_POINTS:
        raise InputError(f"--vary {key}: more than {MOST_POINTS} values")
    return Factor(key, distinct)


def _values(text: str, key: str, quantity: Quantity | None) -> Iterator[str]:
    match = _RANGE.fullmatch(text)
    if match is None:
        yield text if quantity is None else show(_number(text, key, quantity), quantity)
        return
    if quantity is None:
        msg = f"--vary {key}={text}: {key} is not a quantity; list its values"
        raise InputError(msg)
    value, high = (_number(match[name], key, quantity) for name in ("low", "high"))
    while value <= high:
        yield show(value, quantity)
        value = _next(value, match["how"], match["step"], key, quantity)


def _next(value: int, how: str, step: str, key: str, quantity: Quantity) -> int:
    if how == "+":
        after = value + _number(step, key, quantity)
    else:
        try:
            after = round(value * float(step))
        except (ValueError, OverflowError):
            raise InputError(f"--vary {key}: `*{step}` is not a factor") from None
    if after <= value:
        raise InputError(
            f"--vary {key}: a step of `{how}{step}` does not get from {show(value, quantity)} on"
        )
    return after


def _number(text: str, key: str, quantity: Quantity) -> int:
    if quantity.units and _BARE.fullmatch(text.strip()):
        text = f"{text.strip()} {quantity.base}"
    try:
        return parse(text, quantity)
    except UnitError as error:
        raise InputError(f"--vary {key}: {error}") from None
