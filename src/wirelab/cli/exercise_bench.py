"""Runs of a student in a terminal: with a bar, and kept with a report and its picture of what was dropped."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from wirelab.cli import options
from wirelab.cli.exercise_work import Desk
from wirelab.cli.looks import Looks
from wirelab.cli.names import usable_cpus
from wirelab.errors import LabError
from wirelab.exercise.measure import Bench, Results
from wirelab.exercise.network import Setup
from wirelab.lab.first_use import select_or_take
from wirelab.lab.scratch import scratch_folder
from wirelab.report.live import LiveReport
from wirelab.report.text import Output, warn
from wirelab.runner.job import FinishedJob, Job
from wirelab.runner.store import Store
from wirelab.runner.trial import Runner


@dataclass(frozen=True, slots=True)
class Runs:
    """How a command runs: its options."""

    use_cache: bool
    kernel: Path | None
    root: Path | None
    jobs: int | None = None

    def measured(self, desk: Desk, setups: Mapping[str, Setup]) -> Results:
        """What networks measure; kept with a report, unless a student may see no settings.

        Raises LabError where one of the labs broke: then nothing of it is in the work.
        """
        now = datetime.now(UTC)
        lab = select_or_take(self.kernel, self.root, say=options.tell)
        cpus = usable_cpus(None, self.jobs)
        live = LiveReport(Output.for_stream(sys.stderr), (), len(setups), "networks")
        runner = Runner.of(lab, warn, use_cache=self.use_cache)
        with lab.in_use():
            if desk.exercise.said.sees == "technician":
                with live, scratch_folder() as folder:
                    bench = Bench(runner, Store(folder), cpus, live)
                    results = bench.measured(desk.exercise, setups, now)
            else:
                looks = Looks(lab, self.use_cache, quiet=not sys.stderr.isatty())
                with live:
                    bench = Bench(runner, Store(desk.results), cpus, live)
                    results, run, folder = bench.kept(desk.exercise, setups, now, looks.page)
                trials = tuple(setup.trial(desk.exercise, name) for name, setup in setups.items())
                job = Job(desk.exercise.name, desk.exercise.said.seed, trials)
                looks.closer([job], [FinishedJob(run, folder)], cpus)
        for variant in results.values():
            if variant.digest is None:
                words = next((check.explanation or check.name for check in variant.checks), variant.name)
                raise LabError(
                    f"{variant.name}: the lab broke: {words}", hint="the work is as it was: run it again"
                )
        return results


def environ_name(name: str) -> str:
    """What an environment variable says, empty for nothing."""
    return os.environ.get(name, "").strip()
