"""Frozen dataclasses as JSON and back: what is at its default is left out.

So a figure that the port learns changes only the Plans that set it. Standard library only, for the guest.
"""

import dataclasses
import types
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

_hints = cache(get_type_hints)


def to_values(thing: object) -> Any:  # noqa: ANN401 - JSON values of any kind
    """A dataclass, and all in it, as dicts and lists without the fields that have their default."""
    if isinstance(thing, tuple):
        return [to_values(value) for value in thing]
    if not dataclasses.is_dataclass(thing):
        return thing
    return {
        name: to_values(value)
        for name, default in _defaults(type(thing)).items()  # type: ignore[arg-type] # as below
        if (value := getattr(thing, name)) != default
    }


def from_values(kind: type[T], values: dict[str, Any]) -> T:
    """The ``kind`` that ``to_values`` made into ``values``. Raises TypeError for a field it does not have."""
    hints = _hints(kind)  # type: ignore[arg-type] # a class is hashable
    return kind(**{name: _value(hints.get(name), value) for name, value in values.items()})


@cache
def _defaults(kind: type[Any]) -> dict[str, object]:
    """The fields of a dataclass, and what each has if nothing is said."""
    return {
        field.name: field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        for field in dataclasses.fields(kind)
    }


def _value(hint: Any, value: Any) -> Any:  # noqa: ANN401 - whatever an annotation may be
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(member for member in get_args(hint) if member is not type(None))
    if isinstance(value, list):
        return tuple(_value(get_args(hint)[0], member) for member in value)
    if isinstance(value, dict) and isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return from_values(hint, value)
    return value
