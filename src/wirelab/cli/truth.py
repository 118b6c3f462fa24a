"""``wirelab truth``: what others have measured of real equipment, beside what the lab gives."""

import contextlib
import fnmatch
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from wirelab.cli import options
from wirelab.cli.names import usable_cpus
from wirelab.errors import InputError, Problem, unknown
from wirelab.lab.first_use import select_or_take
from wirelab.model.catalogue import TRUTH, around
from wirelab.model.experiment import Experiment, load_file
from wirelab.model.published import Published
from wirelab.report.live import LiveReport
from wirelab.report.text import Output, warn
from wirelab.report.truth import print_truth
from wirelab.runner.job import Job
from wirelab.runner.matrix import Matrix
from wirelab.runner.store import Store
from wirelab.runner.trial import Runner
from wirelab.runner.truth import tabulate
from wirelab.verdict.verdict import Verdict, worst


def truth_command(  # noqa: PLR0913 - the options of a command line
    rows: Annotated[
        list[str] | None,
        typer.Argument(
            help="Rows by name or pattern: imc23.100kB, 'l4s.*'. [default: all]", metavar="[ROW]..."
        ),
    ] = None,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the table as JSON and nothing else.")
    ] = False,
    seed: options.Seed = options.DEFAULT_SEED,
    jobs: options.Jobs = None,
    out: options.Out = options.DEFAULT_OUT,
    use_cache: options.UseCache = True,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Hold the lab against independent measurements of real equipment: published, predicted, fitted, error.

    Exit codes: 0, 1 if a figure is off by more than 25 % and its scenario says nothing about it, 2 bad input,
    4 if a lab broke.
    """
    cpus = usable_cpus(None, jobs)
    asked = [(one, chosen) for one, chosen in _chosen(rows or ()) if chosen]
    work = [Job.of(one.scenario.name, _needed(one, chosen), seed) for one, chosen in asked]
    lab = select_or_take(kernel, root, say=options.tell)
    live = LiveReport(Output.for_stream(sys.stderr), (), len(work), hidden=as_json)
    with lab.in_use(), live:
        runner = Runner.of(lab, warn, use_cache=use_cache)
        runs = [job.run for job in Matrix(runner, Store.of_truth(out), cpus, live).run(work)]
    table = tabulate(asked, runs)
    with contextlib.suppress(BrokenPipeError):
        if as_json:
            typer.echo(table.to_json(), nl=False)
        else:
            print_truth(Output.for_stream(sys.stdout), table)
    for run in runs:
        for variant in run.variants:
            for check in variant.checks:
                if check.verdict is Verdict.ERROR:
                    typer.echo(f"error: {run.scenario} {variant.name}: {check.explanation}", err=True)
    if worst(run.verdict for run in runs) is Verdict.ERROR:
        raise typer.Exit(Verdict.ERROR.exit_code)
    raise typer.Exit(Verdict.FAIL.exit_code if table.untold else 0)


def _chosen(words: Sequence[str]) -> list[tuple[Experiment, tuple[Published, ...]]]:
    """Each scenario with its cells that are asked for. Raises InputError for a row that nobody imitates."""
    experiments = _experiments()
    known = dict.fromkeys(cell.row for one in experiments.values() for cell in one.published)
    wanted: set[str] = set()
    for word in words or ("*",):
        matches = fnmatch.filter(known, word)
        if not matches:
            raise InputError(unknown("row", word, known))
        wanted.update(matches)
    return [
        (one, tuple(cell for cell in one.published if cell.row in wanted)) for one in experiments.values()
    ]


def _experiments() -> Mapping[str, Experiment]:
    """Every scenario that says what was published, those made for the table first."""
    catalogue = around(Path.cwd())
    experiments: dict[str, Experiment] = {}
    problems: list[Problem] = []
    for section in (TRUTH, "scenarios"):
        for name in catalogue.names(section):
            try:
                experiments[f"{section}/{name}"] = load_file(catalogue.path(section, name), catalogue)
            except InputError as error:
                problems += error.problems
    if problems:
        raise InputError.of(problems)
    return {name: one for name, one in experiments.items() if one.published}


def _needed(experiment: Experiment, cells: Sequence[Published]) -> Experiment:
    """The scenario with the variants alone that the cells are about, and nothing expected of them."""
    wanted = {cell.variant for cell in cells}
    cases = (replace(case, expectations=()) for case in experiment.cases if case.name in wanted)
    return replace(experiment, cases=tuple(cases))
