"""Where a Plan is carried out: given a folder, it leaves raw files there."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from wirelab.errors import LabError
from wirelab.lab.discard import discard
from wirelab.lab.machine import Machine, guest_folder
from wirelab.runner.store import PLAN, RAW

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wirelab.lab.machine import Progress
    from wirelab.lab.select import Lab
    from wirelab.plan.types import Plan


class Testbed(Protocol):
    """Something that carries out Plans, several at once from several threads."""

    def run(self, plan: Plan, folder: Path, *, cpu: int, on_progress: Callable[[Progress], None]) -> None:
        """Carry out ``plan`` on ``cpu`` and leave its raw files in ``folder/raw``, whatever happens.

        Raises LabError when it could not be carried out to its end.
        """

    def stop(self) -> None:
        """End what runs, from any thread; nothing starts any more."""


class LabTestbed:
    """The lab machine as a testbed: one machine for each Plan."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._stopped = threading.Event()

    def run(self, plan: Plan, folder: Path, *, cpu: int, on_progress: Callable[[Progress], None]) -> None:
        """Switch a machine on, hand it the Plan and wait until it has switched itself off."""
        self._require_running()
        # Its path is the kernel's $HOME, which must be absolute.
        home = guest_folder(folder.absolute(), ".lab")
        try:
            (home / "plan" / PLAN).write_text(plan.physical_json(), encoding="utf-8")
            machine = Machine(self._lab.kernel, self._lab.root, home, seed=plan.seed, cpu=cpu)
            with machine:
                machine.wait(plan.wall_limit_s, on_progress, on_poll=self._require_running)
        finally:
            if (home / "results").is_dir():
                (home / "results").rename(folder / RAW)
            discard(home)

    def stop(self) -> None:
        """Switch every machine off."""
        self._stopped.set()

    def _require_running(self) -> None:
        if self._stopped.is_set():
            msg = "the run was stopped"
            raise LabError(msg)
