"""What a burst, a window and a share of losses come to: the formulas behind the sentences of a chain."""

import math
from typing import Final

from wirelab.model import ethernet
from wirelab.model.parts import STANDARD_MTU_BYTES
from wirelab.plan.ceiling import segment_payload_bytes
from wirelab.plan.path import flow_path
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.units import BITS_PER_BYTE, NS_PER_S, NS_PER_US

_MEDIAN_OFF: Final = 0.15


def longest_burst_frames(room_bytes: int, frame_bytes: int, comes_bps: int, leaves_bps: int) -> int | None:
    """The longest burst that finds room where it comes faster than it leaves; None where it does not.

    While it comes, a share ``leaves / comes`` of it has left already: it is the room / (1 - leaves / comes).
    """
    if leaves_bps >= comes_bps:
        return None
    return math.floor(room_bytes / (1 - leaves_bps / comes_bps) / frame_bytes)


def window_bps(window_segments: float, segment_bytes: int, rtt_us: float) -> float:
    """What a window of so many segments carries, which is one in each round trip."""
    return window_segments * segment_bytes * BITS_PER_BYTE * (NS_PER_S // NS_PER_US) / rtt_us


def agrees(formula_bps: float, goodput_bps: float | None) -> bool:
    """Whether what a formula gives of medians is what a flow got: as close as medians come to its mean."""
    return goodput_bps is not None and abs(formula_bps - goodput_bps) <= _MEDIAN_OFF * goodput_bps


def losing_bps(loss: float, segment_bytes: int, rtt_us: float) -> float:
    """What TCP Reno gets where a share ``loss`` of its segments is lost at random.

    Mathis, Semke, Mahdavi and Ott, 1997: MSS / RTT x sqrt(3 / (2 p)).
    """
    return window_bps(math.sqrt(1.5 / loss), segment_bytes, rtt_us)


def full_frame_bytes(plan: Plan, flow: Flow) -> int:
    """The longest frame of a flow, without its FCS: the smallest MTU that its sender knows bounds it."""
    return ethernet.frame_bytes(_mtu_bytes(plan, flow))


def segment_bytes(plan: Plan, flow: Flow) -> int:
    """The payload of a full segment of a flow."""
    return segment_payload_bytes(plan, flow, _mtu_bytes(plan, flow))


def framed_bytes(plan: Plan, flow: Flow, payload_bytes: float) -> float:
    """What a payload is with its headers, in full segments or in datagrams: frames, without their FCS."""
    if flow.protocol == "tcp":
        return payload_bytes * full_frame_bytes(plan, flow) / segment_bytes(plan, flow)
    mtu_bytes = _mtu_bytes(plan, flow)
    datagram_bytes = flow.payload_bytes or ethernet.udp_payload_bytes(mtu_bytes)
    # All fragments but the last carry what is left to an IP packet, a multiple of 8 B (RFC 791).
    room_bytes = mtu_bytes - ethernet.IPV4_BYTES
    longer_bytes = max(datagram_bytes + ethernet.UDP_BYTES - room_bytes, 0)
    fragments = 1 + math.ceil(longer_bytes / (room_bytes // 8 * 8))
    headers_bytes = ethernet.UDP_BYTES + fragments * ethernet.frame_bytes(ethernet.IPV4_BYTES)
    return payload_bytes * (datagram_bytes + headers_bytes) / datagram_bytes


def _mtu_bytes(plan: Plan, flow: Flow) -> int:
    """What both ends know of: their own MTUs, and that of a router's port, which says so."""
    way = flow_path(plan, flow)
    # No way is left where no snapshot saw a link on it: one that came and went while the flow ran.
    if not way:
        return STANDARD_MTU_BYTES
    routers = {firewall.name for firewall in plan.firewalls}
    routed = [hop.out for hop in way if hop.out.node in routers]
    return min(port.mtu_bytes for port in (way[0].out, way[-1].into, *routed))
