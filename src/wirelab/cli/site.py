"""``wirelab site``: a scenario at every point of a grid of settings, as pages with sliders."""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Self

import typer

from wirelab.cli import options
from wirelab.cli.names import usable_cpus
from wirelab.errors import InputError, LabError
from wirelab.exercise.grid import factors, networks
from wirelab.exercise.prose import prose
from wirelab.lab.cache import Cache
from wirelab.lab.first_use import select_or_take
from wirelab.lab.scratch import replacement, scratch_folder
from wirelab.lab.select import Lab
from wirelab.model.exercise_reader import load_exercise
from wirelab.model.experiment import load
from wirelab.report.closer import CloserLook
from wirelab.report.live import LiveReport
from wirelab.report.picture import Picture
from wirelab.report.site import FIRST_PAGE, Points, Site, first_point, require_all
from wirelab.report.text import Output, warn
from wirelab.runner.cpus import run_on
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.run_result import RunResult
from wirelab.runner.store import SWEEP, Store
from wirelab.runner.sweep import SweepJob, SweepRunner, grid, read_factors
from wirelab.runner.trial import LabTestbed, Runner

_POINT: Final = re.compile(r"point-[0-9]{1,6}\.html", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What pages are asked for, with ``title`` and ``stories`` where they are those of an exercise."""

    job: SweepJob
    points: Points
    first: int
    title: str = ""
    stories: tuple[str, ...] = ()

    @classmethod
    def of_scenario(cls, name: str, vary: Sequence[str], variant: str | None, seed: int) -> Self:
        """A scenario with settings that vary. Raises InputError."""
        experiment = load(name, Path.cwd())
        case = experiment.cases[0] if variant is None else experiment.case(variant)
        job = SweepJob(name, experiment, case, read_factors(vary, case), seed)
        points = grid(case, job.factors)
        return cls(job, points, first_point(job, points))

    @classmethod
    def of_exercise(cls, name: str) -> Self:
        """Every network of an exercise. Raises InputError, also where a scenario is named."""
        try:
            exercise = load_exercise(name, Path.cwd())
        except InputError as error:
            hint = "a scenario needs something that varies: --vary module.fifo=8KiB..64KiB*2"
            raise InputError(f"{error}", hint=hint) from None
        chosen, said = factors(exercise), exercise.said
        case = exercise.case(exercise.run(None))
        points = networks(exercise)
        keys = [factor.key for factor in chosen]
        stories = (prose(said.story, dict(zip(keys, values, strict=True))) for values, _ in points)
        job = SweepJob(exercise.name, exercise.experiment, case, chosen, said.seed)
        return cls(job, points, 0, said.title, tuple(stories))


def site_command(  # noqa: PLR0913 - the options of a command line
    name: Annotated[
        str,
        typer.Argument(
            help="A scenario by name or file; without --vary an exercise.",
            metavar="NAME|FILE",
            autocompletion=options.complete_scenario,
        ),
    ],
    *,
    ctx: typer.Context,
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUES", help="A slider and its values: 8KiB,16KiB or 8KiB..256KiB*2."),
    ] = None,
    folder: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Where the pages go: a folder of their own."),
    ],
    variant: options.Variant = None,
    pictures: Annotated[
        bool,
        typer.Option("--pictures/--no-pictures", help="Draw single frames: each point runs a second time."),
    ] = True,
    seed: options.Seed = options.DEFAULT_SEED,
    jobs: options.Jobs = None,
    use_cache: options.UseCache = True,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Make pages with sliders of a scenario, run with every combination of the settings that vary.

    The pages load nothing: any web server shows them, and so does a browser from a USB stick. `index.html` is
    the scenario as it stands, if that is one of the points. `sweep.json` beside it has the figures. Of an
    exercise it is every network that a student may begin with.
    """
    if not vary:
        options.refuse(ctx, ("variant", "seed"), "--vary")
    asked = _Asked.of_scenario(name, vary, variant, seed) if vary else _Asked.of_exercise(name)
    job, points = asked.job, asked.points
    require_place(folder)
    cpus = usable_cpus(None, jobs)
    lab = select_or_take(kernel, root, say=options.tell)
    runner = Runner.of(lab, warn, use_cache=use_cache)
    live = LiveReport(Output.for_stream(sys.stderr), (), len(points), "points")
    with (
        lab.in_use(),
        scratch_folder() as scratch,
        Store.of_sweeps(scratch).begin(job.experiment.scenario.name, datetime.now(UTC)) as draft,
    ):
        with live:
            sweep = SweepRunner(job, runner, draft, live, None, keep_points=True).run(points, cpus)
        require_all(sweep)
        site = Site(job, points, sweep, draft.folder, asked.first, asked.title, asked.stories)
        look = partial(_pictures, lab, runner) if pictures else None
        tasks = [partial(_page, site, look, number) for number in range(len(points))]
        pages = run_on(cpus, tasks, runner.testbed.stop)
    names = site.names()
    # The files that the points were made of have gone with the scratch folder.
    figures = replace(sweep, points=tuple(replace(point, folder=None) for point in sweep.points))
    _write(folder, {SWEEP: figures.to_json(), **dict(zip(names, pages, strict=True))})
    typer.echo(folder / names[asked.first])


def require_place(folder: Path) -> None:
    """Raise InputError where there is something that is no site of ours: nobody's files are replaced."""
    try:
        held = list(folder.iterdir()) if folder.exists() else []
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from error
    ours = {SWEEP, FIRST_PAGE}
    others = [path for path in held if path.name not in ours and not _POINT.fullmatch(path.name)]
    if others or (held and not (folder / SWEEP).is_file()):
        raise InputError(f"{folder}: has other files: choose a folder that is new, empty, or an earlier site")


def _page(site: Site, look: Callable[[RunResult, int], list[Picture]] | None, number: int, cpu: int) -> str:
    run = site.run(number)
    return site.page(number, run, look(run, cpu) if look else ())


def _pictures(lab: Lab, runner: Runner, run: RunResult, cpu: int) -> list[Picture]:
    kept = MeasurementCache.of(Cache.at(os.environ).root, lab, warn)
    return CloserLook(runner.measurements).pictures(run, LabTestbed(lab), kept, cpu)


def _write(folder: Path, pages: Mapping[str, str]) -> None:
    """Put the files of a site in their places, each one whole, and take away those of a longer one before."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages.items():
            with replacement(folder / name) as fresh:
                fresh.write_text(text, encoding="utf-8")
        for path in folder.iterdir():
            if _POINT.fullmatch(path.name) and path.name not in pages:
                path.unlink()
    except OSError as error:
        raise LabError(f"{folder}: cannot be written: {error.strerror}") from error
