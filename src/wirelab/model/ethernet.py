"""What Ethernet costs on the wire: the arithmetic of IEEE 802.3 that scenarios are judged by.

A frame here is counted from the destination address to the end of the payload, as Linux counts
``skb->len``: without preamble, frame check sequence and interframe gap.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from wirelab.units import BPS_PER_MBPS, MM_PER_M, NS_PER_S, PS_PER_NS

HEADER_BYTES: Final = 14
VLAN_TAG_BYTES: Final = 4
PREAMBLE_BYTES: Final = 8
FCS_BYTES: Final = 4
INTERFRAME_GAP_BYTES: Final = 12
OVERHEAD_BYTES: Final = PREAMBLE_BYTES + FCS_BYTES + INTERFRAME_GAP_BYTES
MIN_FRAME_BYTES: Final = 60

IPV4_BYTES: Final = 20
TCP_BYTES: Final = 20
TCP_TIMESTAMP_BYTES: Final = 12
UDP_BYTES: Final = 8

CABLE_PS_PER_M: Final = 5_000
"""Propagation in twisted pair and fibre alike: about two thirds of the speed of light."""

_QUANTUM_BITS: Final = 512
_REACTION_QUANTA: Final[Mapping[int, int]] = {
    **dict.fromkeys((10 * BPS_PER_MBPS, 100 * BPS_PER_MBPS), 1),
    1_000 * BPS_PER_MBPS: 2,
    **dict.fromkeys((2_500 * BPS_PER_MBPS, 5_000 * BPS_PER_MBPS, 10_000 * BPS_PER_MBPS), 60),
    25_000 * BPS_PER_MBPS: 80,
}
"""IEEE 802.3 Annex 31B.3.7: after so much a station that was told to stop begins no new frame, at the latest.

PFC is reckoned alike (Annex 31D; SONiC's headroom calculator takes these figures for it). 10GBASE-T may take
74. What holds at 2.5G and 5G is assumed to be no more than at 10G.
"""


def frame_bytes(mtu_bytes: int) -> int:
    """The longest frame of a port with this MTU."""
    return mtu_bytes + HEADER_BYTES


def wire_bytes(frame: int) -> int:
    """The room a frame takes on the wire: padded to the minimum, with preamble, FCS and gap."""
    return max(frame, MIN_FRAME_BYTES) + OVERHEAD_BYTES


def memory_bytes(frame: int, cell_bytes: int) -> int:
    """The room a frame takes in a packet memory: padded to the minimum, then to whole cells if it has any."""
    padded = max(frame, MIN_FRAME_BYTES)
    return -(-padded // cell_bytes) * cell_bytes if cell_bytes else padded


def counted(layer: int, overhead_bytes: int) -> tuple[int, int]:
    """What a line that counts bytes of a layer adds to a frame, and the least that it counts of one.

    Of layer 1 preamble, FCS and gap; of layer 2 the FCS, which Linux leaves out; of layer 3 the IP packet
    alone, without padding.
    """
    if layer == 3:  # noqa: PLR2004 - a layer
        return overhead_bytes - HEADER_BYTES, 0
    own_bytes = OVERHEAD_BYTES if layer == 1 else FCS_BYTES
    return own_bytes + overhead_bytes, MIN_FRAME_BYTES + own_bytes + overhead_bytes


def tcp_payload_bytes(mtu_bytes: int, *, timestamps: bool) -> int:
    """The TCP payload of a full IPv4 packet: 1448 at MTU 1500 with timestamps, 1460 without."""
    return mtu_bytes - IPV4_BYTES - TCP_BYTES - (TCP_TIMESTAMP_BYTES if timestamps else 0)


def udp_payload_bytes(mtu_bytes: int) -> int:
    """The UDP payload that fills one IPv4 packet: 1472 at MTU 1500."""
    return mtu_bytes - IPV4_BYTES - UDP_BYTES


def cable_delay_ns(length_mm: int) -> int:
    """How long a bit takes along ``length_mm`` of cable, to the nearest nanosecond."""
    return round(Fraction(length_mm * CABLE_PS_PER_M, MM_PER_M * PS_PER_NS))


def pause_reaction_ns(speed_bps: int) -> int:
    """The longest that IEEE 802.3 lets a PAUSE frame wait for its effect. Raises KeyError at other speeds."""
    return -(-_REACTION_QUANTA[speed_bps] * _QUANTUM_BITS * NS_PER_S // speed_bps)
