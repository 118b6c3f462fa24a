"""A closer look at a run: where something was dropped or paused, it runs again with a recorder."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Final

from wirelab.lab.machine import Progress
from wirelab.lab.scratch import scratch_folder
from wirelab.report.picture import AROUND_NS, Picture, followed, moment, parse_picture
from wirelab.results.around import read_around
from wirelab.results.record import Dropped, Event, Frame, Kind, Paused, read_record
from wirelab.results.samples import Sample
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.recorded import Recorder
from wirelab.runner.run_result import Evidence, RunResult
from wirelab.runner.trial import LabTestbed
from wirelab.units import NS_PER_MS, PS_PER_NS

RECORD_BYTES: Final = 256 << 20
"""The most that a record may have of which a picture is made."""
PICTURES_MAX: Final = 4
PICTURE_BYTES_MAX: Final = 280_000
"""So many of so much make a page that can be sent: a picture that would be larger shows less time."""

# What it is called in the cache; of another form it has another name.
_NAME: Final = "picture-4"
_FIRST_DROP: Final = "first drop"
_MOST_DROPS: Final = "most drops"
_FIRST_PAUSE: Final = "first pause"
_A_PAUSE: Final = "a pause"
_MOST_PAUSED: Final = "most ports paused"
_LEAST_AROUND_NS: Final = 50_000
_LOOK_NS: Final = 300 * NS_PER_MS
"""How far back the first pause is looked for: what is before was counted by nobody."""

Moments = list[tuple[str, int, str]]
"""The title of each, its instant, and the port that it is about."""


def worth_a_look(run: RunResult) -> list[Evidence]:
    """Of the variants and controls in which frames were dropped or ports paused the first few."""
    measured = (variant.evidence for variant in run.variants if variant.evidence)
    return list(islice((one for one in measured if windows_ns(one)), PICTURES_MAX))


@dataclass(frozen=True, slots=True)
class CloserLook:
    """Makes pictures, and keeps them beside the ``measurements``; without these each is made anew."""

    measurements: MeasurementCache | None

    def kept(self, evidence: Evidence) -> Picture | None:
        """The picture that was made before; one without moments says that there is nothing to be seen."""
        if self.measurements is None or (kept := self.measurements.beside(evidence.plan, _NAME)) is None:
            return None
        try:
            picture = parse_picture(kept)
        except ValueError as error:
            self.measurements.forget_beside(evidence.plan, _NAME, f"{error}")
            return None
        return picture if picture.digest == evidence.result.digest else None

    def kept_of(self, run: RunResult) -> list[Picture]:
        """Those of a run that were made before, and in which there is something to be seen."""
        looked = (self.kept(evidence) for evidence in worth_a_look(run))
        return [picture for picture in looked if picture and picture.moments]

    def pictures(
        self,
        run: RunResult,
        testbed: LabTestbed,
        measured: MeasurementCache,
        cpu: int,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> list[Picture]:
        """All of a run, from before or made now, in labs of ``testbed``; ``measured`` knows what runs gave.

        Raises LabError if it was another run this time.
        """
        looked = []
        for evidence in worth_a_look(run):
            if (picture := self.kept(evidence)) is None:
                with scratch_folder() as folder:
                    recorder = Recorder(testbed, measured, folder, cpu, RECORD_BYTES, on_progress)
                    picture = self.take(recorder, evidence)
            looked.append(picture)
        return [picture for picture in looked if picture.moments]

    def take(self, recorder: Recorder, evidence: Evidence) -> Picture:
        """Run it again, and keep the picture. Raises LabError if it was another run this time."""
        plan, result = evidence.plan, evidence.result
        recorded = recorder.record_windows(plan, result, windows_ns(evidence))
        ready_ns = result.status.ready_ns
        moments = _moments(evidence, recorded.record, recorded.windows_ns[0][0])
        seen = [list(read_around(recorded.record, *_between_ps(at_ns, ready_ns))) for _, at_ns, _ in moments]
        around_ns = AROUND_NS
        while True:
            picture = _picture(evidence, moments, seen, around_ns)
            size_bytes = len(picture.to_json())
            if size_bytes <= PICTURE_BYTES_MAX or around_ns == _LEAST_AROUND_NS:
                break
            around_ns = max(_LEAST_AROUND_NS, around_ns * PICTURE_BYTES_MAX * 9 // (size_bytes * 10))
        if self.measurements is not None:
            self.measurements.keep_beside(plan, _NAME, picture.to_json())
        return picture


def windows_ns(evidence: Evidence) -> tuple[tuple[int, int], ...]:
    """What is recorded: the sample intervals of the first drop and of the most drops.

    Without drops it is the time until the first pause, and the interval with the most paused ports.
    """
    samples = evidence.result.samples
    around = [_dropped(sample) for sample in samples]
    steps = [(after - before, number) for number, (before, after) in enumerate(pairwise(around), 1)]
    grown = [number for more, number in steps if more > 0]
    if grown:
        worst = max(steps, key=lambda step: (step[0], -step[1]))[1]
        return _merged([_window(samples, number) for number in (grown[0], worst)])
    return _merged(list(_pause_windows(evidence)))


def _pause_windows(evidence: Evidence) -> Iterable[tuple[int, int]]:
    samples = evidence.result.samples
    seen = [number for number, sample in enumerate(samples) if _paused(sample)]
    counted = _first_counted_ns(evidence)
    if counted is not None:
        from_ns, until_ns = counted
        within = (number for number in seen if from_ns <= samples[number].at_ns <= until_ns)
        first = next(within, None)
        until_ns = samples[first].at_ns if first is not None else min(until_ns, from_ns + _LOOK_NS)
        yield max(0, max(from_ns, until_ns - _LOOK_NS) - AROUND_NS), until_ns + AROUND_NS
    elif seen:
        yield _window(samples, seen[0])
    if seen:
        yield _window(samples, _most_paused(samples))


def _first_counted_ns(evidence: Evidence) -> tuple[int, int] | None:
    """Between which two readings of the counters a port was paused for the first time."""
    snapshots = sorted(evidence.result.snapshots.values(), key=lambda snapshot: snapshot.at_ns)
    paused_ns = [sum(port["tx_paused_ns"] for port in then.ports.values()) for then in snapshots]
    for (before, after), (then, now) in zip(pairwise(snapshots), pairwise(paused_ns), strict=True):
        if now > then:
            return before.at_ns, after.at_ns
    return None


def _moments(evidence: Evidence, record: Path, from_ns: int) -> Moments:
    """What is worth a picture in a record that begins there."""
    ready_ns = evidence.result.status.ready_ns
    drops: list[tuple[int, str]] = []
    pauses: list[tuple[int, str]] = []
    for event in read_record(record, {Kind.DROPPED, Kind.PAUSED}):
        if isinstance(event, Dropped):
            drops.append((event.at_ps // PS_PER_NS - ready_ns, event.port))
        elif isinstance(event, Paused):
            pauses.append((event.at_ps // PS_PER_NS - ready_ns, event.port))
    if drops:
        return [(_FIRST_DROP, *min(drops)), (_MOST_DROPS, *_worst(sorted(drops)))]
    # What is before was not recorded: a pause is shown with all that led to it.
    whole_ns = from_ns + AROUND_NS if from_ns else 0
    whole = sorted(pause for pause in pauses if pause[0] >= whole_ns)
    if not whole:
        return []
    counted = _first_counted_ns(evidence)
    is_first = counted is not None and whole_ns <= counted[0]
    moments = [(_FIRST_PAUSE if is_first else _A_PAUSE, *whole[0])]
    samples = evidence.result.samples
    most_ns = samples[_most_paused(samples)].at_ns
    near = [pause for pause in whole if abs(pause[0] - most_ns) <= AROUND_NS]
    if near and most_ns - whole[0][0] > AROUND_NS:
        moments.append((_MOST_PAUSED, most_ns, near[0][1]))
    return moments


def _between_ps(at_ns: int, ready_ns: int) -> tuple[int, int]:
    """What is shown around an instant of the traffic's time, at the most, on the clock of the lab."""
    at_ns += ready_ns
    return (at_ns - AROUND_NS) * PS_PER_NS, (at_ns + AROUND_NS + 1) * PS_PER_NS - 1


