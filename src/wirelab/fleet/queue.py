"""What is still to be run: a folder that the processes of one controller share, one for each worker.

```
matrix.json        every job and what became of it, in the order they are begun in; the workers that were lost
present/host-pc1   locked as long as the worker takes part
lock               held for every change
```

Nothing here waits for a process that died: the kernel lets go of its locks, and what it had is taken back.
"""

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, Self
from urllib.parse import quote

from pydantic import TypeAdapter

from wirelab.errors import refusals
from wirelab.lab import lock
from wirelab.lab.scratch import discard, is_own, temporary_folder

_MATRIX: Final = "matrix.json"
_PRESENT: Final = "present"
_LOCK: Final = "lock"
_NAME: Final = "wirelab-matrix-"
_LEFT_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A scenario to be run with a seed, and how far that is; it has work for so many labs at once.

    ``broke_on`` names the workers on which it ended as an error. ``host`` is the worker that has it, or that
    brought its result, which is in ``folder``; ``why`` says why it was dropped and has none.
    """

    scenario: str
    seed: int
    labs: int = 1
    broke_on: tuple[str, ...] = ()
    state: Literal["todo", "taken", "done", "dropped"] = "todo"
    host: str = ""
    folder: str = ""
    why: str = ""

    @property
    def title(self) -> str:
        """For a line on the screen; no other job of its queue has the same."""
        return self.scenario if self.seed == 1 else f"{self.scenario} seed {self.seed}"


@dataclass(frozen=True, slots=True)
class _Matrix:
    jobs: dict[str, QueuedJob]
    """By their titles."""
    lost: dict[str, str] = field(default_factory=dict)


_ADAPTER: Final = TypeAdapter(_Matrix)


@dataclass(frozen=True)
class JobQueue:
    """Such a folder."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, jobs: Iterable[QueuedJob]) -> Self:
        """A new queue in an empty or new folder; ``jobs`` in the order they are to be begun in."""
        queue = cls(folder)
        with refusals(folder, "no queue can be made: "):
            (folder / _PRESENT).mkdir(parents=True)
        queue._write(_ADAPTER.dump_json(_Matrix({job.title: job for job in jobs})))
        return queue

    @classmethod
    def make_anew(cls, jobs: Iterable[QueuedJob], now_s: float) -> Self:
        """A new queue among the files for the moment, where those that matrices have left are removed.

        A matrix whose playbook was ended leaves one. ``now_s`` is the wall time, since 1970.
        """
        place = temporary_folder()
        for left in place.glob(f"{_NAME}*"):
            with contextlib.suppress(OSError):
                if is_own(left, _NAME) and cls(left).is_left(now_s):
                    discard(left)
        with refusals(place, "no queue can be made: "):
            folder, descriptor = lock.locked_folder(place, _NAME, mode=0o700)
        os.close(descriptor)
        return cls.make(folder, jobs)

    def is_left(self, now_s: float) -> bool:
        """Whether nobody takes part, and nobody has changed it for a day. Raises OSError if it is none.

        Before the first worker is there, and after the last, nobody takes part in one that is not left.
        """
        unchanged_s = now_s - (self.folder / _MATRIX).stat().st_mtime
        return unchanged_s > _LEFT_S and not self._present()

    @contextlib.contextmanager
    def present(self, host: str) -> Iterator[None]:
        """Take part while the context lasts; what the worker has claimed and not finished by then is free."""
        path = self.folder / _PRESENT / _file_name(host)
        path.touch()
        with lock.shared(path):
            yield

    def claim(self, host: str) -> QueuedJob | None:
        """The first job for ``host``, None if there is none now.

        One that broke on it is for the others, as long as there are any.
        """
        with self._changed() as matrix:
            present = self._present()
            is_alone = present <= {_file_name(host)}
            for title, job in matrix.jobs.items():
                left = job.state == "taken" and _file_name(job.host) not in present
                if (job.state == "todo" or left) and (is_alone or host not in job.broke_on):
                    claimed = matrix.jobs[title] = replace(job, state="taken", host=host)
                    return claimed
        return None

    def give_back(self, job: QueuedJob, *, broke_on: str | None = None) -> None:
        """Let others have it; ``broke_on`` says on which worker it broke."""
        workers = job.broke_on if broke_on is None else (*job.broke_on, broke_on)
        self._put(replace(job, state="todo", host="", broke_on=workers))

    def finish(self, job: QueuedJob, host: str, folder: Path) -> tuple[int, int]:
        """There is a result of it. Returns how many jobs have one, and how many there are."""
        jobs = self._put(replace(job, state="done", host=host, folder=str(folder)))
        return sum(job.state == "done" for job in jobs), len(jobs)

    def drop(self, job: QueuedJob, why: str) -> None:
        """Nobody shall try it again, and there is no result of it."""
        self._put(replace(job, state="dropped", why=why))

    def is_finished(self) -> bool:
        """Whether there is nothing left to wait for: no job is free, and none may become so."""
        return all(job.state in ("done", "dropped") for job in self._read().jobs.values())

    def lose(self, host: str, why: str) -> None:
        """Note why a worker takes no part, or no longer."""
        with self._changed() as matrix:
            matrix.lost[host] = why

    def lost(self) -> dict[str, str]:
        """The workers that took no part to the end, each with why."""
        return self._read().lost

    def dropped(self) -> dict[str, str]:
        """The jobs that nobody could carry out, each with why."""
        return {title: job.why for title, job in self._read().jobs.items() if job.state == "dropped"}

    def results(self) -> list[QueuedJob]:
        """The jobs that have a result."""
        return [job for job in self._read().jobs.values() if job.state == "done"]

    def _present(self) -> set[str]:
        """The files of those that take part."""
        names = set()
        for path in (self.folder / _PRESENT).iterdir():
            with lock.exclusive_now(path) as is_gone:
                if not is_gone:
                    names.add(path.name)
        return names

    def _put(self, job: QueuedJob) -> Collection[QueuedJob]:
        with self._changed() as matrix:
            matrix.jobs[job.title] = job
        return matrix.jobs.values()

    @contextlib.contextmanager
    def _changed(self) -> Iterator[_Matrix]:
        """The matrix, for nobody else until the context ends; it is written then, if it was changed."""
        with lock.exclusive(self.folder / _LOCK, lambda: None):
            before = (self.folder / _MATRIX).read_bytes()
            matrix = _ADAPTER.validate_json(before)
            yield matrix
            # Idle workers ask three times a second.
            if (after := _ADAPTER.dump_json(matrix)) != before:
                self._write(after)

    def _read(self) -> _Matrix:
        return _ADAPTER.validate_json((self.folder / _MATRIX).read_bytes())

    def _write(self, content: bytes) -> None:
        fresh = self.folder / f".{_MATRIX}"
        with refusals(fresh, "cannot be written: ", hint="make room there, or set TMPDIR to another folder"):
            fresh.write_bytes(content)
            fresh.replace(self.folder / _MATRIX)


def _file_name(host: str) -> str:
    """What the file of a host is called: a host may have any name, a file may not."""
    return f"host-{quote(host, safe='')}"
