"""``wirelab --version``: this program's version, and those that a lab's figures depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from wirelab import __version__
from wirelab.errors import WirelabError
from wirelab.lab.select import select
from wirelab.lab.versions import versions

if TYPE_CHECKING:
    from wirelab.lab.select import Lab


def print_version(asked: bool) -> None:  # noqa: FBT001 - typer calls it with the value
    """Print the versions and end, if asked to."""
    if not asked:
        return
    typer.echo(f"wirelab {__version__}")
    try:
        lab = select()
    except WirelabError as error:
        typer.echo(f"no lab: {error}" + (f" ({error.hint})" if error.hint else ""))
    else:
        typer.echo(_lab_lines(lab))
    raise typer.Exit


def _lab_lines(lab: Lab) -> str:
    used = versions(lab)
    tools = ", ".join(f"{name} {version}" for name, version in used.tools.items())
    return f"lab kernel: {used.kernel}\nroot image: {tools}"
