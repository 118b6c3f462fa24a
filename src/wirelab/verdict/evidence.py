"""Why a figure is what it is: where frames were dropped, who was paused, what was full."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from wirelab.model.expect import Expectation
from wirelab.model.metric import METRICS, PAUSED_PRIORITY
from wirelab.model.modes import MODE_OF, Mode, listed
from wirelab.plan.ceiling import ceiling
from wirelab.plan.event import during, ended
from wirelab.plan.path import Hop, hops, spanned
from wirelab.plan.traffic import Flow, Item, Ping
from wirelab.plan.traffic.iperf3 import NO_FIRST_DATAGRAM
from wirelab.plan.types import Plan, Port
from wirelab.results.counters import window
from wirelab.results.result import Result
from wirelab.results.rtt import FIGURES as RTT_FIGURES
from wirelab.units import COST, PS_PER_NS, RATE, SIZE, TIME, rounded, show
from wirelab.verdict.happenings import (
    MOST_NAMED,
    NO_DROPS,
    blocked,
    dropped,
    happenings,
    memory_share,
    overrun,
    pauses,
    priorities_paused,
    shut,
    uncounted,
    xoff,
)
from wirelab.verdict.waits import wait_ns
from wirelab.verdict.words import frames_were

_MOST_EVENTS: Final = 4
"""Further ones are counted; the report has all of them."""


def evidence(expectation: Expectation, plan: Plan, result: Result) -> str:
    """What the counters say about the expectation's subject, whether it holds or not."""
    subject, metric = expectation.subject, expectation.metric
    item = next((item for item in plan.traffic if item.name == subject), None)
    begun, offered, plan = plan, ended(plan), result.linked(plan, item)
    if isinstance(item, Flow):
        return _flow_evidence(metric, item, begun, plan, result)
    if isinstance(item, Ping):
        return _ping_evidence(item, begun, plan, result)
    port = next((port for port in plan.ports if port.label == subject), None)
    if port is None:
        return "; ".join(happenings(begun, result, hops(plan), None))
    if METRICS[metric].needs_traffic:
        return _port_evidence(metric, port, begun, plan, result)
    hop = next(hop for hop in hops(offered) if hop.out.name == port.name)
    return f"{_end(hop.out, offered)}; {_end(hop.into, offered)}"


def _flow_evidence(metric: str, flow: Flow, begun: Plan, plan: Plan, result: Result) -> str:
    shut = _shut(flow, begun)
    way = spanned(plan, flow.sender, flow.receiver)
    there_and_back = (*way, *spanned(plan, flow.receiver, flow.sender))
    measured = result.flows[flow.name]
    reasons = happenings(begun, result, there_and_back, flow.name) + shut + _events(flow, plan)
    if not measured.connected:
        between = f"between {flow.sender} and {flow.receiver}"
        if measured.lost_connection:
            return "; ".join([_lost(flow, between, measured.lost_connection), *reasons])
        why = [*blocked(result, there_and_back, flow.name), *shut]
        return "; ".join([f"no connection came about {between}", *why])
    told = measured.retransmits and reasons[0].startswith(NO_DROPS)
    if metric == "retransmits" and told:
        reasons.append("what was sent again had not been lost")
    if metric in RTT_FIGURES:
        reasons = [*_fullest_queue(begun, result, way, flow.name), *reasons]
    if metric in ("goodput", "duration"):
        reasons += _neighbours(flow, plan)
        most = ceiling(plan, flow)
        if plan.events and measured.path_bps is not None:
            reasons.append(f"the path carried at most {rounded(measured.path_bps, RATE)} at any time")
        elif most is not None:
            by = "" if most.bottleneck.startswith("the line") else f", all that {most.bottleneck} serves"
            reasons.append(f"the path carries at most {rounded(most.bps, RATE)}{by}")
    return "; ".join(reasons)


def _lost(flow: Flow, between: str, words: str) -> str:
    """What the flow's program lost, of which it says ``words``."""
    if words.startswith(NO_FIRST_DATAGRAM):
        once = "it sends that one once, and with another seed other frames are lost"
        return f"the datagram with which {flow.tool} begins, or its answer, was lost {between}: {once}"
    return f"the connection {between} was lost ({flow.tool}: {words})"


def _ping_evidence(ping: Ping, begun: Plan, plan: Plan, result: Result) -> str:
    """The fullest queue on its way there and back, which is what an echo waits in, and what became of it."""
    way = (*spanned(plan, ping.sender, ping.receiver), *spanned(plan, ping.receiver, ping.sender))
    reasons = _fullest_queue(begun, result, way, ping.name)
    if result.pings[ping.name].lost_ppm:
        reasons += happenings(begun, result, way, ping.name) + _shut(ping, begun) + _events(ping, plan)
    else:
        # What was dropped on its way meanwhile was somebody else's.
        reasons += ["no echo was lost", *pauses(result, way, ping)[:MOST_NAMED]]
    return "; ".join([*reasons, *_neighbours(ping, plan)])


def _end(port: Port, plan: Plan) -> str:
    """What one end of a cable brought along: ``client offers 1 Gbit/s, 2.5 Gbit/s``."""
    said = f"{port.label} is forced to {Mode(port.speed_bps, port.duplex)}"
    if port.autoneg:
        said = f"{port.label} offers {listed(MODE_OF[name] for name in port.advertise)}"
    if port.follow is None:
        return said
    leader = plan.port(port.follow).label
    return f"{said}, as far as {leader} has it" if port.autoneg else f"{said} while {leader} has a link"


