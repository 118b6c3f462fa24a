"""Work: everything that a student has done on an exercise, one JSON document. It is data, and proves nothing.

What is read back is checked like input. A newer wirelab may say more; what it says instead is refused.
"""

import functools
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, TypeAdapter

from wirelab.errors import InputError
from wirelab.exercise.draw import person
from wirelab.model.types import Name
from wirelab.results.values import Digest, parsed, printable
from wirelab.units import BYTES_PER_KIB

WORK: Final = "work.json"
LIMIT_BYTES: Final = 256 * BYTES_PER_KIB
"""What a work may hold; what students write in a class has a tenth of it."""
LONGEST_VALUE: Final = 200
LONGEST_TEXT: Final = 4_000
MOST_RUNS: Final = 500

_MOST: Final[Any] = Field(max_length=100)
_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"
_KEY: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}", re.ASCII)


def _plain(text: str) -> str:
    if printable(text) != text:
        raise ValueError("has a character that no terminal should see")
    return text


def _one_line(text: str) -> str:
    if "\n" in text or "\t" in text:
        raise ValueError("is more than one line")
    return text


def _named(text: str) -> str:
    try:
        if person(text) != text:
            raise ValueError("has blanks or characters that count as others")
    except InputError as error:
        raise ValueError(error.message) from None
    return text


def _utc(text: str) -> str:
    try:
        datetime.strptime(text, _TIME).replace(tzinfo=UTC)
    except ValueError:
        raise ValueError("is no time such as 2026-11-24T09:30:00Z") from None
    return text


def _setting(text: str) -> str:
    if not _KEY.fullmatch(text):
        raise ValueError("is no name of a setting")
    return text


Value = Annotated[str, Field(max_length=LONGEST_VALUE), AfterValidator(_plain), AfterValidator(_one_line)]
Prose = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(_plain)]
Person = Annotated[str, Field(max_length=LONGEST_VALUE), AfterValidator(_named)]
Utc = Annotated[str, Field(max_length=30), AfterValidator(_utc)]
Key = Annotated[str, Field(max_length=LONGEST_VALUE), AfterValidator(_setting)]
Settings = Annotated[dict[Key, Value], _MOST]

Kind = Literal["run", "experiment", "repair"]


@dataclass(frozen=True, slots=True)
class Predicted:
    """A prediction as the student wrote it, with its unit, and the reason in a sentence."""

    value: Value
    why: Prose = ""


@dataclass(frozen=True, slots=True)
class Seal:
    """The SHA-256 of the predictions, whose they are and when they were sealed."""

    sha256: Digest
    at: Utc


@dataclass(frozen=True, slots=True)
class Ran:
    """A run: its ``name`` is that of the exercise's, else a number; ``digest`` is what was measured."""

    kind: Kind
    name: Name
    at: Utc
    digest: Digest
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer as the student wrote it: a label, a word, the number of an option, a figure, or prose."""

    value: Prose
    at: Utc


@dataclass(frozen=True, slots=True)
class Repaired:
    """The settings that the student hands in as the repair."""

    settings: Settings
    at: Utc


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What ``student`` of ``course`` has done. ``digest`` is that of the exercise's files."""

    schema: Literal[1] = 1
    exercise: Name
    digest: Digest
    course: Person
    student: Person
    started: Utc
    predictions: Annotated[dict[Name, Predicted], _MOST] = field(default_factory=dict)
    seal: Seal | None = None
    runs: Annotated[tuple[Ran, ...], Field(max_length=MOST_RUNS)] = ()
    answers: Annotated[dict[Name, Answered], _MOST] = field(default_factory=dict)
    repair: Repaired | None = None
    submitted: Utc | None = None

    def to_json(self) -> str:
        """The text of ``work.json``."""
        return json.dumps(_adapter().dump_python(self, mode="json"), indent=1, ensure_ascii=False) + "\n"

    @property
    def is_sealed(self) -> bool:
        """Whether the predictions are what was sealed; also that they were."""
        return self.seal is not None and self.seal.sha256 == seal_of(self, self.predictions, self.seal.at)

    def has_run(self, name: str) -> bool:
        """Whether the exercise's run of that name was run."""
        return any(ran.kind == "run" and ran.name == name for ran in self.runs)

    def count(self, kind: Kind) -> int:
        """How many of a kind were run."""
        return sum(ran.kind == kind for ran in self.runs)


def utc(now: datetime) -> str:
    """An instant as a work has it."""
    return now.astimezone(UTC).strftime(_TIME)


def seal_of(work: Work, predictions: Mapping[str, Predicted], at: str) -> str:
    """The SHA-256 of predictions: of a list of five texts and the sorted predictions, as compact JSON."""
    sorted_ones = [[name, one.value, one.why] for name, one in sorted(predictions.items())]
    sealed = ["wirelab", work.exercise, work.course, work.student, at, sorted_ones]
    text = json.dumps(sealed, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def parse_work(content: bytes) -> Work:
    """The work that ``to_json`` wrote. Raises ValueError naming the field that is not as it should be."""
    return parsed(_adapter(), content, LIMIT_BYTES)


def read_work(path: Path) -> Work:
    """The work in a file. Raises InputError naming the file and the field where it is none."""
    try:
        with path.open("rb") as file:
            return parse_work(file.read(LIMIT_BYTES + 1))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except ValueError as error:
        raise InputError(f"is no whole work: {error}", file=str(path)) from None


@functools.cache
def _adapter() -> TypeAdapter[Work]:
    # Not at import: most commands need none.
    return TypeAdapter(Work)
