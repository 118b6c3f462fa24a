"""What computes without an end is told from what asks its kernel for something, by real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from wirelab.lab.runaway import Runaways, Standing, runaways, standings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# A leader that sleeps, as a lab's kernel does, and a process of its session that does not.
LEADER = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
COMPUTES = "while True: pass"
ASKS = "import time\nwhile True:\n for _ in range(99999): pass\n time.sleep(0.0001)"

LIMIT_S = 0.4
PATIENCE_S = 60


@pytest.fixture
def session(request: pytest.FixtureRequest) -> Iterator[int]:
    """A session with one process besides its leader, which runs the program given."""
    argv = [sys.executable, "-c", LEADER, request.param]
    with subprocess.Popen(argv, start_new_session=True) as leader:  # noqa: S603 our own
        yield leader.pid
        for left in standings(leader.pid):
            os.kill(left.process, signal.SIGKILL)
        leader.kill()


def used_s(session: int) -> float:
    """The processor time of the session's processes but its leader."""
    return sum(standing.cpu_s for standing in standings(session))


def awaited(watch: Runaways) -> tuple[str, float]:
    """What it says of the first that it ends, and how long that took in s; "" where it ends none."""
    begun_s = time.monotonic()
    words, waited_s = "", 0.0
    while not words and waited_s < PATIENCE_S:
        words = watch.end(waited_s)
        time.sleep(0.01)
        waited_s = time.monotonic() - begun_s
    return words, waited_s


@pytest.mark.parametrize("session", [COMPUTES], indirect=True)
def test_what_computes_is_ended(session: int, tmp_path: Path) -> None:
    """After its limit of processor time, and what its kernel has said of it is told once."""
    console = tmp_path / "console.log"
    console.write_text("hello\nrunaway: python3 (pid 7) computes without an end\nrunaway: python3.13+0x10\n")
    watch = Runaways(session, LIMIT_S, console)
    words, waited_s = awaited(watch)
    assert words == "python3 (pid 7) computes without an end\npython3.13+0x10"
    assert list(standings(session)) == []
    assert watch.end(waited_s + LIMIT_S) == ""


@pytest.mark.parametrize("session", [COMPUTES], indirect=True)
def test_what_computes_is_ended_without_a_console(session: int, tmp_path: Path) -> None:
    """Root of a lab can remove it: there is one, and who it was nobody knows."""
    watch = Runaways(session, LIMIT_S, tmp_path / "console.log")
    words, _ = awaited(watch)
    assert words == "a process whose name nobody can read"


@pytest.mark.parametrize("session", [ASKS], indirect=True)
def test_what_waits_now_and_then_is_left_alone(session: int, tmp_path: Path) -> None:
    """However much processor time it uses in all."""
    (tmp_path / "console.log").write_text("runaway: nobody\n")
    watch = Runaways(session, LIMIT_S, tmp_path / "console.log")
    begun_s = time.monotonic()
    while used_s(session) < 2 * LIMIT_S and time.monotonic() - begun_s < PATIENCE_S:
        assert watch.end(time.monotonic() - begun_s) == ""
        time.sleep(0.05)
    assert len(list(standings(session))) == 1


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (Standing(1, 0.0, 5), Standing(1, LIMIT_S, 5), 1),
        (Standing(1, 0.0, 5), Standing(1, LIMIT_S, 6), 0),
        (Standing(1, 0.1, 5), Standing(1, LIMIT_S, 5), 0),
        (Standing(2, 0.0, 5), Standing(1, LIMIT_S, 5), 0),
    ],
)
def test_a_runaway_has_used_its_limit_and_not_waited(old: Standing, new: Standing, found: int) -> None:
    """Processor time of one process, between two looks with the same count of waits."""
    assert runaways({old.process: old}, [new], LIMIT_S) == [new] * found
