"""What was expected, against what was measured: pure functions from a Result to verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wirelab.model.expect import CONNECTS, DUPLEX, LINK, NETWORK, PRIORITIES
from wirelab.results.ping import mean, percentile
from wirelab.units import NS_PER_S, PPM
from wirelab.verdict.explain import evidence, sentence
from wirelab.verdict.laws import check_laws
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from wirelab.errors import WirelabError
    from wirelab.model.expect import Expectation
    from wirelab.plan.types import Plan
    from wirelab.results.flow import FlowResult
    from wirelab.results.result import PortResult, Result


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was judged, with its proof.

    ``expected`` and ``measured`` are as a person reads them, ``value`` is the measured number in the
    metric's base unit, None where there is none. ``why`` is the scenario's own reason for expecting
    it. ``explanation`` is the sentence that the counters prove it with.
    """

    name: str
    expected: str
    measured: str
    verdict: Verdict
    why: str | None = None
    explanation: str | None = None
    value: float | None = None


def measure(expectation: Expectation, result: Result) -> float | None:
    """The value that an expectation is about, in its base unit; None if nothing came that would tell it.

    A port's and the network's figures are over the whole run. Raises KeyError for a subject that
    the variant does not have: a model that was checked names none.
    """
    subject, metric = expectation.subject, expectation.metric
    if subject == NETWORK:
        return _network(metric, result)
    if metric in _PERCENTS:
        return percentile(result.rtts_us(subject), _PERCENTS[metric])
    if subject in result.flows:
        return _FLOW[metric](result.flows[subject])
    if subject in result.pings:
        ping = result.pings[subject]
        return ping.lost_ppm if metric == "lost" else mean(ping.rtts_us)
    return _port(metric, result.ports[subject], result)


def check(expectation: Expectation, plan: Plan, result: Result) -> Check:
    """Whether an expectation holds, and what shows it."""
    value = measure(expectation, result)
    if value is None:
        return Check(
            expectation.name,
            expectation.expected,
            "nothing",
            Verdict.FAIL,
            expectation.why,
            f"nothing came through that would tell {expectation.metric}",
        )
    holds = expectation.holds(value)
    proof = evidence(expectation, plan, result)
    return Check(
        name=expectation.name,
        expected=expectation.expected,
        measured=expectation.shown(value),
        verdict=Verdict.PASS if holds else Verdict.FAIL,
        why=expectation.why,
        explanation=proof if holds else f"{sentence(expectation, value)}; {proof}",
        value=value,
    )


def check_all(expectations: Iterable[Expectation], plan: Plan, result: Result) -> tuple[Check, ...]:
    """The checks of a variant: first the laws it broke, if any, then its expectations in order."""
    broken = tuple(
        Check(f"law.{breach.law}", breach.expected, breach.measured, Verdict.ERROR, None, breach.message)
        for breach in check_laws(plan, result)
    )
    return broken + tuple(check(each, plan, result) for each in expectations)


def check_breaks(name: str, checks: Iterable[Check]) -> Check:
    """Whether a control fails the expectation ``name``, as it must, or the expectation proves nothing."""
    found = next((each for each in checks if each.name == name), None)
    broken = found is not None and found.verdict is Verdict.FAIL
    measured = found.measured if found else "nothing"
    return Check(
        name=f"breaks {name}",
        expected="fail",
        measured=str(found.verdict) if found else "nothing",
        verdict=Verdict.PASS if broken else Verdict.FAIL,
        why=None,
        explanation=found.explanation
        if found and broken
        else f"control breaks nothing: {name} still holds, measured {measured}",
    )


def broken_lab(error: WirelabError) -> Check:
    """The check that stands for a lab which broke, or for a scenario that cannot be tested here."""
    verdict = Verdict.SKIP if error.exit_code == Verdict.SKIP.exit_code else Verdict.ERROR
    return Check("lab", "a finished run", "none", verdict, error.hint, error.message)


def _network(metric: str, result: Result) -> float:
    match metric:
        case "drops":
            return sum(sum(port.drops.values()) for port in result.ports.values())
        case "pause_sent":
            return sum(port.tx_pause_frames for port in result.ports.values())
        case "retransmits":
            return sum(flow.retransmits or 0 for flow in result.flows.values())
        case "duration":
            return max((_duration_ns(flow) or 0 for flow in result.flows.values()), default=0)
    raise KeyError(metric)


def _port(metric: str, port: PortResult, result: Result) -> float:
    if metric in _COUNTED:
        return _COUNTED[metric](port)
    if metric in _LINKED:
        return _LINKED[metric](port)
    return _SPENT_NS[metric](port) * PPM / max(result.elapsed_ns, 1)


def _lost_ppm(flow: FlowResult) -> float | None:
    if flow.lost_datagrams is None or not flow.sent_datagrams:
        return None
    return flow.lost_datagrams * PPM / flow.sent_datagrams


def _duration_ns(flow: FlowResult) -> float | None:
    return None if flow.duration_s is None else flow.duration_s * NS_PER_S


_PERCENTS: Final[Mapping[str, int]] = {"rtt_p50": 50, "rtt_p90": 90, "rtt_p99": 99}

_FLOW: Final[Mapping[str, Callable[[FlowResult], float | None]]] = {
    "goodput": lambda flow: flow.goodput_bps,
    "retransmits": lambda flow: flow.retransmits,
    "rtt": lambda flow: flow.rtt.mean_us if flow.rtt else None,
    "duration": _duration_ns,
    "lost": _lost_ppm,
    "connects": lambda flow: CONNECTS.values.index("yes" if flow.connected else "no"),
}


def _paused_ns(priority: int) -> Callable[[PortResult], int]:
    return lambda port: port.priority_paused_ns[priority]


_COUNTED: Final[Mapping[str, Callable[[PortResult], int]]] = {
    "drops": lambda port: sum(port.drops.values()),
    "pause_sent": lambda port: port.tx_pause_frames,
    "pause_received": lambda port: port.rx_pause_frames,
    "queue_high_water": lambda port: port.queue_high_water_bytes,
    "buffer_high_water": lambda port: port.buffer_high_water_bytes,
    "ecn_marks": lambda port: port.ecn_marks,
    "collisions": lambda port: port.collisions,
    "late_collisions": lambda port: port.late_collisions,
    "pfc_sent": lambda port: port.tx_pfc_frames,
    "pfc_received": lambda port: port.rx_pfc_frames,
}

# Without a link its speed is 0 and its duplex no word at all.
_LINKED: Final[Mapping[str, Callable[[PortResult], int]]] = {
    "link": lambda port: LINK.values.index("up" if port.link else "down"),
    "speed": lambda port: port.speed_bps or 0,
    "duplex": lambda port: DUPLEX.values.index(port.duplex) if port.duplex else -1,
}

# Told as a share of the whole time.
_SPENT_NS: Final[Mapping[str, Callable[[PortResult], int]]] = {
    "paused": lambda port: port.paused_ns,
    "cpu_busy": lambda port: port.cpu_busy_ns,
    **{f"paused_priority_{priority}": _paused_ns(priority) for priority in range(PRIORITIES)},
}
