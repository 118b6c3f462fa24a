"""How a bottleneck comes about, a cause in each sentence: pure functions of a Plan and its Result.

Every number in a sentence is a setting, was counted while the flow ran, or follows from such by the formula
that stands beside it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from wirelab.model import ethernet
from wirelab.plan.path import Hop, flow_path, hops, priority, spanned
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan, Port
from wirelab.results.counters import window
from wirelab.results.result import Result
from wirelab.results.rtt import percentiles
from wirelab.results.samples import FlowSample
from wirelab.units import (
    BITS_PER_BYTE,
    BYTE_RATE,
    NS_PER_S,
    NS_PER_US,
    PPM,
    PS_PER_NS,
    PS_PER_S,
    RATE,
    RATIO,
    SIZE,
    TIME,
    rounded,
    show,
)
from wirelab.verdict.busy import active_ns
from wirelab.verdict.explanation import Bottleneck, Mechanism
from wirelab.verdict.formulas import (
    agrees,
    full_frame_bytes,
    longest_burst_frames,
    losing_bps,
    segment_bytes,
    window_bps,
)
from wirelab.verdict.happenings import at_priority, silences_ns, xoff
from wirelab.verdict.shares import share
from wirelab.verdict.waits import waiting
from wirelab.verdict.words import count_of, frames_were

_MENTIONED_PPM: Final = 10_000
_STANDING_PPM: Final = 100_000
_OFTEN: Final = 0.1
"""Of more losses than this TCP waits for its timer, and Mathis' formula does not hold."""


def chain(plan: Plan, flow: Flow, result: Result, found: Bottleneck) -> tuple[str, ...]:
    """The sentences on one flow, the first cause first. ``plan`` has what the ports agreed on."""
    told = _TELLERS[found.mechanism](plan, flow, result, found)
    return (*told, *(() if found.mechanism is Mechanism.PAUSE else _silences(plan, flow, result)))


def _fifo(plan: Plan, flow: Flow, result: Result, found: Bottleneck) -> list[str]:
    """What comes faster than it leaves, and how long a burst may be."""
    hop = _hop_from(plan, found)
    if hop is None:
        return _lost_here(plan, flow, result, found) + _window_words(plan, flow, result)
    port, leaves_bps = hop.out, hop.served_bps
    comes_bps, sources = _coming(plan, flow, port)
    words = []
    if comes_bps > leaves_bps:
        froms = sources[0] if len(sources) == 1 else f"{len(sources)} ports"
        words.append(
            f"frames come from {froms} at {show(comes_bps, RATE)} and leave {port.label} at"
            f" {show(leaves_bps, RATE)}: while {comes_bps / leaves_bps:.3g} come, one leaves"
        )
    limit_bytes = port.queue.limit_bytes if port.queue else None
    frame_bytes = full_frame_bytes(plan, flow)
    burst = limit_bytes and longest_burst_frames(limit_bytes, frame_bytes, comes_bps, leaves_bps)
    if limit_bytes and burst:
        rates = f"{show(leaves_bps, RATE)} / {show(comes_bps, RATE)}"
        words.append(
            f"so a burst of up to {burst} frames finds room in its {show(limit_bytes, SIZE)},"
            f" {show(limit_bytes, SIZE)} / (1 - {rates}), and of a longer one the rest is lost"
        )
    return words + _lost_here(plan, flow, result, found) + _window_words(plan, flow, result)


def _line(plan: Plan, flow: Flow, result: Result, found: Bottleneck) -> list[str]:
    """What of a line is payload, whose it is, and what waits for it."""
    hop = _hop_from(plan, found)
    if hop is None:
        return []
    words = []
    ahead = hop.out.name in {one.out.name for one in spanned(plan, flow.sender, flow.receiver)}
    path_bps = result.flows[flow.name].path_bps
    if not ahead:
        words.append(f"it carries the acknowledgements of {flow.name}, which waits for them")
    elif flow.protocol == "tcp" and path_bps and hop.out.shaper is None:
        payload, frame = segment_bytes(plan, flow), full_frame_bytes(plan, flow) + hop.tag_bytes
        words.append(
            f"a full frame takes {ethernet.wire_bytes(frame)} B on a line, {payload} B of it payload:"
            f" {rounded(path_bps, RATE)} is all that the path carries"
        )
    words += share(plan, hop, flow, result) if ahead else []
    return words + waiting(hop, flow, result) + _lost_here(plan, flow, result, found)


