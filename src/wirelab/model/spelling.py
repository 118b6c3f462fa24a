"""Values of a model as its file spells them, and the units of their numbers.

Both are read off the types of the fields: a new field needs no line here.
"""

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any, Final, get_args, get_origin

from pydantic.fields import FieldInfo

from wirelab.model.types import Celsius, HostSpeed
from wirelab.units import RATE, Quantity, show

_CELSIUS: Final = get_args(Celsius)[1]
_HOST_SPEED: Final = get_args(HostSpeed)[1]


def spelling(value: object, field: FieldInfo) -> str:
    """``value`` of a field as text: ``16 KiB``, ``on``, ``46 C``; the items of a list with commas."""
    if isinstance(value, tuple):
        return ", ".join(spelling(item, field) for item in value)
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float) and _CELSIUS in _marks(field):
        return f"{value:g} C"
    quantity = _quantity(field)
    return show(value, quantity) if quantity and isinstance(value, int) else str(value)


def unit(value: object, field: FieldInfo) -> str | None:
    """The base unit in which ``value`` is a number, None if it is a count or no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if _CELSIUS in _marks(field):
        return "C"
    quantity = _quantity(field)
    return quantity.base or None if quantity else None


def _quantity(field: FieldInfo) -> Quantity | None:
    """The quantity that the validator of a field was made for."""
    for mark in _marks(field):
        if mark == _HOST_SPEED:
            return RATE
        validator = getattr(mark, "func", None)
        if isinstance(validator, partial):
            return next((arg for arg in validator.args if isinstance(arg, Quantity)), None)
    return None


def _marks(field: FieldInfo) -> tuple[object, ...]:
    """What its type is annotated with, also where that is one of several types or the type of items."""
    return (*field.metadata, *_annotations(field.annotation))


def _annotations(annotation: Any) -> Iterator[object]:  # noqa: ANN401 - whatever an annotation may be
    if get_origin(annotation) is Annotated:
        yield from annotation.__metadata__
        annotation = annotation.__origin__
    for part in get_args(annotation):
        yield from _annotations(part)
