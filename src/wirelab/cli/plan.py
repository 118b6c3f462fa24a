"""``wirelab plan``: what a scenario sets."""

from pathlib import Path
from typing import Annotated

import typer

from wirelab.cli.options import DEFAULT_SEED, Name, Seed, Variant
from wirelab.model.experiment import load
from wirelab.plan.build import build_plan
from wirelab.plan.commands import commands


def plan_command(
    name: Name,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the Plan itself, plan.json.")] = False,
    variant: Variant = None,
    seed: Seed = DEFAULT_SEED,
) -> None:
    """Show what a scenario sets, as the commands to type on real equipment."""
    experiment = load(name, Path.cwd())
    case = experiment.cases[0] if variant is None else experiment.case(variant)
    built = build_plan(experiment, case, seed)
    if as_json:
        typer.echo(built.to_json(), nl=False)
    else:
        typer.echo("\n".join(commands(built)))
