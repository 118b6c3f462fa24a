"""What a flow achieved, whichever program made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirelab.units import BITS_PER_BYTE

if TYPE_CHECKING:
    from wirelab.plan.traffic import Flow, Protocol


@dataclass(frozen=True, slots=True)
class Rtt:
    """Smoothed round-trip times that TCP itself saw (``tcpi_rtt``)."""

    min_us: float
    mean_us: float
    max_us: float


@dataclass(frozen=True, slots=True)
class FlowResult:
    """What one flow achieved.

    ``goodput_bps`` is the payload that the receiver's application got, over the receiver's clock.
    ``retransmits`` is the sender's count of segments, None for UDP; ``lost_datagrams`` of
    ``sent_datagrams`` are the receiver's, None for TCP. ``intervals_bps`` are the receiver's one-second
    figures. ``duration_s`` is what a transfer of a given size takes at its goodput, None for a flow that
    ran for a given time. Where no connection came about, ``connected`` is False and nothing was sent.
    """

    name: str
    sender: str
    receiver: str
    protocol: Protocol
    goodput_bps: float
    retransmits: int | None
    lost_datagrams: int | None
    rtt: Rtt | None
    intervals_bps: tuple[float, ...]
    sent_datagrams: int | None = None
    duration_s: float | None = None
    connected: bool = True

    @classmethod
    def unconnected(cls, flow: Flow) -> FlowResult:
        """A flow that came to nothing: its sender never reached its receiver."""
        udp = flow.protocol == "udp"
        return cls(
            name=flow.name,
            sender=flow.sender,
            receiver=flow.receiver,
            protocol=flow.protocol,
            goodput_bps=0.0,
            retransmits=None if udp else 0,
            lost_datagrams=0 if udp else None,
            rtt=None,
            intervals_bps=(),
            connected=False,
        )


def duration_s(flow: Flow, goodput_bps: float) -> float | None:
    """How long a flow of a given size takes at its goodput; None for one of a given time.

    iperf3 stops its clocks when the last byte is with the sender's socket, not with the receiver.
    """
    if flow.size_bytes is None or not goodput_bps:
        return None
    return flow.size_bytes * BITS_PER_BYTE / goodput_bps
