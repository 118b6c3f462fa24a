"""Tasks side by side, each on a CPU of its own."""

import contextlib
import os
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

from wirelab.errors import InputError
from wirelab.lab.interrupts import interrupts_held

T = TypeVar("T")

_WAKE_S: Final = 0.5


def usable(jobs: int | None = None) -> list[int]:
    """The CPUs that this process may use, or the first ``jobs`` of them. Raises InputError for none."""
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs {jobs}: expected at least one")
    return sorted(os.sched_getaffinity(0))[:jobs]


def run_on(cpus: Sequence[int], tasks: Sequence[Callable[[int], T]], stop: Callable[[], None]) -> list[T]:
    """Carry out ``tasks``, begun in their order and each given a CPU; what they return, in the same order.

    KeyboardInterrupt and whatever a task raises ends all of them first: ``stop`` is called, which has to end
    those that run, and no other is begun.
    """
    free_cpus: queue.SimpleQueue[int] = queue.SimpleQueue()
    for cpu in cpus:
        free_cpus.put(cpu)
    ended: queue.SimpleQueue[Future[T]] = queue.SimpleQueue()

    def carry_out(task: Callable[[int], T]) -> T:
        cpu = free_cpus.get()
        try:
            return task(cpu)
        finally:
            free_cpus.put(cpu)

    pool = ThreadPoolExecutor(len(cpus), thread_name_prefix="wirelab")
    try:
        with interrupts_held():
            futures = [pool.submit(carry_out, task) for task in tasks]
            for future in futures:
                future.add_done_callback(ended.put)
        for _ in tasks:
            _next(ended).result()
    except BaseException:
        stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return [future.result() for future in futures]


def _next(ended: queue.SimpleQueue[Future[T]]) -> Future[T]:
    """The next task to end.

    A signal that the kernel handed to a worker's thread does not wake this one up, and its handler runs only
    here: so it wakes up by itself.
    """
    while True:
        with contextlib.suppress(queue.Empty):
            return ended.get(timeout=_WAKE_S)
