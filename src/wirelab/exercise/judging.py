"""Whether an answer is what the run shows, for each kind of question."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from wirelab.exercise.answers import ARROW, NO_PORT, NOBODY
from wirelab.exercise.figures import Figure, Measurements, nearness, share_of
from wirelab.exercise.measure import Results
from wirelab.exercise.network import Networks
from wirelab.model.assignment import Assignment
from wirelab.model.exercise import (
    Asked,
    ChoiceQuestion,
    ElementQuestion,
    FaultQuestion,
    MechanismQuestion,
    NumberQuestion,
    PausedQuestion,
    PortQuestion,
)
from wirelab.model.fill import as_number, figure_number
from wirelab.model.formula import amount_of, read_formula
from wirelab.model.metric import METRICS
from wirelab.plan.path import hops
from wirelab.runner.run_result import VariantResult
from wirelab.units import RATIO, TIME, UnitError, coherent, parse_range, rounded
from wirelab.verdict.bottleneck import bottleneck
from wirelab.verdict.explanation import Bottleneck
from wirelab.verdict.verdict import Verdict

_HALF: Final = 0.5
_ALIKE: Final = 0.01
"""Options that are as good as the best to this share are right, too."""
_LABEL: Final = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)?")


@dataclass(frozen=True, slots=True)
class Judged:
    """The share of the points that an answer has, None where the lab broke; why, and what the run shows.

    What ``is_computed`` no run shows: it comes of the student's figures.
    """

    share: float | None
    words: str
    measured: str = ""
    is_computed: bool = False


def judged(exercise: Assignment, networks: Networks, results: Results, asked: Asked, said: str) -> Judged:
    """An answer against what the run of its question shows. One that is no answer has no points."""
    run = exercise.run(asked.run).name
    runs = {one.name: results[networks.run(one.name)] for one in exercise.said.networks}
    if isinstance(asked, ChoiceQuestion):
        shown = [results[networks.option(asked, number)] for number in range(1, len(asked.options) + 1)]
    else:
        shown = []
    for variant in (runs[run], *shown):
        if variant.digest is None or variant.evidence is None:
            return Judged(None, why_unmarked(variant))
    judge = _Judge(exercise, networks, runs, run, shown)
    return _KINDS[type(asked)](judge, asked, said.strip())


@dataclass(frozen=True, slots=True)
class _Judge:
    exercise: Assignment
    networks: Networks
    runs: Mapping[str, VariantResult]
    run: str
    options: list[VariantResult]

    @property
    def variant(self) -> VariantResult:
        """What came of the run that the question is about."""
        return self.runs[self.run]

    def port(self, asked: PortQuestion, said: str) -> Judged:
        values = {label: self.variant.figure(label, asked.most) or 0.0 for label in self.variant.ports}
        most = max(values.values())
        right = [label for label, value in values.items() if value == most] if most else [NO_PORT]
        shown = METRICS[asked.most].shown(most)
        return _right(said in right, said, f"{' or '.join(right)}, {shown}" if most else "no port has any")

    def paused(self, _: PausedQuestion, said: str) -> Judged:
        silences = dict(self._silences())
        longest = max(silences.values(), default=0)
        if not longest:
            return _right(said == NOBODY, said, "nobody was paused")
        right = [pair for pair, silent_ns in silences.items() if silent_ns == longest]
        shown = " and ".join(f"{pair}, for {rounded(longest, TIME)}" for pair in right)
        if silences.get(said) and said not in right:
            short = rounded(silences[said], TIME)
            return Judged(_HALF, f"it did, for {short}; another was paused for longer", shown)
        return _right(said in right, said, shown)

    def mechanism(self, asked: MechanismQuestion, said: str) -> Judged:
        found = self._bottleneck(asked.flow)
        shown = f"{found.mechanism}: {found.where}"
        return _right(said.casefold() == str(found.mechanism).casefold(), said, shown)

    def element(self, asked: ElementQuestion, said: str) -> Judged:
        where = self._bottleneck(asked.flow).where
        named = set(_LABEL.findall(where))
        return _right(said in named | {label.partition(".")[0] for label in named}, said, where)

    def number(self, asked: NumberQuestion, said: str) -> Judged:
        return _near(said, self._figure(asked.of, asked.unit, self.runs))

    def choice(self, asked: ChoiceQuestion, said: str) -> Judged:
        values = [self._amount(asked.of, variant) for variant in self.options]
        right = right_options(asked.right, values, self._amount(asked.of, self.variant))
        shown = f"option {' or '.join(str(one) for one in right)}" if right else "none of the options"
        if said not in map(str, range(1, len(values) + 1)):
            return Judged(0.0, f"there is no option {said[:20]}", shown)
        return _right(int(said) in right, f"option {said}", shown)

    def fault(self, asked: FaultQuestion, said: str) -> Judged:
        fault = self.networks.figures.fault
        if fault is None:
            return Judged(0.0, "there is no fault")
        if asked.what == "cause":
            return _right(said == fault.cause, said, fault.cause)
        if asked.what == "element":
            same_node = said.partition(".")[0] == fault.element.partition(".")[0]
            if same_node and said != fault.element:
                return Judged(_HALF, "the right device", fault.element)
            return _right(said == fault.element, said, fault.element)
        return self._fault_figure(fault.figure, said)

    def _fault_figure(self, of: str | None, said: str) -> Judged:
        if of is None:
            return Judged(1.0, "this fault has no figure")
        values = self.networks.figures.values
        amount = amount_of(read_formula(of), lambda reference: figure_number(reference, values).amount)
        written = as_number(said)
        shown = values.get(of, of)
        if written is None or amount is None:
            return Judged(0.0, "that is no number", shown)
        own = as_number(shown)
        if own is not None and own.powers != written.powers:
            return Judged(0.0, "that is another quantity", shown)
        off = abs(written.amount - amount) / abs(amount) if amount else float(written.amount != 0)
        return Judged(share_of(off), f"{100 * off:.0f} % off", shown)

    def _figure(self, of: str, unit: str | None, runs: Mapping[str, VariantResult]) -> Figure:
        return Measurements(self.exercise, self.networks.figures, runs).figure(of, self.run, unit)

    def _amount(self, of: str, variant: VariantResult) -> float | None:
        """A formula with another network in the place of the question's."""
        return self._figure(of, None, {**self.runs, self.run: variant}).amount

    def _bottleneck(self, name: str) -> Bottleneck:
        evidence = self.variant.evidence
        assert evidence is not None  # noqa: S101 - `judged` has looked
        flow = next(flow for flow in evidence.plan.flows if flow.name == name)
        return bottleneck(evidence.plan, flow, evidence.result)

    def _silences(self) -> Iterator[tuple[str, int]]:
        """Who paused whom, and for how long."""
        evidence = self.variant.evidence
        for hop in hops(evidence.plan) if evidence else ():
            port = self.variant.ports[hop.out.label]
            silent_ns = max(port.paused_ns, *port.priority_paused_ns)
            if silent_ns:
                yield f"{hop.into.label}{ARROW}{hop.out.label}", silent_ns


