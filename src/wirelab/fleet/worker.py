"""One worker of a matrix, as its controller sees it: it takes the next job whenever a CPU of it is free."""

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pydantic import ValidationError

from wirelab.errors import LabError
from wirelab.fleet.bundle import Answer, DamagedError, checksum, keep, printable
from wirelab.fleet.identity import Identity
from wirelab.fleet.queue import JobQueue, QueuedJob
from wirelab.runner.store import Store
from wirelab.verdict.verdict import Verdict

BROKEN_IN_A_ROW: Final = 3
"""After so many runs that broke a worker gets no more: it would take them all, and break them all."""

_WAIT_S: Final = 0.3


class LostError(Exception):
    """The worker does not answer, or cannot be used; the message says why."""


class BrokeError(Exception):
    """A run ended without a verdict on the network; ``bundle`` is what is known of it."""

    def __init__(self, why: str, bundle: bytes | None = None) -> None:
        super().__init__(why)
        self.bundle = bundle


@dataclass(frozen=True, slots=True)
class Agent:
    """How a worker is asked: ``ask`` carries an argument list there and brings back what it writes.

    ``ask`` raises LostError if it does not answer. ``argv`` starts its Python, ``work`` is a folder there.
    """

    ask: Callable[[Sequence[str]], bytes]
    argv: tuple[str, ...]
    work: str

    def hello(self) -> Answer:
        """What it says of itself."""
        return self._answer("hello")[0]

    def run(self, job: QueuedJob, cpus: Sequence[int], *, use_cache: bool) -> bytes:
        """The bundle of a run, as it was sent. Raises LostError, or BrokeError."""
        options = ["--seed", str(job.seed), "--work", self.work]
        for cpu in cpus:
            options += ["--cpu", str(cpu)]
        options += [] if use_cache else ["--no-cache"]
        answer, bundle = self._answer("run", job.scenario, *options)
        if answer.full:
            raise LostError(f"{answer.full}: make room there")
        if answer.error:
            raise BrokeError(f"{answer.error} ({answer.hint})" if answer.hint else answer.error)
        if len(bundle) != answer.size_bytes or checksum(bundle) != answer.sha256:
            raise BrokeError(f"its result came damaged: {len(bundle)} of {answer.size_bytes} bytes")
        if answer.verdict is Verdict.ERROR:
            raise BrokeError("it ended as an error", bundle)
        return bundle

    def _answer(self, *request: str) -> tuple[Answer, bytes]:
        reply = self.ask((*self.argv, "-m", "wirelab.fleet.agent", *request))
        line, _, rest = reply.partition(b"\n")
        try:
            return Answer.model_validate_json(line), rest
        except ValidationError:
            raise BrokeError(f"it answered `{printable(line[:80].decode(errors='replace'))}`") from None


@dataclass(slots=True)
class Worker:
    """Takes jobs from a queue and brings their results to a store, until there is nothing left to wait for.

    ``cpus`` are those of the worker to use, None for all it has. ``say`` takes lines for the screen.
    """

    host: str
    queue: JobQueue
    store: Store
    agent: Agent
    wanted: Identity
    say: Callable[[str], None]
    cpus: Sequence[int] | None = None
    use_cache: bool = True
    _broken: int = 0
    _kept: int = 0

    def work(self) -> int:
        """Returns how many results it brought.

        Raises LostError, with what it had given back, if it is of no more use; LabError if results cannot
        be kept here.
        """
        with self.queue.present(self.host):
            cpus = self._cpus()
            with ThreadPoolExecutor(len(cpus)) as pool:
                self._loop(pool, set(cpus))
        return self._kept

    def _cpus(self) -> Sequence[int]:
        """The CPUs to use there. Raises LostError if it is not what we need."""
        try:
            there = self.agent.hello()
        except BrokeError as error:
            raise LostError(str(error)) from error
        if there.error:
            raise LostError(there.error)
        self._require_same(there)
        if not there.cpus:
            raise LostError("it has no CPU for us")
        if unknown := [str(cpu) for cpu in self.cpus or () if cpu not in there.cpus]:
            usable = ", ".join(map(str, there.cpus))
            raise LostError(f"wirelab_cpus: it has no CPU {', '.join(unknown)} for us, but {usable}")
        return self.cpus or there.cpus

    def _require_same(self, there: Answer) -> None:
        """Raise LostError if it has another wirelab or lab, which would give other digests than ours."""
        ours = self.wanted
        if there.code != ours.code:
            theirs = f"wirelab {there.version} ({there.code}), not {ours.version} ({ours.code}) as we do"
        elif there.lab != ours.lab:
            theirs = f"the lab {there.lab}, not {ours.lab}" if there.lab else "no lab"
        else:
            return
        raise LostError(f"it has {theirs}: run provision.yml again")

    def _loop(self, pool: ThreadPoolExecutor, free: set[int]) -> None:
        running: dict[Future[bytes], tuple[QueuedJob, list[int]]] = {}
        trouble: Exception | None = None
        while True:
            while free and trouble is None and (job := self.queue.claim(self.host)):
                cpus = sorted(free)[: job.labs]
                free -= set(cpus)
                future = pool.submit(self.agent.run, job, cpus, use_cache=self.use_cache)
                running[future] = job, cpus
            if not running and (trouble is not None or self.queue.is_finished()):
                break
            for future in _ended(running):
                job, cpus = running.pop(future)
                free |= set(cpus)
                try:
                    self._take(job, future)
                except (LostError, BrokeError, LabError) as error:
                    trouble = trouble or error
        if trouble is not None:
            raise trouble

    def _take(self, job: QueuedJob, future: Future[bytes]) -> None:
        """What came of a job: a result, or it is for others again."""
        try:
            self._keep(job, future.result())
            self._broken = 0
        except BrokeError as error:
            self._broken += 1
            if not job.broke_on:
                self.queue.give_back(job, broke_on=self.host)
                self.say(f"{self.host}: {job.title}: {error}; it is run once more")
            elif error.bundle is None:
                self.queue.drop(job, f"{self.host}: {error}")
            else:
                self._keep(job, error.bundle)
            if self._broken >= BROKEN_IN_A_ROW:
                raise LostError(f"{self._broken} runs in a row broke on it, the last: {error}") from error
        except BaseException:
            # Where that cannot be noted, it is free as soon as we take no part any more.
            with contextlib.suppress(LabError):
                self.queue.give_back(job)
            self.say(f"{self.host}: {job.title} is for others again")
            raise

    def _keep(self, job: QueuedJob, bundle: bytes) -> None:
        now = datetime.now(UTC)
        try:
            folder, run = keep(bundle, self.store, scenario=job.scenario, seed=job.seed, now=now)
        except DamagedError as error:
            raise BrokeError(str(error)) from error
        done, whole = self.queue.finish(job, self.host, folder)
        self._kept += 1
        took = "cached" if run.cached else f"{run.wall_s:.1f} s"
        self.say(f"{self.host}: {job.title}: {run.verdict}, {took} ({done} of {whole})")


def _ended(running: Iterable[Future[bytes]]) -> set[Future[bytes]]:
    """Those that ended, after a moment. Where others are at work, what they had may become free."""
    futures = set(running)
    if not futures:
        time.sleep(_WAIT_S)
        return futures
    return wait(futures, _WAIT_S, FIRST_COMPLETED).done
