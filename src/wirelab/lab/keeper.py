"""A thread that gives up what it may do, starts one process with what is left, and lives as long as that."""

import gc
import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

T = TypeVar("T")

# One at a time: two could not tell whether the other wants the collector back.
_STARTING: Final = threading.Lock()


class Keeper(Generic[T]):
    """Runs ``confine`` and then ``start`` in a thread of its own, which ends with `release`.

    Landlock, seccomp and no_new_privs belong to a thread, go to all that it starts, and cannot be taken back:
    so the thread is thrown away. That takes a millisecond, where another interpreter takes fifteen; and no
    Python runs between fork and exec, which in a process of several threads it must not. A lab dies with the
    thread that started it (patch 0011): the thread waits.
    """

    def __init__(self, confine: Callable[[], None], start: Callable[[], T]) -> None:
        self._confine = confine
        self._start = start
        self._begun = threading.Event()
        self._released = threading.Event()
        self._outcome: T | BaseException | None = None

    def start(self) -> T:
        """What ``start`` returns; raises what either function does. Not to be interrupted."""
        thread = threading.Thread(target=self._keep, name="lab", daemon=True)
        with _STARTING:
            # A collection in that thread would run the finalizers of strangers, confined.
            collects = gc.isenabled()
            gc.disable()
            try:
                thread.start()
                self._begun.wait()
            finally:
                if collects:
                    gc.enable()
        outcome, self._outcome = self._outcome, None
        if isinstance(outcome, BaseException):
            raise outcome
        assert outcome is not None  # noqa: S101 - for the types: one of them it is
        return outcome

    def release(self) -> None:
        """Let the thread end; a process that is still there ends with it."""
        self._released.set()

    def _keep(self) -> None:
        try:
            self._confine()
            self._outcome = self._start()
        except BaseException as error:  # noqa: BLE001 - it is raised where it was asked for
            self._outcome = error
            return
        finally:
            self._begun.set()
        self._released.wait()
