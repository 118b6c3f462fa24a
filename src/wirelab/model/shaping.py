"""What lets pass what leaves a port, as the settings and the line that begins there say."""

from dataclasses import dataclass
from typing import Final

from wirelab.model.ethernet import VLAN_TAG_BYTES, counted, frame_bytes
from wirelab.model.topology import PortRef
from wirelab.model.trace import OPPORTUNITY_BYTES, Trace
from wirelab.model.wiring import Wiring
from wirelab.units import BITS_PER_BYTE, NS_PER_S

CAKE: Final = "cake"
POLICE: Final = "police"
USUAL: Final = "tbf"
_USUAL_LAYER: Final = 2
_TRACE_LAYER, _TRACE_OVERHEAD_BYTES = 3, OPPORTUNITY_BYTES - 1500
"""What mahimahi counts: IP packets, each with the header of its tunnel."""
_BURST_FRAMES: Final = 2
"""One that passes, and one for the time that the line is still busy with it: what comes meanwhile counts."""
_TICK_NS: Final = 64
"""In which tc keeps a burst (PSCHED_SHIFT in net/pkt_sched.h), rounded down."""
_MOST_TICKS: Final = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Shaping:
    """A frame counts as its length and ``overhead_bytes``, or ``least_bytes`` if that is more.

    ``frame_bytes`` is what the longest one counts, ``burst_bytes`` what is said to pass at once. With a
    ``trace``, ``rate_bps`` is its mean.
    """

    kind: str
    rate_bps: int
    overhead_bytes: int
    least_bytes: int
    frame_bytes: int
    burst_bytes: int | None
    trace: str = ""

    @property
    def smallest_burst_bytes(self) -> int:
        """The least that lets the longest frame pass, with what tc rounds away."""
        return self.frame_bytes + self.rate_bps * _TICK_NS // (BITS_PER_BYTE * NS_PER_S) + 1

    @property
    def largest_burst_bytes(self) -> int:
        """The most that tc can keep as a time."""
        return _MOST_TICKS * _TICK_NS * self.rate_bps // (BITS_PER_BYTE * NS_PER_S)

    @property
    def usual_burst_bytes(self) -> int:
        """What passes at once where nobody says it: of cake nothing, it spaces frames."""
        least = max(_BURST_FRAMES * self.frame_bytes, self.smallest_burst_bytes)
        return 0 if self.kind == CAKE else least


def shaping(wiring: Wiring, ref: PortRef) -> Shaping | None:
    """The ``shape`` of a port, None if it has none."""
    if trace := trace_of(wiring, ref):
        return _followed(wiring, ref, trace)
    # Linux does not count a tag, which the hardware puts in; Ethernet does.
    names = ("kind", "rate", "layer", "overhead", "burst")
    kind, rate, layer, overhead, burst = (wiring.value(ref, f"shape.{name}") for name in names)
    if rate is None:
        return None
    counts = int(layer or _USUAL_LAYER)
    overhead_bytes, least_bytes = counted(counts, int(overhead or 0))
    if counts <= _USUAL_LAYER and wiring.topology.is_tagged(ref):
        overhead_bytes += VLAN_TAG_BYTES
    longest = max(frame_bytes(wiring.mtu_bytes(ref)) + overhead_bytes, least_bytes)
    said = None if burst is None else int(burst)
    return Shaping(str(kind or USUAL), int(rate), overhead_bytes, least_bytes, longest, said)


def _followed(wiring: Wiring, ref: PortRef, trace: Trace) -> Shaping:
    overhead_bytes, least_bytes = counted(_TRACE_LAYER, _TRACE_OVERHEAD_BYTES)
    longest = frame_bytes(wiring.mtu_bytes(ref)) + overhead_bytes
    return Shaping(USUAL, trace.mean_bps, overhead_bytes, least_bytes, longest, None, trace.name)


def trace_of(wiring: Wiring, ref: PortRef) -> Trace | None:
    """The trace that what leaves a port follows, None if none."""
    name = wiring.value(ref, "shape.trace")
    return wiring.traces.of(str(name)) if name else None


def is_shaped(wiring: Wiring, ref: PortRef) -> bool:
    """Whether a port has a ``shape``."""
    return wiring.value(ref, "shape.rate") is not None or bool(wiring.value(ref, "shape.trace"))


def shaped_bps(wiring: Wiring, ref: PortRef) -> int | None:
    """What a line's shaper or a router's own lets pass at a port; None where there is neither, or a trace."""
    if told := shaping(wiring, ref):
        return None if told.trace else told.rate_bps
    rate = wiring.value(ref, "rate")
    return None if rate is None else int(rate)


def held_bytes(wiring: Wiring, ref: PortRef, time_ns: int) -> int:
    """What passes at a shaped port in so long: the limit of a queue that is written as a time."""
    told = shaping(wiring, ref)
    rate_bps = told.rate_bps if told else wiring.number(ref, "rate")
    return rate_bps * time_ns // (NS_PER_S * BITS_PER_BYTE)
