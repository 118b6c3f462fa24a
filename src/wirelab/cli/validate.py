"""``wirelab validate``: what is wrong with files, before anything runs."""

from pathlib import Path
from typing import Annotated

import typer

from wirelab.errors import InputError, Problem
from wirelab.model.files import check_file, find_file


def validate_command(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Scenario, topology, parts or exercise files, or names of scenarios and exercises.",
            metavar="FILE...",
        ),
    ],
) -> None:
    """Check files without running anything; every problem is told with its line."""
    problems: list[Problem] = []
    for file in files:
        try:
            check_file(find_file(file, Path.cwd()))
        except InputError as error:
            problems += error.problems
        else:
            typer.echo(f"{file}: ok")
    if problems:
        raise InputError.of(problems)
