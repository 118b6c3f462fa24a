"""``wirelab --version``: what a figure of this wirelab depends on."""

import typer

from wirelab import __version__
from wirelab.errors import WirelabError
from wirelab.lab import jail, wheel
from wirelab.lab.select import select


def print_version(asked: bool) -> None:  # noqa: FBT001 - typer calls it with the value
    """Print this program's version and those that a lab's figures depend on, and end, if asked to."""
    if not asked:
        return
    typer.echo(f"wirelab {__version__}")
    try:
        used = select()
    except WirelabError as error:
        if at_hand := wheel.installed():
            typer.echo(f"lab: that of {wheel.NAME} {at_hand.version}, which the first run takes")
        else:
            typer.echo(f"no lab: {error}" + (f" ({error.hint})" if error.hint else ""))
    else:
        tools = ", ".join(f"{name} {version}" for name, version in used.tool_versions().items())
        typer.echo(f"lab kernel: {used.kernel_title()}\nroot image: {tools}")
    typer.echo(f"jail: {jail.described()}")
    raise typer.Exit