def _picture(
    evidence: Evidence, moments: Moments, seen: Sequence[Sequence[Frame | Event]], around_ns: int
) -> Picture:
    """Of each moment what was seen in it."""
    plan, ready_ns = evidence.plan, evidence.result.status.ready_ns
    flow = followed(plan, moments[0][2], moments[0][1])[0] if moments else ""
    shown = tuple(
        moment(title, at_ns, entries, followed(plan, port, at_ns)[1], ready_ns, around_ns)
        for (title, at_ns, port), entries in zip(moments, seen, strict=True)
    )
    return Picture(plan.variant, evidence.result.digest, flow, shown)


def _dropped(sample: Sample) -> int:
    return sum(port.dropped_frames for port in sample.ports.values())


def _paused(sample: Sample) -> int:
    return sum(port.paused for port in sample.ports.values())


def _most_paused(samples: Sequence[Sample]) -> int:
    """The number of the first sample in which most ports are paused."""
    return max(enumerate(map(_paused, samples)), key=itemgetter(1), default=(0, 0))[0]


def _window(samples: Sequence[Sample], number: int) -> tuple[int, int]:
    """From a sample before to it, with as much around as a picture shows."""
    before_ns = samples[number - 1].at_ns if number else 0
    return max(0, before_ns - AROUND_NS), samples[number].at_ns + AROUND_NS


def _merged(windows: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for from_ns, until_ns in sorted(windows):
        if merged and from_ns <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(until_ns, merged[-1][1]))
        else:
            merged.append((from_ns, until_ns))
    return tuple(merged)


def _worst(drops: Sequence[tuple[int, str]]) -> tuple[int, str]:
    """The middle of the time, as long as a picture, in which most frames are dropped."""
    best, until = (0, 0), 0
    for number, (at_ns, _) in enumerate(drops):
        while until < len(drops) and drops[until][0] <= at_ns + 2 * AROUND_NS:
            until += 1
        best = max(best, (until - number, -number))
    number = -best[1]
    last_ns, _ = drops[number + best[0] - 1]
    return (drops[number][0] + last_ns) // 2, drops[number][1]
