"""`wirelab lab`: build, list, show and prune the kernels and root images a lab is made of."""

import os
import sys
import time
from pathlib import Path
from typing import Annotated, Self

import typer
from rich import progress
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from wirelab.errors import InputError
from wirelab.lab import debian, export, kernel, packages, rootfs, select
from wirelab.lab.entry import DamagedEntryError, Entry, intact
from wirelab.lab.recipe import BuildContext
from wirelab.lab.reporter import Reporter

app = typer.Typer(help="Build and choose the lab's kernel and root image.", no_args_is_help=True)
PERCENT_OF_A_LINE = 10

SeriesName = Annotated[str | None, typer.Option(help="The kernel series: 7.2, 6.12 or 6.1.")]
ExportFile = Annotated[
    Path, typer.Argument(help="The file to write; - is the standard output.", metavar="FILE")
]
ImportFile = Annotated[
    Path, typer.Argument(help="What export has written; - is the standard input.", metavar="FILE")
]


class Screen(Reporter):
    """A context that shows a bar on a terminal, elsewhere a line for each step and each tenth of it."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._told_percent = 0
        self._bar = progress.Progress(
            progress.SpinnerColumn(finished_text=" "),
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._finish()
        self._bar.stop()

    def say(self, text: str) -> None:
        """A line of its own."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def show(self, *entries: Entry) -> None:
        """A line for each."""
        for entry in entries:
            self.say(f"{entry.facts['title']}  {entry.path}")

    def step(self, title: str, total: int | None = None) -> None:
        """A new bar."""
        self._finish()
        if self._bar.disable:
            self.say(title)
        self._told_percent = 0
        self._bar.add_task(title, total=total)

    def advance(self, done: int) -> None:
        """So much of the bar."""
        task = self._bar.tasks[-1]
        self._bar.update(task.id, completed=done)
        percent = 100 * done // int(task.total) if task.total else 0
        if self._bar.disable and percent >= self._told_percent + PERCENT_OF_A_LINE:
            self._told_percent = percent
            self.say(f"{task.description}: {percent} %")

    def _finish(self) -> None:
        """End the last step, whatever was left of it."""
        if self._bar.tasks:
            task = self._bar.tasks[-1]
            self._bar.update(task.id, total=task.total or 1, completed=task.total or 1)
            self._bar.stop_task(task.id)


@app.command()
def build(
    *,
    series: SeriesName = None,
    update: Annotated[bool, typer.Option("--update", help="Ask apt for newer sources and packages.")] = False,
    install_packages: Annotated[
        bool, typer.Option("--install-packages", help="Install what the build needs, with sudo unless root.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing if all is there.")] = False,
) -> None:
    """Build the kernel and the root image, each only if it is not there."""
    screen = Screen()
    context = BuildContext.of(os.environ, screen)
    built_kernel = None if update else intact(kernel.find, context, series)
    built_root = None if update else intact(rootfs.find, context)
    if built_kernel is None or built_root is None:
        if install_packages and (lacking := packages.missing("kernel", "root")):
            packages.install(lacking, screen.say)
        with screen:
            built_kernel = kernel.ensure(context, series=series, update=update)
            built_root = rootfs.ensure(context, update=update)
    elif quiet:
        return
    screen.show(built_kernel, built_root)


@app.command("list")
def list_() -> None:
    """Show what is built; a star marks what a run would use."""
    context = BuildContext.of(os.environ)
    current = {entry.path for entry in _current(context)}
    table = Table(box=None, pad_edge=False)
    for title in ("", "kind", "key", "what", "size", "built (UTC)"):
        table.add_column(title, justify="right" if title == "size" else "left", no_wrap=True)
    damaged: list[DamagedEntryError] = []
    for entry in context.cache.entries(damaged.append):
        table.add_row(
            "*" if entry.path in current else "",
            entry.kind,
            entry.key,
            str(entry.facts["title"]),
            decimal(int(entry.facts["size_bytes"])),
            time.strftime("%Y-%m-%d %H:%M", time.gmtime(entry.facts["made_at_s"])),
        )
    Console(width=None if sys.stdout.isatty() else 200).print(table)
    for error in damaged:
        typer.echo(f"{error.message}: {error.hint}", err=True)


@app.command()
def path(series: SeriesName = None) -> None:
    """Print the kernel and the root folder a run would use, one a line."""
    lab = select.select(series=series)
    typer.echo(lab.kernel)
    typer.echo(lab.root)


@app.command("id")
def id_() -> None:
    """Print one line that names just the lab a run would use: its kernel and its root image."""
    lab = select.select()
    typer.echo(f"{lab.kernel_id} {lab.root_id}")


@app.command("export")
def export_(file: ExportFile) -> None:
    """Write the lab a run would use to a file that `wirelab lab import` takes on another machine."""
    with Screen() as screen:
        context = BuildContext.of(os.environ, screen)
        if str(file) == export.STANDARD_STREAM:
            if sys.stdout.isatty():
                raise InputError("standard output is a terminal", hint="wirelab lab export FILE")
            entries = export.pack(context, sys.stdout.buffer)
        else:
            with export.written(file) as out:
                entries = export.pack(context, out)
                size_bytes = out.tell()
            screen.say(f"{file}: {decimal(size_bytes)}")
    screen.show(*entries)


@app.command("import")
def import_(file: ImportFile) -> None:
    """Take the lab from a file; it needs no root, no compiler, no apt and no network.

    The kernel in it is a program that runs as you: take it from whom you would take a program.
    """
    with Screen() as screen:
        context = BuildContext.of(os.environ, screen)
        with export.opened(file, context) as archive:
            fresh = export.unpack(context, archive)
    if not fresh:
        screen.say("is there already:")
    screen.show(select.built_kernel(context), select.built_root(context))


@app.command()
def prune() -> None:
    """Remove all but what a run would use: older builds, what a broken build left, downloads, logs."""
    context = BuildContext.of(os.environ)
    with Screen() as screen:
        freed_bytes = context.cache.prune(_current(context), screen)
    screen.say(f"freed {decimal(freed_bytes)} in {context.cache.root}")


def _current(context: BuildContext) -> list[Entry]:
    """What runs of this recipe use: the kernel of every series that is built, and the root image."""
    names = (None, *(series.name for series in context.recipe.series))
    entries = [intact(kernel.find, context, name) for name in names]
    entries += [intact(find, context) for find in (rootfs.find, debian.find)]
    return [entry for entry in entries if entry]
