"""Why a figure is what it is: where frames were dropped, who was paused, what was full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wirelab.model.expect import LINK_METRICS, PRIORITIES, RTT_METRICS, Choice
from wirelab.plan.ceiling import ceiling
from wirelab.plan.path import flow_path, hops, path
from wirelab.results.counters import flow_window
from wirelab.results.result import drops_by_cause
from wirelab.units import (
    BITS_PER_BYTE,
    COST,
    COUNT,
    NS_PER_S,
    PPM,
    PS_PER_NS,
    RATE,
    RATIO,
    SIZE,
    TIME,
    rounded,
    show,
)
from wirelab.verdict.negotiation import negotiation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wirelab.model.expect import Expectation
    from wirelab.plan.path import Hop
    from wirelab.plan.traffic import Flow, Ping
    from wirelab.plan.types import Plan, Port
    from wirelab.results.result import Result

_NOUNS: Final = {
    "goodput": "of goodput",
    "retransmits": "retransmits",
    "rtt": "of mean RTT",
    "rtt_p50": "of median RTT",
    "rtt_p90": "of RTT, 90 % of the time",
    "rtt_p99": "of RTT, 99 % of the time",
    "duration": "for all of it",
    "lost": "lost",
    "drops": "dropped frames",
    "pause_sent": "PAUSE frames sent",
    "pause_received": "PAUSE frames received",
    "paused": "of the time paused",
    "queue_high_water": "in the egress queue",
    "buffer_high_water": "in the packet buffer",
    "speed": "of link speed",
    "ecn_marks": "frames marked (ECN)",
    "collisions": "frames that collided",
    "late_collisions": "late collisions",
    "cpu_busy": "of the CPU's time",
    "pfc_sent": "PFC frames sent",
    "pfc_received": "PFC frames received",
    **{f"paused_priority_{each}": f"of the time paused at priority {each}" for each in range(PRIORITIES)},
}

_SITES_NAMED: Final = 2
_NO_DROPS: Final = "nothing was dropped"


@dataclass(frozen=True, slots=True)
class DropSite:
    """Frames lost at one port for one cause."""

    port: Port
    cause: str
    frames: int

    def __str__(self) -> str:
        """``15 980 frames were dropped at module.line (FIFO 16 KiB full)``."""
        frames = "1 frame was" if self.frames == 1 else f"{rounded(self.frames, COUNT)} frames were"
        return f"{frames} dropped at {self.port.label} ({_cause(self.port, self.cause)})"


@dataclass(frozen=True, slots=True)
class Pause:
    """How long one end of a cable was kept silent by the other."""

    hop: Hop
    ppm: int
    frames: int
    pfc_frames: int = 0

    def __str__(self) -> str:
        """``switch.p2 was paused 74 % of the time by module.host (8 120 PAUSE frames)``."""
        count, kind = (self.pfc_frames, "PFC") if self.pfc_frames else (self.frames, "PAUSE")
        frames = f"1 {kind} frame" if count == 1 else f"{rounded(count, COUNT)} {kind} frames"
        return (
            f"{self.hop.out.label} was paused {rounded(self.ppm, RATIO, 2)} of the time "
            f"by {self.hop.into.label} ({frames})"
        )


def sentence(expectation: Expectation, measured: float) -> str:
    """What was expected and what was measured: ``expected at most 50 retransmits, measured 16 102``."""
    if isinstance(expectation.quantity, Choice):
        words = f"{expectation.metric} {expectation.expected}"
        return f"expected {words}, measured {expectation.shown(measured)}"
    noun = _NOUNS[expectation.metric]
    return f"expected {_bounds(expectation)} {noun}, measured {expectation.shown(measured)}"


def evidence(expectation: Expectation, plan: Plan, result: Result) -> str:
    """What the counters say about the expectation's subject, whether it holds or not."""
    offered, plan = plan, result.linked(plan)
    for flow in plan.flows:
        if flow.name == expectation.subject:
            return _flow_evidence(expectation.metric, flow, plan, result)
    for ping in plan.pings:
        if ping.name == expectation.subject:
            return _ping_evidence(ping, plan, result)
    for port in plan.ports:
        if port.label == expectation.subject and expectation.metric in LINK_METRICS:
            return negotiation(port.name, offered)
        if port.label == expectation.subject:
            return _port_evidence(expectation.metric, port, plan, result)
    return "; ".join(_happenings(plan, result, hops(plan), None))


def drop_sites(result: Result, ports: Iterable[Port], flow: str | None) -> list[DropSite]:
    """Where frames were lost during ``flow`` (None: the whole run), the most first."""
    sites = [
        DropSite(port, cause, frames)
        for port in ports
        for cause, frames in drops_by_cause(result.change(port.name, flow)).items()
        if frames > 0
    ]
    return sorted(sites, key=lambda site: -site.frames)


