"""Single frames where frames are lost: the run once more, with a recorder for a moment of a flow's time."""

from itertools import pairwise
from typing import Final

from pydantic import TypeAdapter, ValidationError

from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.results.record import read_record
from wirelab.results.result import Result
from wirelab.runner.recorded import Recorder
from wirelab.units import NS_PER_MS
from wirelab.verdict.bursts import KINDS, Bursts, bursts
from wirelab.verdict.explanation import Bottleneck, Mechanism

LOSING: Final = frozenset({Mechanism.FIFO, Mechanism.QUEUE})
"""Where it is bursts that lose frames."""

# What it is called in the cache; of another form it has another name.
_NAME: Final = "bursts-1"
_LONGEST_NS: Final = 100 * NS_PER_MS


def bursts_of(recorder: Recorder, plan: Plan, known: Result, flow: Flow, found: Bottleneck) -> Bursts | None:
    """What single frames tell of a flow that loses some; None where that is not what bounds it.

    What was found before is in the cache. Raises LabError if it was another run this time.
    """
    port = next((one for one in plan.ports if one.label in found.at[:1]), None)
    if found.mechanism not in LOSING or port is None:
        return None
    began = next(one for one in known.timed(plan).flows if one.name == flow.name)
    window_ns = _window_ns(known, began, port.name)
    if window_ns is None:
        return None
    name, adapter = f"{_NAME}-{flow.name}", TypeAdapter(Bursts)
    if (kept := recorder.measurements.beside(plan, name)) is not None:
        try:
            return adapter.validate_json(kept)
        except ValidationError as error:
            recorder.measurements.forget_beside(plan, name, f"{error.error_count()} fields are wrong")
    recorded = recorder.record_between(plan, known, *window_ns)
    told = bursts(known.linked(plan, began), flow, port.label, read_record(recorded.record, KINDS), window_ns)
    if told is not None:
        recorder.measurements.keep_beside(plan, name, adapter.dump_json(told))
    return told


def _window_ns(known: Result, flow: Flow, port: str) -> tuple[int, int] | None:
    """The time between two samples that is nearest to the middle of a flow and has drops at a port."""
    middle_ns = flow.start_ns + flow.duration_ns // 2
    steps = [
        (abs(before.at_ns - middle_ns), before.at_ns, after.at_ns)
        for before, after in pairwise(known.samples)
        if flow.start_ns <= before.at_ns < flow.end_ns
        and after.ports[port].dropped_frames > before.ports[port].dropped_frames
    ]
    if not steps:
        return None
    _, from_ns, until_ns = min(steps)
    return from_ns, min(until_ns, from_ns + _LONGEST_NS)
