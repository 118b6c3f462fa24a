"""``wirelab parts``: the catalogued hardware, each figure with its provenance."""

import json
import sys
from pathlib import Path
from typing import Annotated, get_args

import typer

from wirelab.cli.options import complete_part
from wirelab.errors import InputError, nearest, unknown
from wirelab.model.catalogue import around
from wirelab.model.parts import KINDS, PartKind, Parts
from wirelab.report.parts import document, entries, print_kind, print_part, print_parts
from wirelab.report.text import Output


def parts_command(
    word: Annotated[
        str | None,
        typer.Argument(
            help="A kind of part, or a part by name. [default: all]",
            metavar="KIND|NAME",
            autocompletion=complete_part,
        ),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print it for a program.")] = False,
) -> None:
    """Show the hardware that scenarios are made of: each figure, and who says so."""
    catalogue = around(Path.cwd())
    parts = catalogue.parts()
    shown = entries(parts)
    kind = None if word is None else _kind(parts, word)
    if kind is not None:
        shown = tuple(entry for entry in shown if entry.kind == kind)
    elif word is not None:
        kinds = get_args(PartKind)
        known = (*kinds, *(entry.name for entry in shown))
        shown = tuple(entry for entry in shown if entry.name == word)
        if not shown:
            message = unknown("part or kind", word, known if nearest(word, known) else kinds)
            raise InputError(message, hint="wirelab parts")
    rows = catalogue.measurements()
    console = Output.for_stream(sys.stdout)
    if as_json:
        typer.echo(json.dumps([document(entry, rows) for entry in shown], indent=1))
    elif word is None:
        print_parts(console, shown)
    elif kind is not None:
        print_kind(console, kind, shown)
    else:
        for entry in shown:
            print_part(console, parts, entry, rows)


def _kind(parts: Parts, word: str) -> PartKind | None:
    """The kind that is called so, or so in the files of parts: ``nic``, ``nics``."""
    for kind in get_args(PartKind):
        section = next((name for name in KINDS if getattr(parts, name) is parts.of(kind)), kind)
        if word in (kind, section):
            return kind  # type: ignore[no-any-return]
    return None
