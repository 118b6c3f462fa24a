"""A process that waits by asking again and again, without ever sleeping, is let through virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig

# So many empty polls in a row cost nothing, as many as an event loop makes.
FREE = 90
MANY = 3000
# The clock, 50 ns a reading, and Python's own calls.
SLACK_NS = 1_000_000
# A call that fails costs this in any case.
FAILED_NS = 1_000

SPIN = """
import os, select, socket, sys, time
nothing, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
nothing.setblocking(False)
poll, epoll = select.poll(), select.epoll()
poll.register(nothing, select.POLLIN)
epoll.register(nothing, select.EPOLLIN)
def receive():
    try:
        nothing.recv(1)
    except BlockingIOError:
        pass
ask = {
    "select": lambda: select.select([nothing], [], [], 0),
    "poll": lambda: poll.poll(0),
    "epoll": lambda: epoll.poll(0),
    "receive": receive,
    "yield": os.sched_yield,
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

# Both ask without an end, by turns, until a second has gone by.
TWO = """
import os, sys, time
begun_s = time.monotonic()
child = os.fork()
while time.monotonic() - begun_s < 1:
    os.sched_yield()
if child:
    os.waitpid(child, 0)
    print(round(time.monotonic() - begun_s, 2))
"""


def spin(rig: Rig, call: str, *polls: int) -> list[int]:
    """What each round of so many empty polls takes, in ns of virtual time; it sleeps in between."""
    done = rig.execute("python3", "-c", SPIN, call, *map(str, polls))
    assert done.code == 0, done.stderr
    return [int(line) for line in done.stdout.split()]


def cost_ns(polls: int) -> int:
    """What so many polls cost beyond the first hundred: a sixteenth of what they have cost, 1 to 100 us."""
    cost_us = 0
    for _ in range(polls - 100):
        cost_us += min(max(cost_us // 16, 1), 100)
    return cost_us * 1000


@pytest.mark.parametrize("call", ["select", "poll", "epoll", "receive", "yield"])
def test_a_process_that_spins_pays_for_it(rig: Rig, call: str) -> None:
    """After a hundred polls without a sleep each further one takes more, or it would wait for ever."""
    (taken_ns,) = spin(rig, call, MANY)
    expected_ns = cost_ns(MANY) + (FAILED_NS * MANY if call == "receive" else 0)
    assert expected_ns - SLACK_NS < taken_ns < expected_ns + SLACK_NS


def test_a_process_that_sleeps_in_between_does_not(rig: Rig) -> None:
    """What an event loop does costs nothing, however often it comes back."""
    assert max(spin(rig, "poll", FREE, FREE, FREE)) < SLACK_NS


def test_two_that_spin_do_not_hold_each_other(rig: Rig) -> None:
    """Each pays for itself, whoever asks in between."""
    done = rig.execute("python3", "-c", TWO, wall_limit_s=30)
    assert (done.code, done.stdout) == (0, "1.0\n"), done.stderr
