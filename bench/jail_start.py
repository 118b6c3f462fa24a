"""What the jail adds to a lab's start."""

from __future__ import annotations

import statistics
import subprocess
import time
from typing import TYPE_CHECKING

from wirelab.lab.jail import Confinement, Jail
from wirelab.lab.keeper import Keeper

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.select import Lab

PAIRS = 50
MS_PER_S = 1000


def added_ms(lab: Lab, folder: Path) -> float:
    """How much later a lab's kernel is started in the jail than without: the median of pairs, in turns.

    It is asked for its version, which it tells before it is a lab.
    """
    jail = Jail(lab.kernel, folder, folder, (lab.root, folder), ())
    return MS_PER_S * statistics.median(_jailed_s(jail) - _free_s(jail) for _ in range(PAIRS))


def _jailed_s(jail: Jail) -> float:
    start_s = time.monotonic()
    keeper = Keeper(lambda: jail.enter(Confinement.WHOLE), lambda: _started(jail.kernel))
    process = keeper.start()
    took_s = time.monotonic() - start_s
    process.wait()
    keeper.release()
    return took_s


def _free_s(jail: Jail) -> float:
    start_s = time.monotonic()
    process = _started(jail.kernel)
    took_s = time.monotonic() - start_s
    process.wait()
    return took_s


def _started(kernel: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([kernel, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
