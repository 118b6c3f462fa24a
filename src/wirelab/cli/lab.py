"""`wirelab lab`: build, list, show and prune the kernels and root images a lab is made of."""

import os
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from wirelab.cli.options import tell
from wirelab.cli.part import part
from wirelab.cli.screen import Screen
from wirelab.errors import InputError
from wirelab.lab import build as builder
from wirelab.lab import debian, export, kernel, origin, packages, rootfs, select, sources
from wirelab.lab.entry import DamagedEntryError, Entry, intact
from wirelab.lab.first_use import select_or_take
from wirelab.lab.recipe import BuildContext

app = part("Build and choose the lab's kernel and root image.")

SeriesName = Annotated[str | None, typer.Option(help="The kernel series: 7.2, 6.12, 6.1 or 7.2-full.")]
ExportFile = Annotated[
    Path, typer.Argument(help="The file to write; - is the standard output.", metavar="FILE")
]
ImportFile = Annotated[
    Path, typer.Argument(help="What export has written; - is the standard input.", metavar="FILE")
]


@app.command()
def build(  # noqa: PLR0913 the options of a command line
    *,
    series: SeriesName = None,
    update: Annotated[bool, typer.Option("--update", help="Ask apt for newer sources and packages.")] = False,
    from_source: Annotated[
        bool,
        typer.Option("--from-source", help="Take no lab that was built elsewhere: build all of it here."),
    ] = False,
    image: Annotated[
        str, typer.Option("--with", metavar="IMAGE", help="A larger root image: course, for others' scripts.")
    ] = "",
    install_packages: Annotated[
        bool, typer.Option("--install-packages", help="Install what the build needs, with sudo unless root.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing if all is there.")] = False,
) -> None:
    """Have a kernel and a root image: what is not there is taken from elsewhere, or built.

    Where there is no lab, it is taken from what WIRELAB_LAB names, FILE or URL#sha256=HEX, from an installed
    wirelab-lab, or from the release of this recipe; else it is built from Debian's sources. A larger root
    image is always built.
    """
    context = BuildContext.of(os.environ).of_image(image)
    known = (None, None) if update else builder.found(context, series, from_source=from_source)
    if all(known) and quiet:
        return
    with Screen() as screen:
        plain = BuildContext.of(os.environ, screen)
        if not (all(known) or update or from_source) and origin.is_lacking(plain):
            origin.take_unless_unfit(plain)
            known = builder.found(context, series)
    lacking = packages.missing(*builder.groups_of(*known))
    if install_packages and lacking:
        packages.install(lacking, screen.say)
    with Screen() as screen:
        context = BuildContext.of(os.environ, screen).of_image(image)
        entries = builder.ensure(context, series, update=update, from_source=from_source)
    screen.show(*entries)


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
    lab = select_or_take(series=series, say=tell)
    typer.echo(lab.kernel)
    typer.echo(lab.root)


@app.command("id")
def id_() -> None:
    """Print one line that names just the lab a run would use: its kernel and its root image."""
    lab = select_or_take(say=tell)
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
def source(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="A new folder to fetch the source into; without one it is named only.", metavar="[DIR]"
        ),
    ] = None,
    *,
    with_packages: Annotated[
        bool, typer.Option("--packages", help="Fetch also the source packages of the root image.")
    ] = False,
) -> None:
    """Say of what the lab was made, and fetch it: its kernel's source, configuration, driver and patches.

    The source comes from Debian, in the version that the kernel was built of.
    """
    select_or_take(say=tell)
    with Screen() as screen:
        context = BuildContext.of(os.environ, screen)
        if folder is not None:
            sources.fetch(context, folder, with_packages=with_packages)
    if folder is None:
        typer.echo(sources.described(context), nl=False)
    else:
        screen.say(f"the source of the lab is in {folder}")


@app.command()
def prune() -> None:
    """Remove all but what a run would use: older builds, what a broken build left, downloads, logs."""
    context = BuildContext.of(os.environ)
    with Screen() as screen:
        freed_bytes = context.cache.prune(_current(context), screen)
    screen.say(f"freed {decimal(freed_bytes)} in {context.cache.root}")


def _current(context: BuildContext) -> list[Entry]:
    """What runs of this recipe use: the kernel of every series that is built, and the root image."""
    names = (None, *context.recipe.series_names)
    entries = [intact(kernel.find, context, name) for name in names]
    contexts = (context, *map(context.of_image, context.recipe.images))
    entries += [intact(find, own) for own in contexts for find in (rootfs.find, debian.find)]
    return [entry for entry in entries if entry]
