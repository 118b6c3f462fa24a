"""``wirelab.sweep``: a scenario at every point of a grid of settings, as a table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.api.bench import Bench, checked_seed, checked_settings, chosen
from wirelab.api.tables import pandas
from wirelab.errors import InputError
from wirelab.lab.scratch import scratch_folder
from wirelab.model.cases import Case, quantity_of
from wirelab.report.grid import lines
from wirelab.report.sweep import figures, numbers, point_page
from wirelab.report.text import warn
from wirelab.runner.cpus import run_on, usable
from wirelab.runner.job import DEFAULT_SEED
from wirelab.runner.store import Store
from wirelab.runner.sweep import (
    MOST_POINTS,
    Factor,
    Point,
    Sweep,
    SweepJob,
    SweepRunner,
    factors_of,
    grid,
)
from wirelab.runner.trial import Runner
from wirelab.units import parse

if TYPE_CHECKING:  # pandas is an extra, imported when a table is asked for
    import pandas as pd


def sweep(  # noqa: PLR0913 - the options of `wirelab sweep`
    scenario: str | Path,
    vary: Mapping[str, str | Sequence[str]],
    *,
    variant: str | None = None,
    seeds: Iterable[int] = (DEFAULT_SEED,),
    jobs: int | None = None,
    use_cache: bool = True,
    progress: bool = False,
    kernel: str | Path | None = None,
    root: str | Path | None = None,
) -> "pd.DataFrame":
    """Run a scenario with every combination of the settings that vary, and every seed.

    ``vary`` has the values of each setting: a list such as ``["8 KiB", "16 KiB"]``, whose members may be
    ranges as on the command line, ``"8 KiB..256 KiB*2"``; one text is a list of one. As many run at once as
    there are CPUs, or ``jobs``.

    Returns a table of pandas with a row for each point, seed and flow or ping, which ``flow`` names: the
    settings as they are written, those that have a unit in base units, too (``module.fifo`` and
    ``module.fifo_bytes``), every metric of it in its base unit, verdict and digest. Where the lab broke
    there are no figures, ``verdict`` is ``error`` and ``explanation`` says how.

    Raises InputError before anything runs, for what is wrong in the scenario or the values; LabError where
    the lab is missing, or pandas is.
    """
    pandas()
    checked_settings("vary", vary, {"module.fifo": ["8 KiB", "16 KiB"]})
    if not isinstance(seeds, Iterable):
        raise InputError(f"seeds {seeds!r}: expected several, such as range(1, 21)")
    experiment, case = chosen(scenario, variant)
    factors = factors_of({key: _listed(key, values) for key, values in vary.items()}, case)
    if not factors:
        raise InputError('nothing varies: expected settings, such as {"module.fifo": ["8 KiB", "16 KiB"]}')
    points = grid(case, factors)
    work = [SweepJob(str(scenario), experiment, case, factors, checked_seed(seed)) for seed in seeds]
    if not 0 < (count := len(points) * len(work)) <= MOST_POINTS:
        raise InputError(f"{count} runs: expected 1 to {MOST_POINTS} points with all their seeds")
    cpus = usable(jobs)
    bench = Bench(kernel, root, use_cache, progress)
    live = bench.live(points=count)
    with (
        bench.lab() as lab,
        live,
        scratch_folder() as folder,
        Store.of_sweeps(folder).begin(experiment.scenario.name, datetime.now(UTC)) as draft,
    ):
        runner = Runner.of(lab, warn, use_cache=use_cache)
        tasks: list[Callable[[int], Point]] = []
        for job in work:
            sweeper = SweepRunner(job, runner, draft, live, point_page)
            tasks += sweeper.tasks(points, first=len(tasks) + 1)
        # Those of all seeds together: one point with twenty seeds shall have as many CPUs as twenty points.
        done = iter(run_on(cpus, tasks, runner.testbed.stop))
        sweeps = [job.finished(list(islice(done, len(points)))) for job in work]
    return _table(sweeps, case)


def _listed(key: str, values: str | Sequence[str]) -> list[str]:
    if not isinstance(values, Iterable):
        raise InputError(f'{key}: expected texts such as "32 KiB", with their units, not {values!r}')
    listed = [values] if isinstance(values, str) else list(values)
    for value in listed:
        if not isinstance(value, str):
            raise InputError(f'{key}: expected texts such as "32 KiB", with their units, not {value!r}')
    if not listed:
        raise InputError(f"{key}: expected at least one value")
    return listed


def _table(sweeps: Sequence[Sweep], case: Case) -> "pd.DataFrame":
    rows = [
        {
            **_settings(one.factors, point.values, case),
            "seed": one.seed,
            "flow": item.name if item else None,
            **figures(item),
            "verdict": str(point.verdict),
            "digest": point.digest,
            "explanation": point.explanation or "",
        }
        for one in sweeps
        for point, item in lines(one)
    ]
    table: pd.DataFrame = pandas().DataFrame(rows)
    # A figure that no point has would be of another type than one that some have.
    return table.astype(dict.fromkeys(numbers(), "float64"))


def _settings(factors: Sequence[Factor], values: Sequence[str], case: Case) -> dict[str, str | int]:
    cells: dict[str, str | int] = {}
    for factor, value in zip(factors, values, strict=True):
        cells[factor.key] = value
        quantity = quantity_of(case, factor.key)
        if quantity is not None and quantity.suffix:
            cells[f"{factor.key}{quantity.suffix}"] = parse(value, quantity)
    return cells
