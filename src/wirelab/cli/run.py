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
from rich.text import Text

from wirelab.cli.files import Files, JsonFile, Junit, Markdown
from wirelab.cli.names import load_all, read_seeds, usable_cpus
from wirelab.cli.options import DEFAULT_OUT, DEFAULT_SEED, Jobs, Kernel, Names, Out, Root, Seed, UseCache
from wirelab.lab.cache import Cache
from wirelab.lab.select import select
from wirelab.plan.build import build_plan
from wirelab.report.html import html_report
from wirelab.report.live import LiveReport
from wirelab.report.summary import print_seeds, print_summary, result_line
from wirelab.report.text import Output, print_header, print_report, verdict_line
from wirelab.runner.matrix import Job, Matrix
from wirelab.runner.measurement_cache import Recall
from wirelab.runner.store import Store
from wirelab.runner.testbed import LabBench
from wirelab.runner.trial import Runner, Trial
from wirelab.verdict.verdict import worst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirelab.lab.select import Lab
    from wirelab.model.experiment import Experiment
    from wirelab.runner.matrix import Outcome


def run_command(  # noqa: PLR0913 - the options of a command line
    names: Names = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print result.json and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the verdict.")] = False,
    seed: Seed = DEFAULT_SEED,
    seeds: Annotated[
        str | None,
        typer.Option(metavar="N|A-B", help="Run with each of these seeds; checks must hold for all."),
    ] = None,
    jobs: Jobs = None,
    out: Out = DEFAULT_OUT,
    use_cache: UseCache = True,
    junit_file: Junit = None,
    json_file: JsonFile = None,
    markdown_file: Markdown = None,
    kernel: Kernel = None,
    root: Root = None,
    cpu: Annotated[
        list[int] | None, typer.Option(min=0, help="A host CPU to use. Repeatable. [default: all]")
    ] = None,
) -> None:
    """Run scenarios and judge them, as many at once as there are CPUs.

    Exit codes: 0 pass, 1 fail, 2 bad input, 3 skip, 4 error, 130 interrupted.
    """
    cpus = usable_cpus(cpu, jobs)
    experiments = load_all(names or ())
    chosen = read_seeds(seeds) if seeds else [seed]
    work = [job_of(name, experiment, each) for name, experiment in experiments.items() for each in chosen]
    lab = select(kernel, root)
    show = _Show(work, as_json=as_json, quiet=quiet)
    with lab.in_use():
        outcomes = run_all(work, lab, cpus, Store(out), show.begin(), use_cache=use_cache)
    show.end(outcomes)
    Files(junit_file, json_file, markdown_file).write([outcome.run for outcome in outcomes])
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    raise typer.Exit(worst(outcome.run.verdict for outcome in outcomes).exit_code)


def job_of(name: str, experiment: Experiment, seed: int) -> Job:
    """A scenario with one seed, planned; ``name`` is what it was asked for by."""
    trials = tuple(
        Trial(build_plan(experiment, case, seed), case.expectations, case.breaks) for case in experiment.cases
    )
    scenario = experiment.scenario
    return Job(
        scenario.name,
        seed,
        trials,
        measured=scenario.source.measured,
        fitted=scenario.fitted,
        story=experiment.story,
        source=", ".join(filter(None, (scenario.source.title, scenario.source.date))),
        # The file alone: where it is on this machine means nothing to others.
        again=("wirelab", "run", Path(name).name, "--seed", str(seed)),
    )


def run_all(  # noqa: PLR0913 - what a run of many depends on
    work: Sequence[Job], lab: Lab, cpus: Sequence[int], store: Store, live: LiveReport, *, use_cache: bool
) -> list[Outcome]:
    """Carry out all jobs with a lab; ``live`` shows how far they are."""
    recall = Recall.of(Cache.at(os.environ).root, lab, _warn) if use_cache else None
    with live:
        matrix = Matrix(
            Runner(LabBench(lab), recall),
            store,
            cpus,
            live,
            clock=time.monotonic,
            now=lambda: datetime.now(UTC),
            report=html_report,
        )
        return matrix.run(work)


@dataclass(frozen=True, slots=True)
class _Show:
    """What of the runs is to be seen: on stdout the reports, on stderr how far they are."""

    work: Sequence[Job]
    as_json: bool
    quiet: bool

    @property
    def _talks(self) -> bool:
        return not (self.as_json or self.quiet)

    def begin(self) -> LiveReport:
        """Say what runs now. Returns the display of how far it is."""
        if self._talks and len(self.work) == 1:
            print_header(Output.for_stream(sys.stdout), self.work[0].trials[0].plan)
        return LiveReport(Output.for_stream(sys.stderr), self.work, self._finished, hidden=self.quiet)

    def _finished(self, outcome: Outcome) -> None:
        if self._talks and len(self.work) > 1:
            with contextlib.suppress(BrokenPipeError):
                Output.for_stream(sys.stdout).print(result_line(outcome.run), soft_wrap=True)

    def end(self, outcomes: Sequence[Outcome]) -> None:
        """Show the verdicts. That nobody reads them any more does not change them."""
        console = Output.for_stream(sys.stdout)
        with contextlib.suppress(BrokenPipeError):
            if self._talks and len(outcomes) > 1:
                console.print()
                runs = [outcome.run for outcome in outcomes]
                print_summary(console, runs)
                if len({run.seed for run in runs}) > 1:
                    print_seeds(console, runs)
                return
            for outcome in outcomes:
                if self.as_json:
                    typer.echo(outcome.run.to_json(), nl=False)
                elif self.quiet:
                    console.print(verdict_line(outcome.run), soft_wrap=True)
                else:
                    print_report(console, outcome.run, outcome.folder)


def _warn(message: str) -> None:
    Output.for_stream(sys.stderr).print(Text(f"warning: {message}"), soft_wrap=True)
