"""One script of others, as `wirelab exec` is told to run it, and what came of it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CHECKOUT = Path(__file__).resolve().parents[2]
# What `wirelab exec` ends with when the lab had to be ended.
BROKEN = 4

PASSED, FAILED, SKIPPED, HUNG = OUTCOMES = ("passed", "failed", "skipped", "hung")


@dataclass(frozen=True)
class Outcome:
    """What became of a script, and what it said last."""

    what: str
    said: str = ""


@dataclass(frozen=True)
class Ended:
    """How a command ended, and all that it printed."""

    code: int
    printed: str

    def last(self, *beginnings: str) -> str:
        """The last line that begins with one of these; with none the last line that is not empty."""
        lines = [line.strip() for line in self.printed.splitlines()]
        return next((line for line in reversed(lines) if line and line.startswith(beginnings or ("",))), "")


@dataclass(frozen=True)
class Case:
    """A script by the name that the table has, its folder and command, and how its end is read."""

    name: str
    folder: Path
    argv: Sequence[str]
    read: Callable[[Ended], Outcome]
    wall_limit_s: int = 120

    def run(self, lab: Sequence[str], cpu: int) -> Outcome:
        """Run it in a lab of its own on a CPU. ``lab`` are the options that say which."""
        limits = ["--limit", str(self.wall_limit_s), "--cpu", str(cpu)]
        argv = [sys.executable, "-m", "wirelab", "exec", *lab, *limits, "--", *self.argv]
        environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "src")}
        done = subprocess.run(argv, cwd=self.folder, env=environment, capture_output=True, check=False)
        # What others' scripts print need not be text.
        ended = Ended(done.returncode, (done.stdout + b"\n" + done.stderr).decode(errors="replace"))
        if ended.code == BROKEN:
            return Outcome(HUNG, ended.last("error: ") or ended.last())
        return self.read(ended)
