"""A roster: who is who where marks go to, read off the CSV that Moodle or Canvas exports.

Moodle and Canvas know a user by identifiers of theirs, which no exercise asks for.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from wirelab.errors import InputError
from wirelab.results.values import printable

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet computes."""

_COLUMNS: Final = {
    "wirelab": "wirelab",
    "full name": "name",
    "student": "name",
    "name": "name",
    "first name": "first",
    "firstname": "first",
    "last name": "last",
    "surname": "last",
    "lastname": "last",
    "identifier": "participant",
    "username": "username",
    "id number": "number",
    "email address": "email",
    "email": "email",
    "maximum grade": "most",
    "last modified (grade)": "modified",
    "id": "id",
    "sis user id": "sis",
    "sis login id": "login",
    "section": "section",
}
_OF_ALL: Final = ("name", "username", "number", "email", "id", "sis", "login")
_IDENTIFIERS: Final = ("participant", *_OF_ALL[1:])
_NUMBER: Final = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?")
_SEPARATORS: Final = "\t;,"
_POINTS_POSSIBLE: Final = "points possible"
_NO_ROSTER: Final = "has no column with names: it takes what Moodle or Canvas exports, in English"


@dataclass(frozen=True, slots=True)
class Roster:
    """Everybody of a class, each by the cells of what was exported."""

    entries: tuple[Mapping[str, str], ...] = ()

    @property
    def most_points(self) -> float | None:
        """Out of how many points an assignment of Moodle is, None where that is not said."""
        said = (entry.get("most", "") for entry in self.entries)
        return next((float(points) for points in said if _NUMBER.fullmatch(points)), None)

    def finder(self) -> Callable[[str], Mapping[str, str] | None]:
        """What finds somebody by a name or an identifier: None for nobody, and for several."""
        by_name: dict[str, list[int]] = {}
        for number, entry in enumerate(self.entries):
            for name in {_folded(name) for name in _names(entry)} - {""}:
                by_name.setdefault(name, []).append(number)

        def found(name: str) -> Mapping[str, str] | None:
            numbers = by_name.get(_folded(name), ())
            return self.entries[numbers[0]] if len(numbers) == 1 else None

        return found


def read_roster(text: str, file: str = "") -> Roster:
    """The roster that an exported CSV is. Raises InputError for what is none."""
    lines = text.lstrip("\ufeff").splitlines(keepends=True)
    head = lines[0] if lines else ""
    separator = max(_SEPARATORS, key=head.count)
    try:
        rows = list(csv.reader(io.StringIO("".join(lines), newline=""), delimiter=separator))
    except csv.Error as error:
        raise InputError(f"is no CSV: {error}", file=file or None) from None
    columns = [_COLUMNS.get(" ".join(cell.split()).lower(), "") for cell in rows[0]] if rows else []
    if not {"wirelab", "name", "last"} & set(columns):
        raise InputError(_NO_ROSTER, file=file or None)
    return Roster(tuple(_entries(columns, rows[1:], file)))


def _entries(columns: Sequence[str], rows: Sequence[Sequence[str]], file: str) -> Iterator[Mapping[str, str]]:
    for number, row in enumerate(rows, 2):
        cells = zip(columns, row, strict=False)
        entry = {column: printable(" ".join(cell.split())) for column, cell in cells if column}
        if not any(_names(entry)) or _POINTS_POSSIBLE in entry.get("name", "").lower():
            continue
        for column in _IDENTIFIERS:
            if entry.get(column, "").startswith(FORMULA):
                raise InputError(
                    f"`{entry[column]}` would be a formula in a spreadsheet", file=file or None, line=number
                )
        yield entry


def _names(entry: Mapping[str, str]) -> Iterator[str]:
    """All that somebody may have called themselves."""
    yield entry.get("participant", "")
    if entry.get("wirelab"):
        yield entry["wirelab"]
        return
    for column in _OF_ALL:
        yield entry.get(column, "")
    last, comma, first = entry.get("name", "").partition(", ")
    if comma:
        yield f"{first} {last}"
    if entry.get("last"):
        yield f"{entry.get('first', '')} {entry['last']}"
        yield f"{entry['last']}, {entry.get('first', '')}"


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
