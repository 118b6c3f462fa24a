"""What somebody would guess who knows the line alone: that it is full, and that nothing is lost."""

from collections.abc import Mapping

from wirelab.exercise.figures import is_computed
from wirelab.model.assignment import Assignment
from wirelab.model.exercise import Prediction
from wirelab.model.fill import figure_number
from wirelab.model.formula import Reference, amount_of, read_formula
from wirelab.model.metric import METRICS
from wirelab.plan.path import flow_path
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.units import BITS_PER_BYTE, COUNT, RATIO


def line_rate_guess(
    exercise: Assignment, prediction: Prediction, figures: Mapping[str, str], plans: Mapping[str, Plan]
) -> float | None:
    """The guess in bits and seconds, None where a line tells nothing. ``plans`` are those of the runs.

    Of what is computed from the student's figures alone there is no guess: it would be the answer.
    """
    if is_computed(prediction.of, figures):
        return None
    first = exercise.run(prediction.run).name

    def value(reference: Reference) -> float:
        if reference.path in figures:
            return figure_number(reference, figures).amount
        subject, _, metric = reference.path.rpartition(".")
        if _is_trouble(metric):
            return 0.0
        plan = plans[reference.run or first]
        (flow,) = (flow for flow in plan.flows if flow.name == subject)
        line_bps = min(hop.served_bps for hop in flow_path(plan, flow))
        if metric == "goodput":
            return float(_offered_bps(flow, line_bps))
        if metric == "duration" and flow.size_bytes is not None:
            return flow.size_bytes * BITS_PER_BYTE / line_bps
        raise ValueError(f"a line does not tell {metric}")

    return amount_of(read_formula(prediction.of), value)


def _is_trouble(metric: str) -> bool:
    """Whether it counts what such a one does not expect to happen at all: losses, pauses, collisions."""
    known = METRICS.get(metric)
    return known is not None and (
        known.quantity is COUNT or (known.quantity is RATIO and known.better == "less")
    )


def _offered_bps(flow: Flow, line_bps: int) -> int:
    asked_bps = getattr(flow, "bitrate_bps", None)
    return line_bps if asked_bps is None else min(line_bps, asked_bps)
