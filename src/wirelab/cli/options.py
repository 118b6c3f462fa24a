"""The options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from wirelab.cli import complete
from wirelab.cli.names import SEED_MAX

DEFAULT_SEED: Final = 1
DEFAULT_OUT: Final = Path("results")

Names = Annotated[
    list[str] | None,
    typer.Argument(
        help="Scenarios by name, pattern or file. [default: all]",
        metavar="[NAME|PATTERN|FILE]...",
        autocompletion=complete.scenarios,
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=SEED_MAX, help="What the lab's randomness grows from.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Labs at once. [default: one a CPU]")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Where results are kept.")]
UseCache = Annotated[bool, typer.Option("--cache/--no-cache", help="Answer from what was measured before.")]
Kernel = Annotated[Path | None, typer.Option(metavar="FILE", help="Another lab kernel.")]
Root = Annotated[Path | None, typer.Option(metavar="DIR", help="Another root image.")]
