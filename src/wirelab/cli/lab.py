"""`wirelab lab`: build, list, show and prune the kernels and root images a lab is made of."""

import os
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
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

    def __init__(self, console: Console) -> None:
        self._console = console
        self._told_percent = 0
        self._bar = progress.Progress(
            progress.SpinnerColumn(finished_text=" "),
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
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
    console = Console(stderr=True)
    context = BuildContext.of(os.environ)
    there = None if update else _there(context, series)
    if there is not None and quiet:
        return
    if there is None:
        if install_packages and (lacking := packages.missing("kernel", "root")):
            packages.install(lacking, lambda text: console.print(text, markup=False, highlight=False))
        with Screen(console) as screen:
            context = replace(context, reporter=screen)
            there = (
                kernel.ensure(context, series=series, update=update),
                rootfs.ensure(context, update=update),
            )
    _print_entries(console, there)


def _print_entries(console: Console, entries: Iterable[Entry]) -> None:
    for entry in entries:
        console.print(f"{entry.facts['title']}  {entry.path}", markup=False, highlight=False, soft_wrap=True)


def _there(context: BuildContext, series: str | None) -> tuple[Entry, Entry] | None:
    built_kernel = intact(partial(kernel.find, context, series))
    built_root = intact(partial(rootfs.find, context))
    return (built_kernel, built_root) if built_kernel and built_root else None


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
    console = Console(stderr=True)
    with Screen(console) as screen:
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
    _print_entries(console, entries)


@app.command("import")
def import_(file: ImportFile) -> None:
    """Take the lab from a file; it needs no root, no compiler, no apt and no network.

    The kernel in it is a program that runs as you: take it from whom you would take a program.
    """
    console = Console(stderr=True)
    with Screen(console) as screen:
        context = BuildContext.of(os.environ, screen)
        with export.opened(file, context) as archive:
            fresh = export.unpack(context, archive)
    if not fresh:
        console.print("is there already:")
    _print_entries(console, (select.built_kernel(context), select.built_root(context)))


@app.command()
def prune() -> None:
    """Remove all but what a run would use: older builds, what a broken build left, downloads, logs."""
    context = BuildContext.of(os.environ)
    console = Console(stderr=True)
    with Screen(console) as screen:
        freed_bytes = context.cache.prune(_current(context), screen)
    console.print(f"freed {decimal(freed_bytes)} in {context.cache.root}", markup=False, highlight=False)


def _current(context: BuildContext) -> list[Entry]:
    """What runs of this recipe use: the kernel of every series that is built, and the root image."""
    names = (None, *(series.name for series in context.recipe.series))
    entries = [intact(partial(kernel.find, context, name)) for name in names]
    entries += [intact(partial(find, context)) for find in (rootfs.find, debian.find)]
    return [entry for entry in entries if entry]
