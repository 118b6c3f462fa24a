"""The database of a classroom: one SQLite file, one writer, nothing lost that was acknowledged."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from wirelab.errors import InputError, LabError
from wirelab.serve.migrations import MIGRATIONS

Value = str | float | None
"""What a cell of a table may hold; an `int` is a float to type checkers."""
Row = sqlite3.Row

_BUSY_S = 10


class Database:
    """An open database; may be used from any thread.

    What is written in a `transaction` is on the disk when that ends, or none of it is. Who reads does not
    wait for who writes, nor for others who read: each has a connection of its own meanwhile.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, which is made if it is not there. Raises LabError and InputError naming it."""
        self._path = path
        self._writing = threading.RLock()
        self._writer_thread: int | None = None
        self._idle: list[sqlite3.Connection] = []
        try:
            self._writer = self._connect()
            # FULL: a power cut costs no answer that was acknowledged either.
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
                self._writer.execute(f"PRAGMA {pragma}")
            self._migrate()
        except sqlite3.DatabaseError as error:
            raise LabError(f"{path}: cannot be used as a database: {error}", hint=self._advice()) from error

    def close(self) -> None:
        """Close it: the object can be used no more."""
        with self._writing:
            for connection in (self._writer, *self._idle):
                connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All that is written meanwhile, or nothing of it. Raises LabError where there is no room for it."""
        with self._writing:
            if self._writer_thread is not None:
                yield self._writer
                return
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                self._writer_thread = threading.get_ident()
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException as error:
                # A full disk has ended it already.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                if isinstance(error, sqlite3.OperationalError):
                    # Students read it: no path of this machine.
                    raise LabError(f"{self._path.name}: nothing can be kept: {error}") from error
                raise
            finally:
                self._writer_thread = None

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """What a query finds."""
        with self._reader() as connection:
            return connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        """The first that a query finds."""
        with self._reader() as connection:
            found: Row | None = connection.execute(sql, values).fetchone()
            return found

    def write(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Change something. Returns how many rows that were."""
        with self.transaction() as connection:
            return connection.execute(sql, values).rowcount

    def setting(self, name: str) -> str | None:
        """Something that the classroom remembers of itself."""
        row = self.row("SELECT value FROM setting WHERE name = ?", (name,))
        return None if row is None else str(row["value"])

    def set(self, name: str, value: str) -> None:
        """Remember it."""
        self.write("INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", (name, value))

    def _migrate(self) -> None:
        """Bring it up to date, each step whole or not at all."""
        (version,) = self._writer.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise InputError(
                f"was made by a newer wirelab (its version is {version}, this one knows {len(MIGRATIONS)})",
                file=str(self._path),
                hint="update wirelab, or name another folder with --data",
            )
        for number in range(version, len(MIGRATIONS)):
            with self.transaction() as connection:
                for statement in filter(str.strip, MIGRATIONS[number].split(";")):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number + 1}")

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, timeout=_BUSY_S
        )
        connection.row_factory = sqlite3.Row
        return connection

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """What this thread reads by; within a transaction of its own that is where it has written."""
        if self._writer_thread == threading.get_ident():
            yield self._writer
        else:
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self._connect()
            yield connection
            self._idle.append(connection)

    def _advice(self) -> str:
        return f"move {self._path.name} away to begin anew, or name another folder with --data"
