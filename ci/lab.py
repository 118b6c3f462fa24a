"""The lab that a CI job needs: from the file that an earlier job has left, or built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci import cli
from wirelab.lab import export, kernel
from wirelab.lab.recipe import BuildContext

if TYPE_CHECKING:
    from ci.asked import Asked
    from ci.github import Runner


def key(asked: Asked, runner: Runner) -> int:
    """Print the name that a cache keeps the lab's file under: another one for each recipe."""
    context = BuildContext.of(asked.environ)
    name = export.recipe_name(context, asked.series or None)
    print(name)
    runner.output(key=name)
    return 0


def provide(asked: Asked, _runner: Runner) -> int:
    """Have a lab: take it from its file; where there is none, or another recipe's, build one and write it."""
    file = asked.lab
    if file is not None and file.is_file():
        if cli.call(asked, "lab", "import", "--", str(file)) == 0:
            return 0
        print(f"{file} is of no use: the lab is built instead", flush=True)
    series = [f"--series={asked.series}"] if asked.series else []
    code = cli.call(asked, "lab", "build", "--install-packages", *series)
    if code == 0 and asked.series:
        context = BuildContext.of(asked.environ)
        entry = kernel.find(context, asked.series)
        if entry is not None:
            kernel.take(context, entry)
    if code == 0 and file is not None:
        code = cli.call(asked, "lab", "export", "--", str(file))
    return code
