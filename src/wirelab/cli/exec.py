"""``wirelab exec``: any command inside a fresh lab machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from wirelab.lab.command import run_command
from wirelab.lab.scratch import scratch_folder
from wirelab.lab.select import select


def exec_command(  # noqa: PLR0913 the options of a command line
    command: Annotated[
        list[str], typer.Argument(help="The command and its arguments.", metavar="COMMAND...")
    ],
    *,
    seed: Annotated[int, typer.Option(min=0, help="What the lab's randomness grows from.")] = 1,
    writable: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="A folder the command may write to. Repeatable.")
    ] = None,
    limit: Annotated[
        float, typer.Option(min=1, metavar="SECONDS", help="Wall time after which it is ended.")
    ] = 600,
    cpu: Annotated[int | None, typer.Option(min=0, help="The host CPU to use.")] = None,
    kernel: Annotated[Path | None, typer.Option(help="Another lab kernel.")] = None,
    root: Annotated[Path | None, typer.Option(help="Another root image.")] = None,
) -> None:
    """Run a command as root in a lab of its own, in virtual time, with Open vSwitch running.

    The current folder is the working folder, read-only. The output and the exit code are the command's.
    Its standard input is empty.
    """
    lab = select(kernel, root)
    with lab.in_use(), scratch_folder() as folder:
        code = run_command(
            command,
            lab,
            folder,
            work=Path.cwd(),
            writable=writable or [],
            seed=seed,
            cpu=cpu if cpu is not None else max(os.sched_getaffinity(0)),
            wall_limit_s=limit,
            stdout=sys.stdout.buffer,
            stderr=sys.stderr.buffer,
        )
    raise typer.Exit(code)
