"""The command line."""

from __future__ import annotations

import gc
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from wirelab.cli import complete, lab
from wirelab.cli.errors import Group, exit_code_of
from wirelab.cli.exec import exec_command
from wirelab.cli.list import list_command
from wirelab.cli.options import DEFAULT_SEED, Seed
from wirelab.cli.parts import parts_command
from wirelab.cli.run import run_command
from wirelab.cli.summary import summary_command
from wirelab.cli.sweep import sweep_command
from wirelab.cli.version import print_version
from wirelab.errors import InputError, LabError, Problem
from wirelab.lab.doctor import examine
from wirelab.model.experiment import check_file, load
from wirelab.model.schema import schema as schema_of
from wirelab.plan.build import build_plan
from wirelab.plan.commands import commands

app = typer.Typer(
    name="wirelab",
    cls=Group,
    help="A network lab in virtual time: real Linux TCP over Ethernet ports that behave like hardware.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)
_run = app.command("run")(run_command)
_list = app.command("list")(list_command)
_summary = app.command("summary")(summary_command)
_sweep = app.command("sweep")(sweep_command)
_parts = app.command("parts")(parts_command)
_exec = app.command(
    "exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)(exec_command)
app.add_typer(lab.app, name="lab")


_GARBAGE_OBJECTS: Final = 100_000


class FileKind(StrEnum):
    """The kinds of YAML files."""

    SCENARIO = "scenario"
    TOPOLOGY = "topology"
    PARTS = "parts"


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
            help="Print the version, and those of the lab's kernel and tools.",
        ),
    ] = False,
) -> None:
    """Answer what concerns no command."""


@app.command()
def validate(
    files: Annotated[
        list[Path], typer.Argument(help="Scenario, topology or parts files.", metavar="FILE...")
    ],
) -> None:
    """Check files without running anything; every problem is told with its line."""
    problems: list[Problem] = []
    for file in files:
        try:
            check_file(file)
        except InputError as error:
            problems += error.problems
        else:
            typer.echo(f"{file}: ok")
    if problems:
        raise InputError.of(problems)


@app.command()
def plan(
    name: Annotated[
        str,
        typer.Argument(
            help="A scenario by name or file.", metavar="NAME|FILE", autocompletion=complete.scenarios
        ),
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the Plan itself, plan.json.")] = False,
    variant: Annotated[
        str | None, typer.Option(help="A variant or control. [default: the first variant]")
    ] = None,
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


@app.command()
def schema(
    kind: Annotated[
        FileKind, typer.Argument(help="Of which kind of file.", metavar="|".join(FileKind))
    ] = FileKind.SCENARIO,
) -> None:
    """Print the JSON Schema of a kind of file: an editor completes and checks with it."""
    typer.echo(json.dumps(schema_of(kind), indent=2))


@app.command()
def doctor(
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read all of the kernel and root image: were they changed?")
    ] = False,
) -> None:
    """Tell what this machine lacks to build and run labs, and the line that helps."""
    findings = examine(verify=verify)
    for finding in findings:
        typer.echo(f"{'ok' if finding.ok else 'MISSING':8}{finding.name}: {finding.detail}")
        if finding.fix:
            typer.echo(f"{'':8}{finding.fix}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(LabError.exit_code)


if __name__ == "__main__":
    main()
