"""A run once more, with a recorder: it is the same run, and one may look as closely as one likes."""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wirelab.errors import InputError, LabError, refusals, unknown
from wirelab.lab.machine import Progress
from wirelab.lab.recording import RECORD, Recording
from wirelab.lab.scratch import discard
from wirelab.plan.types import Plan, Port
from wirelab.results.record import Dropped, read_record
from wirelab.results.result import Result, read_result
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.store import RAW
from wirelab.runner.trial import LabTestbed
from wirelab.units import PS_PER_NS, TIME, UnitError, parse, show

_OTHER_FILES_BYTES: Final = 64 << 20
_BETWEEN: Final = re.compile(r"(?P<from>.+?)\s*\.\.\s*(?P<until>.+)")
_FIRST_DROP: Final = re.compile(r"first\s+(?P<port>\S+)\.drops\s*(?:\+-|±)\s*(?P<around>.+)")


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
    """Runs a Plan again on a CPU. ``folder`` is its own, ``limit_bytes`` the most that a record may have."""

    testbed: LabTestbed
    measurements: MeasurementCache
    folder: Path
    cpu: int
    limit_bytes: int
    on_progress: Callable[[Progress], None]

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
        if first := _FIRST_DROP.fullmatch(window.strip()):
            around_ns = _time_ns(first["around"], window)
            at_ns = self._first_drop_ns(plan, known, port_called(plan, first["port"]))
            return self.record_between(plan, known, max(0, at_ns - around_ns), at_ns + around_ns)
        if window.strip() == "all":
            return self.record_between(plan, known, 0, known.elapsed_ns)
        if (between := _BETWEEN.fullmatch(window.strip())) is None:
            raise InputError(f"`{window}` is no window: 12.9s..13.1s, `first module.line.drops +-2ms` or all")
        from_ns, until_ns = (_time_ns(between[end], window) for end in ("from", "until"))
        if until_ns <= from_ns:
            raise InputError(f"`{window}` is no window: it ends before it begins")
        if from_ns >= known.elapsed_ns:
            whole = show(known.elapsed_ns, TIME)
            raise InputError(f"`{window}` is outside the run, which lasts {whole}")
        return self.record_between(plan, known, from_ns, until_ns)

    def _first_drop_ns(self, plan: Plan, known: Result, port: Port) -> int:
        """When a port drops for the first time: between two samples, and a record of that time tells."""
        before_ns = dropped = 0
        for sample in known.samples:
            now = sample.ports[port.name].dropped_frames
            if now > dropped:
                break
            before_ns = sample.at_ns
        else:
            raise InputError(f"{port.label} drops nothing in this run")
        recorded = self.record_between(plan, known, before_ns, sample.at_ns + plan.sample_interval_ns)
        for event in read_record(recorded.record):
            if isinstance(event, Dropped) and event.port == port.name:
                return event.at_ps // PS_PER_NS - known.status.ready_ns
        raise LabError(f"the record of {port.label} has no drop where its counters have one")

    def record_between(self, plan: Plan, known: Result, from_ns: int, until_ns: int) -> Recorded:
        """Record from one instant to another. Raises LabError if the run was another one this time."""
        return self.record_windows(plan, known, ((from_ns, until_ns),))

    def record_windows(self, plan: Plan, known: Result, windows_ns: tuple[tuple[int, int], ...]) -> Recorded:
        """Record windows of the traffic's time, one after the other. Raises LabError as ``record`` does."""
        ready_ns = known.status.ready_ns
        windows = tuple((ready_ns + from_ns, ready_ns + until_ns) for from_ns, until_ns in windows_ns)
        discard(self.folder / RAW)
        recording = Recording(windows, self._room_bytes())
        self.testbed.run(plan, self.folder, cpu=self.cpu, on_progress=self.on_progress, recording=recording)
        result = read_result(plan, self.folder / RAW)
        if result.digest != known.digest:
            message = f"this is another run: its digest is {result.digest[:12]}, and not {known.digest[:12]}"
            raise LabError(message, hint="was it measured with another lab? wirelab lab id")
        return Recorded(self.folder / RAW, result, windows_ns)

    def _room_bytes(self) -> int:
        """What a record may have so that the run's other files find room on the disk, too."""
        with refusals(self.folder):
            free_bytes = shutil.disk_usage(self.folder).free - _OTHER_FILES_BYTES
        if free_bytes <= 0:
            raise LabError(
                f"{self.folder}: the disk is full", hint="make room, or set TMPDIR to another folder"
            )
        return min(self.limit_bytes, free_bytes)


def port_called(plan: Plan, label: str) -> Port:
    """The port of that label. Raises InputError with the nearest right word."""
    for port in plan.ports:
        if port.label == label:
            return port
    raise InputError(unknown("port", label, (port.label for port in plan.ports)))


def _time_ns(text: str, window: str) -> int:
    try:
        return parse(text.strip(), TIME)
    except UnitError as error:
        raise InputError(f"`{window}` is no window: {error}") from error
