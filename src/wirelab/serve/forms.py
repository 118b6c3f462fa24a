"""Forms that a browser sends: of limited size, each field a text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request

from wirelab.errors import InputError

MOST_BYTES: Final = 64 << 10
MOST_FIELDS: Final = 200
MOST_LETTERS: Final = 4_000
"""Of a field; most take less."""
LONG_LETTERS: Final = 100_000
"""Of a field of a form that takes a file's text."""

_BYTES_PER_LETTER: Final = 3
"""As a form sends what is no plain letter; those that take more are few."""
_COMMA: Final = re.compile(r"\s*([0-9]+),(?=[0-9]{1,2}(?![0-9.,]))", re.ASCII)
_TYPE: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form, each once."""

    fields: Mapping[str, str]

    def text(self, name: str, most: int = MOST_LETTERS) -> str:
        """A field, empty where it is missing. Raises InputError for one that is too long."""
        text = self.fields.get(name, "")
        if len(text) > most:
            raise InputError("form.too-long")
        return text.strip()

    def below(self, prefix: str) -> dict[str, str]:
        """The fields whose names begin so, without that beginning."""
        begins = f"{prefix}."
        return {
            name.removeprefix(begins): text for name, text in self.fields.items() if name.startswith(begins)
        }


def with_point(text: str) -> str:
    """A number with its decimal comma as a point: there are keyboards that have no other key for it.

    Three digits behind a comma may be thousands: they are left as they are.
    """
    return _COMMA.sub(r"\1.", text) if text.count(",") == 1 and _COMMA.match(text) else text


async def read_form(request: Request, letters: int = MOST_LETTERS, fields: int = MOST_FIELDS) -> Form:
    """The form of a request, no field longer, and no more of them.

    Raises InputError for one that is too large, or none.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise InputError("form.none")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max(MOST_BYTES, _BYTES_PER_LETTER * letters):
            raise InputError("form.too-long")
    return parse_form(body.decode("ascii", errors="replace"), letters, fields)


def parse_form(text: str, letters: int = MOST_LETTERS, fields: int = MOST_FIELDS) -> Form:
    """The form that a query or a body is. Raises InputError for what is none."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=fields, errors="strict")
    except ValueError as error:
        raise InputError("form.none") from error
    if any(len(value) > letters or "\0" in value for _, value in pairs):
        raise InputError("form.too-long")
    # Of a textarea, browsers send the ends of lines as the network has them.
    return Form({name: value.replace("\r\n", "\n").replace("\r", "\n") for name, value in pairs})
