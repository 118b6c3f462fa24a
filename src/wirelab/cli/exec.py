"""``wirelab exec``: any command, in a lab of its own."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from wirelab.cli.names import usable_cpus
from wirelab.cli.options import DEFAULT_SEED, Kernel, Root, Seed, tell
from wirelab.lab.command import run_command
from wirelab.lab.first_use import select_or_take
from wirelab.lab.scratch import scratch_folder
from wirelab.plan.types import MEMORY_BYTES


def exec_command(  # noqa: PLR0913 the options of a command line
    command: Annotated[
        list[str], typer.Argument(help="The command and its arguments.", metavar="COMMAND...")
    ],
    *,
    seed: Seed = DEFAULT_SEED,
    writable: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="A folder the command may write to. Repeatable.")
    ] = None,
    limit: Annotated[
        float, typer.Option(min=1, metavar="SECONDS", help="Wall time after which it is ended.")
    ] = 600,
    memory: Annotated[
        int, typer.Option(min=64, metavar="MIB", help="The lab's memory; the host lends what is used of it.")
    ] = MEMORY_BYTES >> 20,
    cpu: Annotated[int | None, typer.Option(min=0, help="The host CPU to use.")] = None,
    kernel: Kernel = None,
    root: Root = None,
    without_jail: Annotated[
        bool, typer.Option("--without-jail", help="Let it reach all of this host that you do.")
    ] = False,
) -> None:
    """Run a command as root in a lab of its own, in virtual time, with Open vSwitch running.

    The current folder is the working folder, read-only. The output and the exit code are the command's.
    Its standard input is empty.
    """
    *_, last_cpu = usable_cpus(None if cpu is None else [cpu], None)
    chosen = select_or_take(kernel, root, say=tell)
    with chosen.in_use(), scratch_folder() as folder:
        code = run_command(
            command,
            chosen,
            folder,
            work=Path.cwd(),
            writable=writable or [],
            seed=seed,
            cpu=last_cpu,
            wall_limit_s=limit,
            stdout=sys.stdout.buffer,
            stderr=sys.stderr.buffer,
            memory_bytes=memory << 20,
            is_jailed=not without_jail,
        )
    raise typer.Exit(code)