def pauses(result: Result, way: Iterable[Hop], flow: str | None) -> list[Pause]:
    """Who was paused during ``flow`` (None: the whole run), the longest first."""
    found = []
    for hop in way:
        change = result.change(hop.out.name, flow)
        if change["tx_paused_ns"] > 0:
            share = change["tx_paused_ns"] * PPM // max(change.elapsed_ns, 1)
            found.append(Pause(hop, share, change["rx_pause_frames"], change.get("rx_pfc_frames")))
    return sorted(found, key=lambda pause: -pause.ppm)


def _flow_evidence(metric: str, flow: Flow, plan: Plan, result: Result) -> str:
    way = flow_path(plan, flow)
    back = path(plan, flow.receiver, flow.sender)
    found = _happenings(plan, result, (*way, *back), flow.name)
    if metric == "retransmits" and result.flows[flow.name].retransmits and found[0].startswith(_NO_DROPS):
        found.append("what was sent again had not been lost")
    if not result.flows[flow.name].connected:
        unconnected = f"no connection came about between {flow.sender} and {flow.receiver}"
        return "; ".join([unconnected, *_blocked(result, (*way, *back), flow.name)])
    if metric in RTT_METRICS:
        found = [*_fullest_queue(result, way, flow.name), *found]
    if metric in ("goodput", "duration"):
        others = [each.name for each in plan.flows if each is not flow and each.overlaps(flow)]
        if others:
            found.append(f"{', '.join(others)} ran at the same time")
        most = ceiling(plan, flow)
        if most is not None:
            by = "" if most.bottleneck.startswith("the line") else f", all that {most.bottleneck} serves"
            found.append(f"the path carries at most {rounded(most.bps, RATE)}{by}")
    return "; ".join(found)


def _ping_evidence(ping: Ping, plan: Plan, result: Result) -> str:
    """The fullest queue on its way there and back, which is what an echo waits in, and what became of it."""
    way = (*path(plan, ping.sender, ping.receiver), *path(plan, ping.receiver, ping.sender))
    found = _fullest_queue(result, way, ping.name)
    if result.pings[ping.name].lost_ppm:
        found += _happenings(plan, result, way, ping.name)
    else:
        # What was dropped on its way meanwhile was somebody else's.
        found += ["no echo was lost", *map(str, pauses(result, way, ping.name)[:_SITES_NAMED])]
    others = [each.name for each in plan.flows if each.overlaps(ping)]
    if others:
        found.append(f"{', '.join(others)} ran at the same time")
    return "; ".join(found)


def _marks_evidence(port: Port, result: Result) -> str:
    """Whether the queue may mark at all, and what it did besides."""
    lost = _dropped(result, (port,), None) or ["nothing was dropped there"]
    if port.queue is None or port.queue.ecn is False or port.queue.kind.endswith("fifo"):
        return "; ".join(["its queue does not mark", *lost])
    marks = result.ports[port.label].ecn_marks
    marked = "1 frame was" if marks == 1 else f"{rounded(marks, COUNT)} frames were"
    return "; ".join([f"{marked} marked by {port.queue.kind}", *lost])


def _port_evidence(metric: str, port: Port, plan: Plan, result: Result) -> str:
    here = [hop for hop in hops(plan) if hop.out is port]
    match metric:
        case "pause_sent" | "pfc_sent" | "buffer_high_water":
            highest = result.ports[port.label].buffer_high_water_bytes
            return (
                f"its packet buffer held up to {rounded(highest, SIZE)} of {show(port.buffer_bytes, SIZE)}"
                + (f" and sends PAUSE at {show(port.xoff_bytes, SIZE)}" if port.pause_tx else "")
                + (f" and sends PFC at {show(port.xoff_bytes, SIZE)} of one priority" if port.pfc else "")
            )
        case "cpu_busy" | "ecn_marks":
            return _cpu_evidence(port) if metric == "cpu_busy" else _marks_evidence(port, result)
        case "queue_high_water" if port.queue and port.queue.limit_bytes is not None:
            lost = _dropped(result, (port,), None)
            return "; ".join([f"the queue has room for {show(port.queue.limit_bytes, SIZE)}", *lost])
        case "pause_received" | "paused":
            return "; ".join(map(str, pauses(result, here, None))) or "its peer never paused it"
    if metric == "pfc_received" or metric.startswith("paused_priority_"):
        return _priorities_paused(port, result)
    return "; ".join(_dropped(result, (port,), None)) or "nothing was dropped there"


