"""Works: what students have done on exercises, what they have typed, and what they have asked to be run."""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, Literal

from wirelab.errors import InputError
from wirelab.exercise.marks import Marks
from wirelab.exercise.work import Work, parse_work
from wirelab.serve.database import Database, Row, Value
from wirelab.serve.exercises import read_marks

AttemptKind = Literal["run", "experiment", "repair", "marks"]

MOST_DRAFT_LETTERS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Kept:
    """A work as it is kept. ``draft`` is what was typed and not handed over yet, by field.

    ``given`` are the points that the teacher gave, by question; they are among the ``marks``.
    """

    work: Work
    draft: Mapping[str, str]
    changed_s: float
    marks: Marks | None
    given: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something that a student asked to be run. ``is_settled``: what came of it is in the work."""

    student: str
    exercise: str
    kind: AttemptKind
    name: str
    settings: Mapping[str, str]
    run: str
    number: int = 0
    is_settled: bool = False


@dataclass(frozen=True, slots=True)
class Works:
    """The works of a classroom. ``clock`` gives seconds since 1970."""

    database: Database
    clock: Callable[[], float]

    @property
    def now(self) -> datetime:
        """The time that a step is done at."""
        return datetime.fromtimestamp(self.clock(), UTC)

    def get(self, student: str, exercise: str) -> Kept | None:
        """A student's work on an exercise, None where nothing is begun."""
        row = self.database.row("SELECT * FROM work WHERE student = ? AND exercise = ?", (student, exercise))
        return None if row is None else _kept(row)

    def of_course(self, course: str) -> dict[tuple[str, str], Kept]:
        """All works of a course, by student and exercise."""
        sql = "SELECT work.* FROM work JOIN student ON student.id = work.student WHERE student.course = ?"
        rows = self.database.rows(sql, (course,))
        return {(row["student"], row["exercise"]): _kept(row) for row in rows}

    def begin(self, student: str, exercise: str, work: Work) -> None:
        """Keep a work that is new; one that is there already stays.

        Raises InputError where the student was removed meanwhile.
        """
        sql = "INSERT OR IGNORE INTO work (student, exercise, text, changed_s) VALUES (?, ?, ?, ?)"
        self._insert(sql, (student, exercise, work.to_json(), self.clock()))

    def change(
        self, student: str, exercise: str, step: Callable[[Work], Work], done: Mapping[str, str] | None = None
    ) -> Work:
        """Do a step on a work; what of the draft is ``done`` by it is no draft any more.

        Raises whatever the step does: then nothing has changed.
        """
        with self.database.transaction() as connection:
            kept = self.get(student, exercise)
            if kept is None:
                raise InputError("exercise.gone")
            work = step(kept.work)
            draft = {
                name: text for name, text in kept.draft.items() if (done or {}).get(name) != text.strip()
            }
            connection.execute(
                "UPDATE work SET text = ?, draft = ?, changed_s = ? WHERE student = ? AND exercise = ?",
                (work.to_json(), json.dumps(draft), self.clock(), student, exercise),
            )
        return work

    def draft(self, student: str, exercise: str, fields: Mapping[str, str]) -> None:
        """Keep what a student has typed; what is empty, or an answer already, is no draft any more.

        Raises InputError for too much of it.
        """
        with self.database.transaction() as connection:
            kept = self.get(student, exercise)
            if kept is None:
                raise InputError("exercise.gone")
            answers = {f"answer.{name}": said.value for name, said in kept.work.answers.items()}
            typed = {**kept.draft, **fields}
            text = json.dumps(
                {name: text for name, text in typed.items() if text.strip() not in ("", answers.get(name))}
            )
            if len(text) > MOST_DRAFT_LETTERS:
                raise InputError("form.too-long")
            connection.execute(
                "UPDATE work SET draft = ?, changed_s = ? WHERE student = ? AND exercise = ?",
                (text, self.clock(), student, exercise),
            )

    def attempt(self, asked: Attempt) -> None:
        """Note what a student asked to be run; its number is given here.

        Raises InputError where the work was laid aside, or the student removed, meanwhile.
        """
        sql = (
            "INSERT INTO attempt (student, exercise, kind, name, settings, run) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET run = excluded.run, settings = excluded.settings, settled = 0"
        )
        settings = json.dumps(dict(asked.settings))
        self._insert(sql, (asked.student, asked.exercise, asked.kind, asked.name, settings, asked.run))

    def attempts(self, student: str, exercise: str) -> list[Attempt]:
        """What a student asked for in an exercise, in that order."""
        sql = "SELECT * FROM attempt WHERE student = ? AND exercise = ? ORDER BY number"
        return [_attempt(row) for row in self.database.rows(sql, (student, exercise))]

    def unsettled(self) -> list[Attempt]:
        """What has been run, of anybody, and is not in the works yet."""
        sql = (
            "SELECT attempt.* FROM attempt JOIN run ON run.id = attempt.run"
            " WHERE settled = 0 AND state = 'done' ORDER BY number"
        )
        return [_attempt(row) for row in self.database.rows(sql)]

    def is_settled(self, attempt: Attempt) -> bool:
        """Whether what came of it is in the work, or it has been asked for anew and runs again."""
        sql = "SELECT 1 FROM attempt WHERE number = ? AND run = ? AND settled = 0"
        return self.database.row(sql, (attempt.number, attempt.run)) is None

    def settle(self, attempt: Attempt) -> None:
        """What came of it is in the work."""
        self.database.write("UPDATE attempt SET settled = 1 WHERE number = ?", (attempt.number,))

    def mark(self, student: str, exercise: str, marks: str) -> None:
        """Keep the marks of a work."""
        sql = "UPDATE work SET marks = ? WHERE student = ? AND exercise = ?"
        self.database.write(sql, (marks, student, exercise))

    def give(self, student: str, exercise: str, points: Mapping[str, float]) -> None:
        """Give points for what is left to the teacher."""
        sql = "UPDATE work SET given = ? WHERE student = ? AND exercise = ?"
        self.database.write(sql, (json.dumps(dict(points)), student, exercise))

    def lay_aside(self, student: str, exercise: str) -> None:
        """Let a student begin anew. What there was is laid aside, and not shown any more."""
        with self.database.transaction() as connection:
            connection.execute(
                "INSERT INTO laid_aside (student, exercise, text, at_s) SELECT student, exercise, text, ?"
                " FROM work WHERE student = ? AND exercise = ?",
                (self.clock(), student, exercise),
            )
            connection.execute("DELETE FROM work WHERE student = ? AND exercise = ?", (student, exercise))

    def _insert(self, sql: str, values: Sequence[Value]) -> None:
        try:
            self.database.write(sql, values)
        except sqlite3.IntegrityError:
            # Whose it is has gone since the page was asked for.
            raise InputError("exercise.gone") from None


def _kept(row: Row) -> Kept:
    marks = row["marks"]
    given = json.loads(row["given"])
    return Kept(
        parse_work(row["text"].encode()),
        json.loads(row["draft"]),
        row["changed_s"],
        None if marks is None else _with_given(read_marks(marks), given),
        given,
    )


def _with_given(marks: Marks, given: Mapping[str, float]) -> Marks:
    """Marks with what the teacher gave, where it is left to them."""
    return replace(
        marks,
        marks=tuple(
            replace(mark, points=given[mark.name], reason="by the teacher")
            if mark.points is None and not mark.broken and mark.name in given
            else mark
            for mark in marks.marks
        ),
    )


def _attempt(row: Row) -> Attempt:
    return Attempt(
        row["student"],
        row["exercise"],
        row["kind"],
        row["name"],
        json.loads(row["settings"]),
        row["run"],
        row["number"],
        bool(row["settled"]),
    )
