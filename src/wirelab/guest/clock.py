"""Virtual time as the lab's programs see it."""

import time

NS_PER_S = 1_000_000_000


def now_ns() -> int:
    """Virtual nanoseconds since the lab was switched on."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def sleep_until(instant_ns: int) -> None:
    """Sleep to an instant of ``now_ns``; at once if it is past. Costs no wall time."""
    while (left_ns := instant_ns - now_ns()) > 0:
        time.sleep(left_ns / NS_PER_S)