def _priorities_paused(port: Port, result: Result) -> str:
    found = result.ports[port.label]
    told = [
        f"priority {priority} was paused for {rounded(paused_ns, TIME)} of {rounded(result.elapsed_ns, TIME)}"
        for priority, paused_ns in enumerate(found.priority_paused_ns)
        if paused_ns
    ]
    frames = f"{rounded(found.rx_pfc_frames, COUNT)} PFC frames came"
    return "; ".join([*told, frames]) if told else "its peer never paused a priority"


def _cpu_evidence(port: Port) -> str:
    cpu = port.cpu
    if cpu is None:
        return "frames cost its CPU nothing"
    costs = {
        "a frame that comes in": cpu.rx_frame_ns * PS_PER_NS,
        "a byte of it": cpu.rx_byte_ps,
        "a frame that goes out": cpu.tx_frame_ns * PS_PER_NS,
        "each of its bytes": cpu.tx_byte_ps,
    }
    return ", ".join(f"{what} costs {show(cost, COST)}" for what, cost in costs.items() if cost)


def _happenings(plan: Plan, result: Result, way: Iterable[Hop], flow: str | None) -> list[str]:
    """The drops, then the pauses, on these hops; that there were none is said as well."""
    crossed = tuple(way)
    touched = {port.name for hop in crossed for port in (hop.out, hop.into)}
    dropped = _blocked(result, crossed, flow)
    dropped += _dropped(result, [port for port in plan.ports if port.name in touched], flow)
    paused = [str(pause) for pause in pauses(result, crossed, flow)[:_SITES_NAMED]]
    if not dropped and not paused:
        return [f"{_NO_DROPS}, no port was paused"]
    return [*(dropped or [_NO_DROPS]), *paused]


def _dropped(result: Result, ports: Iterable[Port], flow: str | None) -> list[str]:
    sites = drop_sites(result, ports, flow)
    found = [str(site) for site in sites[:_SITES_NAMED]]
    rest = sum(site.frames for site in sites[_SITES_NAMED:])
    return [*found, f"{rounded(rest, COUNT)} more elsewhere"] if rest else found


def _blocked(result: Result, way: Iterable[Hop], flow: str | None) -> list[str]:
    """What the rules of the firewalls on these hops dropped: on purpose, so it counts as no port's drop."""
    passed = {hop.into.node for hop in way}
    return [
        f"{'1 frame was' if frames == 1 else f'{rounded(frames, COUNT)} frames were'} "
        f"blocked by {firewall} (rule {rule})"
        for firewall, rules in result.blocked(flow).items()
        for rule, frames in rules.items()
        if frames and firewall in passed
    ]


def _fullest_queue(result: Result, way: Iterable[Hop], item: str) -> list[str]:
    """The egress queue on the path that kept a frame waiting longest, by the samples taken meanwhile."""
    first, last = (result.snapshots[name].at_ns for name in flow_window(item))
    waits = [
        (sample.ports[hop.out.name].queue_bytes * BITS_PER_BYTE * NS_PER_S // hop.rate_bps, hop, sample)
        for sample in result.samples
        if first <= sample.at_ns <= last
        for hop in way
    ]
    wait, hop, sample = max(waits, key=lambda each: each[0], default=(0, None, None))
    if not wait or hop is None or sample is None:
        return []
    held = rounded(sample.ports[hop.out.name].queue_bytes, SIZE)
    return [f"the queue of {hop.out.label} held up to {held}, {rounded(wait, TIME)} at line rate"]


def _cause(port: Port, cause: str) -> str:
    words = {
        "queue": _full_queue(port),
        "netem": "lost by netem, as asked",
        "rx_buffer": f"packet buffer {show(port.buffer_bytes, SIZE)} full",
        "rx_oversize": f"longer than MTU {port.mtu_bytes} allows",
        "rx_down": "link down",
        "tx_down": "link down",
        "rx_error": "no memory",
        "tx_error": "no memory",
        "rx_collision": "damaged by a late collision",
        "tx_collisions": "given up after 16 collisions or a late one",
        "rx_pool": f"shared packet memory {show(port.pool.size_bytes, SIZE)} full" if port.pool else "pool",
    }
    return words.get(cause, cause.replace("_", " "))


def _full_queue(port: Port) -> str:
    if port.queue is None:
        return "egress queue full"
    if not port.queue.kind.endswith("fifo"):
        # It drops on purpose, long before it is full.
        return f"by {port.queue.kind}"
    return (
        "FIFO full" if port.queue.limit_bytes is None else f"FIFO {show(port.queue.limit_bytes, SIZE)} full"
    )


def _bounds(expectation: Expectation) -> str:
    low, high, quantity = expectation.low, expectation.high, expectation.quantity
    if isinstance(quantity, Choice):
        return expectation.expected
    if high == 0 and quantity is COUNT:
        return "no"
    if low is None and high is not None:
        return f"at most {show(high, quantity)}"
    if high is None and low is not None:
        return f"at least {show(low, quantity)}"
    return expectation.expected
