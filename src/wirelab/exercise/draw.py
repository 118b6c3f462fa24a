"""What is different for each student, drawn by a hash: anybody can draw it again.

A figure with ``n`` values has the one at this index, counted from 0 and from the least:

    digest = SHA-256 of course, exercise, student, figure and attempt, in UTF-8, with a line feed between them
    number = its first 8 bytes, the first the most significant
    index  = number modulo n

``attempt`` is 0. So that no value is likelier than another, a number that is not below the largest multiple
of n up to 2**64 does not count, and ``attempt`` is one more. A hidden fault is drawn as a figure called
``:fault``, from the faults in the order of their names. Names are those that ``person`` gives back.
"""

import hashlib
import itertools
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from wirelab.errors import InputError
from wirelab.model.assignment import Assignment
from wirelab.model.exercise import Fault

LONGEST_NAME: Final = 80
_NUMBERS: Final = 1 << 64
_BYTES: Final = 8
_FAULT: Final = ":fault"
_HIDDEN: Final = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")


@dataclass(frozen=True, slots=True)
class Figures:
    """A student's figures, as a scenario would write them, and the hidden fault, None where there is none."""

    values: Mapping[str, str]
    fault: Fault | None = None


def person(text: str, what: str = "student") -> str:
    """The name of a student or a course as it counts: NFC, single blanks. Raises InputError for none."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise InputError(f"the name of the {what} is empty")
    if len(name) > LONGEST_NAME:
        raise InputError(f"the name of the {what} has {len(name)} characters; the limit is {LONGEST_NAME}")
    if hidden := next((char for char in name if unicodedata.category(char) in _HIDDEN), None):
        raise InputError(
            f"the name of the {what} has the character U+{ord(hidden):04X}, which nobody can see"
        )
    return name


def drawn(exercise: Assignment, course: str, student: str) -> Figures:
    """The figures of a student. Raises InputError for names that are none."""
    names = (person(course, "course"), exercise.name, person(student))
    values = {
        figure: scale.value(index_of(scale.count, *names, figure))
        for figure, scale in exercise.scales.items()
    }
    faults = sorted(exercise.said.faults, key=lambda fault: fault.name)
    return Figures(values, faults[index_of(len(faults), *names, _FAULT)] if faults else None)


def index_of(count: int, course: str, exercise: str, student: str, figure: str) -> int:
    """Which of ``count`` values it is, each as likely as the others."""
    most = _NUMBERS - _NUMBERS % count
    for attempt in itertools.count():
        text = "\n".join((course, exercise, student, figure, str(attempt)))
        number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:_BYTES])
        if number < most:
            return number % count
    raise AssertionError