def _bus(plan: Plan, flow: Flow, result: Result, found: Bottleneck) -> list[str]:
    """What a frame takes on it."""
    port = _port(plan, found)
    if port is None or port.bus is None:
        return []
    bus, frame = port.bus, full_frame_bytes(plan, flow)
    taken_bytes = bus.taken_bytes(frame)
    taken_ns = taken_bytes * BITS_PER_BYTE * NS_PER_S / bus.bps
    payload_bps = NS_PER_S / taken_ns * segment_bytes(plan, flow) * BITS_PER_BYTE
    words = (
        f"a full frame of {frame} B crosses in {bus.transactions(frame)} transactions and takes"
        f" {taken_bytes:.0f} B with all that is around them: {rounded(taken_ns, TIME)} at the"
        f" {rounded(bus.bps, RATE)} of the bus, {rounded(payload_bps, RATE)} of payload"
    )
    return [
        words,
        *_lost_here(plan, flow, result, found),
    ]


def _cpu(plan: Plan, flow: Flow, result: Result, found: Bottleneck) -> list[str]:
    """How many frames it served, and what one took."""
    [node] = found.at[:1] or ("",)
    changes = [result.change(port.name, flow.name) for port in plan.ports_of(node)]
    frames = sum(change["rx_frames"] + change["tx_frames"] for change in changes)
    spent_ns = sum(change.get("cpu_busy_ns") for change in changes)
    if not frames:
        return []
    a_second = frames * NS_PER_S / active_ns(flow, result)
    words = f"{count_of(round(a_second))} frames a second passed {node}, in and out, and each took its CPU"
    return [f"{words} {rounded(spent_ns / frames, TIME)} in the mean"]


def _storage(plan: Plan, flow: Flow, result: Result, found: Bottleneck) -> list[str]:
    """How fast it reads or writes."""
    told = []
    for stage in flow.blocks.stages if flow.blocks else ():
        if stage.is_storage and stage.node in found.at:
            bytes_s = PS_PER_S / stage.byte_ps
            rates = f"{rounded(bytes_s, BYTE_RATE)}, which is {rounded(bytes_s * BITS_PER_BYTE, RATE)}"
            told.append(f"{stage} takes place at {rates}, whatever the network carries")
    for port in plan.ports:
        if port.capture is not None and port.node in found.at:
            rate = rounded(port.capture.bytes_per_s, BYTE_RATE)
            told.append(
                f"{port.node} writes what it captures at {rate}; what waits for that makes each frame cost"
                f" up to {rounded(port.capture.frame_ns, TIME)} of its CPU"
            )
    return told + _window_words(plan, flow, result)


def _application(_: Plan, flow: Flow, result: Result, found: Bottleneck) -> list[str]:
    """What it was told, or how long each of its stages takes."""
    blocks = flow.blocks
    if blocks is None:
        goodput_bps = result.flows[flow.name].goodput_bps
        told = f"{flow.sender} was told so by {found.where.removeprefix('the ').partition(' ')[0]}"
        return [f"{told}: {rounded(goodput_bps, RATE)} is what came"] if goodput_bps else []
    block_ns = active_ns(flow, result) * blocks.block_bytes / (flow.size_bytes or 1)
    known = [(stage.what, blocks.block_bytes * stage.byte_ps / PS_PER_NS) for stage in blocks.stages]
    rest_ns = max(block_ns - sum(ns for _, ns in known), 0) if blocks.in_turn else block_ns
    parts = [f"{what} {rounded(ns, TIME)}" for what, ns in known]
    parts.append(f"the network and {blocks.requests} requests {rounded(rest_ns, TIME)}")
    how = ", one thing after the other" if blocks.in_turn else ""
    whole = f"a block of {show(blocks.block_bytes, SIZE)} took {rounded(block_ns, TIME)}{how}"
    return [f"{whole}: {', '.join(parts)}"]


