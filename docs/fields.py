"""What can stand under a key, read off the type of its field."""

from __future__ import annotations

import types
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from docs.markdown import anchor
from wirelab.model import types as model_types
from wirelab.model.scenario import Rows, Settings
from wirelab.model.topology import Pair
from wirelab.model.traffic import Interval
from wirelab.model.vlan import Vlans
from wirelab.units import Quantity

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


@dataclass(frozen=True, slots=True)
class Value:
    """What stands under a key, as Markdown, and an example of it."""

    text: str
    example: str = ""


TYPES: Final[tuple[tuple[Any, Value], ...]] = (
    (Settings, Value("[settings](with.md)", "{switch.flow_control: off}")),
    (Rows, Value("one name, or a list of them", "sfp.asf-10g-t")),
    (Vlans, Value("a VLAN, 1..4094, or a list of them", "[10, 20]")),
    (Pair, Value("two ports", "[server, switch.p1]")),
    (Interval, Value("a [time](units.md#time): 1 ms..1 s in whole milliseconds", "10 ms")),
    (model_types.Seconds, Value("a [time](units.md#time): 1 s..86400 s in whole seconds", "10 s")),
    (model_types.Ratio, Value("a [ratio](units.md#ratio): ..100 %", "0.1 %")),
    (model_types.PositiveCount, Value("a [count](units.md#count): 1..", "4")),
    (model_types.NodeName, Value("a [name](units.md#names) of at most 15 characters", "patch")),
    (model_types.Name, Value("a [name](units.md#names)", "sfp-home")),
    (model_types.Date, Value("a date", "2026-11")),
    (model_types.Dscp, Value("a traffic class: 0..63, or its name by RFC 2474, 2597, 3246", "cs3")),
    (model_types.OnOff, Value("`on` or `off`", "on")),
    (model_types.LinkMode, Value("a [link mode](units.md#link-modes)", "100 Mbit/s half")),
    (model_types.HostSpeed, Value("a [rate](units.md#rate), or `line`", "10 Gbit/s")),
    (model_types.BitErrorRate, Value("a number up to 1 such as `1e-12`; 0 for no errors", "1e-12")),
    (model_types.Alpha, Value("a power of two, `1/128`, `1/64` .. `1`, `2`, `4`, `8`", "1/4")),
    (model_types.Celsius, Value("a temperature", "46 C")),
    (model_types.Text, Value("text", "")),
)
"""The types that say more than their quantity, the special ones first."""


def value_of(field: FieldInfo) -> Value:
    """What stands under the key of a field."""
    return _value(field.annotation, tuple(field.metadata))


def of_quantity(quantity: Quantity) -> Value:
    """A number with a unit of that quantity."""
    return Value(f"a [{quantity.name}](units.md#{anchor(quantity.name)})", quantity.example)


def _value(annotation: Any, marks: tuple[object, ...]) -> Value:  # noqa: ANN401 - whatever an annotation may be
    if get_origin(annotation) is Annotated:
        return _value(annotation.__origin__, (*marks, *annotation.__metadata__))
    for alias, value in TYPES:
        if all(mark in marks for mark in get_args(alias)[1:]):
            return value
    if get_origin(annotation) in (Union, types.UnionType):
        (annotation,) = (kind for kind in get_args(annotation) if kind is not types.NoneType)
        return _value(annotation, marks)
    quantity = _quantity(marks)
    return of_quantity(quantity) if quantity else _structure(annotation)


def _structure(annotation: Any) -> Value:  # noqa: ANN401 - see above
    """A list, a mapping, one of a few words, or a model of its own."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return Value("one of " + ", ".join(f"`{word}`" for word in arguments), str(arguments[0]))
    if origin is tuple:
        items = _value(arguments[0], ())
        return Value(f"a list: {items.text}", f"[{items.example}]" if items.example else "")
    if origin is dict:
        return Value(f"names, and under each {_value(arguments[1], ()).text}")
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _model(annotation)
    return Value("")


def _model(model: type[BaseModel]) -> Value:
    name = model.__name__.partition("[")[0]
    if name == "Figure":
        return value_of(model.model_fields["value"])
    if name == "Bounds":
        return Value("[metrics and ranges](expect.md)")
    if name == "TrafficItem":
        return Value("[traffic](traffic.md)")
    return Value(f"[{name.lower()}](#{anchor(name)})")


def _quantity(marks: tuple[object, ...]) -> Quantity | None:
    for mark in marks:
        validator = getattr(mark, "func", None)
        if isinstance(validator, partial):
            return next((word for word in validator.args if isinstance(word, Quantity)), None)
    return None
