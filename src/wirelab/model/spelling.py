"""Values of a model as its file spells them, and the units of their numbers.

Both are read off the types of the fields: a new field needs no line here.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, get_args, get_origin

from wirelab.model.types import Celsius, HostSpeed
from wirelab.units import RATE, Quantity, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

_CELSIUS: Final = get_args(Celsius)[1]
_HOST_SPEED: Final = get_args(HostSpeed)[1]


def spelling(value: object, field: FieldInfo) -> str:
    """``value`` of a field as text: ``16 KiB``, ``on``, ``46 C``; the items of a list with commas."""
    marks = tuple(_marks(field))
    if isinstance(value, tuple):
        return ", ".join(_spelled(item, marks) for item in value)
    return _spelled(value, marks)


def unit(value: object, field: FieldInfo) -> str | None:
    """The base unit in which ``value`` is a number, None if it is a count or no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    marks = tuple(_marks(field))
    if _CELSIUS in marks:
        return "C"
    quantity = _quantity(marks)
    return quantity.base or None if quantity else None


def _spelled(value: object, marks: tuple[object, ...]) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float) and _CELSIUS in marks:
        return f"{value:g} C"
    quantity = _quantity(marks)
    return show(value, quantity) if quantity and isinstance(value, int) else str(value)


def _quantity(marks: tuple[object, ...]) -> Quantity | None:
    """The quantity that the validator of a field was made for."""
    if _HOST_SPEED in marks:
        return RATE
    for mark in marks:
        validator = getattr(mark, "func", None)
        if isinstance(validator, partial):
            return next((arg for arg in validator.args if isinstance(arg, Quantity)), None)
    return None


def _marks(field: FieldInfo) -> Iterator[object]:
    """What its type is annotated with, also where that is one of several types or the type of items."""
    yield from field.metadata
    yield from _annotations(field.annotation)


def _annotations(annotation: Any) -> Iterator[object]:  # noqa: ANN401 - whatever an annotation may be
    if get_origin(annotation) is Annotated:
        yield from annotation.__metadata__
        annotation = annotation.__origin__
    for part in get_args(annotation):
        yield from _annotations(part)
