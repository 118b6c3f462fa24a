"""The interruption of a flow: an event takes the link from a cable that carries it, and nothing comes."""

from itertools import pairwise
from typing import Final

from wirelab.plan.event import states
from wirelab.plan.path import Hop, carrying, crossing_ns
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.results.counting import Counted
from wirelab.results.result import Result
from wirelab.results.window import acknowledged
from wirelab.units import NS_PER_US, PPM
from wirelab.verdict.busy import active_ns

_WORTH_NAMING_PPM: Final = 20_000
"""Less of a flow's time bounds nothing, such as what a bond takes to move all to its other cable."""
_ROUND_TRIPS: Final = 2
"""Where a window is small nothing is acknowledged for one of them, whatever happens."""

_Gap = tuple[int, int]


def outage(begun: Plan, flow: Flow, result: Result) -> tuple[int, Hop] | None:
    """For how long nothing of a flow came because of events, and the first cable of them; None for never."""
    found: dict[_Gap, Hop] = {}
    gaps = _gaps(flow, begun, result)
    for (_, was), (at_ns, _) in pairwise(states(begun)):
        way = carrying(was, flow.sender, flow.receiver) if flow.start_ns < at_ns < flow.end_ns else ()
        hop = next((hop for hop in way if at_ns in result.happened.relinked.get(hop.out.name, ())), None)
        if hop is not None:
            # What was under way comes for a while yet.
            found = dict.fromkeys(_following(gaps, at_ns, 2 * crossing_ns(way)), hop) | found
    lost_ns = sum(until_ns - from_ns for from_ns, until_ns in found)
    if lost_ns * PPM < active_ns(flow, result) * _WORTH_NAMING_PPM:
        return None
    return lost_ns, found[min(found)]


def _following(gaps: list[_Gap], at_ns: int, late_ns: int) -> list[_Gap]:
    """The gaps that an instant was in or soon before: not by more than they last."""
    return [
        (from_ns, until_ns)
        for from_ns, until_ns in gaps
        if until_ns > at_ns and from_ns - at_ns <= until_ns - from_ns + late_ns
    ][:1]


def _gaps(flow: Flow, plan: Plan, result: Result) -> list[_Gap]:
    """The times in which nothing of a flow came, by the samples, but for those that a window makes."""
    rtt = result.flows[flow.name].rtt
    usual_ns = _ROUND_TRIPS * NS_PER_US * ((rtt.p50_us or rtt.mean_us) if rtt else 0)
    counted = _came(flow, plan, result)
    # Between two samples of which the later has more, some of it came.
    more = [(before[0], after[0]) for before, after in pairwise(counted) if after[1] > before[1]]
    ends_ns = [(counted[0][0],) * 2, *more, (counted[-1][0],) * 2] if counted else []
    silent = ((was[1], now[0]) for was, now in pairwise(ends_ns))
    return [gap for gap in silent if gap[1] - gap[0] > usual_ns]


def _came(flow: Flow, plan: Plan, result: Result) -> Counted:
    """What had come of a flow: what was acknowledged, else all that its receiver had received."""
    inside = [sample for sample in result.samples if flow.start_ns <= sample.at_ns <= flow.end_ns]
    names = [port.name for port in plan.ports_of(flow.receiver)]
    return acknowledged(flow, inside) or [
        (sample.at_ns, sum(sample.ports[name].rx_bytes for name in names)) for sample in inside
    ]
