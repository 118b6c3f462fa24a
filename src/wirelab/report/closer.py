"""A closer look at a run: where something was dropped or paused, it runs again with a recorder."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from wirelab.report.picture import AROUND_NS, Picture, followed, moment, parse_picture
from wirelab.results.record import Dropped, Kind, Paused, read_record
from wirelab.results.samples import Sample
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.recorded import Recorder
from wirelab.runner.run_result import Evidence, RunResult
from wirelab.units import PS_PER_NS

# What it is called in the cache; of another form it has another name.
_NAME: Final = "picture-2"
_FIRST_DROP: Final = "first drop"
# Samples do not tell which one was the first.
_PAUSE: Final = "a pause"
_MOST_DROPS: Final = "most drops"


@dataclass(slots=True)
class CloserLook:
    """The picture of the first variant of a run in which frames were dropped or ports paused.

    ``evidence`` is what that was measured, and None before the first report or where nothing is to be seen.
    """

    measurements: MeasurementCache
    run: RunResult | None = field(default=None, init=False)
    evidence: Evidence | None = field(default=None, init=False)

    def picture(self, run: RunResult) -> Picture | None:
        """The one that was made before."""
        self.run = run
        measured = [variant.evidence for variant in run.variants if variant.evidence]
        self.evidence = next((one for one in measured if windows_ns(one)), None)
        if self.evidence is None or (kept := self.measurements.beside(self.evidence.plan, _NAME)) is None:
            return None
        try:
            picture = parse_picture(kept)
        except ValueError as error:
            self.measurements.forget_beside(self.evidence.plan, _NAME, f"{error}")
            return None
        return picture if picture.digest == self.evidence.result.digest else None

    def take(self, recorder: Recorder) -> Picture | None:
        """Run it again, and keep the picture. Raises LabError if it was another run this time."""
        if self.evidence is None:
            return None
        plan, result = self.evidence.plan, self.evidence.result
        recorded = recorder.record_windows(plan, result, windows_ns(self.evidence))
        ready_ns = result.status.ready_ns
        seen = list(read_record(recorded.record, {Kind.DROPPED, Kind.PAUSED}))
        drops = [
            (event.at_ps // PS_PER_NS - ready_ns, event.port) for event in seen if isinstance(event, Dropped)
        ]
        pauses = [
            (event.at_ps // PS_PER_NS - ready_ns, event.port) for event in seen if isinstance(event, Paused)
        ]
        # What is before was not recorded: a pause is shown with all that led to it.
        whole_ns = recorded.windows_ns[0][0] + AROUND_NS if recorded.windows_ns[0][0] else 0
        first = min(drops or [pause for pause in pauses if pause[0] >= whole_ns], default=None)
        if first is None:
            return None
        at = [(_FIRST_DROP if drops else _PAUSE, *first)]
        if drops:
            at.append((_MOST_DROPS, *_worst(sorted(drops))))
        flow, _ = followed(plan, first[1], first[0])
        moments = tuple(
            moment(title, at_ns, read_record(recorded.record), followed(plan, port, at_ns)[1], ready_ns)
            for title, at_ns, port in at
        )
        picture = Picture(plan.variant, result.digest, flow, moments)
        self.measurements.keep_beside(plan, _NAME, picture.to_json())
        return picture


def windows_ns(evidence: Evidence) -> tuple[tuple[int, int], ...]:
    """The sample intervals of the first drop and of the most drops; without drops one with a pause."""
    samples = evidence.result.samples
    around = [_dropped(sample) for sample in samples]
    steps = [(after - before, number) for number, (before, after) in enumerate(pairwise(around), 1)]
    grown = [number for more, number in steps if more > 0]
    if grown:
        worst = max(steps, key=lambda step: (step[0], -step[1]))[1]
        return _merged([_window(samples, number) for number in (grown[0], worst)])
    for number, sample in enumerate(samples):
        if any(port.paused for port in sample.ports.values()):
            return (_window(samples, number),)
    return ()


def _dropped(sample: Sample) -> int:
    return sum(port.dropped_frames for port in sample.ports.values())


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
