"""The command line."""

import gc
import sys
from typing import Annotated, Final

import typer

from wirelab.cli.commands import Commands
from wirelab.cli.errors import exit_code_of
from wirelab.cli.version import print_version

app = typer.Typer(
    name="wirelab",
    cls=Commands,
    help="A network lab in virtual time: real Linux TCP over Ethernet ports that behave like hardware.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)

_GARBAGE_OBJECTS: Final = 100_000


def main() -> None:
    """Run the command line of this process and exit."""
    # What is read of results lives until the reports are written and has no cycles: to look for some after
    # every 700 objects takes a tenth of the time of a matrix that is answered from the cache.
    gc.set_threshold(_GARBAGE_OBJECTS)
    sys.exit(exit_code_of(lambda: app(prog_name="wirelab", standalone_mode=False)))


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=print_version,
            is_eager=True,
            help="Print the version, those of the lab's kernel and tools, and what confines it.",
        ),
    ] = False,
) -> None:
    """Answer what concerns no command."""


if __name__ == "__main__":
    main()
