"""Runs that were asked for: each once, however many ask, and what became of it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from wirelab.serve.database import Database, Row

Spec = Mapping[str, Any]
"""What is to be run, as JSON values; its ``kind`` names who can plan it."""

_FEW: Final = 20
_USUAL_WALL_S: Final = 0.5
"""Of a virtual second, where nothing was measured yet."""


class State(StrEnum):
    """How far a run is. A broken one, whose lab did not come to its end, may be asked for again."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    BROKEN = "broken"

    @property
    def has_ended(self) -> bool:
        """Whether nothing more becomes of it by itself."""
        return self in (State.DONE, State.BROKEN)


@dataclass(frozen=True, slots=True)
class Run:
    """A run. ``expected_s`` are virtual seconds, ``wall_s`` is how long it took; ``folder`` holds its files.

    ``message`` says what broke.
    """

    id: str
    spec: Spec
    state: State
    expected_s: float
    wall_s: float | None
    is_cached: bool
    folder: str | None
    message: str | None

    @property
    def is_trimmed(self) -> bool:
        """Whether it is done, and its files are not kept any more."""
        return self.state is State.DONE and self.folder is None


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a classroom. ``clock`` gives seconds since 1970."""

    database: Database
    clock: Callable[[], float]

    def ask(self, run_id: str, spec: Spec, expected_s: float, person: str) -> Run:
        """Somebody wants to know what comes of ``spec``. What is known already is not run again."""
        now_s = self.clock()
        with self.database.transaction() as connection:
            connection.execute(
                "INSERT INTO run (id, spec, state, expected_s, asked_s) VALUES (?, ?, 'waiting', ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET state = 'waiting', asked_s = excluded.asked_s,"
                " message = NULL WHERE state = 'broken' OR (state = 'done' AND folder IS NULL)",
                (run_id, json.dumps(spec), expected_s, now_s),
            )
            connection.execute(
                "INSERT OR REPLACE INTO asked (run, person, at_s) VALUES (?, ?, ?)", (run_id, person, now_s)
            )
            return _run(connection.execute("SELECT * FROM run WHERE id = ?", (run_id,)).fetchone())

    def get(self, run_id: str) -> Run | None:
        """The run of that id."""
        row = self.database.row("SELECT * FROM run WHERE id = ?", (run_id,))
        return None if row is None else _run(row)

    def of_person(self, person: str, most: int) -> list[Run]:
        """What somebody asked for, the newest first."""
        sql = (
            "SELECT run.* FROM run JOIN asked ON asked.run = run.id WHERE person = ?"
            " ORDER BY at_s DESC LIMIT ?"
        )
        return [_run(row) for row in self.database.rows(sql, (person, most))]

    def has_asked(self, run_id: str, person: str) -> bool:
        """Whether somebody asked for that run."""
        sql = "SELECT 1 FROM asked WHERE run = ? AND person = ?"
        return self.database.row(sql, (run_id, person)) is not None

    def unfinished(self) -> list[tuple[Run, list[str]]]:
        """What waits or was under way when the server ended, in the order asked for, and by whom each was."""
        self.database.write("UPDATE run SET state = 'waiting' WHERE state = 'running'")
        rows = self.database.rows("SELECT * FROM run WHERE state = 'waiting' ORDER BY asked_s, id")
        return [(_run(row), self.people(row["id"])) for row in rows]

    def people(self, run_id: str) -> list[str]:
        """Who has asked for a run, in that order."""
        sql = "SELECT person FROM asked WHERE run = ? ORDER BY at_s"
        return [row["person"] for row in self.database.rows(sql, (run_id,))]

    def folders(self) -> frozenset[str]:
        """The names of all folders of results."""
        rows = self.database.rows("SELECT folder FROM run WHERE folder IS NOT NULL")
        return frozenset(row["folder"] for row in rows)

    def by_age(self) -> list[tuple[Run, bool]]:
        """What is done and settled, asked for longest ago first, and whether a work refers to it."""
        sql = (
            "SELECT run.*, (SELECT count(*) FROM attempt WHERE attempt.run = run.id) AS attempts,"
            " coalesce((SELECT max(at_s) FROM asked WHERE asked.run = run.id), asked_s) AS last_s FROM run"
            " WHERE state = 'done' AND folder IS NOT NULL AND NOT EXISTS"
            " (SELECT 1 FROM attempt WHERE attempt.run = run.id AND settled = 0) ORDER BY last_s, id"
        )
        return [(_run(row), bool(row["attempts"])) for row in self.database.rows(sql)]

    def trimmed(self, run_id: str) -> None:
        """Its files are not kept any more; whoever wants them asks for it again."""
        self.database.write("UPDATE run SET folder = NULL WHERE id = ?", (run_id,))

    def begin(self, run_id: str) -> None:
        """It is under way."""
        self.database.write("UPDATE run SET state = 'running' WHERE id = ?", (run_id,))

    def end(self, run_id: str, folder: str, wall_s: float, *, is_cached: bool) -> None:
        """It is done."""
        sql = "UPDATE run SET state = 'done', folder = ?, wall_s = ?, cached = ? WHERE id = ?"
        self.database.write(sql, (folder, wall_s, int(is_cached), run_id))

    def broke(self, run_id: str, message: str) -> None:
        """Its lab broke, which says nothing about the network."""
        self.database.write("UPDATE run SET state = 'broken', message = ? WHERE id = ?", (message, run_id))

    def wall_s_each(self) -> float:
        """How long a virtual second has taken lately."""
        sql = (
            "SELECT sum(wall_s) AS wall, sum(expected_s) AS expected FROM (SELECT wall_s, expected_s FROM run"
            " WHERE state = 'done' AND cached = 0 ORDER BY asked_s DESC LIMIT ?)"
        )
        row = self.database.row(sql, (_FEW,))
        return row["wall"] / row["expected"] if row and row["expected"] else _USUAL_WALL_S


def _run(row: Row) -> Run:
    return Run(
        row["id"],
        json.loads(row["spec"]),
        State(row["state"]),
        row["expected_s"],
        row["wall_s"],
        bool(row["cached"]),
        row["folder"],
        row["message"],
    )
