"""Which mechanism bounds each flow, decided by what counters say: pure functions of a Plan and its Result."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from wirelab.plan.path import Hop, spanned
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.results.counters import window
from wirelab.results.result import Result
from wirelab.units import PPM, RATE, RATIO, TIME, rounded, show
from wirelab.verdict.busy import active_ns, busy, busy_back, full_while_slower
from wirelab.verdict.chain import chain
from wirelab.verdict.clock import late
from wirelab.verdict.explanation import Bottleneck, Busy, Mechanism
from wirelab.verdict.happenings import happenings, shut, silences_ns
from wirelab.verdict.outage import outage
from wirelab.verdict.too_long import too_long

NO_FLOW: Final = "no flow: nothing has a bottleneck"

SATURATED_PPM: Final = 900_000
"""From this share of a flow's time on, what serves it has no room for more: the rest is its beginning."""
_TIE_PPM: Final = 5_000
_PAUSED_PPM: Final = 100_000
_MOST_BUSY_NAMED: Final = 3
_IDLE_PPM: Final = 1_000

_OWN_PPM: Final = 200_000
_WINDOWS: Final = {"tcp": "window", "udp": "socket buffer"}
"""What bounds how much may be on its way, or wait to be sent."""

_Found = tuple[Mechanism, str, tuple[str, ...]]
"""What bounds a flow, where, and at which ports or nodes that is."""

_LOST_ON_THE_WAY: Final = frozenset(
    {"netem", "police", "rx_fcs", "rx_collision", "tx_collisions", "rx_oversize", "rx_down", "tx_down"}
)


def bottlenecks(plan: Plan, result: Result) -> tuple[Bottleneck, ...]:
    """The bottleneck of each flow and how it comes about, in the Plan's order."""
    plan = result.timed(plan)
    found = ((flow, bottleneck(plan, flow, result)) for flow in plan.flows)
    return tuple(
        replace(one, chain=chain(result.linked(plan, flow), flow, result, one)) for flow, one in found
    )


def bottleneck(begun: Plan, flow: Flow, result: Result) -> Bottleneck:
    """What bounds one flow of a Plan.

    What was busy all the time bounds it; where nothing was, what serves its acknowledgements, if that was;
    else what events made of its way for a while; else what was lost on its way; else who was told to stop;
    else the program that sends; else TCP's window, which is all that is left.
    """
    plan = result.linked(begun, flow)
    there = spanned(plan, flow.sender, flow.receiver)
    both = (*there, *spanned(plan, flow.receiver, flow.sender))
    measured = result.flows[flow.name]
    servers = busy(begun, flow, result)
    worth_it = (one for one in servers if one.share_ppm >= _IDLE_PPM)
    busiest = sorted(worth_it, key=lambda one: -one.share_ppm)[:_MOST_BUSY_NAMED]
    told = [_said(one) for one in busiest]
    evidence = (*told, *happenings(begun, result, both, flow.name), *late(begun, flow, result))
    if (refused := too_long(plan, flow, measured)) is not None:
        evidence = (*evidence, refused.words)
    if not measured.connected:
        mechanism, where, at = _unconnected(begun, flow)
        return Bottleneck(flow.name, mechanism, where, evidence[len(told) :], at)
    first = _saturated(servers)
    if first is None and flow.protocol == "tcp":
        first = _saturated(busy_back(begun, flow, result))
    if first is not None:
        # What it says itself comes first, whatever is as busy.
        others = tuple(words for words in evidence if words != _said(first))
        return Bottleneck(flow.name, first.mechanism, first.where, (_said(first), *others), first.at)
    mechanism, where, at = (
        _slowed(there, flow, result)
        or _for_a_while(begun, there, flow, result)
        or _colliding(there, flow, result)
        or _refused(plan, flow, result)
        or _losing(plan, both, flow, result)
        or _paused(there, flow, result)
        or _waiting(flow)
        or (Mechanism.WINDOW, f"the {_WINDOWS[flow.protocol]} of {flow.sender}", (flow.sender,))
    )
    if measured.goodput_bps is not None and measured.path_bps:
        share_ppm = round(measured.goodput_bps * PPM / measured.path_bps)
        most = rounded(measured.path_bps, RATE)
        evidence = (*evidence, f"it has {rounded(share_ppm, RATIO, 2)} of the {most} that its path carries")
    return Bottleneck(flow.name, mechanism, where, evidence, at)


def where_lost(begun: Plan, flow: Flow, result: Result) -> Bottleneck | None:
    """Where most of what a flow lost was lost, whatever bounds it; None where it lost nothing."""
    plan = result.linked(begun, flow)
    both = (*spanned(plan, flow.sender, flow.receiver), *spanned(plan, flow.receiver, flow.sender))
    found = _losing(plan, both, flow, result)
    if found is None:
        return None
    mechanism, where, at = found
    return Bottleneck(flow.name, mechanism, where, tuple(happenings(begun, result, both, flow.name)), at)


def _said(one: Busy) -> str:
    return f"{one.where} was busy {rounded(one.share_ppm, RATIO, 3)} of the time"


