"""The command line."""

import gc
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from wirelab import __version__
from wirelab.cli import exercise, lab
from wirelab.cli.capture import capture_command
from wirelab.cli.compare import compare_command
from wirelab.cli.errors import Group, exit_code_of
from wirelab.cli.explain import explain_command
from wirelab.cli.list import list_command
from wirelab.cli.names import usable_cpus
from wirelab.cli.options import DEFAULT_SEED, Kernel, Name, Root, Seed, Variant, tell
from wirelab.cli.parts import parts_command
from wirelab.cli.run import run_command
from wirelab.cli.serve import serve_command
from wirelab.cli.shell import shell_command
from wirelab.cli.site import site_command
from wirelab.cli.summary import summary_command
from wirelab.cli.sweep import sweep_command
from wirelab.cli.truth import truth_command
from wirelab.errors import InputError, LabError, Problem, WirelabError
from wirelab.lab import jail, wheel
from wirelab.lab.command import run_command as run_in_lab
from wirelab.lab.doctor import examine
from wirelab.lab.first_use import select_or_take
from wirelab.lab.scratch import scratch_folder
from wirelab.lab.select import select
from wirelab.model.experiment import load
from wirelab.model.files import check_file, find_file
from wirelab.model.files import schema as schema_of
from wirelab.plan.build import build_plan
from wirelab.plan.commands import commands
from wirelab.plan.types import MEMORY_BYTES

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
_site = app.command("site")(site_command)
_truth = app.command("truth")(truth_command)
_capture = app.command("capture")(capture_command)
_compare = app.command("compare")(compare_command)
_shell = app.command("shell")(shell_command)
_explain = app.command("explain")(explain_command)
_parts = app.command("parts")(parts_command)
app.add_typer(exercise.app, name="exercise")
_serve = app.command("serve")(serve_command)
app.add_typer(lab.app, name="lab")

_GARBAGE_OBJECTS: Final = 100_000


class FileKind(StrEnum):
    """The kinds of YAML files."""

    SCENARIO = "scenario"
    TOPOLOGY = "topology"
    PARTS = "parts"
    EXERCISE = "exercise"


def main() -> None:
    """Run the command line of this process and exit."""
    # What is read of results lives until the reports are written and has no cycles: to look for some after
    # every 700 objects takes a tenth of the time of a matrix that is answered from the cache.
    gc.set_threshold(_GARBAGE_OBJECTS)
    sys.exit(exit_code_of(lambda: app(prog_name="wirelab", standalone_mode=False)))


@app.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def exec_command(  # noqa: PLR0913 the options of a command line
    command: Annotated[
        list[str], typer.Argument(help="The command and its arguments.", metavar="COMMAND...")
    ],
    *,
    seed: Seed = DEFAULT_SEED,
    writable: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="A folder the command may write to. Repeatable.")
    ] = None,
    limit: Annotated[
        float, typer.Option(min=1, metavar="SECONDS", help="Wall time after which it is ended.")
    ] = 600,
    memory: Annotated[
        int, typer.Option(min=64, metavar="MIB", help="The lab's memory; the host lends what is used of it.")
    ] = MEMORY_BYTES >> 20,
    cpu: Annotated[int | None, typer.Option(min=0, help="The host CPU to use.")] = None,
    kernel: Kernel = None,
    root: Root = None,
    without_jail: Annotated[
        bool, typer.Option("--without-jail", help="Let it reach all of this host that you do.")
    ] = False,
) -> None:
    """Run a command as root in a lab of its own, in virtual time, with Open vSwitch running.

    The current folder is the working folder, read-only. The output and the exit code are the command's.
    Its standard input is empty.
    """
    *_, last_cpu = usable_cpus(None if cpu is None else [cpu], None)
    chosen = select_or_take(kernel, root, say=tell)
    with chosen.in_use(), scratch_folder() as folder:
        code = run_in_lab(
            command,
            chosen,
            folder,
            work=Path.cwd(),
            writable=writable or [],
            seed=seed,
            cpu=last_cpu,
            wall_limit_s=limit,
            stdout=sys.stdout.buffer,
            stderr=sys.stderr.buffer,
            memory_bytes=memory << 20,
            is_jailed=not without_jail,
        )
    raise typer.Exit(code)


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


@app.command()
def validate(
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


@app.command()
def plan(
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
