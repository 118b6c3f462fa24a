"""``wirelab exec``: one command of the user's, as root in a lab with Open vSwitch running."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.guest.shell import Program
from wirelab.guest.shell import run as run_program

if TYPE_CHECKING:
    from collections.abc import Sequence

# Where the user's folders appear; the root image keeps /mnt empty.
WORK = Path("/mnt/work")

_NOT_FOUND = 127
_NOT_EXECUTABLE = 126


def run(plan_folder: Path, results: Path) -> dict[str, Any]:
    """Mount the user's folders and run ``command.json``; its output goes to ``stdout`` and ``stderr``.

    The plan holds ``argv`` and ``writable``: the mount point of each folder the command may write to.
    """
    order = json.loads((plan_folder / "command.json").read_text())
    _mount("work", WORK, read_only=True)
    for number, where in enumerate(order["writable"]):
        _mount(f"writable/{number}", Path(where), read_only=False)
    return {"status": "done", "exit_code": _run(order["argv"], results), "kernel": os.uname().release}


def _mount(source: str, target: Path, *, read_only: bool) -> None:
    if not target.exists():
        target.mkdir(parents=True)
    options = f"/proc/self/cwd/{source}"
    run_program(["mount", *(["-r"] if read_only else []), "-t", "hostfs", "-o", options, "none", str(target)])


def _run(argv: Sequence[str], results: Path) -> int:
    try:
        program = Program(argv, results / "stdout", results / "stderr", cwd=WORK, env=_environment())
    except FileNotFoundError:
        (results / "stderr").write_text(f"wirelab exec: {argv[0]}: not found in the lab\n")
        return _NOT_FOUND
    except PermissionError:
        (results / "stderr").write_text(f"wirelab exec: {argv[0]}: not executable\n")
        return _NOT_EXECUTABLE
    return program.wait()


def _environment() -> dict[str, str]:
    inherited = ("PATH", "HOME", "LC_ALL")
    return {
        **{name: os.environ[name] for name in inherited},
        "TERM": "dumb",
        "LOGNAME": "root",
        "USER": "root",
    }