def _window(plan: Plan, flow: Flow, result: Result, _: Bottleneck) -> list[str]:
    """The window and the round trip; of UDP what keeps the socket's buffer full."""
    if flow.protocol == "tcp":
        return _window_words(plan, flow, result)
    [port, *_rest] = plan.ports_of(flow.sender)
    if not port.tx_usecs:
        return []
    held = rounded(port.tx_usecs * NS_PER_US, TIME)
    return [
        (
            f"what was sent counts against the socket's buffer until the card of {flow.sender} says"
            f" that it has left, up to {held} later"
        )
    ]


def _loss(plan: Plan, flow: Flow, result: Result, found: Bottleneck) -> list[str]:
    """How much was lost, and what TCP makes of that; how long nothing passed at all."""
    measured = result.flows[flow.name]
    words = _lost_here(plan, flow, result, found)
    if plan.events and measured.longest_gap_ns:
        words.append(f"for {rounded(measured.longest_gap_ns, TIME)} nothing new was acknowledged")
    lost, sent = _lost_of(plan, flow, result, found)
    at_random = not plan.events and lost <= sent * _OFTEN and not _too_long(plan, flow, result, found)
    if lost and sent and at_random and (seen := _typical(flow, result)):
        size = segment_bytes(plan, flow)
        bound_bps = losing_bps(lost / sent, size, seen.rtt_us)
        words.append(
            f"where 1 in {sent / lost:.3g} is lost TCP Reno gets {rounded(bound_bps, RATE)}:"
            f" {size} B / {rounded(seen.rtt_us * NS_PER_US, TIME)} x sqrt(3 / (2 x {lost / sent:.2g}))"
        )
    return words + _window_words(plan, flow, result)


def _pause(plan: Plan, flow: Flow, result: Result, found: Bottleneck) -> list[str]:
    """Who was told to be silent, why, and for whose frames."""
    words = _silences(plan, flow, result)
    port = _port(plan, found)
    others = [one for one in plan.flows if one is not flow and one.overlaps(flow)]
    stopped = "PAUSE stops a link"
    if port is not None and port.pfc:
        stopped, own = "PFC stops a priority", priority(port, flow.dscp or 0)
        others = [one for one in others if priority(port, one.dscp or 0) == own]
    nodes = {hop.into.node for hop in flow_path(plan, flow)}
    slow = [
        f"{one.name} to {one.receiver}"
        for one in others
        if nodes & {hop.into.node for hop in flow_path(plan, one)}
    ]
    if slow:
        words.append(f"{stopped} and not a flow: what it was said for is {', '.join(slow)}")
    return words


def _silences(plan: Plan, flow: Flow, result: Result) -> list[str]:
    """Each port on the way that was paused, from the receiver back to the sender, and what made it so."""
    words: list[str] = []
    first_ns, last_ns = (result.snapshots[name].at_ns for name in window(flow.name))
    for hop in reversed(spanned(plan, flow.sender, flow.receiver)):
        change = result.change(hop.out.name, flow.name)
        [(of, paused_ns)] = silences_ns(hop.out, change, flow).items()
        share_ppm = paused_ns * PPM // max(last_ns - first_ns, 1)
        if share_ppm < _MENTIONED_PPM:
            continue
        held_bytes = result.ports[hop.into.label].buffer_high_water_bytes
        whose = "" if of is None else f" with priority {of}"
        full = (
            f"the packet buffer of {hop.into.label} filled{whose} to its XOFF of {xoff(hop.into)}"
            f" (it held up to {rounded(held_bytes, SIZE)})"
        )
        paused = f"{hop.out.label} was paused {rounded(min(share_ppm, PPM), RATIO, 2)} of {flow.name}'s time"
        words.append(f"{'so ' if words else ''}{full}, and {paused}{at_priority(of)}")
    return words


def _hop_from(plan: Plan, found: Bottleneck) -> Hop | None:
    """The hop that begins at the place."""
    return next((hop for hop in hops(plan) if hop.out.label in found.at[:1]), None)


def _port(plan: Plan, found: Bottleneck) -> Port | None:
    return next((port for port in plan.ports if port.label in found.at[:1]), None)


