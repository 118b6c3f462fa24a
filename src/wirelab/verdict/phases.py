"""Which speed a line had in which part of a flow's time, where events had its ports look for a link again."""

from itertools import pairwise
from typing import NamedTuple

from wirelab.model.modes import MODE_OF
from wirelab.plan.event import states
from wirelab.plan.path import Hop
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.results.counters import window
from wirelab.results.result import Result


class Phase(NamedTuple):
    """A part of a flow's time in which a line had one speed, as soon as it had a link again."""

    from_ns: int
    until_ns: int
    rate_bps: int


def phases(begun: Plan, hop: Hop, flow: Flow, result: Result) -> list[Phase]:
    """The phases of a line of ``result.linked(begun, flow)``, of which the last has the speed of the hop."""
    changes_ns = result.happened.relinked.get(hop.out.name, ())
    inside_ns = [at_ns for at_ns in changes_ns if flow.start_ns < at_ns < flow.end_ns]
    instants_ns = list(pairwise([flow.start_ns, *inside_ns, flow.end_ns]))
    seen = [(one.at_ns, one.ports[hop.out.name].link.speed_bps) for one in result.snapshots.values()]
    begun_bps = result.snapshots[window(flow.name)[0]].ports[hop.out.name].link.speed_bps
    seen = [(flow.start_ns, begun_bps), *seen]
    found = []
    for from_ns, until_ns in instants_ns[:-1]:
        # An event may have come and gone while nobody looked: then there is only what the ports offered.
        known_bps = [bps for at_ns, bps in seen if bps and from_ns <= at_ns < until_ns]
        rate_bps = known_bps[-1] if known_bps else _agreed_bps(_state_at(begun, from_ns), hop)
        found.append(Phase(from_ns, until_ns, rate_bps))
    return [*found, Phase(*instants_ns[-1], hop.rate_bps)]


def _state_at(begun: Plan, at_ns: int) -> Plan:
    return [state for begun_ns, state in states(begun) if begun_ns <= at_ns][-1]


def _agreed_bps(state: Plan, hop: Hop) -> int:
    """What the ends of a line come to: the fastest that both offer, else the speed of the slower one."""
    out, into = (state.port(end.name) for end in (hop.out, hop.into))
    common = set(out.advertise) & set(into.advertise) if out.autoneg and into.autoneg else set()
    speeds_bps = (MODE_OF[name].speed_bps for name in common)
    return max(speeds_bps, default=min(out.speed_bps, into.speed_bps))
