"""Raw JSON that knows where it stands: what is wrong with it is said with file and field."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirelab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HINT = "the lab did not finish its work; console.log in the same folder says how far it came"


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a raw file, with the file's name and its place in it.

    Every accessor raises LabError naming both when the value is missing or of another kind.
    """

    file: str
    where: str
    value: Any

    def broken(self, problem: str) -> LabError:
        """The error that says what is wrong with this field."""
        place = f"{self.file}: {self.where}" if self.where else self.file
        return LabError(f"{place}: {problem}", hint=_HINT)

    def __getitem__(self, key: str) -> Field:
        """The member ``key`` of an object."""
        found = self.get(key)
        if found is None:
            msg = f"{key} is missing"
            raise self.broken(msg)
        return found

    def get(self, key: str) -> Field | None:
        """The member ``key`` of an object, None where there is none."""
        if not isinstance(self.value, dict):
            msg = f"expected an object, found {_kind(self.value)}"
            raise self.broken(msg)
        if key not in self.value:
            return None
        return Field(self.file, f"{self.where}.{key}" if self.where else key, self.value[key])

    def members(self) -> Iterator[tuple[str, Field]]:
        """The members of an object, in the file's order."""
        if not isinstance(self.value, dict):
            msg = f"expected an object, found {_kind(self.value)}"
            raise self.broken(msg)
        for key in self.value:
            yield key, self[key]

    def elements(self) -> Iterator[Field]:
        """The elements of a list."""
        if not isinstance(self.value, list):
            msg = f"expected a list, found {_kind(self.value)}"
            raise self.broken(msg)
        for index, value in enumerate(self.value):
            yield Field(self.file, f"{self.where}[{index}]", value)

    def integer(self) -> int:
        """A whole number; JSON's ``true`` is none."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            msg = f"expected a whole number, found {_kind(self.value)}"
            raise self.broken(msg)
        return self.value

    def flag(self) -> bool:
        """``true`` or ``false``."""
        if not isinstance(self.value, bool):
            msg = f"expected true or false, found {_kind(self.value)}"
            raise self.broken(msg)
        return self.value

    def number(self) -> float:
        """A number, as a float."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            msg = f"expected a number, found {_kind(self.value)}"
            raise self.broken(msg)
        return float(self.value)

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            msg = f"expected a text, found {_kind(self.value)}"
            raise self.broken(msg)
        return self.value


def read_json(folder: Path, name: str) -> Field:
    """The JSON file ``name`` of a raw folder. Raises LabError when it is missing or does not parse."""
    return parse_json(name, read_text(folder, name))


def read_text(folder: Path, name: str) -> str:
    """The text of the file ``name`` of a raw folder. Raises LabError when it cannot be read."""
    try:
        return (folder / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        msg = f"{name}: the lab did not write it"
        raise LabError(msg, hint=_HINT) from None
    except UnicodeDecodeError as error:
        msg = f"{name}: is not text: byte {error.start} is no UTF-8"
        raise LabError(msg, hint=_HINT) from None
    except OSError as error:
        msg = f"{name}: {error.strerror}"
        raise LabError(msg) from None


def parse_json(name: str, text: str, *, line: int | None = None) -> Field:
    """The JSON in ``text``; ``line`` is its line where the file holds one document a line."""
    where = "" if line is None else f"line {line}"
    try:
        return Field(name, where, json.loads(text, parse_constant=_no_constant))
    except (ValueError, RecursionError) as error:
        found = Field(name, where, None)
        problem = f"does not parse: {error}" if text.strip() else "is empty"
        raise found.broken(problem) from None


def _no_constant(name: str) -> float:
    msg = f"{name} is no JSON number"
    raise ValueError(msg)


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {value!r}"
        case list():
            return "a list"
        case _:
            return "an object"
