"""``wirelab sweep``: a scenario at every point of a grid of settings."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from wirelab.cli import complete
from wirelab.cli.files import write_file
from wirelab.cli.names import usable_cpus
from wirelab.cli.options import DEFAULT_OUT, DEFAULT_SEED, Jobs, Kernel, Out, Root, Seed, UseCache
from wirelab.cli.run import run_all
from wirelab.lab.select import select
from wirelab.model.experiment import load
from wirelab.plan.build import build_plan
from wirelab.report.live import LiveReport
from wirelab.report.sweep import Point, Sweep, heat_map, print_sweep, sweep_csv
from wirelab.report.text import Output
from wirelab.runner.matrix import Job
from wirelab.runner.store import Store
from wirelab.runner.sweep import grid, read_axis
from wirelab.runner.trial import Trial
from wirelab.verdict.verdict import Verdict


def sweep_command(  # noqa: PLR0913 - the options of a command line
    name: Annotated[
        str,
        typer.Argument(
            help="A scenario by name or file.", metavar="NAME|FILE", autocompletion=complete.scenarios
        ),
    ],
    *,
    vary: Annotated[
        list[str],
        typer.Option(metavar="KEY=VALUES", help="A setting and its values: 0,25,50 or 8KiB..256KiB*2."),
    ],
    variant: Annotated[
        str | None, typer.Option(help="A variant or control. [default: the first variant]")
    ] = None,
    csv_file: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write CSV.")] = None,
    html_file: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write heat maps.")] = None,
    seed: Seed = DEFAULT_SEED,
    jobs: Jobs = None,
    out: Out = DEFAULT_OUT,
    use_cache: UseCache = True,
    kernel: Kernel = None,
    root: Root = None,
) -> None:
    """Run a scenario with every combination of the settings that vary, and show how it answers.

    A sweep that was interrupted goes on where it stopped: what was measured is remembered. Expectations
    are shown, not enforced: the exit code is 0, or 4 if a lab broke.
    """
    experiment = load(name, Path.cwd())
    case = experiment.cases[0] if variant is None else experiment.case(variant)
    axes = [read_axis(text, case) for text in vary]
    points = grid(case, axes)
    # A job for each point: what is measured is kept as soon as it is.
    work = []
    for number, (values, each) in enumerate(points, start=1):
        plan = replace(build_plan(experiment, each, seed), variant=f"point-{number}")
        point = [f"--vary={axis.key}={value}" for axis, value in zip(axes, values, strict=True)]
        again = ("wirelab", "sweep", Path(name).name, *point, f"--variant={case.name}", f"--seed={seed}")
        trials = (Trial(plan, each.expectations),)
        work.append(Job(experiment.scenario.name, seed, trials, story=experiment.story, again=again))
    lab = select(kernel, root)
    live = LiveReport(Output.for_stream(sys.stderr), work, lambda _: None)
    with lab.in_use():
        outcomes = run_all(work, lab, usable_cpus(None, jobs), Store(out), live, use_cache=use_cache)
    sweep = Sweep(
        experiment.scenario.name,
        tuple(axis.key for axis in axes),
        tuple(
            Point(values, outcome.run.variants[0])
            for (values, _), outcome in zip(points, outcomes, strict=True)
        ),
    )
    print_sweep(Output.for_stream(sys.stdout), sweep)
    if csv_file is not None:
        write_file(csv_file, lambda: sweep_csv(sweep))
    if html_file is not None:
        write_file(html_file, lambda: heat_map(sweep))
    broken = any(point.variant.verdict is Verdict.ERROR for point in sweep.points)
    raise typer.Exit(Verdict.ERROR.exit_code if broken else 0)
