"""A run that is run again with a recorder: which window, and that it is the same run."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from recorded import G, plan, recording
from test_record import entry

from wirelab.errors import InputError, LabError
from wirelab.lab.recording import RECORD, Moments, Recording
from wirelab.results.record import MAGIC, Dropped, Frame, Kind, read_record
from wirelab.results.result import read_result
from wirelab.runner.entries import Entries
from wirelab.runner.kept_record import KeptRecord, keep
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.recorded import Recorder
from wirelab.runner.store import RAW
from wirelab.runner.trial import LabTestbed
from wirelab.runner.window import AroundFirstDrop, parse_window

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan
    from wirelab.results.result import Result
    from wirelab.results.samples import Sample

READY_NS = 30 * G
DROPPED_AT_PS = 34_200_000_000_000
FIRST = entry(Kind.PORT, b"module-line".ljust(16, b"\0"), port=1) + entry(
    Kind.FRAME, struct.pack("<II", 60, 0), frame=7
)


def dropped(after_ns: int = 0) -> bytes:
    """A drop so much after the first one."""
    body = struct.pack("<IIQ", 0x10000, 15_104, 16_384)
    return entry(Kind.DROPPED, body, at_ps=DROPPED_AT_PS + after_ns * 1_000, frame=7, port=1)


def end(after_ns: int) -> bytes:
    """The end of a record that is full."""
    return entry(Kind.END, at_ps=DROPPED_AT_PS + after_ns * 1_000)


DROP = FIRST + dropped()


class Recorded(LabTestbed):
    """Leaves the same raw files each time, with a record of one drop, and keeps what it was asked for.

    It leaves the ``records`` one after the other, and the last one again.
    """

    def __init__(self, *records: bytes, retransmits: int = 0) -> None:
        self.asked: list[Recording] = []
        self._records = list(records or [DROP])
        self._more = retransmits

    def run(
        self,
        plan: Plan,
        folder: Path,
        *,
        recording: Recording | Moments | None = None,
        **_: Any,  # noqa: ANN401
    ) -> None:
        """Carry out nothing."""
        assert isinstance(recording, Recording)
        self.asked.append(recording)
        raw = written(folder / RAW, plan, dropped=159 + self._more)
        (raw / RECORD).write_bytes(MAGIC + (self._records.pop(0) if self._records[1:] else self._records[0]))


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
    measurements = MeasurementCache(Entries(folder / "cache", pytest.fail), "lab")
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
    """Times count from where traffic does, and it runs once.

    The first drop is between two samples: that time is recorded, with as much around it as is asked for.
    """
    testbed = Recorded()
    recorded = recorder(tmp_path, testbed).record(plan(), known, window)
    assert recorded.windows_ns == ((from_ns, until_ns),)
    if window.startswith("first"):
        around_ns = until_ns - 4_200_000_000
        from_ns, until_ns = 4_200_000_000 - around_ns, 4_400_000_000 + around_ns
    assert testbed.asked == [Recording(((READY_NS + from_ns, READY_NS + until_ns),), 1000)]
    assert recorded.result.digest == known.digest


def test_what_was_dropped_before_the_traffic_is_not_its_first_drop(known: Result) -> None:
    """A port may drop a frame while the network is set up: its counters begin before the samples do."""
    window = parse_window("first module.line.drops +-2 ms", plan())
    assert isinstance(window, AroundFirstDrop)
    between_ns = (4_200_000_000, 4_300_000_000)
    assert window.sampled(known) == between_ns

    def before(sample: Sample) -> Sample:
        line = sample.ports["module-line"]
        more = replace(line, dropped_frames=line.dropped_frames + 2)
        return replace(sample, ports={**sample.ports, "module-line": more})

    assert window.sampled(replace(known, samples=tuple(map(before, known.samples)))) == between_ns


def test_what_is_around_the_first_drop_is_a_record_of_its_own(tmp_path: Path, known: Result) -> None:
    """Frames count from 1 in it, and what is earlier or later is gone."""
    testbed = Recorded(FIRST + dropped(-3_000) + dropped() + dropped(2_000))
    recorded = recorder(tmp_path, testbed).record(plan(), known, "first module.line.drops +-4 us")
    assert [event.at_ps - DROPPED_AT_PS for event in read_record(recorded.record)] == [
        *(-3_000_000, -3_000_000, 0),
    ]
    assert {event.number for event in read_record(recorded.record)} == {1}


def test_a_record_that_is_full_before_the_first_drop_goes_on_where_it_ended(
    tmp_path: Path, known: Result
) -> None:
    """With as much in front of it as is asked for."""
    testbed = Recorded(FIRST + end(20_000_000), FIRST + dropped(50_000_000))
    recorded = recorder(tmp_path, testbed).record(plan(), known, "first module.line.drops +-2 ms")
    assert [asked.windows_ns[0][0] - READY_NS for asked in testbed.asked] == [4_198_000_000, 4_218_000_000]
    assert recorded.windows_ns == ((4_248_000_000, 4_252_000_000),)


def test_a_record_that_is_full_behind_the_first_drop_is_made_of_the_window_alone(
    tmp_path: Path, known: Result
) -> None:
    """Which needs less room than the time between two samples."""
    testbed = Recorded(DROP + end(1_000_000))
    recorder(tmp_path, testbed).record(plan(), known, "first module.line.drops +-2 ms")
    windows = [asked.windows_ns[0] for asked in testbed.asked]
    assert windows[1:] == [(READY_NS + 4_198_000_000, READY_NS + 4_202_000_000)]


def test_counters_without_a_drop_in_the_record_are_an_error(tmp_path: Path, known: Result) -> None:
    """Nothing is looked for without an end: a record that ends at once is one, too."""
    for record in (FIRST, FIRST + end(-500_000_000)):
        with pytest.raises(LabError, match=r"the record of module.line has no drop where its counters have"):
            recorder(tmp_path, Recorded(record)).record(plan(), known, "first module.line.drops +-2 ms")


def test_all_is_the_whole_run(tmp_path: Path) -> None:
    """From its first snapshot, which is before its traffic, to its last one."""
    files = recording(plan())
    for status, from_ns in (({}, READY_NS), ({"counted_from_ns": READY_NS - G}, READY_NS - G)):
        files.status.update(status)
        known = read_result(plan(), files.write(tmp_path / f"{from_ns}"))
        testbed = Recorded()
        with pytest.raises(LabError, match="this is another run"):
            recorder(tmp_path, testbed).record(plan(), known, "all")
        assert testbed.asked == [Recording(((from_ns, READY_NS + known.elapsed_ns),), 1000)]


def test_what_is_in_a_kept_record_is_not_run_again(tmp_path: Path, known: Result) -> None:
    """What it has not, is; and so is what belongs to another run."""
    testbed = Recorded()
    its = recorder(tmp_path, testbed)
    recorded = its.record(plan(), known, "4 s..5 s")
    folder = tmp_path / "main"
    folder.mkdir()
    kept = keep(recorded.record, folder, known, recorded.windows_ns[0])
    assert KeptRecord.beside(folder) == kept
    again = replace(its, kept=kept)
    whole = [Frame, Dropped]
    for window, found in (
        ("4.1 s..4.3 s", whole),
        ("first module.line.drops +-1 ms", whole),
        ("4.3 s..5 s", []),
    ):
        recorded = again.record(plan(), known, window)
        assert [type(entry) for entry in read_record(recorded.record)] == found
    assert len(testbed.asked) == 1
    # That a drop is the first one is known of a record that was made around it, or that has the samples.
    narrow = replace(kept, from_ns=4_199_000_000, until_ns=4_201_000_000)
    first = replace(its, kept=replace(narrow, first_drop="module.line"))
    assert first.record(plan(), known, "first module.line.drops +-1 ms").windows_ns == (
        (4_199_000_000, 4_201_000_000),
    )
    assert len(testbed.asked) == 1
    replace(its, kept=narrow).record(plan(), known, "first module.line.drops +-1 ms")
    assert len(testbed.asked) == 2
    again.record(plan(), known, "4.5 s..5.5 s")
    replace(again, kept=replace(kept, digest="0" * 64)).record(plan(), known, "4.1 s..4.3 s")
    assert len(testbed.asked) == 4


def test_a_record_that_is_not_whole_is_kept_up_to_its_end(tmp_path: Path, known: Result) -> None:
    """It says so."""
    (tmp_path / "full.bin").write_bytes(MAGIC + DROP + end(1_000_000))
    kept = keep(tmp_path / "full.bin", tmp_path, known, (4 * G, 5 * G))
    assert (kept.from_ns, kept.until_ns) == (4 * G, 4_201_000_000)
    assert not (tmp_path / "full.bin").exists()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", "record.json: Invalid JSON"),
        ('{"digest": "0", "from_ns": 0}', "record.json: until_ns: Field required"),
        (
            '{"digest": "0", "from_ns": "0", "until_ns": 1}',
            "record.json: from_ns: Input should be a valid integer",
        ),
        ('{"digest": "0", "from_ns": 0, "until_ns": 1, "more": 1}', "record.json: more: Extra inputs"),
    ],
)
def test_a_damaged_document_of_a_record_is_named(tmp_path: Path, document: str, message: str) -> None:
    """With its field, and what to do."""
    (tmp_path / "record.json").write_text(document)
    with pytest.raises(LabError) as caught:
        KeptRecord.beside(tmp_path)
    assert message in str(caught.value)
    assert "remove it" in str(caught.value.hint)


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
