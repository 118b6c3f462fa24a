"""A lab whose kernel has been taken over: taken.c asks its host directly, in the kernel's place."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.jail.programs import answers
from wirelab.lab.jail import Confinement
from wirelab.lab.machine import Machine

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Ground:
    """Folders around such a lab."""

    folder: Path
    kernel: Path

    @property
    def root(self) -> Path:
        """The root image."""
        return self.folder / "root-image"

    @property
    def writable(self) -> Path:
        """A folder that was named."""
        return self.folder / "writable"

    def answers(self, attempts: list[tuple[str, Path | str]]) -> dict[str, int]:
        """What each attempt came to, as an errno: those of the program itself, and ``attempts`` on files."""
        run = self.folder / "run"
        (run / "plan").mkdir(parents=True)
        (run / "plan" / "files").write_text("".join(f"{how} {path}\n" for how, path in attempts))
        (run / "writable").mkdir()
        (run / "writable" / "0").symlink_to(self.writable)
        with Machine(
            self.kernel,
            self.root,
            run,
            seed=1,
            cpu=min(os.sched_getaffinity(0)),
            writable=[self.writable],
            confinement=Confinement.WHOLE,
        ) as lab:
            lab.wait(20)
        return answers((run / "results" / "stdout").read_text())
