"""A classroom: its people, its courses, its runs, and what it remembers of itself."""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from wirelab.errors import InputError, LabError
from wirelab.lab.lock import exclusive_now
from wirelab.serve.courses import Courses
from wirelab.serve.database import Database
from wirelab.serve.limits import Limits
from wirelab.serve.password import LEAST_LETTERS, MOST_BYTES, SALT_BYTES, hashed, is_right
from wirelab.serve.pictures import pictures_spec
from wirelab.serve.queue import RunQueue, Status
from wirelab.serve.runs import Run, Runs
from wirelab.serve.shells import Shells
from wirelab.serve.students import Students
from wirelab.serve.words import Catalogue
from wirelab.serve.works import Works

DATABASE: Final = "classroom.sqlite"
RESULTS: Final = "results"
TEXTS: Final = "texts"

_PASSWORD: Final = "password"  # noqa: S105 - the name of a setting
_KEY: Final = "session-key"
_SET_UP: Final = "set-up-key"
_GENERATION: Final = "teacher-generation"
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Room:
    """All that the pages need. ``root`` is the path that they are below; ``folder`` holds the results.

    Whoever counts what somebody has asked for and asks for one more holds ``asking``, before anything else.
    """

    database: Database
    courses: Courses
    students: Students
    runs: Runs
    works: Works
    queue: RunQueue
    shells: Shells
    words: Catalogue
    limits: Limits
    folder: Path
    root: str = ""
    asking: threading.RLock = field(default_factory=threading.RLock)

    @property
    def session_key(self) -> str:
        """What sessions are signed with: made once, and kept."""
        return _kept(self.database, _KEY)

    @property
    def set_up_key(self) -> str | None:
        """What lets somebody set the teacher's password; None where it is set."""
        return None if self.database.setting(_PASSWORD) else _kept(self.database, _SET_UP)

    @property
    def generation(self) -> str:
        """Sessions of the teacher from before the last change of the password are none any more."""
        return self.database.setting(_GENERATION) or ""

    def results_of(self, run: Run) -> Path | None:
        """The folder of a run's results, None where there is none.

        One that is gone, whoever removed it, is as if it was trimmed: it is run again when somebody looks.
        """
        if run.folder is None:
            return None
        path = self.folder / run.folder
        if path.is_dir():
            return path
        _LOG.warning("%s is gone: what is in it is run again when somebody looks", path)
        self.runs.trimmed(run.id)
        return None

    def pictures_of(self, run: Run) -> tuple[Run, Status] | None:
        """The run that makes the pictures of another one, and how far it is; None where there is none."""
        run_id = self.queue.id_of(pictures_spec(run.spec))
        before = self.runs.get(run_id)
        if before is not None and before.is_trimmed:
            self.queue.again(before, next(iter(self.runs.people(run_id)), ""))
        # In this order: what is done has its files.
        status = self.queue.status(run_id)
        of = self.runs.get(run_id)
        return (of, status) if of and status else None

    def set_password(self, password: str) -> None:
        """Set the teacher's password. Raises InputError for one that is too short."""
        set_password(self.database, password)

    def is_teacher(self, password: str) -> bool:
        """Whether that is the teacher's password."""
        kept = self.database.setting(_PASSWORD)
        return kept is not None and is_right(password, kept)


def set_password(database: Database, password: str) -> None:
    """Set the teacher's password. Raises InputError for one that is too short or too long."""
    if len(password) < LEAST_LETTERS:
        raise InputError("teacher.short")
    if len(password.encode()) > MOST_BYTES:
        raise InputError("form.too-long")
    with database.transaction():
        database.set(_PASSWORD, hashed(password, secrets.token_bytes(SALT_BYTES)))
        database.set(_GENERATION, secrets.token_hex(8))


def _kept(database: Database, name: str) -> str:
    with database.transaction():
        if (value := database.setting(name)) is None:
            database.set(name, value := secrets.token_hex(32))
    return value


@dataclass(frozen=True, slots=True)
class DataFolder:
    """Where a classroom is kept: nobody else may read it, and one server at a time uses it."""

    path: Path

    @classmethod
    def made(cls, path: Path) -> Self:
        """The folder, made if it is not there. Raises LabError naming it."""
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The folder may have been there, open to others: what is in it is not.
            (path / RESULTS).mkdir(exist_ok=True)
            (path / RESULTS).chmod(0o700)
            (path / DATABASE).touch()
            (path / DATABASE).chmod(0o600)
        except OSError as error:
            raise LabError(
                f"{path}: cannot be used for a classroom: {error.strerror}",
                hint="name a folder that can be written with --data",
            ) from error
        return cls(path.absolute())

    def database(self) -> Database:
        """Its database."""
        return Database(self.path / DATABASE)

    @contextmanager
    def only_one(self) -> Iterator[None]:
        """Hold it alone. Raises InputError if another server has it."""
        with exclusive_now(self.path) as is_ours:
            if not is_ours:
                message = "another `wirelab serve` uses this folder"
                hint = "name another one with --data, on a disk of this machine"
                raise InputError(message, file=str(self.path), hint=hint)
            yield


def classroom(  # noqa: PLR0913 - all by name but what it is made of
    data: DataFolder,
    database: Database,
    queue: Callable[[Runs], RunQueue],
    *,
    shells: Shells | None = None,
    root: str = "",
    clock: Callable[[], float] = time.time,
) -> Room:
    """The classroom of a folder. ``queue`` makes what runs its runs; without ``shells`` it has none."""
    runs = Runs(database, clock)
    return Room(
        database,
        Courses(database, secrets.choice, clock),
        Students(database, secrets.choice, clock),
        runs,
        Works(database, clock),
        queue(runs),
        shells or Shells(),
        Catalogue.of(data.path / TEXTS),
        Limits(time.monotonic),
        data.path / RESULTS,
        root,
    )
