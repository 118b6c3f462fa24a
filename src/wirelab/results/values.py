"""The types of what a result keeps: written by them, and checked by them when it is read back."""

import re
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, Field, PlainSerializer, TypeAdapter, ValidationError

from wirelab.units import SIZE, show

LARGEST: Final = 2**63 - 1
"""The largest number that a result keeps."""
BOUNDED: Final[Any] = Field(max_length=10_000)
"""No run has more of anything."""
_LONGEST_TEXT: Final = 100_000
_LONGEST_PLACE: Final = 200
_LABEL: Final = r"^[a-z0-9][a-z0-9-]{0,39}(\.[a-z0-9-]{1,40})?$"
_UNPRINTABLE: Final = re.compile(
    # Controls of C0 and C1, those that turn the direction of writing, halves of a character, non-characters.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)

Kept = TypeVar("Kept")


def printable(text: str) -> str:
    """``text`` with U+FFFD for what no terminal should see and XML 1.0 cannot hold; tabs and lines stay."""
    # What Python calls printable has none of these, and that is nearly everything.
    return text if text.isprintable() else _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def first_wrong(error: ValidationError) -> str:
    """The first field that is not as it should be, ``flows[0].name: ...``, as a terminal may print it."""
    first = error.errors(include_url=False)[0]
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
    words = f"{place.lstrip('.')[:_LONGEST_PLACE]}: " if place else ""
    return printable(words + first["msg"].removeprefix("Value error, "))


def parsed(adapter: TypeAdapter[Kept], content: bytes, limit_bytes: int) -> Kept:
    """What the JSON says. Raises ValueError naming the field that is not as it should be."""
    if len(content) > limit_bytes:
        raise ValueError(f"has more than {show(limit_bytes, SIZE)}")
    try:
        return adapter.validate_json(content)
    except ValidationError as error:
        raise ValueError(first_wrong(error)) from None


def _checked(text: str) -> str:
    if hidden := _UNPRINTABLE.search(text):
        raise ValueError(f"has the character U+{ord(hidden[0]):04X} in it")
    return text


Text = Annotated[
    str, Field(max_length=_LONGEST_TEXT), AfterValidator(_checked), PlainSerializer(printable, str)
]
Label = Annotated[str, Field(pattern=_LABEL)]
"""A port's: ``client``, ``switch.p2``."""
Cause = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,40}$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=LARGEST, strict=True)]
Amount = Annotated[float, Field(ge=0, le=LARGEST, allow_inf_nan=False)]
Figure = Annotated[int, Field(ge=-LARGEST, le=LARGEST)] | Annotated[float, Field(allow_inf_nan=False)]
"""Of any metric: duplex is -1 without a link."""
WholeAmount = Annotated[Amount, PlainSerializer(round, int)]
"""Measured as a fraction, kept as a whole number."""
