"""The types of fields: quantities with units, names, on/off, and figures with provenance."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from wirelab.errors import unknown
from wirelab.model.alpha import read_alpha
from wirelab.model.expected import expected, kind_of
from wirelab.model.metric import CONNECTS, Choice
from wirelab.model.modes import Mode, parse_mode
from wirelab.units import (
    BYTE_RATE,
    COST,
    COUNT,
    LENGTH,
    MICROSECONDS,
    MILLISECONDS,
    NS_PER_S,
    RATE,
    RATIO,
    SIZE,
    TIME,
    Quantity,
    parse,
    parse_range,
)

INTERFACE_NAME_LENGTH: Final = 15
"""Linux holds an interface name in IFNAMSIZ = 16 bytes, the last of them zero."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]*", re.ASCII)
_NODE_NAME: Final = re.compile(r"[a-z][a-z0-9-]*", re.ASCII)
_DATE: Final = re.compile(r"\d{4}(-\d{2}){0,2}", re.ASCII)
_CELSIUS: Final = re.compile(r"(-?\d{1,3}(?:\.\d)?) C", re.ASCII)
_BIT_ERROR_RATE: Final = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?([eE]-?[0-9]{1,2})?", re.ASCII)
_RESERVED: Final = ("network", "lo")
_ON: Final = ("on", "true", "yes")
_OFF: Final = ("off", "false", "no")
_LARGEST_DSCP: Final = 63
_LONGEST_NAME: Final = 40
_MOST_BITS_PER_ERROR: Final = 10**16
"""The driver counts no more of them; at 10 Gbit/s they take twelve days."""
_LONGEST_S: Final = 86_400

Ends = tuple[int | None, int | None]
T = TypeVar("T")


class Model(BaseModel):
    """A frozen model that takes no key it does not know.

    ``stub`` has a value for each required field, so that the sound rest of a file whose own value is
    missing or wrong can still be checked. ``mistakes`` maps what people write instead of a key, in lower
    case, to the key they mean; ``port_mistakes`` those of what is said of a port.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    stub: ClassVar[Mapping[str, Any]] = {}
    mistakes: ClassVar[Mapping[str, str]] = {}
    port_mistakes: ClassVar[Mapping[str, str]] = {}


def key(text: str, **more: Any) -> Any:  # noqa: ANN401 - whatever the field is
    """A key of a file: what editors say of it, and what else pydantic is told about its field."""
    return Field(description=text, **more)


def optional(text: str, **more: Any) -> Any:  # noqa: ANN401 - whatever the field is
    """A key that may be left out: its field is None then."""
    return key(text, default=None, **more)


def _text(value: object) -> str:
    if value is None:
        raise ValueError("has no value")
    if not isinstance(value, str):
        raise expected("text", value)
    if not value.strip():
        raise ValueError("is empty")
    return value.strip()


def _parsed(quantity: Quantity, value: object) -> int:
    if not isinstance(value, str):
        raise expected(f"a {quantity.name} such as `{quantity.example}`", value)
    return parse(value, quantity)


def _mode(value: object) -> Mode:
    if not isinstance(value, str):
        raise expected("a speed such as `1 Gbit/s` or `100 Mbit/s half`", value)
    return parse_mode(value)


def _host_speed(value: object) -> object:
    if value == "line":
        return value
    try:
        return _parsed(RATE, value)
    except ValueError as error:
        raise ValueError(f"{error}; or `line`, for the speed of the other side") from None


def _dscp(value: object) -> int:
    names = {"ef": 46, **{f"cs{n}": 8 * n for n in range(8)}}
    names |= {f"af{x}{y}": 8 * x + 2 * y for x in range(1, 5) for y in range(1, 4)}
    if isinstance(value, str):
        if value.lower() in names:
            return names[value.lower()]
        if not (value.isascii() and value.isdecimal()):
            raise ValueError(unknown("DSCP", value, names))
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST_DSCP:
        raise expected(f"a DSCP such as `cs3`, or 0..{_LARGEST_DSCP}", value)
    return value


def _layer(value: object) -> int:
    if isinstance(value, bool) or str(value) not in ("1", "2", "3"):
        raise expected("a layer, 1, 2 or 3", value)
    return int(str(value))


def read_bit_error_rate(value: object) -> int:
    """``1e-12`` as the mean number of bits between two errors; 0 is none at all.

    Raises ValueError for what is no such rate, or so small that nobody could count it.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str) or not _BIT_ERROR_RATE.fullmatch(value.strip()):
        raise expected("a bit error rate such as `1e-12`", value)
    rate = Fraction(value.strip())
    if rate > 1:
        raise ValueError(f"`{value}` is more than a bit error rate can be, 1: all bits are wrong then")
    if rate and 1 / rate > _MOST_BITS_PER_ERROR:
        raise ValueError(f"`{value}` is less than a lab can count, 1e-16; write 0 for no errors at all")
    return round(1 / rate) if rate else 0


