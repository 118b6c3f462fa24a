"""A process of a lab that computes without an end: told from the others by what the host sees of it.

Virtual time stands still while a process computes. Whatever it asks of the lab's kernel, be it by a page
fault, makes its process on the host wait for that kernel. One that uses a CPU and never waits asks nothing.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# What the lab's kernel begins each line with that it says of one (patch 0013).
_WORD = "runaway: "
_NAMELESS = "a process whose name nobody can read"

# How often they are looked for in the time that is too much, and how long the kernel may take to end one.
_LOOKS = 4
_ENDS_S = 5.0
_POLL_S = 0.02
_CONSOLE_BYTES = 1 << 16

# Fields of /proc/<pid>/stat from the third, the state, on.
_SESSION, _USER_TICKS, _KERNEL_TICKS = 3, 11, 12


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a process of the host is: processor time used, and how often it has waited for something."""

    process: int
    cpu_s: float
    waits: int


class Runaways:
    """Watches over the processes of one lab: its session, but for the kernel that leads it."""

    def __init__(self, session: int, limit_s: float, console: Path) -> None:
        """``limit_s`` of processor time without a wait are too much; the kernel tells on its ``console``."""
        self._session = session
        self._limit_s = limit_s
        self._console = console
        self._console_read = 0
        self._since: dict[int, Standing] = {}
        self._looked_s = 0.0

    def end(self, wall_s: float) -> str:
        """Have the lab's kernel end whichever is one now, ``wall_s`` after the lab began.

        Returns what the kernel says of it: name, place and callers. Nothing if there is none.
        """
        if wall_s - self._looked_s < self._limit_s / _LOOKS:
            return ""
        self._looked_s = wall_s
        seen = list(standings(self._session))
        caught = runaways(self._since, seen, self._limit_s)
        self._since = {new.process: _begun(self._since.get(new.process), new) for new in seen}
        for standing in caught:
            self._end(standing)
        return self._words() if caught else ""

    def _end(self, standing: Standing) -> None:
        until_s = time.monotonic() + _ENDS_S
        with suppress(ProcessLookupError):
            os.kill(standing.process, signal.SIGALRM)
        while time.monotonic() < until_s and any(
            left.process == standing.process for left in standings(self._session)
        ):
            time.sleep(_POLL_S)

    def _words(self) -> str:
        try:
            with self._console.open("rb") as file:
                file.seek(self._console_read)
                lines = file.read(_CONSOLE_BYTES).decode(errors="replace").splitlines()
                self._console_read = file.tell()
        except OSError:
            # Root of a lab can remove it.
            return _NAMELESS
        return "\n".join(line.partition(_WORD)[2] for line in lines if _WORD in line)


def runaways(since: dict[int, Standing], seen: list[Standing], limit_s: float) -> list[Standing]:
    """Those of ``seen`` that have used ``limit_s`` and not waited since what is kept of them."""
    return [
        new
        for new in seen
        if (old := since.get(new.process)) and old.waits == new.waits and new.cpu_s - old.cpu_s >= limit_s
    ]


def _begun(old: Standing | None, new: Standing) -> Standing:
    """Where its present stretch of computing began, as far as it was looked at."""
    return old if old is not None and old.waits == new.waits else new


def standings(session: int) -> Iterator[Standing]:
    """Each process of a session but its leader. One that ends meanwhile is left out."""
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == session:
            continue
        with suppress(OSError, ValueError, StopIteration):
            fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if fields[_SESSION : _SESSION + 1] != [str(session)]:
                continue
            ticks = int(fields[_USER_TICKS]) + int(fields[_KERNEL_TICKS])
            status = (folder / "status").read_text(errors="replace").splitlines()
            waits = next(line for line in status if line.startswith("voluntary_ctxt_switches:"))
            yield Standing(int(folder.name), ticks / ticks_per_s, int(waits.partition(":")[2]))
