"""Raw JSON that knows where it stands: what is wrong with it is said with file and field."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from wirelab.errors import LabError
from wirelab.results.values import LARGEST, printable

T = TypeVar("T")
N = TypeVar("N", int, float)

_HINT: Final = "the lab did not finish its work; console.log in the same folder says how far it came"


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a raw file, with the file's name and its place in it.

    Every accessor raises LabError naming both when the value is missing, of another kind or out of range.
    """

    file: str
    where: str
    value: Any

    def broken(self, problem: str) -> LabError:
        """The error that says what is wrong with this field."""
        place = f"{self.file}: {self.where}" if self.where else self.file
        return LabError(f"{place}: {problem}", hint=_HINT)

    def __getitem__(self, key: str) -> Self:
        """The member ``key`` of an object."""
        member = self.get(key)
        if member is None:
            raise self.broken(f"{key} is missing")
        return member

    def get(self, key: str) -> Self | None:
        """The member ``key`` of an object, None where there is none."""
        if key not in self._checked(dict, "an object"):
            return None
        return type(self)(self.file, f"{self.where}.{key}" if self.where else key, self.value[key])

    def members(self) -> Iterator[tuple[str, Self]]:
        """The members of an object, in the file's order."""
        for key in self._checked(dict, "an object"):
            yield printable(key), self[key]

    def integers(self) -> dict[str, int]:
        """The members of an object, each a whole number that is not negative."""
        members = self._checked(dict, "an object")
        # Hundreds of thousands of counters are read: a Field each would take most of the time.
        for key, value in members.items():
            if type(value) is not int or not 0 <= value <= LARGEST:
                self[key].integer()
        return {printable(key): value for key, value in members.items()}

    def elements(self) -> Iterator[Self]:
        """The elements of a list."""
        for index, value in enumerate(self._checked(list, "a list")):
            yield type(self)(self.file, f"{self.where}[{index}]", value)

    def integer(self) -> int:
        """A whole number that is not negative; JSON's ``true`` is none."""
        return self._in_range(self._checked(int, "a whole number"))

    def signed(self) -> int:
        """A whole number that may be negative."""
        value = self._checked(int, "a whole number")
        return -type(self)(self.file, self.where, -value).integer() if value < 0 else self.integer()

    def flag(self) -> bool:
        """``true`` or ``false``."""
        return self._checked(bool, "true or false")

    def number(self) -> float:
        """A number that is not negative, as a float."""
        value = self.value if type(self.value) is int else self._checked(float, "a number")
        return float(self._in_range(value))

    def text(self) -> str:
        """A string, without what a terminal should not see."""
        return printable(self._checked(str, "a text"))

    def _in_range(self, value: N) -> N:
        """A number that a result can keep."""
        if not 0 <= value <= LARGEST:
            found = "a negative one" if value < 0 else "one that is larger"
            raise self.broken(f"expected a number from 0 to {LARGEST:.1e}, found {found}")
        return value

    def _checked(self, kind: type[T], words: str) -> T:
        """The value, which is of just that kind: for Python ``true`` is a number."""
        if type(self.value) is not kind:
            raise self.broken(f"expected {words}, found {_kind(self.value)}")
        return self.value


def read_json(folder: Path, name: str) -> Field:
    """The JSON file ``name`` of a raw folder. Raises LabError when it is missing or does not parse."""
    return parse_json(name, read_text(folder, name))


def read_text(folder: Path, name: str) -> str:
    """The text of the file ``name`` of a raw folder. Raises LabError when it cannot be read."""
    try:
        return (folder / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LabError(f"{name}: the lab did not write it", hint=_HINT) from None
    except UnicodeDecodeError as error:
        raise LabError(f"{name}: is not text: byte {error.start} is no UTF-8", hint=_HINT) from None
    except OSError as error:
        raise LabError(f"{name}: {error.strerror}") from None


def parse_json(name: str, text: str, *, line: int | None = None) -> Field:
    """The JSON in ``text``; ``line`` is its line where the file holds one value a line."""
    where = "" if line is None else f"line {line}"
    try:
        return Field(name, where, json.loads(text, parse_constant=_no_constant, parse_float=_finite))
    except (ValueError, RecursionError) as error:
        problem = f"does not parse: {error}" if text.strip() else "is empty"
        raise Field(name, where, None).broken(problem) from None


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    """A number with a fraction or an exponent: Python takes one that is too large for infinite."""
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text} is too large a number")
    return value


def _kind(value: object) -> str:
    match value:
        case str():
            return f"the text {value!r}"
        case list():
            return "a list"
        case dict():
            return "an object"
        case bool() | None:
            return json.dumps(value)
    return f"the number {value}"