def _parsed_range(kind: Quantity | Choice, value: object) -> Ends:
    if isinstance(kind, Choice):
        if isinstance(value, str):
            return kind.parse(value)
        raise expected(" or ".join(kind.values), value)
    if isinstance(value, str):
        return parse_range(value, kind)
    raise expected(f"a range such as `{kind.example_range}`", value)


def read_on_off(value: object) -> bool:
    """``on`` or ``off``, as YAML 1.1 spells them. Raises ValueError for anything else."""
    if isinstance(value, str) and value.lower() in _ON + _OFF:
        return value.lower() in _ON
    raise expected("on or off", value)


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(f"`{value}` is not a name: use lower-case letters, digits and hyphens")
    if len(value) > _LONGEST_NAME:
        raise ValueError(f"`{value}` is longer than {_LONGEST_NAME} characters")
    return value


def _node_name(value: str) -> str:
    if not _NODE_NAME.fullmatch(value):
        msg = f"`{value}` is not a name: use lower-case letters, digits and hyphens, first a letter"
        raise ValueError(msg)
    if len(value) > INTERFACE_NAME_LENGTH:
        raise ValueError(f"`{value}` is longer than {INTERFACE_NAME_LENGTH} characters, Linux takes no more")
    if value in _RESERVED:
        raise ValueError(f"`{value}` is a reserved word")
    return value


def _date(value: str) -> str:
    if not _DATE.fullmatch(value):
        raise ValueError(f"`{value}` is not a date: write year-month-day")
    return value


def _celsius(value: object) -> float:
    if not isinstance(value, str) or not (match := _CELSIUS.fullmatch(value)):
        raise expected("a temperature such as `46 C`", value)
    return float(match[1])


def _positive(value: int) -> int:
    if value <= 0:
        raise ValueError("must be above 0")
    return value


def _some(values: tuple[T, ...]) -> tuple[T, ...]:
    if not values:
        raise ValueError("is empty: give one at least")
    return values


def _whole_seconds(value: int) -> int:
    if value % NS_PER_S or not 0 < value <= _LONGEST_S * NS_PER_S:
        raise ValueError(f"must be whole seconds, 1 s..{_LONGEST_S} s")
    return value


def _not_above_one(value: int) -> int:
    if value > parse("100 %", RATIO):
        raise ValueError("must be at most 100 %")
    return value


def _in(quantity: Quantity, *checks: Callable[[int], int]) -> tuple[object, ...]:
    """The marks of a number that is written with the units of a quantity."""
    schema: dict[str, Any] = {"type": "integer", "minimum": 0}
    if quantity.units:
        schema = {
            "type": "string",
            "pattern": rf"^[0-9]+(\.[0-9]+)?\s*({'|'.join(quantity.units)})$",
            "examples": [quantity.example],
            "description": f"A {quantity.name} in {quantity.words}.",
        }
    return (
        BeforeValidator(partial(_parsed, quantity)),
        *map(AfterValidator, checks),
        WithJsonSchema(schema),
    )


def _such_as(*examples: str, types: str | list[str] = "string") -> WithJsonSchema:
    return WithJsonSchema({"type": types, "examples": list(examples)})


Text = Annotated[str, BeforeValidator(_text)]
Date = Annotated[str, BeforeValidator(_text), AfterValidator(_date)]
Name = Annotated[str, BeforeValidator(_text), AfterValidator(_name)]
NodeName = Annotated[str, BeforeValidator(_text), AfterValidator(_node_name)]
OnOff = Annotated[
    bool,
    BeforeValidator(read_on_off),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"enum": ["on", "off", "yes", "no"]}]}),
]
Congestion = Literal["cubic", "reno", "bbr", "dctcp"]
"""The congestion controls the lab's kernel is built with."""
Moderation = Literal["first", "last", "interval"]
"""What interrupt moderation counts from."""
Adaptive = Literal["none", "ixgbe", "igb", "e1000", "dim"]
"""The driver whose algorithm chooses it by the load."""

