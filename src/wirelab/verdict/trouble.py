"""Which figure of a flow is in trouble, and is to be helped: pure functions of a Plan and its Result."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import Field

from wirelab.model.expect import Expectation
from wirelab.model.metric import METRICS, NETWORK, Metric
from wirelab.plan.ceiling import ceiling_bps
from wirelab.plan.path import flow_path
from wirelab.plan.traffic import Flow, Iperf3, Item
from wirelab.plan.types import Plan
from wirelab.results.result import Result
from wirelab.results.rtt import FIGURES as RTT_FIGURES
from wirelab.results.rtt import Rtt
from wirelab.results.values import Amount, Text
from wirelab.units import NS_PER_US, PPM, RATIO, TIME, rounded
from wirelab.verdict.busy import received_bytes
from wirelab.verdict.explanation import Bottleneck, Mechanism
from wirelab.verdict.formulas import segment_bytes

GOODPUT: Final = "goodput"
DURATION: Final = "duration"
ROUND_TRIP: Final = "rtt_p50"
WAIT: Final = "wait"
"""What the table of settings calls it that a round trip is too long."""
LOSSES: Final = frozenset({"retransmits", "lost", "drops"})
ROUND_TRIPS: Final = frozenset(RTT_FIGURES)

USED_PPM: Final = 950_000
"""A flow that has so much of what its lines carry, or of what it sends, is as fast as it can be."""
LOST_PPM: Final = 10_000
"""From so much on that is lost or sent again it is trouble: less is how TCP finds its rate."""
WAITS_US: Final = 5_000
"""So long may a frame wait in a queue (RFC 8289, the target of CoDel)."""
_TIMES: Final = 2


@dataclass(frozen=True, slots=True)
class Trouble:
    """A figure that is to be helped: ``metric`` of ``subject``, in its base unit, and why it is that one.

    The subject is the flow itself, or what runs beside it and suffers from it; then others are told of it.
    """

    subject: Text
    metric: Annotated[Text, Field(pattern=f"^({'|'.join(METRICS)})$")]
    value: Amount
    why: Text

    @property
    def of(self) -> Metric:
        """The metric with all that is known of it."""
        return METRICS[self.metric]

    @property
    def is_speed(self) -> bool:
        """Whether a faster path could help it."""
        return self.metric not in LOSSES | ROUND_TRIPS

    def name(self, flow: str) -> str:
        """What a person calls it: the flow, if it is its goodput; else ``echo.rtt_p50``."""
        return flow if (self.subject, self.metric) == (flow, GOODPUT) else f"{self.subject}.{self.metric}"

    def words(self, found: Bottleneck) -> tuple[str, ...]:
        """What of the tables of settings may help it: against the bottleneck, and against itself.

        Where frames wait for a line that is full, all that is asked is how many of them do.
        """
        if self.metric in ROUND_TRIPS:
            waits_there = found.mechanism in {Mechanism.LINE, Mechanism.QUEUE}
            return (WAIT,) if waits_there else (WAIT, found.mechanism)
        return tuple(dict.fromkeys((found.mechanism, *(["loss"] if self.metric in LOSSES else []))))


def trouble(plan: Plan, flow: Flow, result: Result, expectations: Iterable[Expectation] = ()) -> Trouble:
    """What is to be helped of a flow: ``plan`` is what was measured, ``expectations`` what it should be.

    It is the figure that is worse than expected, the flow's own first; else the first of its own that is bad:
    goodput, of transfers beside each other the time until the last of them is done; what is lost, all of it
    where flow control is there to lose nothing; the round trip. Where nothing is, it is its goodput all the
    same.
    """
    return _bad(plan, flow, result, expectations) or Trouble(
        flow.name, GOODPUT, result.flows[flow.name].goodput_bps or 0.0, "no figure of it is in trouble"
    )


def in_trouble(plan: Plan, flow: Flow, result: Result, expectations: Iterable[Expectation] = ()) -> bool:
    """Whether any figure of a flow is."""
    return _bad(plan, flow, result, expectations) is not None


def _bad(plan: Plan, flow: Flow, result: Result, expectations: Iterable[Expectation]) -> Trouble | None:
    plan = result.timed(plan)
    flow = next(one for one in plan.flows if one.name == flow.name)
    return (
        _failing(plan, flow, result, expectations)
        or _slow(plan, flow, result)
        or _losing(plan, flow, result)
        or _overrun(plan, flow, result)
        or _late(plan, flow, result)
    )


def _failing(plan: Plan, flow: Flow, result: Result, expectations: Iterable[Expectation]) -> Trouble | None:
    """The first expectation of the flow, or of what has to do with it, that is missed on the bad side."""
    near = (flow.name, *_pings(plan, flow), *_ports(plan, flow), NETWORK)
    missed = [one for one in expectations if one.subject in near and one.window is None]
    for one in sorted(missed, key=lambda one: near.index(one.subject)):
        value = result.measured(one)
        if value is None:
            continue
        too_much = one.high is not None and value > one.high and one.of.better == "less"
        too_little = one.low is not None and value < one.low and one.of.better == "more"
        if too_much or too_little:
            return Trouble(one.subject, one.metric, value, f"{one.name}: {one.sentence(value)}")
    return None


def _slow(plan: Plan, flow: Flow, result: Result) -> Trouble | None:
    """Goodput; of transfers that run beside each other, the time until the last of them is done."""
    measured = result.flows[flow.name]
    most_bps = _lines_bps(result.linked(plan, flow), flow)
    if isinstance(flow, Iperf3):
        # Each of its connections is asked for so much.
        asked = (bps * flow.parallel for bps in (flow.bitrate_bps, flow.pacing_bps) if bps)
        most_bps = min((*asked, *([most_bps] if most_bps else [])), default=None)
    goodput_bps = measured.goodput_bps or 0.0
    if goodput_bps and most_bps and goodput_bps * PPM >= most_bps * USED_PPM:
        return None
    together = [one for one in plan.flows if one.overlaps(flow) and one.size_bytes is not None]
    share = rounded(goodput_bps * PPM / most_bps, RATIO, 2) if most_bps else "nothing"
    why = f"{flow.name} has {share} of what it could have"
    all_ns = result.measured(Expectation(NETWORK, DURATION, None, None))
    if flow.size_bytes is not None and len(together) > 1 and all_ns:
        return Trouble(NETWORK, DURATION, all_ns, f"{why}, beside {len(together) - 1} other transfers")
    return Trouble(flow.name, GOODPUT, goodput_bps, why)


def _lines_bps(plan: Plan, flow: Flow) -> float | None:
    """What the lines of its path could carry, if no bus and no CPU at their ends took any time."""
    ports = tuple(replace(port, bus=None, cpu=None) for port in plan.ports)
    return ceiling_bps(replace(plan, ports=ports), flow)


def _losing(plan: Plan, flow: Flow, result: Result) -> Trouble | None:
    measured = result.flows[flow.name]
    if measured.lost_ppm is not None and measured.lost_ppm >= LOST_PPM:
        why = f"{rounded(measured.lost_ppm, RATIO, 2)} of its datagrams are lost"
        return Trouble(flow.name, "lost", measured.lost_ppm, why)
    if not measured.retransmits or not measured.goodput_bps:
        return None
    segments = received_bytes(flow, result) / segment_bytes(plan, flow)
    again_ppm = measured.retransmits * PPM / max(segments, 1)
    if again_ppm < LOST_PPM:
        return None
    why = f"{rounded(again_ppm, RATIO, 2)} of its segments are sent again"
    return Trouble(flow.name, "retransmits", measured.retransmits, why)


def _overrun(plan: Plan, flow: Flow, result: Result) -> Trouble | None:
    """What a packet buffer on its way drops although it stops the sender: it should drop nothing."""
    for hop in flow_path(plan, flow):
        port = result.ports[hop.into.label]
        stops = hop.stops(flow.dscp or 0) and (port.tx_pause_frames or port.tx_pfc_frames)
        if stops and port.drops.get("rx_buffer"):
            why = f"{hop.into.label} loses frames although it stops {hop.out.label}"
            return Trouble(hop.into.label, "drops", port.dropped_frames, why)
    return None


def _late(plan: Plan, flow: Flow, result: Result) -> Trouble | None:
    """The median round trip while the flow runs: of an echo beside it, if there is one, else its own."""
    least_us = min((rtt.min_us for _, rtt in _seen(plan, flow, result)), default=0)
    beside = [one for name in _pings(plan, flow, whole=True) if (one := (name, result.pings[name].rtt))[1]]
    own = [(flow.name, rtt)] if (rtt := result.flows[flow.name].rtt) else []
    for name, seen in (*beside, *own)[:1]:
        now_us = seen.p50_us if seen else None
        if now_us and now_us >= _TIMES * least_us and now_us - least_us >= WAITS_US:
            times = " instead of ".join(rounded(one * NS_PER_US, TIME) for one in (now_us, least_us))
            return Trouble(
                name, ROUND_TRIP, now_us, f"the round trip of {name} is {times}: it waits behind {flow.name}"
            )
    return None


def _seen(plan: Plan, flow: Flow, result: Result) -> Iterator[tuple[str, Rtt]]:
    """The round trips between its ends, at whatever time."""
    ends = {flow.sender, flow.receiver}
    for ping in plan.pings:
        if {ping.sender, ping.receiver} == ends and (rtt := result.pings[ping.name].rtt):
            yield ping.name, rtt
    if rtt := result.flows[flow.name].rtt:
        yield flow.name, rtt


def _pings(plan: Plan, flow: Flow, *, whole: bool = False) -> list[str]:
    """The pings while a flow runs over a part of its way, back and forth; for ``whole`` between its ends."""
    ends, way = {flow.sender, flow.receiver}, set(_ports(plan, flow))
    beside = [ping for ping in plan.pings if ping.overlaps(flow)]
    if whole:
        return [ping.name for ping in beside if {ping.sender, ping.receiver} == ends]
    return [ping.name for ping in beside if not way.isdisjoint(_ports(plan, ping))]


def _ports(plan: Plan, item: Item) -> list[str]:
    return [port.label for hop in flow_path(plan, item) for port in (hop.out, hop.into)]
