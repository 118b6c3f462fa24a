"""``wirelab summary``: one verdict on results that were made elsewhere, or one after the other."""

import itertools
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from wirelab.cli.names import read_seeds, scenario_names
from wirelab.cli.options import Files, JsonFile, Junit, Markdown
from wirelab.errors import InputError, found
from wirelab.report.summary import print_summary
from wirelab.report.text import Output
from wirelab.runner.past_runs import newest
from wirelab.runner.run_result import RunResult
from wirelab.runner.store import RESULT
from wirelab.verdict.verdict import Verdict, worst


def summary_command(  # noqa: PLR0913 - the options of a command line
    folders: Annotated[
        list[Path], typer.Argument(help="Folders with results, or results.", metavar="FOLDER...")
    ],
    *,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|PATTERN,...",
            help="Scenarios that must have a result, or it is an error. Repeatable.",
        ),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="N|A-B", help="The seeds that each of these must have.")
    ] = None,
    junit_file: Junit = None,
    json_file: JsonFile = None,
    markdown_file: Markdown = None,
) -> None:
    """Make one table, one set of reports and one exit code of many results.

    The newest result of each scenario and seed counts. Exit codes are those of `wirelab run`; a result
    that is required and not there is an error, 4.
    """
    files = Files(junit_file, json_file, markdown_file)
    raise typer.Exit(summarize(folders, require or (), seeds, files).exit_code)


def summarize(folders: Sequence[Path], require: Sequence[str], seeds: str | None, files: Files) -> Verdict:
    """Show what came of all results below ``folders`` and write ``files``. Returns the worst verdict.

    ``require`` names scenarios, or patterns of them, with commas between; each must have a result, with
    each of ``seeds`` if they are given. Raises InputError where there is nothing to sum up, LabError
    naming a result that cannot be read.
    """
    for folder in folders:
        if found(folder.is_file) and folder.name != RESULT:
            raise InputError("is no result", file=str(folder), hint=f"name a {RESULT}, or a folder")
        if not found(folder.exists):
            raise InputError("no such folder", file=str(folder), hint="results are in what `--out` names")
    required = list(_required(require, seeds))
    kept = newest(folders)
    if not kept and not required:
        raise InputError(
            f"no {RESULT} below {', '.join(map(str, folders))}", hint="results are in what `--out` names"
        )
    lost = [
        RunResult.missing(name, 1 if seed is None else seed)
        for name, seed in required
        if not any(name == key[0] and seed in (None, key[1]) for key in kept)
    ]
    runs = sorted((*kept.values(), *lost), key=lambda run: (run.scenario, run.seed))
    print_summary(Output.for_stream(sys.stdout), runs)
    files.write(runs)
    return worst(run.verdict for run in runs)


def _required(names: Sequence[str], seeds: str | None) -> Iterable[tuple[str, int | None]]:
    """The scenarios that must be there, each with each seed; None for any seed."""
    if seeds is not None and not names:
        raise InputError("--seeds says which results are required of the scenarios of --require: name them")
    chosen = [None] if seeds is None else read_seeds(seeds)
    wanted = [name for text in names for name in text.split(",") if name]
    if names and not wanted:
        raise InputError("--require names nothing: write the scenarios whose results must be there")
    return itertools.product(scenario_names(wanted), chosen)
