"""Tasks side by side, each on a CPU of its own."""

import contextlib
import queue
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, TypeVar

T = TypeVar("T")

_WAKE_S: Final = 0.5
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_on(cpus: Sequence[int], tasks: Sequence[Callable[[int], T]], stop: Callable[[], None]) -> list[T]:
    """Carry out ``tasks``, begun in their order and each given a CPU; what they return, in the same order.

    KeyboardInterrupt and whatever a task raises ends all of them first: ``stop`` is called, which has to end
    those that run, and no other is begun.
    """
    free_cpus: queue.SimpleQueue[int] = queue.SimpleQueue()
    for cpu in cpus:
        free_cpus.put(cpu)
    ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
    results: dict[int, T] = {}

    def carry_out(number: int) -> None:
        cpu = free_cpus.get()
        error: BaseException | None = None
        try:
            results[number] = tasks[number](cpu)
        except BaseException as raised:  # noqa: BLE001 - it is raised where somebody waits for it
            error = raised
        free_cpus.put(cpu)
        ended.put(error)

    # What a thread starts inherits its mask.
    unblock = partial(signal.pthread_sigmask, signal.SIG_UNBLOCK, _SIGNALS)
    pool = ThreadPoolExecutor(len(cpus), thread_name_prefix="wirelab", initializer=unblock)
    try:
        with _blocked_signals():
            for number in range(len(tasks)):
                pool.submit(carry_out, number)
        for _ in tasks:
            if error := _next(ended):
                raise error  # noqa: TRY301 - it is raised in the thread that waits
    except BaseException:
        stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return [results[number] for number in range(len(tasks))]


@contextlib.contextmanager
def _blocked_signals() -> Iterator[None]:
    """Hear no signal until the context ends.

    A KeyboardInterrupt that is raised between a lock of the thread pool and the code that lets it go
    would leave it locked, and the threads that need it waiting for ever.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _next(ended: queue.SimpleQueue[BaseException | None]) -> BaseException | None:
    """What the next task to end raised.

    A signal that the kernel handed to a worker's thread does not wake this one up, and its handler runs only
    here: so it wakes up by itself.
    """
    while True:
        with contextlib.suppress(queue.Empty):
            return ended.get(timeout=_WAKE_S)
