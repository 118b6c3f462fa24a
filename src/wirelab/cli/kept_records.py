"""`wirelab run --record`: the frames of a run are kept beside what it measured."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

from wirelab.cli import options
from wirelab.cli.recorder import DEFAULT_LIMIT, limit_bytes, recorder
from wirelab.errors import InputError, WirelabError
from wirelab.lab.select import Lab
from wirelab.report.live import LiveReport
from wirelab.report.text import Output
from wirelab.results.result import read_result
from wirelab.runner.job import FinishedJob, Job
from wirelab.runner.kept_record import keep
from wirelab.runner.store import RAW
from wirelab.runner.trial import Trial
from wirelab.runner.window import AroundFirstDrop, Window, parse_window
from wirelab.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class Records:
    """Those of the variants and controls of one scenario, each of which runs once more with a recorder."""

    windows: tuple[tuple[Trial, Window], ...]
    limit_bytes: int

    @classmethod
    def asked(cls, window: str | None, limit: str | None, work: Sequence[Job]) -> Self | None:
        """What is to be recorded, if anything. Raises InputError for no window, and for many runs."""
        if window is None:
            if limit is not None:
                raise InputError("--limit is of a record: say what of, --record WINDOW")
            return None
        size_bytes = limit_bytes(limit or DEFAULT_LIMIT)
        if len(work) != 1:
            raise InputError(f"--record is of one scenario with one seed, these are {len(work)}")
        return cls(tuple((trial, parse_window(window, trial.plan)) for trial in work[0].trials), size_bytes)

    def keep(self, lab: Lab, finished: FinishedJob, cpu: int, *, hidden: bool) -> WirelabError | None:
        """Record what was measured, into its folder. Returns what went wrong: the result is whole.

        That a port drops nothing in one variant is no error where it does in another.
        """
        kept, problem, nothing = 0, None, None
        for variant in finished.run.variants:
            if variant.digest is None or finished.folder is None:
                continue
            trial, window = next(one for one in self.windows if one[0].plan.variant == variant.name)
            live = LiveReport(Output.for_stream(sys.stderr), (trial,), hidden=hidden)
            try:
                known = read_result(trial.plan, finished.folder / variant.name / RAW)
                with live, recorder(lab, cpu, self.limit_bytes, partial(live.progress, trial)) as its:
                    recorded = its.record_window(trial.plan, known, window)
                    [between_ns] = recorded.windows_ns
                    its_own = keep(
                        recorded.record,
                        finished.folder / variant.name,
                        known,
                        between_ns,
                        window.port.label if isinstance(window, AroundFirstDrop) else None,
                    )
            except InputError as error:
                nothing = InputError(f"{variant.name}: {error.message}", hint=error.hint)
            except WirelabError as error:
                problem = error
            else:
                kept += 1
                if not hidden:
                    size = its_own.record.stat().st_size
                    times = f"{its_own.from_ns / NS_PER_S:.6f} to {its_own.until_ns / NS_PER_S:.6f} s"
                    options.tell(f"{its_own.record}: {size / 1e6:.1f} MB, {times}")
        return problem or (None if kept else nothing)
