"""What a way can carry at the most, and what can still arrive after its end has said stop."""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

from wirelab.model import ethernet
from wirelab.model.trace import Trace
from wirelab.plan.path import Hop, flow_path
from wirelab.plan.sysctls import TIMESTAMPS
from wirelab.plan.traffic import Flow, Iperf3
from wirelab.plan.types import Plan, Port
from wirelab.units import BITS_PER_BYTE, NS_PER_S, PS_PER_NS, PS_PER_S

_PAUSE_FRAME_BYTES: Final = ethernet.MIN_FRAME_BYTES
_FRAGMENT_UNIT_BYTES: Final = 8
"""RFC 791: every fragment but the last carries a multiple of this."""


def headroom_bytes(hop: Hop) -> int:
    """What can still arrive at the end of a hop after the buffer there has reached XOFF.

    The frame that crosses the threshold; then, while the PAUSE frame waits behind one of our own,
    is sent and travels, what the peer sends and what is on the cable already; what the peer sends
    before the PAUSE takes effect; then the frame that it has begun (IEEE 802.3 Annex 31B: it is completed).
    In a memory with cells it may be frames that take up more of them than of the line.
    """
    longest = ethernet.frame_bytes(max(hop.out.mtu_bytes, hop.into.mtu_bytes)) + hop.tag_bytes
    meanwhile = _sent_bytes(hop, 2 * hop.delay_ns) + reaction_bytes(hop)
    sent = 3 * ethernet.wire_bytes(longest) + ethernet.wire_bytes(_PAUSE_FRAME_BYTES) + meanwhile
    return math.ceil(sent * _most_memory(hop.into.buffer_cell_bytes, longest))


def _most_memory(cell_bytes: int, longest: int) -> Fraction:
    """What a byte on the line takes of a memory at the most: of frames just longer than some cells."""
    if not cell_bytes:
        return Fraction(1)
    longer = range(1, longest + 1, cell_bytes)
    return max(
        Fraction(ethernet.memory_bytes(frame, cell_bytes), ethernet.wire_bytes(frame)) for frame in longer
    )


def reaction_bytes(hop: Hop) -> int:
    """Of that, what the peer sends on after it has been told to stop."""
    return _sent_bytes(hop, hop.out.pause_reaction_ns)


