"""``wirelab explain``: what bounds each flow of a result, and what proves it."""

import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from wirelab.cli import options
from wirelab.errors import InputError
from wirelab.report.explanation import explanation_values, print_explanation
from wirelab.report.text import Output
from wirelab.runner.explain import explained
from wirelab.runner.past_runs import named
from wirelab.runner.rerun import variant_called


def explain_command(
    result: Annotated[
        Path,
        typer.Argument(
            help="A result, its folder, or a scenario's newest by its name.",
            metavar="RESULT|NAME",
            show_default=False,
        ),
    ],
    *,
    variant: Annotated[
        str | None, typer.Option(help="The variant or control. [default: every one that measured something]")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the explanation as JSON and nothing else.")
    ] = False,
    out: options.Out = options.DEFAULT_OUT,
) -> None:
    """Name what bounds each flow of a result, and prove it by what was counted.

    It is a line, a FIFO, a queue, a bus, a CPU, storage, TCP's window, PAUSE, an application, or loss.
    """
    kept = named(result, out)
    if len(kept) > 1:
        raise InputError(f"{len(kept)} results are there: name one", file=str(result))
    [one] = kept
    chosen = [variant_called(one, variant)]
    if variant is None:
        chosen = [each for each in one.run.variants if each.digest is not None] or chosen
    found = explained(one, chosen)
    with contextlib.suppress(BrokenPipeError):
        if as_json:
            typer.echo(json.dumps(explanation_values(one.run, found), indent=1))
        else:
            print_explanation(Output.for_stream(sys.stdout), one.run, found)
