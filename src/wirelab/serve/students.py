"""Students: a name in a course, and a code by which they come back from any device."""

import hashlib
import sqlite3
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from wirelab.errors import InputError, LabError
from wirelab.serve.code import COURSE_LETTERS, RESUME_LETTERS, new_code
from wirelab.serve.courses import Course
from wirelab.serve.database import Database, Row

MOST_LETTERS: Final = 60
MOST_STUDENTS: Final = 500
"""In one course."""

_SEEN_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Student:
    """Somebody in a course. ``code`` is who they are: only they and the teacher know it."""

    id: str
    course: str
    name: str
    code: str
    seen_s: float


@dataclass(frozen=True, slots=True)
class Students:
    """The students of a classroom. ``choose`` picks a letter, ``clock`` gives seconds since 1970."""

    database: Database
    choose: Callable[[str], str]
    clock: Callable[[], float]

    def join(self, course: Course, name: str, key: str = "") -> Student:
        """A new student, or the one that joined with the same ``key``, a secret of their browser's.

        Raises InputError for no name, one that somebody has, and a course that is full.
        """
        name = read_name(name)
        student = Student(
            new_code(COURSE_LETTERS, self.choose),
            course.id,
            name,
            new_code(RESUME_LETTERS, self.choose),
            self.clock(),
        )
        with self.database.transaction() as connection:
            if (same := self.joined(course, name, key)) is not None:
                return same
            (count,) = connection.execute(
                "SELECT count(*) FROM student WHERE course = ?", (course.id,)
            ).fetchone()
            if count >= MOST_STUDENTS:
                raise InputError("join.full")
            try:
                connection.execute(
                    "INSERT INTO student (id, course, name, folded, code, joined_s, seen_s, joined_by)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (*_values(student), student.seen_s, student.seen_s, _hashed(key)),
                )
            except sqlite3.IntegrityError:
                raise InputError("join.taken") from None
        return student

    def joined(self, course: Course, name: str, key: str) -> Student | None:
        """Who has joined by that name and with that ``key``. Raises InputError for what is no name."""
        row = self.database.row(
            "SELECT * FROM student WHERE course = ? AND folded = ? AND joined_by = ? AND joined_by != ''",
            (course.id, _folded(read_name(name)), _hashed(key)),
        )
        return None if row is None else _student(row)

    def of_code(self, code: str) -> Student | None:
        """Whose code that is. Their having been here is noted."""
        row = self.database.row("SELECT * FROM student WHERE code = ?", (code,)) if code else None
        if row is None:
            return None
        student = _student(row)
        if (now_s := self.clock()) > student.seen_s + _SEEN_S:
            # On a full disk a page can still be looked at.
            with suppress(LabError):
                self.database.write("UPDATE student SET seen_s = ? WHERE id = ?", (now_s, student.id))
        return student

    def get(self, student_id: str) -> Student | None:
        """The student of that id."""
        row = self.database.row("SELECT * FROM student WHERE id = ?", (student_id,))
        return None if row is None else _student(row)

    def of_course(self, course_id: str) -> list[Student]:
        """Everybody in a course, by name."""
        rows = self.database.rows("SELECT * FROM student WHERE course = ? ORDER BY folded", (course_id,))
        return [_student(row) for row in rows]

    def new_code(self, student_id: str) -> None:
        """Give them another code: who came with the old one is out, and whoever joined is as well."""
        self.database.write(
            "UPDATE student SET code = ?, joined_by = '' WHERE id = ?",
            (new_code(RESUME_LETTERS, self.choose), student_id),
        )

    def remove(self, student_id: str) -> None:
        """Forget a student and all their work; their name is free again."""
        with self.database.transaction() as connection:
            connection.execute("DELETE FROM laid_aside WHERE student = ?", (student_id,))
            connection.execute("DELETE FROM student WHERE id = ?", (student_id,))


def read_name(text: str) -> str:
    """A name as it is shown. Raises InputError for what is none: its message is the key of a text."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise InputError("join.no-name")
    if len(name) > MOST_LETTERS:
        raise InputError("join.long-name")
    # Neither control characters nor those that turn the direction of what stands around them.
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Co", "Cs", "Cn") for letter in name):
        raise InputError("join.odd-name")
    return name


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _hashed(key: str) -> str:
    """What is kept of a browser's secret, which is random and long."""
    return hashlib.sha256(key.encode()).hexdigest() if key else ""


def _values(student: Student) -> tuple[str, str, str, str, str]:
    return student.id, student.course, student.name, _folded(student.name), student.code


def _student(row: Row) -> Student:
    return Student(row["id"], row["course"], row["name"], row["code"], row["seen_s"])