def _sent_bytes(hop: Hop, time_ns: int) -> int:
    return -(-time_ns * hop.rate_bps // (NS_PER_S * BITS_PER_BYTE))


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The goodput that no flow can exceed, and what it is on its way that allows no more."""

    bps: float
    bottleneck: str


def ceiling_bps(plan: Plan, flow: Flow) -> float | None:
    """The goodput that no flow can exceed; None when no path leads to the receiver."""
    limit = ceiling(plan, flow)
    return None if limit is None else limit.bps


def ceiling(plan: Plan, flow: Flow) -> Ceiling | None:
    """What the slowest line, shaper, bus or CPU on the way of a flow serves; None when there is no way.

    For a line that is payload / (frame + 24 B) x line rate.
    """
    way = flow_path(plan, flow)
    if not way:
        return None
    ports = [port for hop in way for port in (hop.out, hop.into)]
    mtu = min(port.mtu_bytes for port in ports)
    payload, frames = _udp_sizes(flow, mtu) if flow.protocol == "udp" else _tcp_sizes(plan, flow, mtu)
    served_s: dict[str, float] = {}
    for hop in way:
        # A connection stays on one cable: the hash of its addresses, or of its ports too, tells which.
        lanes = min(hop.lanes, flow.parallel)
        told = tuple(frame + hop.tag_bytes for frame in frames)
        wire_bits = sum(map(ethernet.wire_bytes, told)) * BITS_PER_BYTE
        served_s[f"{_line(hop, lanes)} to {hop.into.label}"] = wire_bits / (hop.rate_bps * lanes)
        if shape := hop.out.shaper:
            shaped_s = _shaped_s(plan, hop.out, flow, payload, frames) / lanes
            served_s[f"the {shape.noun} of {hop.out.label}"] = shaped_s
        for port in (hop.out, hop.into):
            if port.bus:
                bus_bits = sum(map(port.bus.taken_bytes, told)) * BITS_PER_BYTE
                served_s[f"the bus of {port.label}"] = bus_bits / port.bus.bps / lanes
    served_s |= {f"the CPU of {node}": spent_s for node, spent_s in _cpus_s(way, frames).items()}
    served_s |= flow.stages_s(payload, min(served_s.values()))
    bottleneck = max(served_s, key=served_s.__getitem__)
    return Ceiling(payload * BITS_PER_BYTE / served_s[bottleneck], bottleneck)


def _line(hop: Hop, lanes: int) -> str:
    """What carries a flow on a hop, and where from."""
    return f"the line from {hop.out.label}" if lanes == 1 else f"{lanes} lines from {hop.out.label} on"


def _shaped_s(plan: Plan, port: Port, flow: Flow, payload: int, frames: tuple[int, ...]) -> float:
    """How long a shaper takes for frames of a flow, at whose start a burst passes at once."""
    shape = port.shaper
    assert shape is not None  # noqa: S101 - whoever asks has looked
    counted = sum(map(shape.counted_bytes, frames))
    if trace := plan.trace(shape):
        return _followed_s(trace, flow, payload, counted)
    free_bytes = max(shape.burst_bytes, counted) + _filled_bytes(plan, port, flow)
    if flow.size_bytes is None:
        lasts_s = flow.duration_ns / NS_PER_S
    elif isinstance(flow, Iperf3) and flow.protocol == "udp":
        # What is lost is not sent again, and has no share of what passes at once.
        all_bps = (flow.bitrate_bps or 0) * flow.parallel
        lasts_s = flow.size_bytes * BITS_PER_BYTE / all_bps if all_bps else 0
    else:
        payloads = flow.size_bytes / payload
        return max(counted - free_bytes / payloads, 0) * BITS_PER_BYTE / shape.rate_bps
    free_bps = free_bytes * BITS_PER_BYTE / lasts_s if lasts_s else math.inf
    return counted * BITS_PER_BYTE / (shape.rate_bps + free_bps)


def _filled_bytes(plan: Plan, port: Port, flow: Flow) -> int:
    """What may pass at once, beside that, because events change the shaper: Linux fills its bucket then."""
    shapes = [
        later.shaper
        for event in plan.events
        for later in event.ports
        if later.name == port.name and flow.start_ns <= event.at_ns < flow.end_ns
    ]
    changed = [shape for was, shape in pairwise([port.shaper, *shapes]) if shape and shape != was]
    return sum(shape.burst_bytes for shape in changed)


def _followed_s(trace: Trace, flow: Flow, payload: int, counted: int) -> float:
    """How long frames of a flow take where a trace lets them pass, in the mean of its time."""
    if flow.size_bytes is None:
        # What the last instant before it allowed may still be there.
        allowed = trace.bytes_by(flow.end_ns) - trace.bytes_by(flow.start_ns) + trace.most_bytes
        return counted * flow.duration_ns / NS_PER_S / allowed
    payloads = flow.size_bytes / payload
    wanted = max(math.floor(payloads * counted) - trace.most_bytes, 1)
    return (trace.by_when_ns(flow.start_ns, wanted) - flow.start_ns) / NS_PER_S / payloads


def _cpus_s(way: tuple[Hop, ...], frames: tuple[int, ...]) -> dict[str, float]:
    """How long the CPU of each node is busy with frames: with taking them in, with sending them, or both."""
    cost_ps: Counter[str] = Counter()
    count, size_bytes = len(frames), sum(frames)
    for hop in way:
        if cpu := hop.out.cpu:
            cost_ps[hop.out.node] += count * cpu.tx_frame_ns * PS_PER_NS + size_bytes * cpu.tx_byte_ps
        if cpu := hop.into.cpu:
            cost_ps[hop.into.node] += count * cpu.rx_frame_ns * PS_PER_NS + size_bytes * cpu.rx_byte_ps
    return {node: cost / PS_PER_S for node, cost in cost_ps.items() if cost}


def segment_payload_bytes(plan: Plan, flow: Flow, mtu_bytes: int) -> int:
    """The payload of a full segment of a flow; both ends must offer timestamps for them to be used."""
    ends = [
        {**plan.sysctls, **host.sysctls} for host in plan.hosts if host.name in (flow.sender, flow.receiver)
    ]
    timestamps = all(sysctls.get(TIMESTAMPS, "1").strip() != "0" for sysctls in ends)
    return ethernet.tcp_payload_bytes(mtu_bytes, timestamps=timestamps)


def _tcp_sizes(plan: Plan, flow: Flow, mtu: int) -> tuple[int, tuple[int, ...]]:
    """A full segment's payload and its frame."""
    return segment_payload_bytes(plan, flow, mtu), (ethernet.frame_bytes(mtu),)


def _udp_sizes(flow: Flow, mtu: int) -> tuple[int, tuple[int, ...]]:
    """A datagram's payload, and the frames of all its IP fragments."""
    payload = flow.payload_bytes or ethernet.udp_payload_bytes(mtu)
    room = mtu - ethernet.IPV4_BYTES
    piece = room // _FRAGMENT_UNIT_BYTES * _FRAGMENT_UNIT_BYTES
    left, frames = payload + ethernet.UDP_BYTES, []
    while left > room:
        frames.append(ethernet.frame_bytes(ethernet.IPV4_BYTES + piece))
        left -= piece
    return payload, (*frames, ethernet.frame_bytes(ethernet.IPV4_BYTES + left))
