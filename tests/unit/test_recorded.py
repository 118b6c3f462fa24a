"""A run that is run again with a recorder: which window, and that it is the same run."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest
from recorded import G, plan, recording
from test_record import MAGIC, entry

from wirelab.errors import InputError, LabError
from wirelab.lab.recording import RECORD, Recording
from wirelab.results.record import Kind
from wirelab.results.result import read_result
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.recorded import Recorder
from wirelab.runner.store import RAW
from wirelab.runner.trial import LabTestbed

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan
    from wirelab.results.result import Result

READY_NS = 30 * G
DROPPED_AT_PS = 34_200_000_000_000
DROP = entry(Kind.PORT, b"module-line".ljust(16, b"\0"), port=1) + entry(
    Kind.DROPPED, struct.pack("<IIQ", 0x10000, 15_104, 16_384), at_ps=DROPPED_AT_PS, frame=7, port=1
)


class Recorded(LabTestbed):
    """Leaves the same raw files each time, with a record of one drop, and keeps what it was asked for."""

    def __init__(self, *, retransmits: int = 0) -> None:
        self.asked: list[Recording] = []
        self._more = retransmits

    def run(self, plan: Plan, folder: Path, *, recording: Recording | None = None, **_: Any) -> None:  # noqa: ANN401
        """Carry out nothing."""
        assert recording is not None
        self.asked.append(recording)
        raw = written(folder / RAW, plan, dropped=159 + self._more)
        (raw / RECORD).write_bytes(MAGIC + DROP)


def written(raw: Path, the_plan: Plan, *, dropped: int = 159) -> Path:
    """The raw files of a run; the sample at 4.3 s is the first that tells of drops."""
    files = recording(the_plan, dropped=dropped)
    for sample in files.samples[43:]:
        sample["ports"]["module-line"]["dropped_frames"] = dropped
    return files.write(raw)


@pytest.fixture
def known(tmp_path: Path) -> Result:
    """What the run measured without a recorder."""
    return read_result(plan(), written(tmp_path / "known", plan()))


def recorder(folder: Path, testbed: LabTestbed) -> Recorder:
    """One with that testbed."""
    measurements = MeasurementCache(folder / "cache", "lab", pytest.fail)
    return Recorder(testbed, measurements, folder, 0, 1000, lambda _: None)


@pytest.mark.parametrize(
    ("window", "from_ns", "until_ns"),
    [
        ("1.5 s..1.6s", 1_500_000_000, 1_600_000_000),
        ("0 s .. 20 us", 0, 20_000),
        ("first module.line.drops +-2 ms", 4_198_000_000, 4_202_000_000),
        ("first  module.line.drops ± 1 us", 4_199_999_000, 4_200_001_000),
    ],
)
def test_a_window_is_recorded_by_the_clock_of_the_lab(
    tmp_path: Path, known: Result, window: str, from_ns: int, until_ns: int
) -> None:
    """Times count from where traffic does; the first drop is looked for in a record of its own."""
    testbed = Recorded()
    recorded = recorder(tmp_path, testbed).record(plan(), known, window)
    assert testbed.asked[-1] == Recording(((READY_NS + from_ns, READY_NS + until_ns),), 1000)
    assert recorded.windows_ns == ((from_ns, until_ns),)
    looked_for = [Recording(((READY_NS + 4_200_000_000, READY_NS + 4_400_000_000),), 1000)]
    assert testbed.asked[:-1] == looked_for * window.startswith("first")
    assert recorded.result.digest == known.digest


def test_all_is_the_whole_run(tmp_path: Path, known: Result) -> None:
    """From the beginning of its traffic to its last snapshot."""
    testbed = Recorded()
    recorder(tmp_path, testbed).record(plan(), known, "all")
    assert testbed.asked == [Recording(((READY_NS, READY_NS + known.elapsed_ns),), 1000)]


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ("soon", "`soon` is no window: 12.9s..13.1s, `first module.line.drops"),
        ("2 s..1 s", "`2 s..1 s` is no window: it ends before it begins"),
        ("1 s..1 s", "it ends before it begins"),
        ("1 parsec..2 s", "`1 parsec..2 s` is no window: "),
        ("8 s..9 s", "`8 s..9 s` is outside the run, which lasts 7.2 s"),
        ("first module.lin.drops +-1 ms", "unknown port `module.lin`; did you mean `module.line`?"),
        ("first server.drops +-1 ms", "server drops nothing in this run"),
    ],
)
def test_what_is_no_window_is_said_before_anything_runs(
    tmp_path: Path, known: Result, window: str, message: str
) -> None:
    """With what one may write, or the nearest right word."""
    testbed = Recorded()
    with pytest.raises(InputError) as caught:
        recorder(tmp_path, testbed).record(plan(), known, window)
    assert message in str(caught.value)
    assert not testbed.asked


def test_another_run_is_no_record_of_this_one(tmp_path: Path, known: Result) -> None:
    """A lab that measures something else shows frames of something else."""
    with pytest.raises(LabError, match="this is another run: its digest is ") as caught:
        recorder(tmp_path, Recorded(retransmits=1)).record(plan(), known, "all")
    assert "wirelab lab id" in str(caught.value.hint)
