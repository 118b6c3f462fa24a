"""``wirelab run``: scenarios in, verdicts out."""

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from wirelab.cli import options
from wirelab.cli.kept_records import Records
from wirelab.cli.looks import Looks
from wirelab.cli.names import load_all, read_seeds, require_runs, usable_cpus
from wirelab.cli.recorder import WINDOW_HELP, RecordLimit
from wirelab.lab.first_use import select_or_take
from wirelab.report.html import html_report
from wirelab.report.live import LiveReport
from wirelab.report.summary import print_summary, result_line
from wirelab.report.text import Output, print_header, print_report, verdict_line, warn
from wirelab.runner.job import FinishedJob, Job
from wirelab.runner.kept_results import KeptResults
from wirelab.runner.matrix import Matrix
from wirelab.runner.store import Store
from wirelab.runner.trial import Runner
from wirelab.verdict.verdict import worst


def run_command(  # noqa: PLR0913 - the options of a command line
    names: options.Names = None,
    *,
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print result.json and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the verdict.")] = False,
    seed: options.Seed = options.DEFAULT_SEED,
    seeds: Annotated[
        str | None,
        typer.Option(metavar="N|A-B", help="Run with each of these seeds; checks must hold for all."),
    ] = None,
    jobs: options.Jobs = None,
    out: options.Out = options.DEFAULT_OUT,
    use_cache: options.UseCache = True,
    junit_file: options.Junit = None,
    json_file: options.JsonFile = None,
    markdown_file: options.Markdown = None,
    record: Annotated[
        str | None,
        typer.Option("--record", metavar="WINDOW", help=f"Of one scenario: keep its frames. {WINDOW_HELP}"),
    ] = None,
    limit: RecordLimit = None,
    pictures: Annotated[
        bool | None,
        typer.Option(
            "--pictures/--no-pictures",
            help="Draw the frames where some are dropped or paused. [default: of one scenario]",
        ),
    ] = None,
    kernel: options.Kernel = None,
    root: options.Root = None,
    cpu: Annotated[
        list[int] | None, typer.Option(min=0, help="A host CPU to use. Repeatable. [default: all]")
    ] = None,
) -> None:
    """Run scenarios and judge them, as many at once as there are CPUs.

    Exit codes: 0 pass, 1 fail, 2 bad input, 3 skip, 4 error, 130 interrupted.
    """
    if seeds is not None:
        options.refuse(ctx, ["seed"], "a run without --seeds")
    cpus = usable_cpus(cpu, jobs)
    experiments = load_all(names or ())
    chosen_seeds = [seed] if seeds is None else read_seeds(seeds)
    require_runs(len(experiments) * len(chosen_seeds))
    work = [
        Job.of(name, experiment, one_seed)
        for name, experiment in experiments.items()
        for one_seed in chosen_seeds
    ]
    records = Records.asked(record, limit, work)
    lab = select_or_take(kernel, root, say=options.tell)
    screen = _Screen(work, as_json=as_json, quiet=quiet)
    live = screen.begin()
    with lab.in_use():
        wanted = len(work) == 1 if pictures is None else pictures
        looks = Looks(lab, use_cache, quiet=as_json or quiet) if wanted else None
        runner = replace(Runner.of(lab, warn, use_cache=use_cache), onlooker=looks)
        with live:
            page = looks.page if looks else html_report
            # A page with pictures is another one as soon as they are made.
            kept = KeptResults(runner.measurements) if runner.measurements and not looks else None
            finished_jobs = Matrix(runner, Store(out), cpus, live, page, screen.finished, kept).run(work)
        screen.end(finished_jobs)
        problem = records and records.keep(lab, finished_jobs[0], cpus[0], hidden=as_json or quiet)
        if looks:
            looks.closer(work, finished_jobs, cpus)
    options.Files(junit_file, json_file, markdown_file).write([job.run for job in finished_jobs])
    for job in finished_jobs:
        if job.error is not None:
            raise job.error
    if problem:
        raise problem
    raise typer.Exit(worst(job.run.verdict for job in finished_jobs).exit_code)


@dataclass(frozen=True, slots=True)
class _Screen:
    """What of the runs is to be seen: on stdout the reports, on stderr how far they are."""

    work: Sequence[Job]
    as_json: bool
    quiet: bool

    @property
    def _talks(self) -> bool:
        return not (self.as_json or self.quiet)

    def begin(self) -> LiveReport:
        """Say what runs now. Returns the display of how far it is."""
        is_one = len(self.work) == 1
        if self._talks and is_one:
            print_header(Output.for_stream(sys.stdout), self.work[0].trials[0].plan)
        trials = self.work[0].trials if is_one else ()
        return LiveReport(Output.for_stream(sys.stderr), trials, len(self.work), hidden=self.quiet)

    def finished(self, job: FinishedJob) -> None:
        """Say what came of a job, where there are many. That nobody reads it does not change it."""
        if self._talks and len(self.work) > 1:
            with contextlib.suppress(BrokenPipeError):
                Output.for_stream(sys.stdout).print(result_line(job.run), soft_wrap=True)

    def end(self, finished_jobs: Sequence[FinishedJob]) -> None:
        """Show the verdicts. That nobody reads them any more does not change them."""
        console = Output.for_stream(sys.stdout)
        with contextlib.suppress(BrokenPipeError):
            if self._talks and len(finished_jobs) > 1:
                console.print()
                print_summary(console, [job.run for job in finished_jobs])
                return
            for job in finished_jobs:
                if self.as_json:
                    typer.echo(job.run.to_json(), nl=False)
                elif self.quiet:
                    console.print(verdict_line(job.run), soft_wrap=True)
                else:
                    print_report(console, job.run, job.folder)
