"""``wirelab exec``: one command of the user's, as root in a lab with Open vSwitch running."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wirelab.guest.outlet import Outlet, first, pass_on
from wirelab.guest.shell import Attached, reaping
from wirelab.guest.shell import run as run_program
from wirelab.guest.surroundings import environment

# Where the user's folders appear; the root image keeps /mnt empty.
WORK = Path("/mnt/work")

_NOT_FOUND = (127, "not found in the lab")
_NOT_EXECUTABLE = (126, "not executable")


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
    env = environment(os.environ["PATH"])
    outlets = out, err = Outlet(results / "stdout"), Outlet(results / "stderr")
    try:
        # From its start on: it may start so many at once that nobody else comes to run.
        with first():
            program = Attached(argv, out.writable, err.writable, env, cwd=WORK)
            with reaping(but=program.pid):
                pass_on(outlets, os.pidfd_open(program.pid))
    except (FileNotFoundError, PermissionError) as error:
        code, why = _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_EXECUTABLE
        (results / "stderr").write_text(f"wirelab exec: {argv[0]}: {why}\n")
        return code
    return program.wait()