_KINDS: Final[Mapping[type[Asked], Callable[..., Judged]]] = {
    PortQuestion: _Judge.port,
    PausedQuestion: _Judge.paused,
    MechanismQuestion: _Judge.mechanism,
    ElementQuestion: _Judge.element,
    NumberQuestion: _Judge.number,
    ChoiceQuestion: _Judge.choice,
    FaultQuestion: _Judge.fault,
}


def why_unmarked(variant: VariantResult) -> str:
    """What is said where nothing can be marked: a lab that broke shows neither right nor wrong."""
    words = next((check.explanation for check in variant.checks if check.verdict is Verdict.ERROR), None)
    return f"the lab broke, so it is not marked: {words or variant.name}"


def right_options(right: str, values: list[float | None], network: float | None) -> list[int]:
    """The numbers of the options that are right, counted from 1."""
    known = {number: value for number, value in enumerate(values, 1) if value is not None}
    if not known:
        return []
    if right in ("highest", "lowest"):
        best = max(known.values()) if right == "highest" else min(known.values())
        return [number for number, value in known.items() if abs(value - best) <= _ALIKE * abs(best)]
    low, high = parse_range(right, RATIO)
    ratios = {number: value / network for number, value in known.items() if network}
    ppm = {number: ratio / coherent(1, RATIO) for number, ratio in ratios.items()}
    return [
        number
        for number, value in ppm.items()
        if (low is None or value >= low) and (high is None or value <= high)
    ]


def _near(said: str, figure: Figure) -> Judged:
    try:
        near = nearness(said, figure)
    except UnitError as error:
        return Judged(0.0, str(error), figure.shown, figure.is_computed)
    return Judged(near.share, near.words, figure.shown, figure.is_computed)


def _right(is_right: bool, said: str, shown: str) -> Judged:  # noqa: FBT001 - what it is about
    return Judged(float(is_right), "right" if is_right else f"the run does not show `{said}`", shown)