def _saturated(servers: Iterable[Busy]) -> Busy | None:
    """The busiest that has no room for more.

    Of several as busy it is the one that the flow has most of: on the others it could have more of what the
    others have. Of these it is the first on the way, which makes the next one as busy as itself.
    """
    full = [one for one in servers if one.share_ppm >= SATURATED_PPM]
    most_ppm = max((one.share_ppm for one in full), default=0)
    tied = [one for one in full if one.share_ppm >= most_ppm - _TIE_PPM]
    most_own_ppm = max((one.own_ppm for one in tied), default=0)
    return next((one for one in tied if one.own_ppm >= most_own_ppm - _OWN_PPM), None)


def _unconnected(plan: Plan, flow: Flow) -> _Found:
    """What kept the ends of a flow apart: what was shut when it began, else what was lost between them."""
    for closed in shut(flow, plan):
        return Mechanism.LOSS, f"{closed.what}, which was {closed.how}", closed.at
    ends = (flow.sender, flow.receiver)
    return Mechanism.LOSS, f"losses between {' and '.join(ends)}", ends


def _slowed(way: Iterable[Hop], flow: Flow, result: Result) -> _Found | None:
    """The line that lost its link while the flow ran, and has it again at a lower speed."""
    first = result.snapshots[window(flow.name)[0]].ports
    for hop in way:
        if (first[hop.out.name].link.speed_bps or 0) > hop.rate_bps:
            return _line(hop, f"which came back at {rounded(hop.rate_bps, RATE)}")
    return None


def _line(hop: Hop, how: str) -> _Found:
    where = f"the line from {hop.out.label} to {hop.into.label}, {how}"
    return Mechanism.LINE, where, (hop.out.label, hop.into.label)


def _for_a_while(begun: Plan, way: Iterable[Hop], flow: Flow, result: Result) -> _Found | None:
    """What events made of its way for a part of its time, if not for good: a slow line, or none at all.

    Of both it is what lasted longer.
    """
    found: list[tuple[int, _Found]] = []
    for hop in way:
        for rate_bps, slow_ns in full_while_slower(begun, hop, flow, result, SATURATED_PPM).items():
            times = f"{rounded(slow_ns, TIME)} of {rounded(flow.duration_ns, TIME)}"
            found.append((slow_ns, _line(hop, f"at {show(rate_bps, RATE)} for {times}")))
    if (interrupted := outage(begun, flow, result)) is not None:
        lost_ns, hop = interrupted
        where = f"an interruption between {hop.out.label} and {hop.into.label}"
        found.append((lost_ns, (Mechanism.LOSS, where, (hop.out.label, hop.into.label))))
    return max(found, key=lambda one: one[0], default=(0, None))[1]


def _refused(plan: Plan, flow: Flow, result: Result) -> _Found | None:
    """The router for which the datagrams of a flow are too long."""
    found = too_long(plan, flow, result.flows[flow.name])
    return (Mechanism.LOSS, f"the MTU of {found.at}", (found.at,)) if found else None


def _colliding(way: Iterable[Hop], flow: Flow, result: Result) -> _Found | None:
    """The shared medium on which the frames of a flow met others, and had to be sent again."""
    for hop in way:
        ends = (result.change(port.name, flow.name) for port in (hop.out, hop.into))
        if hop.out.duplex == "half" and any(change.get("tx_collisions") for change in ends):
            where = f"the shared line from {hop.out.label} to {hop.into.label}"
            return Mechanism.LINE, where, (hop.out.label, hop.into.label)
    return None


def _losing(plan: Plan, way: Iterable[Hop], flow: Flow, result: Result) -> _Found | None:
    """Where most of what a flow's way lost was lost, if the flow had to send anything again for it."""
    measured = result.flows[flow.name]
    if not (measured.retransmits or measured.lost_datagrams):
        return None
    ports = {port.name: port for hop in way for port in (hop.out, hop.into)}
    lost = [
        (frames, port, cause)
        for port in ports.values()
        for cause, frames in result.change(port.name, flow.name).drops_by_cause.items()
        if frames
    ]
    if not lost:
        return None
    _, port, cause = max(lost, key=lambda one: one[0])
    if cause in _LOST_ON_THE_WAY:
        return Mechanism.LOSS, f"losses at {port.label}", (port.label,)
    small = {module.name for module in plan.modules}
    kind = Mechanism.FIFO if port.node in small or cause != "queue" else Mechanism.QUEUE
    return kind, f"the {kind} of {port.label}", (port.label,)


def _paused(way: Iterable[Hop], flow: Flow, result: Result) -> _Found | None:
    """The port that was silent longest on the way of a flow, because its peer asked for it."""
    silences = {
        hop.out: sum(silences_ns(hop.out, result.change(hop.out.name, flow.name), flow).values())
        for hop in way
    }
    longest = max(silences, key=silences.__getitem__, default=None)
    if longest is None or silences[longest] * PPM < _PAUSED_PPM * active_ns(flow, result):
        return None
    return Mechanism.PAUSE, f"{'PFC' if longest.pfc else 'PAUSE'} at {longest.label}", (longest.label,)


def _waiting(flow: Flow) -> _Found | None:
    """A copy whose stages, none of them busy all the time, wait for each other."""
    if flow.blocks and flow.blocks.in_turn:
        where = f"the copy of {flow.sender}, one thing after the other"
        return Mechanism.APPLICATION, where, (flow.sender,)
    return None
