"""What is still to be run: a folder that the processes of one controller share, one for each worker.

```
matrix.json        every job and what became of it, in the order they are begun in; the workers that were lost
present/host-pc1   locked as long as the worker takes part
lock               held for every change
```

Nothing here waits for a process that died: the kernel lets go of its locks, and what it had is taken back.
"""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, Self
from urllib.parse import quote

from pydantic import TypeAdapter

from wirelab.errors import LabError
from wirelab.lab import lock

_MATRIX: Final = "matrix.json"
_PRESENT: Final = "present"
_LOCK: Final = "lock"


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A scenario to be run with a seed; it has work for so many labs at once.

    ``broke_on`` names the workers on which it ended as an error.
    """

    scenario: str
    seed: int
    labs: int = 1
    broke_on: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """For a line on the screen."""
        return self.scenario if self.seed == 1 else f"{self.scenario} seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Task:
    """A job and how far it is: ``host`` is the worker that has it, or that brought its result.

    ``folder`` and ``verdict`` are those of the result; ``why`` says why a job was dropped, which has none.
    """

    number: int
    job: QueuedJob
    state: Literal["todo", "taken", "done", "dropped"] = "todo"
    host: str = ""
    folder: str = ""
    verdict: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Matrix:
    tasks: list[Task]
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
        try:
            (folder / _PRESENT).mkdir(parents=True)
            queue._write(_Matrix([Task(number, job) for number, job in enumerate(jobs)]))
        except OSError as error:
            raise LabError(f"{error.filename or folder}: no queue can be made: {error.strerror}") from error
        return queue

    @contextlib.contextmanager
    def present(self, host: str) -> Iterator[None]:
        """Take part while the context lasts; what the worker has claimed and not finished by then is free."""
        path = self.folder / _PRESENT / _file_name(host)
        path.touch()
        with lock.shared(path):
            yield

    def claim(self, host: str) -> Task | None:
        """The first job for ``host``, None if there is none now.

        One that broke on it is for the others, as long as there are any.
        """
        with self._changed() as matrix:
            present = self._present()
            is_alone = present <= {_file_name(host)}
            for task in matrix.tasks:
                left = task.state == "taken" and _file_name(task.host) not in present
                if (task.state == "todo" or left) and (is_alone or host not in task.job.broke_on):
                    claimed = matrix.tasks[task.number] = replace(task, state="taken", host=host)
                    return claimed
        return None

    def give_back(self, claim: Task, *, broke_on: str | None = None) -> None:
        """Let others have it; ``broke_on`` says on which worker it broke."""
        job = claim.job
        if broke_on is not None:
            job = replace(job, broke_on=(*job.broke_on, broke_on))
        self._put(Task(claim.number, job))

    def finish(self, claim: Task, host: str, folder: Path, verdict: str) -> tuple[int, int]:
        """There is a result of it. Returns how many jobs have one, and how many there are."""
        tasks = self._put(replace(claim, state="done", host=host, folder=str(folder), verdict=verdict))
        return sum(task.state == "done" for task in tasks), len(tasks)

    def drop(self, claim: Task, why: str) -> None:
        """Nobody shall try it again, and there is no result of it."""
        self._put(replace(claim, state="dropped", why=why))

    def is_finished(self) -> bool:
        """Whether there is nothing left to wait for: no job is free, and none may become so."""
        return all(task.state in ("done", "dropped") for task in self._read().tasks)

    def lose(self, host: str, why: str) -> None:
        """Note why a worker takes no part, or no longer."""
        with self._changed() as matrix:
            matrix.lost[host] = why

    def lost(self) -> dict[str, str]:
        """The workers that took no part to the end, each with why."""
        return self._read().lost

    def dropped(self) -> dict[str, str]:
        """The jobs that nobody could carry out, each with why."""
        return {task.job.title: task.why for task in self._read().tasks if task.state == "dropped"}

    def results(self) -> list[Task]:
        """What there is a result of."""
        return [task for task in self._read().tasks if task.state == "done"]

    def _present(self) -> set[str]:
        """The files of those that take part."""
        names = set()
        for path in (self.folder / _PRESENT).iterdir():
            with lock.exclusive_now(path) as is_gone:
                if not is_gone:
                    names.add(path.name)
        return names

    def _put(self, task: Task) -> list[Task]:
        with self._changed() as matrix:
            matrix.tasks[task.number] = task
        return matrix.tasks

    @contextlib.contextmanager
    def _changed(self) -> Iterator[_Matrix]:
        """What is known, for nobody else until the context ends; what was changed of it is written then."""
        with lock.exclusive(self.folder / _LOCK, lambda: None):
            matrix = self._read()
            yield matrix
            self._write(matrix)

    def _read(self) -> _Matrix:
        return _ADAPTER.validate_json((self.folder / _MATRIX).read_bytes())

    def _write(self, matrix: _Matrix) -> None:
        fresh = self.folder / f".{_MATRIX}"
        fresh.write_bytes(_ADAPTER.dump_json(matrix))
        fresh.replace(self.folder / _MATRIX)


def _file_name(host: str) -> str:
    """A file's name for a host, that may have any."""
    return f"host-{quote(host, safe='')}"
