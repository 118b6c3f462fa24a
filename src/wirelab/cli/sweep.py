"""``wirelab sweep``: a scenario at every point of a grid of settings."""

import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from wirelab.cli import options
from wirelab.cli.names import usable_cpus
from wirelab.errors import LabError, WirelabError
from wirelab.lab.first_use import select_or_take
from wirelab.model.experiment import load
from wirelab.report.live import LiveReport
from wirelab.report.sweep import heat_map, point_page, print_sweep, sweep_csv
from wirelab.report.text import Output, warn
from wirelab.runner.store import Store
from wirelab.runner.sweep import SweepJob, SweepRunner, grid, read_factors
from wirelab.runner.trial import Runner
from wirelab.verdict.verdict import Verdict


def sweep_command(  # noqa: PLR0913 - the options of a command line
    name: options.Name,
    *,
    vary: Annotated[
        list[str],
        typer.Option(metavar="KEY=VALUES", help="A setting and its values: 0,25,50 or 8KiB..256KiB*2."),
    ],
    variant: options.Variant = None,
    csv_file: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write CSV.")] = None,
    html_file: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write heat maps.")] = None,
    keep_points: Annotated[
        bool, typer.Option("--keep-points", help="Keep the files of every point.")
    ] = False,
    seed: options.Seed = options.DEFAULT_SEED,
    jobs: options.Jobs = None,
    out: options.Out = options.DEFAULT_OUT,
    use_cache: options.UseCache = True,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Run a scenario with every combination of the settings that vary, and show how it answers.

    A sweep that was interrupted goes on where it stopped: what was measured is remembered. Expectations
    are shown, not enforced: the exit code is 0, or 4 if a lab broke. Kept is a folder in `sweeps` of
    `--out`, with `sweep.json` and the files of each point whose lab broke.
    """
    experiment = load(name, Path.cwd())
    case = experiment.cases[0] if variant is None else experiment.case(variant)
    job = SweepJob(name, experiment, case, read_factors(vary, case), seed)
    points = grid(case, job.factors)
    cpus = usable_cpus(None, jobs)
    lab = select_or_take(kernel, root, say=options.tell)
    live = LiveReport(Output.for_stream(sys.stderr), (), len(points), "points")
    runner = Runner.of(lab, warn, use_cache=use_cache)
    with lab.in_use(), Store.of_sweeps(out).begin(experiment.scenario.name, datetime.now(UTC)) as draft:
        sweeper = SweepRunner(job, runner, draft, live, point_page, keep_points)
        with live:
            sweep = sweeper.run(points, cpus)
        errors: list[WirelabError] = sweeper.pageless[:1]
        try:
            kept = str(draft.commit(sweep.to_json()))
        except LabError as error:
            # It was measured all the same: who asked shall see it.
            kept, errors = "", [error, *errors]
    print_sweep(Output.for_stream(sys.stdout), sweep)
    typer.echo(kept)
    errors += options.unwritten(
        partial(options.write_file, csv_file, sweep_csv, sweep),
        partial(options.write_file, html_file, heat_map, sweep),
    )
    options.raise_first(errors)
    broken = any(point.verdict is Verdict.ERROR for point in sweep.points)
    raise typer.Exit(Verdict.ERROR.exit_code if broken else 0)
