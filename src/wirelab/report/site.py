"""A scenario over a grid of settings as pages that need no server: one for each point, with sliders."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from wirelab.errors import InputError, LabError
from wirelab.model.cases import Case
from wirelab.plan.build import build_plan
from wirelab.report.html import html_report
from wirelab.report.picture import Picture
from wirelab.report.sliders import Panel
from wirelab.runner.run_result import RunResult
from wirelab.runner.store import RAW
from wirelab.runner.sweep import Sweep, SweepJob, words_for
from wirelab.runner.trial import judge
from wirelab.verdict.verdict import Verdict

MOST_PAGES: Final = 500
FIRST_PAGE: Final = "index.html"

Points = list[tuple[tuple[str, ...], Case]]


@dataclass(frozen=True, slots=True)
class Site:
    """The pages of a finished sweep whose points' files are in ``folder``; ``points`` are those of its grid.

    ``first`` is the place of the one with which it opens. ``title`` and ``stories``, markup for each point,
    are those of an exercise; without them the scenario's stand there.
    """

    job: SweepJob
    points: Points
    sweep: Sweep
    folder: Path
    first: int
    title: str = ""
    stories: tuple[str, ...] = ()

    def run(self, number: int) -> RunResult:
        """What was measured at a point, from 0, judged anew from its raw files and named by its values.

        Raises LabError where they are not whole.
        """
        values, case = self.points[number]
        job = self.job.job(number + 1, values, case)
        (trial,) = job.trials
        raw = self.folder / trial.plan.variant / RAW
        named = replace(trial, plan=replace(trial.plan, variant=words_for(self.job.factors, values)))
        run = job.result([judge(named, raw)], wall_s=0.0)
        # A sweep of the scenario knows nothing of an exercise's figures.
        return replace(run, scenario=self.title, rerun_argv=()) if self.title else run

    def page(self, number: int, run: RunResult, pictures: Iterable[Picture]) -> str:
        """The text of a point's page."""
        story = self.stories[number] if self.stories else ""
        panel = Panel.of(self.sweep, self.names(), number, story)
        return html_report(run, pictures, place="alone", panel=panel)

    def names(self) -> list[str]:
        """The name of each point's page."""
        return [FIRST_PAGE if at == self.first else f"point-{at + 1}.html" for at in range(len(self.points))]


def require_all(sweep: Sweep) -> None:
    """Raise LabError if something was not measured: a slider would lead nowhere."""
    for point in sweep.points:
        if point.verdict in (Verdict.ERROR, Verdict.SKIP):
            where = words_for(sweep.factors, point.values)
            why = point.explanation or "nothing was measured"
            hint = "no page was written; what was measured is kept, so another try begins where this ended"
            raise LabError(f"{where}: {point.verdict}: {why}", hint=hint)


def first_point(job: SweepJob, points: Points) -> int:
    """The point that is the scenario as it stands; where none is, the middle one.

    Raises InputError for more points than a site may have.
    """
    if len(points) > MOST_PAGES:
        raise InputError(f"{len(points)} points are too many pages, at most {MOST_PAGES}")
    own = build_plan(job.experiment, job.case, job.seed).physical_json()
    plans = (build_plan(job.experiment, case, job.seed).physical_json() for _, case in points)
    return next((at for at, plan in enumerate(plans) if plan == own), len(points) // 2)