def _coming(plan: Plan, flow: Flow, port: Port) -> tuple[int, list[str]]:
    """How fast what leaves by a port can come at once, and from which ports, while a flow runs."""
    sources: dict[str, int] = {}
    for one in plan.flows:
        way = flow_path(plan, one)
        if one.overlaps(flow) and port.name in {hop.out.name for hop in way}:
            sources |= {hop.out.label: hop.rate_bps for hop in way if hop.into.node == port.node}
    return sum(sources.values()), list(sources)


def _lost_of(plan: Plan, flow: Flow, result: Result, found: Bottleneck) -> tuple[int, int]:
    """The frames that were lost at the place, and those that came there; zeros where none was."""
    port = _port(plan, found)
    if port is None:
        return 0, 0
    change = result.change(port.name, flow.name)
    causes = change.drops_by_cause
    out = sum(frames for cause, frames in causes.items() if not cause.startswith("rx_"))
    into = sum(frames for cause, frames in causes.items() if cause.startswith("rx_"))
    return (into, change["rx_wire_frames"]) if into > out else (out, change["tx_frames"] + out)


def _too_long(plan: Plan, flow: Flow, result: Result, found: Bottleneck) -> bool:
    """Whether a place lost frames for their length: the same ones each time."""
    port = _port(plan, found)
    return port is not None and bool(result.change(port.name, flow.name).drops("rx").get("oversize"))


def _lost_here(plan: Plan, flow: Flow, result: Result, found: Bottleneck) -> list[str]:
    lost, sent = _lost_of(plan, flow, result, found)
    if not lost:
        return []
    if lost >= sent:
        share = ", all that came"
    elif lost > sent * _OFTEN:
        share = f", {rounded(lost * PPM / sent, RATIO, 2)} of what came"
    else:
        share = f" of {count_of(sent)}, 1 in {count_of(round(sent / lost))}"
    return [f"{frames_were(lost)} lost there{share}"]


def _typical(flow: Flow, result: Result) -> FlowSample | None:
    """The median window and round trip of a sender, by the samples."""
    seen = [sample.flows[flow.name] for sample in result.samples if flow.name in sample.flows]
    rtts = [one.rtt_us for one in seen if one.rtt_us]
    if not rtts:
        return None
    cwnd = percentiles([one.cwnd_segments for one in seen])[0]
    return FlowSample(round(cwnd), percentiles(rtts)[0], 0, 0)


def _window_words(plan: Plan, flow: Flow, result: Result) -> list[str]:
    """What TCP's window comes to, where that is what the flow got; else how long it stood still."""
    seen = _typical(flow, result)
    if seen is None or flow.parallel > 1:
        return []
    size = segment_bytes(plan, flow)
    most_bps = window_bps(seen.cwnd_segments, size, seen.rtt_us)
    if not agrees(most_bps, result.flows[flow.name].goodput_bps):
        return [] if plan.events else _standing_words(flow, result)
    return [
        (
            f"in the median TCP had a window of {seen.cwnd_segments} segments for a round trip of"
            f" {rounded(seen.rtt_us * NS_PER_US, TIME)}: {seen.cwnd_segments} x {size} B in each is"
            f" {rounded(most_bps, RATE)}"
        )
    ]


def _standing_words(flow: Flow, result: Result) -> list[str]:
    """For how long nothing came back, if that was a part of its time."""
    gap_ns, time_ns = result.flows[flow.name].longest_gap_ns or 0, active_ns(flow, result)
    if gap_ns * PPM < _STANDING_PPM * time_ns:
        return []
    gap, time = rounded(gap_ns, TIME), rounded(time_ns, TIME)
    return [f"nothing new was acknowledged for at least {gap} on end, of {time} in all"]


_Teller = Callable[[Plan, Flow, Result, Bottleneck], Iterable[str]]
_TELLERS: Final[Mapping[Mechanism, _Teller]] = {
    Mechanism.LINE: _line,
    Mechanism.FIFO: _fifo,
    Mechanism.QUEUE: _fifo,
    Mechanism.BUS: _bus,
    Mechanism.CPU: _cpu,
    Mechanism.STORAGE: _storage,
    Mechanism.WINDOW: _window,
    Mechanism.PAUSE: _pause,
    Mechanism.APPLICATION: _application,
    Mechanism.LOSS: _loss,
}
