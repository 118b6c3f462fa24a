"""What a run's checks expected, as ranges that stand in its charts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from wirelab.model.expect import FROM
from wirelab.model.metric import METRICS, Choice
from wirelab.plan.flows import phase_ns
from wirelab.plan.types import Plan
from wirelab.units import TIME, UnitError, parse, parse_range
from wirelab.verdict.checks import Check

_TO: Final = " to "


@dataclass(frozen=True, slots=True)
class Expected:
    """Where a metric of a subject had to lie, in its base unit; a ``window_ns`` is one of the Plan's time."""

    subject: str
    metric: str
    low: int | None
    high: int | None
    window_ns: tuple[int, int] | None
    words: str


def expected_of(checks: Iterable[Check], plan: Plan) -> tuple[Expected, ...]:
    """Those of all checks that are of a range: a law has none, nor has what a control must break."""
    return tuple(_expected(checks, plan))


def _expected(checks: Iterable[Check], plan: Plan) -> Iterator[Expected]:
    for check in checks:
        metric = METRICS.get(check.metric or "")
        if metric is None or check.subject is None or isinstance(metric.quantity, Choice):
            continue
        name, _, window = check.name.partition(FROM)
        if name != f"{check.subject}.{metric.name}":
            continue
        try:
            low, high = parse_range(check.expected, metric.quantity)
            begins, _, ends = window.partition(_TO)
            shift_ns = phase_ns(plan.seed)
            window_ns = (parse(begins, TIME) + shift_ns, parse(ends, TIME) + shift_ns) if window else None
        except UnitError:
            continue  # A result from elsewhere says what it likes.
        yield Expected(
            check.subject, metric.name, low, high, window_ns, f"expected of {check.name}: {check.expected}"
        )
