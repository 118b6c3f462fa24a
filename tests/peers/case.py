"""One script of others, as `wirelab exec` is told to run it, and what came of it."""

from __future__ import annotations

import json
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
# Enough for each where others use the CPU, too.
WALL_LIMIT_S = 300
# What runs the scripts of a batch in their lab.
ONE_BY_ONE = """
import json, subprocess, sys
for argv in json.loads(sys.argv[1]):
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace")
    print(json.dumps({"code": done.returncode, "printed": done.stdout + chr(10) + done.stderr}), flush=True)
"""

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
    wall_limit_s: int = WALL_LIMIT_S
    memory_mib: int | None = None

    def run(self, lab: Sequence[str], cpu: int) -> Outcome:
        """Run it in a lab of its own on a CPU. ``lab`` are the options that say which."""
        options = [*lab, "--limit", str(self.wall_limit_s), "--cpu", str(cpu)]
        options += ["--memory", str(self.memory_mib)] if self.memory_mib else []
        ended = _in_lab(self.folder, self.argv, options)
        return _hung(ended) if ended.code == BROKEN else self.read(ended)


@dataclass(frozen=True)
class Batch:
    """Scripts of one folder that leave nothing behind: they share a lab, whose start takes longest."""

    cases: Sequence[Case]

    def run(self, lab: Sequence[str], cpu: int) -> list[Outcome]:
        """Run them on a CPU; after one that hangs the others go on in a new lab."""
        if len(self.cases) == 1:
            return [self.cases[0].run(lab, cpu)]
        outcomes: list[Outcome] = []
        while rest := self.cases[len(outcomes) :]:
            limit_s = sum(case.wall_limit_s for case in rest)
            argv = ["python3", "-c", ONE_BY_ONE, json.dumps([list(case.argv) for case in rest])]
            ended = _in_lab(rest[0].folder, argv, [*lab, "--limit", str(limit_s), "--cpu", str(cpu)])
            each = one_by_one(ended.printed)
            outcomes += [case.read(one) for case, one in zip(rest, each, strict=False)]
            if len(each) < len(rest):
                outcomes.append(_hung(ended))
        return outcomes


def one_by_one(printed: str) -> list[Ended]:
    """How each of a batch ended that came to its end, in what ONE_BY_ONE prints of them."""
    return [Ended(**json.loads(line)) for line in printed.splitlines() if line.startswith('{"code": ')]


def _in_lab(folder: Path, argv: Sequence[str], options: Sequence[str]) -> Ended:
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "src")}
    command = [sys.executable, "-m", "wirelab", "exec", *options, "--", *argv]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    # What others' scripts print need not be text.
    return Ended(done.returncode, (done.stdout + b"\n" + done.stderr).decode(errors="replace"))


def _hung(ended: Ended) -> Outcome:
    return Outcome(HUNG, ended.last("error: ") or ended.last())
