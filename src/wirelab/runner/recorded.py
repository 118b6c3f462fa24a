"""A run once more, with a recorder: it is the same run, and one may look as closely as one likes."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wirelab.errors import LabError, refusals
from wirelab.lab.machine import Progress
from wirelab.lab.recording import MOMENTS, RECORD, Moments, Recording
from wirelab.lab.scratch import discard
from wirelab.plan.types import Plan
from wirelab.results.excerpt import write_excerpt
from wirelab.results.record import Dropped, Kind, read_record
from wirelab.results.result import Result, read_result
from wirelab.runner.kept_record import KeptRecord
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.store import RAW
from wirelab.runner.trial import LabTestbed
from wirelab.runner.window import AroundFirstDrop, Window, parse_window
from wirelab.units import PS_PER_NS

_OTHER_FILES_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a run left that had a recorder, and the windows that it recorded, in ns of the traffic's time."""

    raw: Path
    result: Result
    windows_ns: tuple[tuple[int, int], ...]

    @property
    def record(self) -> Path:
        """The recorder's file."""
        return self.raw / RECORD


@dataclass(frozen=True, slots=True)
class Recorder:
    """Runs a Plan again on a CPU. ``folder`` is its own, ``limit_bytes`` the most that a record may have.

    What a ``kept`` record of the same run has is taken from there.
    """

    testbed: LabTestbed
    measurements: MeasurementCache
    folder: Path
    cpu: int
    limit_bytes: int
    on_progress: Callable[[Progress], None]
    kept: KeptRecord | None = None

    def measured(self, plan: Plan) -> Result:
        """What the run measures without a recorder: from the cache, or run for it."""
        raw = self.folder / RAW
        if not self.measurements.restore(plan, raw):
            self.testbed.run(plan, self.folder, cpu=self.cpu, on_progress=self.on_progress)
            self.measurements.keep(plan, raw)
        return read_result(plan, raw)

    def record(self, plan: Plan, known: Result, window: str) -> Recorded:
        """Record a window: ``12.9 s..13.1 s``, ``first module.line.drops +-2 ms`` or ``all``.

        ``known`` is what the run measured. Raises InputError for a window that makes no sense or in which
        nothing is, LabError if the run was another one this time.
        """
        return self.record_window(plan, known, parse_window(window, plan))

    def record_window(self, plan: Plan, known: Result, window: Window) -> Recorded:
        """The same of a window that was read before."""
        if isinstance(window, AroundFirstDrop):
            return self._around_first_drop(plan, known, window)
        return self.record_between(plan, known, *window.within(known))

    def _around_first_drop(self, plan: Plan, known: Result, window: AroundFirstDrop) -> Recorded:
        """It is between two samples: that time is recorded, and what is around the drop kept of it."""
        before_ns, sampled_ns = window.sampled(known)
        if (wanted := self._kept_around(known, window)) is not None:
            return self.record_between(plan, known, *wanted)
        from_ns = window.at(before_ns)[0]
        until_ns = window.at(sampled_ns + plan.sample_interval_ns)[1]
        while True:
            recorded = self.record_between(plan, known, from_ns, until_ns)
            at_ns, end_ns = _first_drop(recorded.record, known.status.ready_ns, window.port.name)
            if at_ns is not None:
                break
            if end_ns is None or window.at(end_ns)[0] <= from_ns:
                raise LabError(f"the record of {window.port.label} has no drop where its counters have one")
            # So much happens before that it is as long as it may be: go on from there.
            from_ns = window.at(end_ns)[0]
        wanted = window.at(at_ns)
        if end_ns is not None and end_ns < wanted[1]:
            return self.record_between(plan, known, *wanted)
        whole = recorded.record.rename(self.folder / f"whole-{RECORD}")
        self._take(whole, plan, known, (wanted,))
        whole.unlink()
        return Recorded(recorded.raw, recorded.result, (wanted,))

    def _kept_around(self, known: Result, window: AroundFirstDrop) -> tuple[int, int] | None:
        """The window, if the kept record is of this first drop and has it whole."""
        if self.kept is None or self.kept.first_drop != window.port.label:
            return None
        at_ns, _ = _first_drop(self.kept.record, known.status.ready_ns, window.port.name)
        wanted = None if at_ns is None else window.at(at_ns)
        return wanted if wanted and self.kept.has(known, (wanted,)) else None

    def record_between(self, plan: Plan, known: Result, from_ns: int, until_ns: int) -> Recorded:
        """Record from one instant to another. Raises LabError if the run was another one this time."""
        return self.record_windows(plan, known, ((from_ns, until_ns),))

    def record_windows(self, plan: Plan, known: Result, windows_ns: tuple[tuple[int, int], ...]) -> Recorded:
        """Record windows of the traffic's time, one after the other. Raises LabError as ``record`` does."""
        if self.kept and self.kept.has(known, windows_ns):
            (self.folder / RAW).mkdir(exist_ok=True)
            self._take(self.kept.record, plan, known, windows_ns)
            return Recorded(self.folder / RAW, known, windows_ns)
        ready_ns = known.status.ready_ns
        windows = tuple((ready_ns + from_ns, ready_ns + until_ns) for from_ns, until_ns in windows_ns)
        result = self._again(plan, known, Recording(windows, self._room_bytes()))
        return Recorded(self.folder / RAW, result, windows_ns)

    def record_moments(self, plan: Plan, known: Result, around_ns: int) -> Path:
        """The recorder's file of the moments of a run. Raises LabError as ``record`` does."""
        self._again(plan, known, Moments(around_ns, self._room_bytes()))
        return self.folder / RAW / MOMENTS

    def _again(self, plan: Plan, known: Result, recording: Recording | Moments) -> Result:
        """Run it again with a recorder. Raises LabError if it was another run this time."""
        discard(self.folder / RAW)
        self.testbed.run(plan, self.folder, cpu=self.cpu, on_progress=self.on_progress, recording=recording)
        result = read_result(plan, self.folder / RAW)
        if result.digest != known.digest:
            message = f"this is another run: its digest is {result.digest[:12]}, and not {known.digest[:12]}"
            raise LabError(message, hint="was it measured with another lab? wirelab lab id")
        return result

    def _take(self, record: Path, plan: Plan, known: Result, windows_ns: Sequence[tuple[int, int]]) -> None:
        """Make what a record has of windows the record of this run."""
        ready_ns = known.status.ready_ns
        of_lab = [(ready_ns + from_ns, ready_ns + until_ns) for from_ns, until_ns in windows_ns]
        write_excerpt(record, self.folder / RAW / RECORD, of_lab, plan.cables)

    def _room_bytes(self) -> int:
        free_bytes = free_for_records_bytes(self.folder)
        if free_bytes <= 0:
            raise LabError(
                f"{self.folder}: the disk is full", hint="make room, or set TMPDIR to another folder"
            )
        return min(self.limit_bytes, free_bytes)


def free_for_records_bytes(folder: Path) -> int:
    """What a record may have so that a run's other files find room on the disk, too; none if not positive."""
    with refusals(folder):
        return shutil.disk_usage(folder).free - _OTHER_FILES_BYTES


def _first_drop(record: Path, ready_ns: int, port: str) -> tuple[int | None, int | None]:
    """When the port drops first, and when the record ends if it is not whole, in ns of the traffic's time."""
    first_ns = None
    for event in read_record(record, {Kind.DROPPED, Kind.END}):
        at_ns = event.at_ps // PS_PER_NS - ready_ns
        if not isinstance(event, Dropped):
            return first_ns, at_ns
        if first_ns is None and event.port == port:
            first_ns = at_ns
    return first_ns, None
