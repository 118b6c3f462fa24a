"""Sweeps: a scenario at every point of a grid of settings."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wirelab.errors import InputError
from wirelab.model.vary import quantity_of, varied
from wirelab.units import UnitError, parse, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirelab.model.cases import Case
    from wirelab.units import Quantity

MOST_POINTS: Final = 10_000

_RANGE: Final = re.compile(r"(?P<low>.+?)\.\.(?P<high>[^*+]+)(?P<how>[*+])(?P<step>.+)")
_BARE: Final = re.compile(r"[0-9.]+")


@dataclass(frozen=True, slots=True)
class Axis:
    """A setting and the values it takes, as a scenario would write them."""

    key: str
    values: tuple[str, ...]


def read_axis(text: str, case: Case) -> Axis:
    """``--vary``: ``key=`` and a list of values; a range is ``8 KiB..256 KiB*2`` or ``0..100+25``.

    A number without a unit is in the base unit of the setting. Raises InputError, with the nearest right
    word for a key that does not exist.
    """
    key, equals, values = text.partition("=")
    if not equals or not key or not values:
        msg = f"--vary {text}: expected key=value,value... such as module.fifo=8KiB..256KiB*2"
        raise InputError(msg)
    quantity = quantity_of(case, key)
    found = tuple(value for part in values.split(",") for value in _values(part.strip(), key, quantity))
    return Axis(key, tuple(dict.fromkeys(found)))


def grid(case: Case, axes: Sequence[Axis]) -> list[tuple[tuple[str, ...], Case]]:
    """Every point, the last axis running fastest: its values, and the case with them on top.

    Raises InputError for a point that cannot be.
    """
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > MOST_POINTS:
        msg = f"{count} points are too many for one sweep, at most {MOST_POINTS}"
        raise InputError(msg)
    points = itertools.product(*(axis.values for axis in axes))
    keys = [axis.key for axis in axes]
    return [(point, varied(case, dict(zip(keys, point, strict=True)))) for point in points]


def _values(text: str, key: str, quantity: Quantity | None) -> Iterator[str]:
    match = _RANGE.fullmatch(text)
    if match is None:
        yield text if quantity is None else show(_number(text, key, quantity), quantity)
        return
    if quantity is None:
        msg = f"--vary {key}={text}: {key} is not a quantity; list its values"
        raise InputError(msg)
    low, high = (_number(match[name], key, quantity) for name in ("low", "high"))
    value = low
    for _ in range(MOST_POINTS):
        if value > high:
            return
        yield show(value, quantity)
        value = _next(value, match["how"], match["step"], key, quantity)
    msg = f"--vary {key}={text}: more than {MOST_POINTS} values"
    raise InputError(msg)


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
