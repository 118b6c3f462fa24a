"""A closer look at runs: their pages get pictures of what was dropped or paused."""

import os
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from wirelab.cli import options
from wirelab.errors import LabError, WirelabError
from wirelab.lab.cache import Cache
from wirelab.lab.recording import LEAST_BYTES, Moments
from wirelab.lab.scratch import replacement, scratch_folder
from wirelab.lab.select import Lab
from wirelab.report.closer import RECORD_BYTES, CloserLook, has_trouble, worth_a_look
from wirelab.report.html import html_report
from wirelab.report.live import LiveReport
from wirelab.report.picture import AROUND_NS, Picture
from wirelab.report.text import Output, warn
from wirelab.runner.cpus import run_on
from wirelab.runner.job import FinishedJob, Job
from wirelab.runner.kept_evidence import with_evidence
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.recorded import Recorder, free_for_records_bytes
from wirelab.runner.run_result import Evidence, RunResult
from wirelab.runner.store import REPORT
from wirelab.runner.trial import LabTestbed, Trial

# A variant and its digest: files of one name may have different scenarios in them.
_Measured = tuple[str, str | None]


@dataclass(slots=True)
class Looks:
    """Makes the pages of runs, with pictures of what a recorder kept while they were measured.

    Those of runs that were measured before without one are made afterwards. From any thread.
    """

    lab: Lab
    use_cache: bool
    quiet: bool
    _measurements: MeasurementCache = field(init=False)
    _look: CloserLook = field(init=False)
    _seen: dict[_Measured, Picture | None] = field(default_factory=dict, init=False)
    _missing: dict[frozenset[_Measured], list[str]] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        """Pictures are kept beside the measurements."""
        self._measurements = MeasurementCache.of(Cache.at(os.environ).root, self.lab, warn)
        self._look = CloserLook(self._measurements if self.use_cache else None)

    def recording(self, folder: Path) -> Moments | None:
        """The moments of which pictures are made, where the disk has room for them."""
        free_bytes = free_for_records_bytes(folder)
        return Moments(AROUND_NS, min(RECORD_BYTES, free_bytes)) if free_bytes >= LEAST_BYTES else None

    def saw(self, evidence: Evidence, moments: Path) -> None:
        """Make the picture, if there is anything to be seen. What goes wrong costs that alone."""
        if not has_trouble(evidence):
            return
        plan, picture = evidence.plan, None
        try:
            picture = self._look.seen(evidence, moments)
        except WirelabError as error:
            warn(f"no picture of {plan.variant}: {error.message}")
        with self._lock:
            self._seen[_measured(evidence)] = picture

    def page(self, run: RunResult) -> str:
        """The page, with the pictures that were made of the same run, now or before."""
        looked = [(one, self._made(one)) for one in worth_a_look(run)]
        with self._lock:
            self._missing[_all_measured(run)] = [
                one.plan.variant
                for one, picture in looked
                if picture is None and _measured(one) not in self._seen
            ]
        return html_report(run, _shown(picture for _, picture in looked))

    def _made(self, evidence: Evidence) -> Picture | None:
        with self._lock:
            seen = self._seen.get(_measured(evidence))
        return seen or self._look.kept(evidence)

    def closer(self, jobs: Sequence[Job], finished: Sequence[FinishedJob], cpus: Sequence[int]) -> None:
        """Record what is to be seen, if it was not before. What goes wrong costs the pictures alone."""
        for job, done in zip(jobs, finished, strict=True):
            missing = self._missing.get(_all_measured(done.run))
            if missing and done.folder is not None:
                try:
                    self._look_at(job, done, missing, cpus)
                except WirelabError as error:
                    warn(f"no picture: {error.message}")

    def _look_at(self, job: Job, done: FinishedJob, missing: Sequence[str], cpus: Sequence[int]) -> None:
        assert done.folder is not None  # noqa: S101 - whoever asks has looked
        # What the first page was drawn from was let go: that of many runs would fill the memory.
        run = with_evidence(done.run, done.folder)
        console = Output.for_stream(sys.stderr)
        # How far it is, and no result: a log has the same lines whether the pictures were kept or not.
        if console.is_terminal and not self.quiet:
            options.tell(f"looking closer at {', '.join(missing)}, for the pictures in {REPORT} ...")
        trials = {trial.plan.variant: trial for trial in job.trials if trial.plan.variant in missing}
        live = LiveReport(console, tuple(trials.values()), hidden=self.quiet)
        evidence = worth_a_look(run)
        testbed = LabTestbed(self.lab)
        tasks = [
            partial(self._take, testbed, one, trials[one.plan.variant], live)
            for one in evidence
            if one.plan.variant in trials
        ]
        with live:
            taken = run_on(cpus, tasks, testbed.stop)
        pictures = {picture.variant: picture for picture in taken if picture}
        looked = [pictures.get(one.plan.variant) or self._made(one) for one in evidence]
        if pictures:
            _replace(done.folder / REPORT, html_report(run, _shown(looked)))

    def _take(
        self, testbed: LabTestbed, evidence: Evidence, trial: Trial, live: LiveReport, cpu: int
    ) -> Picture | None:
        try:
            with scratch_folder() as folder:
                recorder = Recorder(
                    testbed, self._measurements, folder, cpu, RECORD_BYTES, partial(live.progress, trial)
                )
                return self._look.take(recorder, evidence)
        except WirelabError as error:
            warn(f"no picture of {evidence.plan.variant}: {error.message}")
            return None


def _measured(evidence: Evidence) -> _Measured:
    return evidence.plan.variant, evidence.result.digest


def _all_measured(run: RunResult) -> frozenset[_Measured]:
    return frozenset((variant.name, variant.digest) for variant in run.variants)


def _shown(pictures: Iterable[Picture | None]) -> list[Picture]:
    """Those that there are, and in which there is something to be seen."""
    return [picture for picture in pictures if picture and picture.moments]


def _replace(path: Path, page: str) -> None:
    try:
        with replacement(path) as fresh:
            fresh.write_text(page, encoding="utf-8")
    except OSError as error:
        raise LabError(f"{path}: cannot be written: {error.strerror}") from error
