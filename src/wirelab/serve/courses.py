"""Courses: each with a code by which students join."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from wirelab.serve.code import COURSE_LETTERS, new_code
from wirelab.serve.database import Database, Row


@dataclass(frozen=True, slots=True)
class Course:
    """A class: whoever has its ``code`` may join it."""

    id: str
    title: str
    code: str
    roster: str = ""
    """Whose marks they are, as the CSV that Moodle or Canvas exports; empty where nobody gave it."""


@dataclass(frozen=True, slots=True)
class Courses:
    """The courses of a classroom. ``choose`` takes a letter at random, ``clock`` gives seconds since 1970."""

    database: Database
    choose: Callable[[str], str]
    clock: Callable[[], float]

    def add(self, title: str) -> Course:
        """A new course."""
        course = Course(new_code(COURSE_LETTERS, self.choose), title, new_code(COURSE_LETTERS, self.choose))
        self.database.write(
            "INSERT INTO course (id, title, code, made_s) VALUES (?, ?, ?, ?)",
            (course.id, course.title, course.code, self.clock()),
        )
        return course

    def all(self) -> list[Course]:
        """Every course, the oldest first."""
        return [_course(row) for row in self.database.rows("SELECT * FROM course ORDER BY made_s, id")]

    def get(self, course_id: str) -> Course | None:
        """The course of that id."""
        row = self.database.row("SELECT * FROM course WHERE id = ?", (course_id,))
        return None if row is None else _course(row)

    def of_code(self, code: str) -> Course | None:
        """The course that a code lets in to."""
        row = self.database.row("SELECT * FROM course WHERE code = ?", (code,))
        return None if row is None else _course(row)

    def closed(self, course_id: str) -> frozenset[str]:
        """The exercises that nobody of a course may work on now."""
        rows = self.database.rows("SELECT exercise FROM closed WHERE course = ?", (course_id,))
        return frozenset(row["exercise"] for row in rows)

    def close(self, course_id: str, exercises: Iterable[str]) -> None:
        """Close these, and open all others."""
        with self.database.transaction() as connection:
            connection.execute("DELETE FROM closed WHERE course = ?", (course_id,))
            connection.executemany(
                "INSERT INTO closed (course, exercise) VALUES (?, ?)",
                [(course_id, name) for name in exercises],
            )

    def keep_roster(self, course_id: str, roster: str) -> None:
        """Keep whose marks they are."""
        self.database.write("UPDATE course SET roster = ? WHERE id = ?", (roster, course_id))

    def new_code(self, course_id: str) -> None:
        """Give it another code: with the old one nobody joins any more. Who has joined stays."""
        self.database.write(
            "UPDATE course SET code = ? WHERE id = ?", (new_code(COURSE_LETTERS, self.choose), course_id)
        )


def _course(row: Row) -> Course:
    return Course(row["id"], row["title"], row["code"], row["roster"])
