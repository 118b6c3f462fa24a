"""A run carried out: its trials measured and judged, and what is shown of it written beside the figures."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from wirelab.lab.machine import Progress
from wirelab.lab.scratch import discard
from wirelab.report.html import html_report
from wirelab.report.picture import Picture
from wirelab.runner.job import Job, reported
from wirelab.runner.run_result import RunResult, VariantResult
from wirelab.runner.store import RAW, Store, write_file
from wirelab.runner.trial import Runner
from wirelab.verdict.verdict import Verdict

PANEL: Final = "panel.html"
"""What a page shows of a run, beside its ``report.html``."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be run, and how it is shown: ``panel`` makes the piece of a page, with the evidence at hand.

    ``kept`` is what is kept of a variant; without ``has_report`` there is neither a report nor a Plan.
    ``has_pictures``: what it drops may be looked at. Where it ``draws``, that takes the panel's place, and
    there is a report with the same pictures.
    """

    job: Job
    panel: Callable[[RunResult], str]
    kept: Callable[[VariantResult], VariantResult] = lambda variant: variant
    has_report: bool = True
    has_pictures: bool = False
    draws: Callable[[list[Picture]], str] | None = None


class Looks(Protocol):
    """Whoever looks closer at a run whose evidence is at hand."""

    def is_worth_it(self, run: RunResult) -> bool:
        """Whether there is anything to be seen."""

    def pictures(self, run: RunResult, cpu: int, on_progress: Callable[[Progress], None]) -> list[Picture]:
        """The pictures of it."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What came of a run: ``folder`` holds its files, None where the lab broke, which ``message`` tells.

    ``has_more``: a closer look would show something.
    """

    run: RunResult
    folder: Path | None
    wall_s: float
    message: str = ""
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class Carrier:
    """Carries out runs with ``runner``, and keeps them in ``store``. ``clock`` gives wall-clock seconds.

    Without ``looks`` there are no pictures.
    """

    runner: Runner
    store: Store
    looks: Looks | None = None
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def carry_out(self, task: Task, cpu: int, on_progress: Callable[[float], None]) -> Carried:
        """All trials of a task on ``cpu``. ``on_progress`` hears how many virtual seconds are done.

        Raises LabError where its files cannot be written.
        """
        job, begun_s = task.job, self.clock()
        variants = []
        with self.store.begin(job.scenario, self.now()) as draft:
            before_s = 0.0
            for trial in job.trials:

                def told(progress: Progress, before_s: float = before_s) -> None:
                    on_progress(before_s + progress.done_s)

                variants.append(self.runner.run(trial, draft, cpu=cpu, on_progress=told))
                before_s += variants[-1].virtual_s
            wall_s = self.clock() - begun_s
            run = job.result(variants, wall_s)
            if run.verdict is Verdict.ERROR:
                return Carried(run.without_evidence, None, wall_s, _broken(run))
            drawn = self._pictures(task, run, cpu, on_progress)
            panel = task.panel(run) if drawn is None or task.draws is None else task.draws(drawn)
            write_file(draft.folder / PANEL, panel)
            has_more = bool(task.has_pictures and self.looks and self.looks.is_worth_it(run))
            run = job.result([task.kept(variant) for variant in variants], wall_s)
            report = partial(html_report, pictures=drawn or ())
            page, _ = reported(run, report) if task.has_report or drawn else (None, None)
            # The cache has what was measured; a class would fill the disk with it.
            for variant in variants:
                discard(draft.folder / variant.name / RAW if task.has_report else draft.folder / variant.name)
            folder = draft.commit(run.to_json(), page)
            return Carried(run.without_evidence, folder, wall_s, has_more=has_more)

    def _pictures(
        self, task: Task, run: RunResult, cpu: int, on_progress: Callable[[float], None]
    ) -> list[Picture] | None:
        if task.draws is None or self.looks is None:
            return None
        return self.looks.pictures(run, cpu, lambda progress: on_progress(progress.done_s))


def _broken(run: RunResult) -> str:
    checks = (check for variant in run.variants for check in variant.checks)
    broken = next(check for check in checks if check.verdict is Verdict.ERROR)
    return broken.explanation or broken.measured
