"""Which mechanism bounds each flow, decided by what counters say: pure functions of a Plan and its Result."""

from collections.abc import Iterable
from typing import Final

from wirelab.plan.path import Hop, spanned
from wirelab.plan.traffic import Copy, Flow
from wirelab.plan.types import Plan
from wirelab.results.result import Result
from wirelab.units import PPM, RATE, RATIO, rounded
from wirelab.verdict.busy import active_ns, busy
from wirelab.verdict.explanation import Bottleneck, Busy, Mechanism
from wirelab.verdict.happenings import happenings

SATURATED_PPM: Final = 900_000
"""From this share of a flow's time on, what serves it has no room for more: the rest is its beginning."""
_TIE_PPM: Final = 5_000
_PAUSED_PPM: Final = 100_000
_MOST_BUSY_NAMED: Final = 3
_IDLE_PPM: Final = 1_000

_LOST_ON_THE_WAY: Final = frozenset(
    {"netem", "police", "rx_fcs", "rx_collision", "tx_collisions", "rx_oversize", "rx_down", "tx_down"}
)


def bottlenecks(plan: Plan, result: Result) -> tuple[Bottleneck, ...]:
    """The bottleneck of each flow, in the Plan's order."""
    linked = result.linked(plan)
    return tuple(bottleneck(linked, flow, result) for flow in linked.flows)


def bottleneck(plan: Plan, flow: Flow, result: Result) -> Bottleneck:
    """What bounds one flow; ``plan`` is one with what the ports agreed on.

    What was busy all the time bounds it; where nothing was, what was lost on its way; else who was told to
    stop; else the program that sends; else TCP's window, which is all that is left.
    """
    there = spanned(plan, flow.sender, flow.receiver)
    both = (*there, *spanned(plan, flow.receiver, flow.sender))
    measured = result.flows[flow.name]
    servers = busy(plan, flow, result)
    worth_it = (one for one in servers if one.share_ppm >= _IDLE_PPM)
    busiest = sorted(worth_it, key=lambda one: -one.share_ppm)[:_MOST_BUSY_NAMED]
    told = [_said(one) for one in busiest]
    evidence = (*told, *happenings(plan, result, both, flow.name))
    if not measured.connected:
        found = (Mechanism.LOSS, f"losses between {flow.sender} and {flow.receiver}")
        return Bottleneck(flow.name, *found, evidence[len(told) :])
    if (first := _saturated(servers)) is not None:
        # What it says itself comes first, whatever is as busy.
        others = tuple(words for words in evidence if words != _said(first))
        return Bottleneck(flow.name, first.mechanism, first.where, (_said(first), *others))
    mechanism, where = (
        _losing(plan, both, flow, result)
        or _paused(there, flow, result)
        or _waiting(flow)
        or (Mechanism.WINDOW, f"the window of {flow.sender}")
    )
    if measured.goodput_bps is not None and measured.path_bps:
        share_ppm = round(measured.goodput_bps * PPM / measured.path_bps)
        most = rounded(measured.path_bps, RATE)
        evidence = (*evidence, f"it has {rounded(share_ppm, RATIO, 2)} of the {most} that its path carries")
    return Bottleneck(flow.name, mechanism, where, evidence)


def _said(one: Busy) -> str:
    return f"{one.where} was busy {rounded(one.share_ppm, RATIO, 3)} of the time"


def _saturated(servers: Iterable[Busy]) -> Busy | None:
    """The busiest that has no room for more.

    Of several as busy it is the first on the way: it makes the others as busy as itself, and what would have
    to wait waits there.
    """
    full = [one for one in servers if one.share_ppm >= SATURATED_PPM]
    most_ppm = max((one.share_ppm for one in full), default=0)
    return next((one for one in full if one.share_ppm >= most_ppm - _TIE_PPM), None)


def _losing(plan: Plan, way: Iterable[Hop], flow: Flow, result: Result) -> tuple[Mechanism, str] | None:
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
        return Mechanism.LOSS, f"losses at {port.label}"
    small = {module.name for module in plan.modules}
    kind = Mechanism.FIFO if port.node in small or cause != "queue" else Mechanism.QUEUE
    return kind, f"the {kind} of {port.label}"


def _paused(way: Iterable[Hop], flow: Flow, result: Result) -> tuple[Mechanism, str] | None:
    """The port that was silent longest on the way of a flow, because its peer asked for it."""
    silences = {hop.out.label: result.change(hop.out.name, flow.name)["tx_paused_ns"] for hop in way}
    longest = max(silences, key=silences.__getitem__, default="")
    if silences.get(longest, 0) * PPM < _PAUSED_PPM * active_ns(flow, result):
        return None
    return Mechanism.PAUSE, f"PAUSE at {longest}"


def _waiting(flow: Flow) -> tuple[Mechanism, str] | None:
    """A copy whose stages, none of them busy all the time, wait for each other."""
    if isinstance(flow, Copy) and flow.pipeline == "sequential":
        return Mechanism.APPLICATION, f"the copy of {flow.sender}, one thing after the other"
    return None