def _port_evidence(metric: str, port: Port, begun: Plan, plan: Plan, result: Result) -> str:
    measured = result.ports[port.label]
    drops = dropped(begun, result, (port,))
    drops += overrun(begun, result, [hop for hop in hops(plan) if hop.into is port])
    drops += uncounted(begun, result, [hop for hop in hops(plan) if hop.out is port])
    match metric:
        case "pause_sent" | "pfc_sent" | "buffer_high_water":
            return (
                f"its packet buffer held up to {rounded(measured.buffer_high_water_bytes, SIZE)}"
                f" of {show(port.buffer_bytes, SIZE)}"
                + (f" and sends PAUSE at {xoff(port)}" if port.pause_tx else "")
                + (f" and sends PFC at {xoff(port)} of one priority" if port.pfc else "")
            )
        case "cpu_busy":
            return _cpu_evidence(port)
        case "pause_received" | "paused":
            here = [hop for hop in hops(plan) if hop.out is port]
            return "; ".join(pauses(result, here, None)) or "its peer never paused it"
        case "queue_high_water" if port.queue and port.queue.limit_bytes is not None:
            room = memory_share(port) or show(port.queue.limit_bytes, SIZE)
            drops = [f"the queue has room for {room}", *drops]
        case "ecn_marks":
            drops = [_marks_evidence(port, result), *(drops or [f"{NO_DROPS} there"])]
        case _ if metric == "pfc_received" or metric.startswith(PAUSED_PRIORITY):
            return priorities_paused(measured, result.elapsed_ns)
    return "; ".join(drops) or f"{NO_DROPS} there"


def _marks_evidence(port: Port, result: Result) -> str:
    """Whether the queue may mark at all, and how often it did."""
    if port.queue is None or port.queue.ecn is False or port.queue.kind.endswith("fifo"):
        return "its queue does not mark"
    return f"{frames_were(result.ports[port.label].ecn_marks)} marked by {port.queue.kind}"


def _cpu_evidence(port: Port) -> str:
    cpu = port.cpu
    if cpu is None:
        return "frames cost its CPU nothing"
    costs_ps = {
        "a frame that comes in": cpu.rx_frame_ns * PS_PER_NS,
        "a byte of it": cpu.rx_byte_ps,
        "a frame that goes out": cpu.tx_frame_ns * PS_PER_NS,
        "each of its bytes": cpu.tx_byte_ps,
    }
    if port.capture is not None:
        full = f"each frame, when {show(port.capture.backlog_bytes, SIZE)} of the capture wait to be written,"
        costs_ps[full] = port.capture.frame_ns * PS_PER_NS
    return ", ".join(f"{unit} costs {show(cost_ps, COST)}" for unit, cost_ps in costs_ps.items() if cost_ps)


def _fullest_queue(begun: Plan, result: Result, way: Iterable[Hop], item: str) -> list[str]:
    """The egress queue on the path that kept a frame waiting longest, by the samples taken meanwhile."""
    first, last = (result.snapshots[name].at_ns for name in window(item))
    seen = [
        (sample.ports[hop.out.name].queue_bytes, hop)
        for from_ns, until_ns, state in during(begun, first, last + 1)
        for hop in [_shaped(hop, state) for hop in way]
        for sample in result.samples
        if from_ns <= sample.at_ns < until_ns
    ]
    sent = {hop.out.name: result.change(hop.out.name, item) for hop in way}
    waits = [(wait_ns(held, hop, sent[hop.out.name]), held, hop) for held, hop in seen]
    fullest = max(waits, key=lambda wait: wait[0], default=None)
    if fullest is None or not fullest[0]:
        return []
    longest_ns, held_bytes, hop = fullest
    held = f"the queue of {hop.out.label} held up to {rounded(held_bytes, SIZE)}, {rounded(longest_ns, TIME)}"
    return [f"{held} at {'line rate' if hop.out.shaper is None else rounded(hop.served_bps, RATE)}"]


def _shaped(hop: Hop, state: Plan) -> Hop:
    """A hop with the shaper that it had in one state of the network."""
    then = state.port(hop.out.name)
    return replace(hop, out=replace(hop.out, shape=then.shape, rate_bps=then.rate_bps))


def _events(item: Item, plan: Plan) -> list[str]:
    """What happened while it ran, the first of it by name."""
    meanwhile = [event for event in plan.events if item.start_ns <= event.at_ns < item.end_ns]
    words = [f"{event.what} at {rounded(event.at_ns, TIME)}" for event in meanwhile[:_MOST_EVENTS]]
    rest = len(meanwhile) - len(words)
    return [*words, f"{rest} more events"] if rest > 0 else words


def _shut(item: Item, plan: Plan) -> list[str]:
    return [f"{one.what} was {one.how}" for one in shut(item, plan)]


def _neighbours(item: Item, plan: Plan) -> list[str]:
    """The flows that ran while it did."""
    names = [flow.name for flow in plan.flows if flow is not item and flow.overlaps(item)]
    return [f"{', '.join(names)} ran at the same time"] if names else []
