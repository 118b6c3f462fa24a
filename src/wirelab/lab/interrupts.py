"""Interrupts that wait while a lock of Python's own is held that an exception would leave locked.

The handler of a signal runs in the main thread between any two steps of it, whichever thread the kernel gave
the signal to. One that raises, as Ctrl-C's does, right after a lock is taken and right before the code that
lets it go again, leaves it locked for ever: in ``threading``, ``concurrent.futures``, ``Popen.wait``.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# SIGINT is put back last: if it then raises at once, nothing else is left to be put back.
_SIGNALS: Final = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let the handlers of interrupts run when the context ends, and not before."""
    if threading.current_thread() is not threading.main_thread():
        # Nothing is raised in any other.
        yield
        return
    heard: list[int] = []
    # What is no function ends the process or does nothing.
    handlers = {number: handler for number in _SIGNALS if callable(handler := signal.getsignal(number))}
    try:
        for number in handlers:
            signal.signal(number, lambda number, _frame: heard.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for came in heard:
            signal.raise_signal(came)
