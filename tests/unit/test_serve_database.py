"""The database of a classroom: nobody who reads waits for somebody else, and what is written is whole."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from wirelab.errors import LabError
from wirelab.serve.database import Database
from wirelab.serve.once import Once

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAIT_S = 10
READERS = 8


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """One with a setting."""
    with contextlib.closing(Database(tmp_path / "class.db")) as opened:
        opened.set("story", "as it was")
        yield opened


def test_who_reads_does_not_wait_for_who_writes(database: Database) -> None:
    """Meanwhile they find what was there before; who writes finds what it has written so far."""
    with ThreadPoolExecutor(READERS) as readers, database.transaction():
        database.set("story", "as it will be")
        assert database.setting("story") == "as it will be"
        reading = [readers.submit(database.setting, "story") for _ in range(READERS)]
        assert {one.result(WAIT_S) for one in reading} == {"as it was"}
    assert database.setting("story") == "as it will be"


def test_what_fails_halfway_has_not_been_written(database: Database) -> None:
    """Nobody ever sees the first half, and the next transaction begins anew."""

    def fail_halfway() -> None:
        with database.transaction():
            database.set("story", "half")
            with database.transaction():
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_halfway()
    assert database.setting("story") == "as it was"
    database.set("story", "whole")
    assert database.setting("story") == "whole"


def test_a_full_disk_is_named_and_nothing_is_lost(database: Database) -> None:
    """What finds no room is not there, what was there stays, and there is room for less."""
    with database.transaction() as connection:
        connection.execute("CREATE TABLE heap (content BLOB)")
    (pages,) = database.rows("PRAGMA page_count")[0]
    with database.transaction() as connection:
        connection.execute(f"PRAGMA max_page_count = {pages + 10}")
    with pytest.raises(LabError, match=r"class\.db: nothing can be kept: database or disk is full"):
        database.write("INSERT INTO heap VALUES (zeroblob(1000000))")
    assert database.setting("story") == "as it was"
    database.set("story", "as it goes on")
    assert database.setting("story") == "as it goes on"


def test_what_cannot_begin_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another program holds is no mistake of the server, and is written to when it is let go."""
    monkeypatch.setattr("wirelab.serve.database._BUSY_S", 0.05)
    path = tmp_path / "class.db"
    with (
        contextlib.closing(Database(path)) as database,
        contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LabError, match=r"class\.db: nothing can be kept: database is locked"):
            database.set("story", "never")
        other.execute("ROLLBACK")
        database.set("story", "again")
        assert database.setting("story") == "again"


def test_writers_write_one_after_the_other(database: Database) -> None:
    """A step from what is there to what comes next loses none, however many do it at once."""

    def count() -> None:
        for _ in range(50):
            with database.transaction():
                database.set("count", str(int(database.setting("count") or 0) + 1))

    with ThreadPoolExecutor(READERS) as writers:
        for one in [writers.submit(count) for _ in range(READERS)]:
            one.result()
    assert database.setting("count") == str(50 * READERS)


def test_it_is_the_same_for_every_thread(tmp_path: Path) -> None:
    """What one has written another finds, by a connection of its own."""
    with contextlib.closing(Database(tmp_path / "x.sqlite")) as database, ThreadPoolExecutor(1) as other:
        database.set("story", "here")
        assert other.submit(database.setting, "story").result() == "here"


class Slow:
    """Something that takes until it is let go, and counts how often it was worked out."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Event(), threading.Event()
        self.times = 0

    @Once
    def value(self) -> int:
        """How often."""
        self.asked.set()
        self.go.wait(WAIT_S)
        self.times += 1
        return self.times


def test_what_one_object_waits_for_holds_no_other_up() -> None:
    """Each page finds out who asks, whoever else's answer is still looked up; and finds it out once."""
    slow, quick = Slow(), Slow()
    quick.go.set()
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(lambda: slow.value)
        assert slow.asked.wait(WAIT_S)
        assert (quick.value, quick.value) == (1, 1)
        assert not waiting.done()
        slow.go.set()
        assert waiting.result() == 1
