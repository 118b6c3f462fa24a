"""A closer look at a run: pictures of what a recorder kept where something was dropped or paused."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Final

from wirelab.lab.machine import Progress
from wirelab.lab.recording import RECORD
from wirelab.lab.scratch import scratch_folder
from wirelab.report.picture import AROUND_NS, Picture, followed, moment, parse_picture
from wirelab.results.around import read_around
from wirelab.results.moments import write_record
from wirelab.results.record import Dropped, Event, Frame, Kind, Paused, read_record
from wirelab.results.samples import Sample
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.recorded import Recorder
from wirelab.runner.run_result import Evidence, RunResult
from wirelab.runner.trial import LabTestbed
from wirelab.units import PS_PER_NS

RECORD_BYTES: Final = 256 << 20
"""The most that a record may have of which a picture is made."""
PICTURES_MAX: Final = 4
PICTURE_BYTES_MAX: Final = 280_000
"""So many of so much make a page that can be sent: a picture that would be larger shows less time."""

# What it is called in the cache; of another form it has another name.
_NAME: Final = "picture-5"
_FIRST_DROP: Final = "first drop"
_MOST_DROPS: Final = "most drops"
_FIRST_PAUSE: Final = "first pause"
_MOST_PAUSES: Final = "most pauses"
_LEAST_AROUND_NS: Final = 50_000

_Found = list[tuple[str, int, str]]
"""Moments: the title of each, its instant, and the port that it is about."""


def worth_a_look(run: RunResult) -> list[Evidence]:
    """Of the variants and controls in which frames were dropped or ports paused the first few."""
    measured = (variant.evidence for variant in run.variants if variant.evidence)
    return list(islice((one for one in measured if has_trouble(one)), PICTURES_MAX))


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
        if picture.digest != evidence.result.digest:
            return None
        # The same network may have had another name when it was made.
        return replace(picture, variant=evidence.plan.variant)

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
        return self.seen(evidence, recorder.record_moments(evidence.plan, evidence.result, AROUND_NS))

    def seen(self, evidence: Evidence, moments: Path) -> Picture:
        """Keep a picture of what a recorder left of a run. Raises LabError where that is damaged."""
        record, ready_ns = moments.with_name(RECORD), evidence.result.status.ready_ns
        try:
            write_record(moments, record)
            found = _moments(record, ready_ns)
            seen = [list(read_around(record, *_between_ps(at_ns, ready_ns))) for _, at_ns, _ in found]
        finally:
            record.unlink(missing_ok=True)
        around_ns = AROUND_NS
        while True:
            picture = _picture(evidence, found, seen, around_ns)
            size_bytes = len(picture.to_json())
            if size_bytes <= PICTURE_BYTES_MAX or around_ns == _LEAST_AROUND_NS:
                break
            around_ns = max(_LEAST_AROUND_NS, around_ns * PICTURE_BYTES_MAX * 9 // (size_bytes * 10))
        if self.measurements is not None:
            self.measurements.keep_beside(evidence.plan, _NAME, picture.to_json())
        return picture


def has_trouble(evidence: Evidence) -> bool:
    """Whether anything was dropped or paused, by what was sampled and what was counted."""
    samples = evidence.result.samples
    counted = [
        sum(port["tx_paused_ns"] for port in snapshot.ports.values())
        for snapshot in evidence.result.snapshots.values()
    ]
    return (
        any(_dropped(after) > _dropped(before) for before, after in pairwise(samples))
        or any(port.paused for sample in samples for port in sample.ports.values())
        or (bool(counted) and max(counted) > min(counted))
    )


def _moments(record: Path, ready_ns: int) -> _Found:
    """What is worth a picture of what a recorder kept: drops, and only without any pauses."""
    drops: list[tuple[int, str]] = []
    pauses: list[tuple[int, str]] = []
    for event in read_record(record, {Kind.DROPPED, Kind.PAUSED}):
        at_ns = event.at_ps // PS_PER_NS - ready_ns
        if isinstance(event, Dropped):
            drops.append((at_ns, event.port))
        elif isinstance(event, Paused) and event.quanta:
            pauses.append((at_ns, event.port))
    titles, found = ((_FIRST_DROP, _MOST_DROPS), drops) if drops else ((_FIRST_PAUSE, _MOST_PAUSES), pauses)
    # What happens while a network is set up hides what is the first of its traffic.
    during = sorted(one for one in found if one[0] >= 0)
    first = [(titles[0], *during[0])] if during and len(during) == len(found) else []
    most = [(titles[1], *_most(during))] if len(during) > 1 else []
    return [*first, *most]


def _between_ps(at_ns: int, ready_ns: int) -> tuple[int, int]:
    """What is shown around an instant of the traffic's time, at the most, on the clock of the lab."""
    at_ns += ready_ns
    return (at_ns - AROUND_NS) * PS_PER_NS, (at_ns + AROUND_NS + 1) * PS_PER_NS - 1


def _picture(
    evidence: Evidence, moments: _Found, seen: Sequence[Sequence[Frame | Event]], around_ns: int
) -> Picture:
    """Of each moment what was seen in it."""
    plan, ready_ns = evidence.result.timed(evidence.plan), evidence.result.status.ready_ns
    flow = followed(plan, moments[0][2], moments[0][1])[0] if moments else ""
    shown = tuple(
        moment(title, at_ns, entries, followed(plan, port, at_ns)[1], ready_ns, around_ns)
        for (title, at_ns, port), entries in zip(moments, seen, strict=True)
    )
    return Picture(plan.variant, evidence.result.digest, flow, shown)


def _dropped(sample: Sample) -> int:
    return sum(port.dropped_frames for port in sample.ports.values())


def _most(events: Sequence[tuple[int, str]]) -> tuple[int, str]:
    """The middle of the time, as long as a picture, in which most of them happen."""
    best, until = (0, 0), 0
    for number, (at_ns, _) in enumerate(events):
        while until < len(events) and events[until][0] <= at_ns + 2 * AROUND_NS:
            until += 1
        best = max(best, (until - number, -number))
    number = -best[1]
    last_ns, _ = events[number + best[0] - 1]
    return (events[number][0] + last_ns) // 2, events[number][1]
