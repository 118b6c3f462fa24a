"""``wirelab run``: scenarios in, verdicts out."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wirelab.bench import LabBench
from wirelab.errors import InputError, LabError
from wirelab.lab.select import select
from wirelab.model.experiment import load
from wirelab.plan.build import build_plan
from wirelab.report.live import LiveReport
from wirelab.report.text import Output, print_header, print_report, verdict_line
from wirelab.run import Runner, Trial
from wirelab.store import Store
from wirelab.verdict import worst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirelab.errors import Problem
    from wirelab.lab.select import Lab
    from wirelab.model.experiment import Experiment
    from wirelab.record import RunRecord

DEFAULT_SEED = 1


def run_command(  # noqa: PLR0913 - the options of a command line
    names: Annotated[list[str], typer.Argument(help="Scenarios by name or file.", metavar="NAME|FILE...")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print result.json and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the verdict.")] = False,
    seed: Annotated[
        int, typer.Option(min=0, max=(1 << 32) - 1, help="What the lab's randomness grows from.")
    ] = DEFAULT_SEED,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results are kept.")] = Path("results"),
    kernel: Annotated[Path | None, typer.Option(metavar="FILE", help="Another lab kernel.")] = None,
    root: Annotated[Path | None, typer.Option(metavar="DIR", help="Another root image.")] = None,
    cpu: Annotated[
        list[int] | None, typer.Option(min=0, help="A host CPU to use. Repeatable. [default: all]")
    ] = None,
) -> None:
    """Run scenarios and judge them.

    Exit codes: 0 pass, 1 fail, 2 bad input, 3 skip, 4 error, 130 interrupted.
    """
    cpus = _cpus(cpu)
    experiments = load_all(names)
    lab = select(kernel, root)
    show = _Show(as_json=as_json, quiet=quiet)
    with lab.in_use():
        records = [
            _run(experiment, seed, cpus, lab=lab, store=Store(out), show=show) for experiment in experiments
        ]
    raise typer.Exit(worst(record.verdict for record in records).exit_code)


def load_all(names: Sequence[str]) -> list[Experiment]:
    """Every named scenario. Raises InputError with the problems of all of them."""
    experiments: list[Experiment] = []
    problems: list[Problem] = []
    for name in names:
        try:
            experiments.append(load(name, Path.cwd()))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError.of(problems)
    return experiments


def _cpus(asked: Sequence[int] | None) -> list[int]:
    usable = sorted(os.sched_getaffinity(0))
    for cpu in asked or ():
        if cpu not in usable:
            msg = f"--cpu {cpu}: not a CPU that this process may use: {', '.join(map(str, usable))}"
            raise InputError(msg)
    return sorted(set(asked)) if asked else usable


@dataclass(frozen=True, slots=True)
class _Show:
    """What of a run is to be seen: on stdout the report, on stderr how far it is."""

    as_json: bool
    quiet: bool

    def begin(self, trials: Sequence[Trial]) -> LiveReport:
        """Say what runs now. Returns the display of how far it is."""
        if not (self.as_json or self.quiet):
            print_header(Output.for_stream(sys.stdout), trials[0].plan)
        return LiveReport(
            Output.for_stream(sys.stderr),
            [trial.plan.variant for trial in trials],
            hidden=self.quiet,
        )

    def end(self, record: RunRecord, folder: Path | None) -> None:
        """Show the verdict. That nobody reads it any more does not change it."""
        with contextlib.suppress(BrokenPipeError):
            if self.as_json:
                typer.echo(record.to_json(), nl=False)
            elif self.quiet:
                Output.for_stream(sys.stdout).print(verdict_line(record), soft_wrap=True)
            else:
                print_report(Output.for_stream(sys.stdout), record, folder)


def _run(  # noqa: PLR0913 - what one run depends on
    experiment: Experiment, seed: int, cpus: Sequence[int], *, lab: Lab, store: Store, show: _Show
) -> RunRecord:
    trials = list(_trials(experiment, seed))
    name = experiment.scenario.name
    with store.begin(name, datetime.now(UTC)) as draft:
        with show.begin(trials) as live:
            runner = Runner(LabBench(lab), cpus, live, time.monotonic)
            record = runner.run(name, seed, trials, draft)
        try:
            folder = draft.commit(record.to_json())
        except LabError:
            # It was measured all the same: who asked shall see it.
            show.end(record, None)
            raise
    show.end(record, folder)
    return record


def _trials(experiment: Experiment, seed: int) -> Iterator[Trial]:
    for case in experiment.cases:
        yield Trial(build_plan(experiment, case, seed), case.expectations, case.breaks)
