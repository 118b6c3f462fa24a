"""Where the runs of a call take place: which lab, and who hears how far it is."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from wirelab.errors import InputError, LabError, SkipError
from wirelab.lab.cache import Cache
from wirelab.lab.first_use import select_or_take
from wirelab.lab.scratch import scratch_folder
from wirelab.lab.select import Lab
from wirelab.model.cases import Case
from wirelab.model.experiment import Experiment, load
from wirelab.report.live import LiveReport
from wirelab.report.text import Output, warn
from wirelab.results.record import Event, Frame, read_record
from wirelab.results.result import Result
from wirelab.results.told import told_at_ports
from wirelab.runner.cpus import usable
from wirelab.runner.job import SEED_MAX
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.recorded import Recorder
from wirelab.runner.run_result import VariantResult
from wirelab.runner.store import Store
from wirelab.runner.trial import LabTestbed, Runner, Trial
from wirelab.verdict.verdict import Verdict

T = TypeVar("T")

RECORD_LIMIT_BYTES: Final = 256 << 20
"""What a record may have that becomes a table: all of it is in memory then."""


@dataclass(frozen=True, slots=True)
class Bench:
    """The options that choose a lab, as the command line has them; silent unless ``progress``."""

    kernel: str | Path | None = None
    root: str | Path | None = None
    use_cache: bool = True
    progress: bool = False

    @contextmanager
    def lab(self) -> Iterator[Lab]:
        """The lab, kept from being pruned meanwhile. Raises LabError and InputError where there is none."""
        lab = select_or_take(_place("kernel", self.kernel), _place("root", self.root), say=warn)
        with lab.in_use():
            yield lab

    def live(self, *trials: Trial, points: int = 1) -> LiveReport:
        """The display of how far it is."""
        return LiveReport(Output.for_stream(sys.stderr), trials, points, "points", hidden=not self.progress)

    def measure(self, trial: Trial) -> tuple[VariantResult, Result]:
        """The verdict on a trial, and what it measured; no file is kept.

        Raises LabError where the lab broke, SkipError where the scenario cannot be tested here.
        """
        with self.lab() as lab, self.live(trial) as live, scratch_folder() as folder:
            runner = Runner.of(lab, warn, use_cache=self.use_cache)
            with Store(folder).begin(trial.plan.scenario, datetime.now(UTC)) as draft:
                judged = runner.run(
                    trial, draft, cpu=usable()[0], on_progress=lambda done: live.progress(trial, done)
                )
        if judged.evidence is None:
            (broken,) = judged.checks
            kind = SkipError if judged.verdict is Verdict.SKIP else LabError
            raise kind(broken.explanation or broken.measured, hint=broken.why)
        return judged, judged.evidence.result

    def record(
        self, trial: Trial, known: Result, window: str, table: Callable[[Iterator[Frame | Event]], T]
    ) -> T:
        """What ``table`` makes of the record of a window of a run of which ``known`` was measured.

        Raises InputError for a window that makes no sense, LabError if it was another run this time.
        """
        with self.lab() as lab, self.live(trial) as live, scratch_folder() as folder:
            recorder = Recorder(
                LabTestbed(lab),
                MeasurementCache.of(Cache.at(os.environ).root, lab, warn),
                folder,
                usable()[0],
                RECORD_LIMIT_BYTES,
                lambda done: live.progress(trial, done),
            )
            record = read_record(recorder.record(trial.plan, known, window).record)
            return table(told_at_ports(record, trial.plan.cables))


def chosen(scenario: str | Path, variant: str | None) -> tuple[Experiment, Case]:
    """A scenario by name or file, with the variant that was named or its first. Raises InputError."""
    experiment = load(str(scenario), Path.cwd())
    return experiment, experiment.cases[0] if variant is None else experiment.case(variant)


def _place(what: str, named: object) -> Path | None:
    if named is None or isinstance(named, (str, Path)):
        return None if named is None else Path(named)
    raise InputError(f"{what} {named!r}: expected a path or a name")


def checked_settings(what: str, settings: object, example: Mapping[str, object]) -> None:
    """Raise InputError for what is no mapping of the names of settings; ``example`` is one that is."""
    if not isinstance(settings, Mapping):
        raise InputError(f"{what}: expected a mapping such as {json.dumps(example)}, not {settings!r}")
    for key in settings:
        if not isinstance(key, str):
            raise InputError(f"{what}: expected the name of a setting, such as module.fifo, not {key!r}")


def checked_seed(seed: int) -> int:
    """The seed. Raises InputError for what is none."""
    if type(seed) is not int or not 0 <= seed <= SEED_MAX:
        raise InputError(f"seed {seed!r}: expected a whole number from 0 to {SEED_MAX}")
    return seed
