"""A process that waits by asking again and again, without ever sleeping, is let through virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig

FEW = 900
MANY = 3000
# What MANY polls cost: 100 us for each after the first thousand.
COST_NS = 2000 * 100_000
# The clock, 50 ns a reading, and Python's own calls.
SLACK_NS = 1_000_000

SPIN = """
import os, select, sys, time
nothing, _ = os.pipe()
poll, epoll = select.poll(), select.epoll()
poll.register(nothing, select.POLLIN)
epoll.register(nothing, select.EPOLLIN)
ask = {
    "select": lambda: select.select([nothing], [], [], 0),
    "poll": lambda: poll.poll(0),
    "epoll": lambda: epoll.poll(0),
}[sys.argv[1]]
begun_ns = time.monotonic_ns()
for polls in map(int, sys.argv[2:]):
    for _ in range(polls):
        ask()
    woken_ns = time.monotonic_ns()
    print(woken_ns - begun_ns)
    time.sleep(0.001)
    begun_ns = time.monotonic_ns()
"""


def spin(rig: Rig, call: str, *polls: int) -> list[int]:
    """What each round of so many empty polls takes, in ns of virtual time; it sleeps in between."""
    done = rig.execute("python3", "-c", SPIN, call, *map(str, polls))
    assert done.code == 0, done.stderr
    return [int(line) for line in done.stdout.split()]


@pytest.mark.parametrize("call", ["select", "poll", "epoll"])
def test_a_process_that_spins_pays_for_it(rig: Rig, call: str) -> None:
    """After a thousand polls without a sleep each further one takes 100 us, or it would wait for ever."""
    (taken_ns,) = spin(rig, call, MANY)
    assert COST_NS - SLACK_NS < taken_ns < COST_NS + SLACK_NS


def test_a_process_that_sleeps_in_between_does_not(rig: Rig) -> None:
    """What an event loop does costs nothing, however often it comes back."""
    assert max(spin(rig, "poll", FEW, FEW, FEW)) < SLACK_NS
