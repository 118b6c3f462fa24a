"""One worker of a matrix, as its controller sees it: it takes the next order whenever a CPU of it is free."""

from __future__ import annotations

import json
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from wirelab.errors import LabError
from wirelab.fleet import parcel
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wirelab.fleet.identity import Identity
    from wirelab.fleet.queue import Claim, Queue
    from wirelab.runner.store import Store

BROKEN_IN_A_ROW: Final = 3
"""After so many runs that broke a worker gets no more: it would take them all, and break them all."""

_WAIT_S: Final = 0.3


class LostError(Exception):
    """The worker does not answer, or cannot be used; the message says why."""


class BrokeError(Exception):
    """A run ended without a verdict on the network; ``result`` is what is known of it."""

    def __init__(self, why: str, result: tuple[bytes, str] | None = None) -> None:
        super().__init__(why)
        self.result = result


@dataclass(frozen=True, slots=True)
class Errands:
    """How a worker is asked: ``ask`` carries an argument list there and brings back what it writes.

    ``ask`` raises LostError if it does not answer. ``argv`` starts its Python, ``work`` is a folder there.
    """

    ask: Callable[[Sequence[str]], bytes]
    argv: tuple[str, ...]
    work: str

    def hello(self) -> Mapping[str, Any]:
        """What it says of itself."""
        return self._answer("hello")[0]

    def run(self, claim: Claim, cpus: Sequence[int], *, use_cache: bool) -> tuple[bytes, str]:
        """The parcel of a run and its checksum. Raises LostError, or BrokeError."""
        order = claim.order
        options = ["--seed", str(order.seed), "--work", self.work]
        for cpu in cpus:
            options += ["--cpu", str(cpu)]
        options += [] if use_cache else ["--no-cache"]
        facts, content = self._answer("run", order.scenario, *options)
        if "full" in facts:
            raise LostError(f"{facts['full']}: make room there")
        if "error" in facts:
            hint = f" ({facts['hint']})" if facts.get("hint") else ""
            raise BrokeError(f"{facts['error']}{hint}")
        if len(content) != facts["size_bytes"] or parcel.checksum(content) != facts["sha256"]:
            raise BrokeError(f"its result came damaged: {len(content)} of {facts['size_bytes']} bytes")
        if facts["verdict"] == Verdict.ERROR:
            raise BrokeError("it ended as an error", (content, facts["sha256"]))
        return content, facts["sha256"]

    def _answer(self, *errand: str) -> tuple[dict[str, Any], bytes]:
        told = self.ask((*self.argv, "-m", "wirelab.fleet.errand", *errand))
        head, _, rest = told.partition(b"\n")
        try:
            facts = json.loads(head)
        except ValueError:
            raise BrokeError(f"it answered `{head[:80].decode(errors='replace')}`") from None
        if not isinstance(facts, dict):
            raise BrokeError("it answered what is no answer")
        return facts, rest


@dataclass(slots=True)
class Worker:
    """Takes orders from a queue and brings their results to a store, until there is nothing left to wait for.

    ``cpus`` are those of the worker to use, None for all it has. ``say`` takes lines for the screen.
    """

    host: str
    queue: Queue
    store: Store
    errands: Errands
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
        """The CPUs to use there, if it is what we need."""
        try:
            facts = self.errands.hello()
        except BrokeError as error:
            raise LostError(str(error)) from error
        require_same(facts, self.wanted)
        there = facts["cpus"]
        if unknown := [cpu for cpu in self.cpus or () if cpu not in there]:
            told = ", ".join(map(str, unknown))
            raise LostError(f"wirelab_cpus: it has no CPU {told} for us, but {', '.join(map(str, there))}")
        return self.cpus or there

    def _loop(self, pool: ThreadPoolExecutor, free: set[int]) -> None:
        running: dict[Future[tuple[bytes, str]], tuple[Claim, list[int]]] = {}
        trouble: Exception | None = None
        while True:
            while free and trouble is None and (claim := self.queue.claim(self.host)):
                cpus = sorted(free)[: claim.order.labs]
                free -= set(cpus)
                future = pool.submit(self.errands.run, claim, cpus, use_cache=self.use_cache)
                running[future] = claim, cpus
            if not running and (trouble is not None or self.queue.is_finished()):
                break
            for future in _ended(running):
                claim, cpus = running.pop(future)
                free |= set(cpus)
                try:
                    self._take(claim, future)
                except (LostError, BrokeError, LabError) as error:
                    trouble = trouble or error
        if trouble is not None:
            raise trouble

    def _take(self, claim: Claim, future: Future[tuple[bytes, str]]) -> None:
        """What came of an order: a result, or it is for others again."""
        try:
            self._keep(claim, *future.result())
            self._broken = 0
        except BrokeError as error:
            self._broken += 1
            if not claim.order.broke_on:
                self.queue.give_back(claim, broke_on=self.host)
                self.say(f"{self.host}: {claim.order.title}: {error}; it is run once more")
            elif error.result is None:
                self.queue.drop(claim, f"{self.host}: {error}")
            else:
                self._keep(claim, *error.result)
            if self._broken >= BROKEN_IN_A_ROW:
                raise LostError(f"{self._broken} runs in a row broke on it, the last: {error}") from error
        except BaseException:
            self.queue.give_back(claim)
            self.say(f"{self.host}: {claim.order.title} is for others again")
            raise

    def _keep(self, claim: Claim, content: bytes, sha256: str) -> None:
        order, now = claim.order, datetime.now(UTC)
        try:
            folder, document = parcel.keep(
                content, sha256, self.store, scenario=order.scenario, seed=order.seed, now=now
            )
        except parcel.DamagedError as error:
            raise BrokeError(str(error)) from error
        done, whole = self.queue.finish(claim, self.host, folder, document.verdict)
        self._kept += 1
        took = "cached" if document.cached else f"{document.wall_s:.1f} s"
        self.say(f"{self.host}: {order.title}: {document.verdict}, {took} ({done} of {whole})")


def _ended(running: Iterable[Future[tuple[bytes, str]]]) -> set[Future[tuple[bytes, str]]]:
    """Those that ended, after a moment. Where others are at work, what they had may become free."""
    futures = set(running)
    if not futures:
        time.sleep(_WAIT_S)
        return futures
    return wait(futures, _WAIT_S, FIRST_COMPLETED).done


def require_same(facts: Mapping[str, Any], wanted: Identity) -> None:
    """Raise LostError if a worker that says this of itself would not give the same digests as we do."""
    if "error" in facts:
        raise LostError(str(facts["error"]))
    again = "run provision.yml again"
    if facts.get("code") != wanted.code:
        what = f"wirelab {facts.get('version')} ({facts.get('code')})"
        raise LostError(f"it has {what}, not {wanted.version} ({wanted.code}) as we do: {again}")
    if facts.get("lab") != wanted.lab:
        what = f"the lab {facts['lab']}, not {wanted.lab}" if facts.get("lab") else "no lab"
        raise LostError(f"it has {what}: {again}")
