"""What the jail costs: of a lab's start, and of each call to the host."""

from __future__ import annotations

import statistics
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.lab.jail import Confinement, Jail
from wirelab.lab.keeper import Keeper

if TYPE_CHECKING:
    from wirelab.lab.select import Lab

PAIRS = 50
CALL_PAIRS = 15
MS_PER_S = 1000


def added_ms(lab: Lab, folder: Path) -> float:
    """How much later a lab's kernel is started in the jail than without: the median of pairs, in turns.

    It is asked for its version, which it tells before it is a lab.
    """
    jail = Jail(lab.kernel, folder, folder, (lab.root, folder), ())
    argv = [str(lab.kernel), "--version"]
    pairs = [(_jailed(jail, argv)[0], _free(argv)[0]) for _ in range(PAIRS)]
    return MS_PER_S * statistics.median(jailed_s - free_s for jailed_s, free_s in pairs)


def added_to_a_call_ns(folder: Path) -> float:
    """How much more processor time a call to the host takes in the jail: the median of pairs, in turns."""
    program = folder / "calls"
    source = Path(__file__).with_name("calls.c")
    subprocess.run(["gcc", "-static", "-O1", "-o", str(program), str(source)], check=True)  # noqa: S607 - whichever there is
    jail = Jail(program, folder, folder, (), ())
    pairs = [(_jailed(jail, [str(program)])[1], _free([str(program)])[1]) for _ in range(CALL_PAIRS)]
    return statistics.median(float(jailed) - float(free) for jailed, free in pairs)


def _jailed(jail: Jail, argv: list[str]) -> tuple[float, bytes]:
    """How long it takes to start a program in the jail, in seconds, and what it prints."""
    start_s = time.monotonic()
    keeper = Keeper(lambda: jail.enter(Confinement.WHOLE), lambda: _started(argv))
    process = keeper.start()
    took_s = time.monotonic() - start_s
    printed, _ = process.communicate()
    keeper.release()
    return took_s, printed


def _free(argv: list[str]) -> tuple[float, bytes]:
    """The same without."""
    start_s = time.monotonic()
    process = _started(argv)
    took_s = time.monotonic() - start_s
    printed, _ = process.communicate()
    return took_s, printed


def _started(argv: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
