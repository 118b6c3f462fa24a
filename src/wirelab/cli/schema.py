"""``wirelab schema``: what an editor completes and checks files with."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from wirelab.model.files import schema


class FileKind(StrEnum):
    """The kinds of YAML files."""

    SCENARIO = "scenario"
    TOPOLOGY = "topology"
    PARTS = "parts"
    EXERCISE = "exercise"


def schema_command(
    kind: Annotated[
        FileKind, typer.Argument(help="Of which kind of file.", metavar="|".join(FileKind))
    ] = FileKind.SCENARIO,
) -> None:
    """Print the JSON Schema of a kind of file: an editor completes and checks with it."""
    typer.echo(json.dumps(schema(kind), indent=2))
