"""Virtual time as the lab's programs see it."""

import ctypes
import functools
import os
import time

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000

_SET_TIMER_SLACK = 29  # linux/prctl.h; 0 is the default again
_ABSOLUTE = 1  # TIMER_ABSTIME


def now_ns() -> int:
    """Virtual nanoseconds since the lab was switched on."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def sleep_until(instant_ns: int) -> None:
    """Sleep to an instant of ``now_ns``; at once if it is past. Costs no wall time."""
    while (left_ns := instant_ns - now_ns()) > 0:
        time.sleep(left_ns / NS_PER_S)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


class _Timespec(ctypes.Structure):
    """struct timespec of a 64-bit system."""

    _fields_ = (("seconds", ctypes.c_int64), ("nanoseconds", ctypes.c_int64))


def wake_at(instant_ns: int) -> None:
    """Sleep to an instant of ``now_ns``, and be awake at just that one: ``sleep_until`` is 50 us late.

    So much the kernel allows itself with everybody's timers, for the sake of batteries. Raises OSError.
    """
    libc = _libc()
    libc.prctl(_SET_TIMER_SLACK, 1, 0, 0, 0)
    seconds, nanoseconds = divmod(instant_ns, NS_PER_S)
    until = _Timespec(seconds, nanoseconds)
    error = libc.clock_nanosleep(time.CLOCK_MONOTONIC, _ABSOLUTE, ctypes.byref(until), None)
    # Who is started from here on is not to inherit it.
    libc.prctl(_SET_TIMER_SLACK, 0, 0, 0, 0)
    if error:
        raise OSError(error, os.strerror(error))
