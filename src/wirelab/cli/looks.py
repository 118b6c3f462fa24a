"""A closer look after a run of one scenario: its page gets a picture of what was dropped."""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from wirelab.cli import options
from wirelab.errors import LabError, WirelabError
from wirelab.lab.cache import Cache
from wirelab.lab.scratch import replacement, scratch_folder
from wirelab.lab.select import Lab
from wirelab.report.closer import CloserLook
from wirelab.report.html import html_report
from wirelab.report.live import LiveReport
from wirelab.report.text import Output, warn
from wirelab.runner.job import FinishedJob, Job
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.recorded import Recorder
from wirelab.runner.run_result import RunResult
from wirelab.runner.store import REPORT
from wirelab.runner.trial import LabTestbed

_LIMIT_BYTES: Final = 256 << 20


@dataclass(slots=True)
class Looks:
    """Makes the page of one run, and makes it again with a picture where that has to be recorded first."""

    lab: Lab
    quiet: bool
    _look: CloserLook = field(init=False)
    _has_picture: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Pictures are kept beside the measurements."""
        self._look = CloserLook(MeasurementCache.of(Cache.at(os.environ).root, self.lab, warn))

    def page(self, run: RunResult) -> str:
        """The page, with the picture that was made of the same run before."""
        picture = self._look.picture(run)
        self._has_picture = picture is not None
        return html_report(run, [picture] if picture else ())

    def closer(self, job: Job, finished: FinishedJob, cpu: int) -> None:
        """Record what is to be seen, if it was not before. What goes wrong costs the picture alone."""
        evidence, run = self._look.evidence, self._look.run
        if self._has_picture or evidence is None or run is None or finished.folder is None:
            return
        console = Output.for_stream(sys.stderr)
        # How far it is, and no result: a log has the same lines whether the picture was kept or not.
        if console.is_terminal and not self.quiet:
            options.tell(f"looking closer at {evidence.plan.variant}, for the picture in {REPORT} ...")
        trial = next(trial for trial in job.trials if trial.plan.variant == evidence.plan.variant)
        live = LiveReport(console, (trial,), hidden=self.quiet)
        try:
            with live, scratch_folder() as folder:
                recorder = Recorder(
                    LabTestbed(self.lab),
                    self._look.measurements,
                    folder,
                    cpu,
                    _LIMIT_BYTES,
                    lambda done: live.progress(trial, done),
                )
                picture = self._look.take(recorder)
            if picture is not None:
                _replace(finished.folder / REPORT, html_report(run, [picture]))
        except WirelabError as error:
            warn(f"no picture: {error.message}")


def _replace(path: Path, page: str) -> None:
    try:
        with replacement(path) as fresh:
            fresh.write_text(page, encoding="utf-8")
    except OSError as error:
        raise LabError(f"{path}: cannot be written: {error.strerror}") from error
