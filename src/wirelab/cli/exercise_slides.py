"""``wirelab exercise slides``: an exercise as slides, for a lecture."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from wirelab.cli import options
from wirelab.cli.exercise_work import complete_exercise
from wirelab.cli.names import usable_cpus
from wirelab.errors import LabError
from wirelab.exercise.draw import drawn
from wirelab.exercise.measure import Bench, Results
from wirelab.exercise.network import Networks, Setup
from wirelab.exercise.slides import slides_page
from wirelab.lab.cache import Cache
from wirelab.lab.first_use import select_or_take
from wirelab.lab.scratch import replacement, scratch_folder
from wirelab.lab.select import Lab
from wirelab.model.assignment import Assignment
from wirelab.model.exercise_reader import load_exercise
from wirelab.report.closer import CloserLook
from wirelab.report.live import LiveReport
from wirelab.report.picture import Picture
from wirelab.report.text import Output, warn
from wirelab.runner.job import Job
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.store import Store
from wirelab.runner.trial import LabTestbed, Runner


def slides_command(  # noqa: PLR0913 - the options of a command line
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|DIR", help="An exercise by name or folder.", autocompletion=complete_exercise
        ),
    ],
    *,
    out: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="Where they go.")],
    student: Annotated[str, typer.Option(help="Whose figures.")] = "somebody",
    course: Annotated[str, typer.Option(help="Of which course.")] = "preview",
    pictures: Annotated[
        bool,
        typer.Option("--pictures/--no-pictures", help="Draw single frames: a run with losses runs again."),
    ] = True,
    jobs: options.Jobs = None,
    use_cache: options.UseCache = True,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Make slides of an exercise: the network, predictions to vote on, what is measured, and why.

    It is one file that loads nothing: a browser shows it, also without a network, and prints a page a slide.
    Of a hidden fault they tell nothing.
    """
    exercise = load_exercise(name, Path.cwd())
    figures = drawn(exercise, course, student)
    is_open = exercise.said.sees != "technician"
    networks = Networks(exercise, figures)
    setups = {run.name: networks.run(run.name) for run in exercise.said.networks} if is_open else {}
    results: Results = {}
    looked: list[Picture] = []
    if setups:
        lab = select_or_take(kernel, root, say=options.tell)
        runner = Runner.of(lab, warn, use_cache=use_cache)
        cpus = usable_cpus(None, jobs)
        live = LiveReport(Output.for_stream(sys.stderr), (), len(setups), "networks")
        with lab.in_use(), scratch_folder() as folder:
            with live:
                bench = Bench(runner, Store(folder), cpus, live)
                results = bench.measured(exercise, setups, datetime.now(UTC))
            _require_all(setups, results)
            if pictures:
                looked = _pictures(lab, runner, exercise, setups, results, cpus[0])
    runs = {run: results[setup] for run, setup in setups.items()}
    page = slides_page(exercise, figures, runs, looked)
    try:
        with replacement(out) as fresh:
            fresh.write_text(page, encoding="utf-8")
    except OSError as error:
        raise LabError(f"{out}: cannot be written: {error.strerror}") from error
    typer.echo(out)


def _require_all(setups: dict[str, Setup], results: Results) -> None:
    """Raise LabError if something was not measured."""
    for run, setup in setups.items():
        if results[setup].digest is None:
            words = next((check.explanation or check.name for check in results[setup].checks), run)
            raise LabError(f"{run}: the lab broke: {words}")


def _pictures(  # noqa: PLR0913, PLR0917 - where and of what
    lab: Lab, runner: Runner, exercise: Assignment, setups: dict[str, Setup], results: Results, cpu: int
) -> list[Picture]:
    trials = tuple(setup.trial(exercise, name) for name, setup in setups.items())
    job = Job(exercise.name, exercise.said.seed, trials)
    run = job.result([results[setup] for setup in setups.values()], 0.0)
    kept = MeasurementCache.of(Cache.at(os.environ).root, lab, warn)
    return CloserLook(runner.measurements).pictures(run, LabTestbed(lab), kept, cpu)
