"""What a class may vote for: the right figure among others that are wrong, but possible."""

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from wirelab.model.assignment import Assignment, quantity_asked
from wirelab.model.exercise import Prediction
from wirelab.model.fill import rounded_in
from wirelab.model.formula import read_formula, references
from wirelab.plan.path import Hop, flow_path, path
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.units import BITS_PER_BYTE, COUNT, NS_PER_S, RATE, RATIO, TIME, from_coherent

_OPTIONS: Final = "ABCD"
_OF_NOTHING: Final[Mapping[str, tuple[float, ...]]] = {
    COUNT.name: (0, 10, 100, 1000),
    RATIO.name: (0.0, 0.01, 0.1, 0.5),
}
"""What is offered beside nothing."""
_APART: Final = 1.25
"""Two options differ by this factor at least."""
_FROM_LIMIT: Final = 1.05
"""The right one and the limit itself, which is what who forgets the headers says."""
_STEPS: Final = (1.5, 1.3)
"""From one option to the next where there is a limit; the hash chooses."""


@dataclass(frozen=True, slots=True)
class Option:
    """Something to vote for."""

    letter: str
    words: str
    is_right: bool


@dataclass(frozen=True, slots=True)
class Limits:
    """Between what a figure must be, in bits and seconds, whatever happens; each may be the figure itself."""

    least: float = 0.0
    most: float = math.inf

    @property
    def is_any(self) -> bool:
        """Whether there is one."""
        return self.least > 0 or self.most < math.inf


def limits_of(
    exercise: Assignment, said: Prediction, plans: Mapping[str, Plan], guess: float | None
) -> Limits:
    """What the network allows: no rate above the line's, no time below what the line and the path need.

    ``plans`` are those of the runs, ``guess`` is the figure for a full line.
    """
    quantity = quantity_asked(said.unit)
    if quantity is RATIO:
        return Limits(most=1.0)
    if quantity is RATE and guess is not None:
        return Limits(most=guess)
    if quantity is not TIME:
        return Limits()
    formula = read_formula(said.of)
    first = exercise.run(said.run).name
    named = list(references(formula))
    plan = plans.get(named[0].run or first) if named else None
    # Of a sum or a ratio of times there is no telling.
    if len(named) != 1 or plan is None:
        return Limits()
    subject, _, metric = named[0].path.rpartition(".")
    return Limits(least=_least_s(plan, subject, metric))


def options(said: Prediction, right: float, limits: Limits) -> tuple[Option, ...]:
    """The right figure among three others, at a place that its name decides: not always the same."""
    digest = hashlib.sha256(said.name.encode()).digest()
    place = digest[0] % len(_OPTIONS)
    if not right:
        amounts, place = _OF_NOTHING.get(quantity_asked(said.unit).name, (0, 1, 10, 100)), 0
    elif limits.is_any and limits.least <= right <= limits.most:
        amounts = _turned(sorted([right, *_wrong(right, limits, digest[1])]), right, place)
    else:
        amounts = tuple(right * 2.0 ** (number - place) for number in range(len(_OPTIONS)))
    return tuple(
        Option(letter, words_for(said, amount), number == place)
        for number, (letter, amount) in enumerate(zip(_OPTIONS, amounts, strict=True))
    )


def words_for(said: Prediction, amount: float) -> str:
    """A figure in the unit that is asked for."""
    quantity = quantity_asked(said.unit)
    return rounded_in(from_coherent(amount, quantity), quantity, said.unit or "")


def _least_s(plan: Plan, subject: str, metric: str) -> float:
    """The least that a time can be; 0 where nothing tells it."""
    if subject == "network" and metric == "duration":
        return _emptied_s(plan)
    item = next((item for item in plan.traffic if item.name == subject), None)
    if item is None:
        return 0.0
    if metric.startswith("rtt"):
        there, back = flow_path(plan, item), path(plan, item.receiver, item.sender)
        return sum(map(_delay_ns, (*there, *back))) / NS_PER_S
    if metric == "duration" and isinstance(item, Flow) and item.size_bytes is not None:
        line_bps = min(hop.served_bps for hop in flow_path(plan, item))
        return item.size_bytes * BITS_PER_BYTE / line_bps
    return 0.0


def _delay_ns(hop: Hop) -> int:
    path_ns = hop.out.netem.delay_ns - hop.out.netem.jitter_ns if hop.out.netem else 0
    return hop.delay_ns + max(path_ns, 0)


def _emptied_s(plan: Plan) -> float:
    """How long the busiest line carries what has a size, however it is shared."""
    busy_s: dict[str, float] = defaultdict(float)
    for flow in plan.flows:
        for hop in flow_path(plan, flow):
            size_bytes = getattr(flow, "size_bytes", None) or 0
            busy_s[hop.out.name] += size_bytes * BITS_PER_BYTE / hop.served_bps
    return max(busy_s.values(), default=0.0)


def _wrong(right: float, limits: Limits, chance: int) -> list[float]:
    """Three others well apart that are possible: the limit itself, where it can be told, comes first."""
    limit = limits.most if limits.most < math.inf else limits.least
    chosen: list[float] = []
    for amount in _plausible(right, limits, chance):
        is_limit = amount == limit
        apart = [_factor(amount, right) >= (_FROM_LIMIT if is_limit else _APART)]
        apart += [_factor(amount, other) >= _APART for other in chosen]
        if all(apart) and limits.least <= amount <= limits.most:
            chosen.append(amount)
        if len(chosen) == len(_OPTIONS) - 1:
            break
    return chosen


def _plausible(right: float, limits: Limits, chance: int) -> Iterator[float]:
    if limits.most < math.inf:
        yield from (limits.most, limits.most / 2)
    elif limits.least > 0:
        yield limits.least
    step = _STEPS[chance % len(_STEPS)]
    for power in range(1, 2 * len(_OPTIONS)):
        yield from (right * step**power, right / step**power)


def _turned(amounts: Sequence[float], right: float, place: int) -> tuple[float, ...]:
    """Sorted amounts, turned so that the right one is at its place, whatever rank a limit leaves it."""
    first = (amounts.index(right) - place) % len(amounts)
    return (*amounts[first:], *amounts[:first])


def _factor(one: float, other: float) -> float:
    return max(one, other) / min(one, other)