LinkMode = Annotated[Mode, BeforeValidator(_mode), _such_as("2.5 Gbit/s", "100 Mbit/s half")]
LinkModes = Annotated[tuple[LinkMode, ...], AfterValidator(_some)]
Moderations = Annotated[tuple[Moderation, ...], AfterValidator(_some)]
HostSpeed = Annotated[int | Literal["line"], BeforeValidator(_host_speed), _such_as("10 Gbit/s", "line")]
"""The speed of a module towards its switch: always the same, or that of its ``line``."""
Alpha = Annotated[str, BeforeValidator(read_alpha), _such_as("1/4", "8")]
"""Of what is free of a packet memory, a queue may have so much."""
Cost = Annotated[int, *_in(COST)]
Rate = Annotated[int, *_in(RATE, _positive)]
ByteRate = Annotated[int, *_in(BYTE_RATE, _positive)]
Size = Annotated[int, *_in(SIZE, _positive)]
Time = Annotated[int, *_in(TIME)]
PositiveTime = Annotated[int, *_in(TIME, _positive)]
Seconds = Annotated[int, *_in(TIME, _whole_seconds)]
Microseconds = Annotated[int, *_in(MICROSECONDS)]
Milliseconds = Annotated[int, *_in(MILLISECONDS)]
Length = Annotated[int, *_in(LENGTH)]
Ratio = Annotated[int, *_in(RATIO, _not_above_one)]
BitErrorRate = Annotated[
    int, BeforeValidator(read_bit_error_rate), _such_as("1e-12", "0", types=["string", "number"])
]
"""As the mean number of bits between two errors."""
Celsius = Annotated[float, BeforeValidator(_celsius), _such_as("46 C", "37.7 C")]
Dscp = Annotated[int, BeforeValidator(_dscp), _such_as("cs3", "ef", types=["string", "integer"])]
"""A traffic class: 0..63, or its name by RFC 2474, 2597 and 3246."""
Layer = Annotated[int, BeforeValidator(_layer), _such_as("2", types=["string", "integer"])]
"""Which bytes of a frame count: of layer 1, 2 or 3 of the OSI model."""
Count = Annotated[int, *_in(COUNT)]
PositiveCount = Annotated[int, *_in(COUNT, _positive)]


def range_of(quantity: Quantity | Choice) -> Any:  # noqa: ANN401 - a type
    """The type of a range of a quantity; of a choice, the type of one of its words."""
    return Annotated[
        Ends, BeforeValidator(partial(_parsed_range, quantity)), WithJsonSchema(_range_schema(quantity))
    ]


def _range_schema(quantity: Quantity | Choice) -> dict[str, Any]:
    if isinstance(quantity, Choice):
        return {"enum": [*quantity.values, True, False] if quantity is CONNECTS else list(quantity.values)}
    unit = rf"\s*({'|'.join(quantity.units)})" if quantity.units else ""
    number = r"[0-9]+(\.[0-9]+)?"
    text = {
        "type": "string",
        "pattern": rf"^({number})?({unit})?\s*(\.\.)?\s*({number})?({unit})?$",
        "examples": [quantity.example_range],
        "description": f"A range of {quantity.name}: low..high, ..high or low.., both ends included.",
    }
    return text if quantity.units else {"anyOf": [text, {"type": "integer", "minimum": 0}]}


class Titled(Model):
    """A model of something that people know by a longer name."""

    title: Text = key("What it is called.")


Provenance = Literal["datasheet", "measured", "fitted", "assumed"]


class Figure(Model, Generic[T]):
    """A figure of a part, how sure it is (``from``) and who says so (``note``)."""

    value: T = key("The figure.")
    provenance: Provenance = key("How sure it is.", alias="from")
    note: Text = key("Who says so.")

    @model_validator(mode="before")
    @classmethod
    def _has_provenance(cls, value: object) -> object:
        if isinstance(value, dict | cls):
            return value
        written = f"`{value}`" if isinstance(value, str) else kind_of(value)
        shown = value if isinstance(value, str) else "..."
        msg = (
            f"{written} has no provenance; write {{value: {shown}, "
            "from: datasheet|measured|fitted|assumed, note: who says so}"
        )
        raise ValueError(msg)


def figure_value(part: Model, name: str) -> Any:  # noqa: ANN401 - a figure may be anything
    """What the figure called ``name`` says, None where the part has none."""
    # pydantic takes a while to miss what is not there, and every port is asked for every figure.
    figure = vars(part).get(name)
    return figure.value if isinstance(figure, Figure) else None
