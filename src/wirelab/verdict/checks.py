"""What was expected, against what was measured: pure functions from a Result to verdicts."""

from collections.abc import Iterable
from dataclasses import dataclass

from wirelab.errors import WirelabError
from wirelab.model.expect import Expectation
from wirelab.plan.flows import phase_ns
from wirelab.plan.types import Plan
from wirelab.results.result import Result
from wirelab.results.values import Figure, Text, printable
from wirelab.results.window import in_window, own_time_ns
from wirelab.units import SIZE, TIME, rounded
from wirelab.verdict.evidence import evidence
from wirelab.verdict.laws import LAWS
from wirelab.verdict.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was judged, with its proof.

    ``expected`` and ``measured`` are as a person reads them, ``value`` is the measured number in the
    metric's base unit, None where there is none. ``why`` is the scenario's own reason for expecting
    it. ``explanation`` is the sentence that the counters prove it with. ``subject`` and ``metric`` are
    None where no expectation was judged, but a law or the lab.
    """

    name: Text
    expected: Text
    measured: Text
    verdict: Verdict
    why: Text | None = None
    explanation: Text | None = None
    value: Figure | None = None
    subject: Text | None = None
    metric: Text | None = None

    @property
    def of_all_time(self) -> bool:
        """Whether it is no window that was judged."""
        return self.name == f"{self.subject}.{self.metric}"


def check(expectation: Expectation, plan: Plan, result: Result) -> Check:
    """Whether an expectation holds, and what shows it."""
    proof = evidence(expectation, result.timed(plan), result)
    if expectation.window is None:
        value = result.measured(expectation)
    else:
        value = in_window(expectation, plan, result.samples, result.flows, result.echoes, result.received)
        is_traffic = any(item.name == expectation.subject for item in plan.traffic)
        told_of = "all of its time" if is_traffic else "the whole run"
        proof = "; ".join([*_cut(expectation, plan, result), f"in {told_of}: {proof}"])
    if value is None:
        measured, holds = "nothing", False
        explanation = f"{_untold(expectation, plan, result)}; {proof}"
    else:
        measured, holds = expectation.shown(value), expectation.holds(value)
        explanation = proof if holds else f"{expectation.sentence(value)}; {proof}"
    return Check(
        name=expectation.name,
        expected=expectation.expected,
        measured=measured,
        verdict=Verdict.PASS if holds else Verdict.FAIL,
        why=expectation.why,
        explanation=explanation,
        value=value,
        subject=expectation.subject,
        metric=expectation.metric,
    )


def _cut(expectation: Expectation, plan: Plan, result: Result) -> list[str]:
    """What of a window is not of its subject's time, and so is not told of."""
    own = own_time_ns(expectation, plan, result.samples, result.flows, result.received)
    if expectation.window is None or own is None:
        return []
    from_ns, to_ns = expectation.window
    began_ns, over_ns = (instant_ns - phase_ns(plan.seed) for instant_ns in own)
    if over_ns <= from_ns:
        return [f"{expectation.subject} was over before the window, at {rounded(over_ns, TIME)}"]
    if began_ns <= from_ns and to_ns <= over_ns:
        return []
    part = (rounded(one, TIME) for one in (max(began_ns, from_ns), min(over_ns, to_ns)))
    return [f"the window is cut to the time of {expectation.subject}, {' to '.join(part)}"]


def _untold(expectation: Expectation, plan: Plan, result: Result) -> str:
    """Why there is no figure: a transfer was ended when its time was over, or nothing came through."""
    reached = result.flows[expectation.subject].reached_bytes if expectation.subject in result.flows else None
    flow = next((flow for flow in plan.flows if flow.name == expectation.subject), None)
    if expectation.metric == "recovers_within":
        own = own_time_ns(expectation, plan, result.samples, result.flows, result.received)
        if own and not any(own[0] < event.at_ns < own[1] for event in plan.events):
            return "nothing happened in its time that it could recover from"
        return "it was never again as fast as before the first event, or nothing had come by then"
    if reached is None or flow is None or flow.size_bytes is None:
        when = " in the window" if expectation.window else ""
        return f"nothing came through{when} that would tell {expectation.metric}"
    shares = f"{rounded(reached, SIZE)} of {rounded(flow.size_bytes, SIZE)}"
    return f"it was not done in {rounded(flow.duration_ns, TIME)} and some grace: {shares} had come"


def check_all(expectations: Iterable[Expectation], plan: Plan, result: Result) -> tuple[Check, ...]:
    """The checks of a variant: first the laws it broke, if any, then its expectations in order."""
    judged = (check(expectation, plan, result) for expectation in expectations)
    return (*check_laws(plan, result), *judged)


def check_laws(plan: Plan, result: Result) -> tuple[Check, ...]:
    """Every violation of every law, in the laws' order; empty for a sound run."""
    linked = result.linked(plan)
    return tuple(
        Check(f"law.{law.__name__}", str(expected), str(measured), Verdict.ERROR, explanation=message)
        for law in LAWS
        for expected, measured, message in law(linked, result)
    )


def check_breaks(name: str, checks: Iterable[Check]) -> Check:
    """Whether a control fails the expectation ``name``, as it must, or the expectation proves nothing."""
    judged = next((check for check in checks if check.name == name), None)
    broken = judged is not None and judged.verdict is Verdict.FAIL
    measured = judged.measured if judged else "nothing"
    return Check(
        name=f"breaks {name}",
        expected="fail",
        measured=str(judged.verdict) if judged else "nothing",
        verdict=Verdict.PASS if broken else Verdict.FAIL,
        explanation=judged.explanation
        if judged and broken
        else f"control breaks nothing: {name} still holds, measured {measured}",
        subject=judged.subject if judged else None,
        metric=judged.metric if judged else None,
    )


def not_passed(checks: Iterable[Check]) -> list[Check]:
    """Those that do not hold, a broken lab or law first."""
    bad = [check for check in checks if check.verdict is not Verdict.PASS]
    return sorted(bad, key=lambda check: check.verdict is not Verdict.ERROR)


def broken_lab(error: WirelabError) -> Check:
    """The check that stands for a lab which broke, or for a scenario that cannot be tested here.

    A dying lab may have any byte in its last words: what nobody should see is replaced.
    """
    verdict = Verdict.SKIP if error.exit_code == Verdict.SKIP.exit_code else Verdict.ERROR
    hint = error.hint and printable(error.hint)
    return Check("lab", "a finished run", "none", verdict, hint, printable(error.message))
