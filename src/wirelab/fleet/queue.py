"""What is still to be run: a folder that the processes of one controller share, one for each worker.

```
todo/0003.json      a job nobody has yet, the longest first
taken/0003.json     one that a worker has; the process that speaks for it holds a lock on it
done/0003.json      one that there is a result of, and where
dropped/0003.json   one that broke twice and left no result
present/host-pc1    locked as long as the worker takes part
lost/host-pc1       why it takes no part, or no longer
lock                held for every change
```

Nothing here waits for a process that died: the kernel lets go of its locks, and what it had is taken back.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import quote, unquote

from wirelab.errors import LabError
from wirelab.lab import lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_STATES: Final = ("todo", "taken", "done", "dropped", "present", "lost")
_TODO, _TAKEN, _DONE, _DROPPED, _PRESENT, _LOST = _STATES
_LOCK: Final = "lock"
_HOST: Final = "host-"


@dataclass(frozen=True, slots=True)
class Job:
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
class Result:
    """What became of a job: the folder of its result and its verdict, and on which worker."""

    job: Job
    host: str
    folder: str
    verdict: str


@dataclass(slots=True)
class Claim:
    """A job that a worker has, until it is finished or given back."""

    job: Job
    name: str
    descriptor: int = field(repr=False)


@dataclass(frozen=True)
class JobQueue:
    """Such a folder."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, jobs: Iterable[Job]) -> Self:
        """A new queue in an empty or new folder; ``jobs`` in the order they are to be begun in."""
        queue = cls(folder)
        try:
            for state in _STATES:
                (folder / state).mkdir(parents=True)
            (folder / _LOCK).touch()
            for number, job in enumerate(jobs):
                queue._write(_TODO, f"{number:05}.json", asdict(job))
        except OSError as error:
            raise LabError(f"{error.filename or folder}: no queue can be made: {error.strerror}") from error
        return queue

    @contextlib.contextmanager
    def present(self, host: str) -> Iterator[None]:
        """Take part while the context lasts."""
        path = self.folder / _PRESENT / _name(host)
        path.touch()
        with lock.shared(path):
            yield

    def claim(self, host: str) -> Claim | None:
        """The first job for ``host``, None if there is none now.

        One that broke on it is for the others, as long as there are any.
        """
        with self._locked():
            self._take_back()
            alone: bool | None = None
            for path in self._files(_TODO):
                job = _job(_facts(path))
                if host in job.broke_on:
                    alone = self._is_alone(host) if alone is None else alone
                    if not alone:
                        continue
                descriptor = os.open(path, os.O_RDONLY)
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                path.rename(self.folder / _TAKEN / path.name)
                return Claim(job, path.name, descriptor)
        return None

    def give_back(self, claim: Claim, *, broke_on: str | None = None) -> None:
        """Let others have it; ``broke_on`` says on which worker it broke."""
        job = claim.job
        if broke_on is not None:
            job = replace(job, broke_on=(*job.broke_on, broke_on))
        self._move(claim, _TODO, asdict(job))

    def finish(self, claim: Claim, host: str, folder: Path, verdict: str) -> tuple[int, int]:
        """There is a result of it. Returns how many jobs have one, and how many there are."""
        return self._move(claim, _DONE, asdict(Result(claim.job, host, str(folder), verdict)))

    def drop(self, claim: Claim, why: str) -> None:
        """Nobody shall try it again, and there is no result of it."""
        self._move(claim, _DROPPED, {"job": asdict(claim.job), "why": why})

    def _move(self, claim: Claim, state: str, facts: dict[str, Any]) -> tuple[int, int]:
        """Put a job that was taken into another state; how many are done then, of how many."""
        with self._locked():
            self._write(state, claim.name, facts)
            (self.folder / _TAKEN / claim.name).unlink(missing_ok=True)
            counts = [len(self._files(state)) for state in (_DONE, _TODO, _TAKEN, _DROPPED)]
        os.close(claim.descriptor)
        return counts[0], sum(counts)

    def is_finished(self) -> bool:
        """Whether there is nothing left to wait for: no job is free, and none may become so."""
        with self._locked():
            return not self._files(_TODO) and not self._files(_TAKEN)

    def lose(self, host: str, why: str) -> None:
        """Note why a worker takes no part, or no longer."""
        with self._locked():
            self._write(_LOST, _name(host), {"why": why})

    def lost(self) -> dict[str, str]:
        """The workers that took no part to the end, each with why."""
        return {_host(path.name): str(_facts(path)["why"]) for path in self._files(_LOST)}

    def dropped(self) -> dict[str, str]:
        """The jobs that nobody could carry out, each with why."""
        dropped = map(_facts, self._files(_DROPPED))
        return {_job(facts["job"]).title: str(facts["why"]) for facts in dropped}

    def results(self) -> list[Result]:
        """What there is a result of."""
        done = map(_facts, self._files(_DONE))
        return [Result(**(facts | {"job": _job(facts["job"])})) for facts in done]

    def _take_back(self) -> None:
        """Jobs whose process died."""
        for path in self._files(_TAKEN):
            with lock.exclusive_now(path) as abandoned:
                if abandoned:
                    path.rename(self.folder / _TODO / path.name)

    def _is_alone(self, host: str) -> bool:
        for path in self._files(_PRESENT):
            if _host(path.name) != host:
                with lock.exclusive_now(path) as gone:
                    if not gone:
                        return False
        return True

    def _files(self, state: str) -> list[Path]:
        return sorted(path for path in (self.folder / state).iterdir() if not path.name.startswith("."))

    def _write(self, state: str, name: str, facts: dict[str, Any]) -> None:
        fresh = self.folder / state / f".{name}"
        fresh.write_text(json.dumps(facts), encoding="utf-8")
        fresh.rename(self.folder / state / name)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with lock.exclusive(self.folder / _LOCK, lambda: None):
            yield


def _name(host: str) -> str:
    """A file's name for a host, that may have any."""
    return f"{_HOST}{quote(host, safe='')}"


def _host(name: str) -> str:
    return unquote(name.removeprefix(_HOST))


def _facts(path: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return facts


def _job(facts: dict[str, Any]) -> Job:
    return Job(**(facts | {"broke_on": tuple(facts["broke_on"])}))
