"""What is wrong with the shaper or the policer of a port."""

from collections.abc import Iterator
from typing import Final

from wirelab.model.check import Blame
from wirelab.model.shaping import CAKE, POLICE, USUAL, Shaping, shaping
from wirelab.model.topology import PortRef
from wirelab.model.trace import OPPORTUNITY_BYTES
from wirelab.model.wiring import Wiring
from wirelab.units import BITS_PER_BYTE, SIZE, show

_WITHOUT: Final = ("module", "hub")
_NAMES: Final = tuple(f"shape.{name}" for name in ("rate", "layer", "overhead", "burst", "kind"))
_TRACE: Final = "shape.trace"
_WITHOUT_TRACE: Final = {
    "shape.rate": "the rate",
    "shape.layer": "what counts",
    "shape.overhead": "what counts",
    "shape.burst": "what passes at once",
}
"""What a trace says."""
_WHOLE: Final = "tc keeps whole bytes a second: write a multiple of 8 bit/s"


def shape_problems(wiring: Wiring, ref: PortRef) -> Iterator[Blame]:
    """One where none can be, without a rate, beside what excludes it, or with a burst that holds no frame."""
    rate = wiring.setting(ref, "rate")
    if rate is not None and int(rate.value) % BITS_PER_BYTE:
        yield _WHOLE, ("rate",)
    said = tuple(name for name in _NAMES if wiring.value(ref, name) is not None)
    followed = bool(wiring.value(ref, _TRACE))
    said = (*said, _TRACE) if followed else said
    if not said:
        return
    kind = wiring.topology.nodes[ref.node].kind
    told = shaping(wiring, ref)
    if kind in _WITHOUT:
        message = f"`{wiring.topology.label(ref)}` is a port of a {kind}, which shapes nothing"
        yield f"{message}: hosts, firewalls and switches do", (*said, "line")
    elif told is None:
        yield "a shaper needs a rate: set `shape.rate`, too", said
    else:
        yield from _trace_problems(wiring, ref, told) if followed else _figure_problems(told)
        yield from _neighbour_problems(wiring, ref, told)


def _trace_problems(wiring: Wiring, ref: PortRef, told: Shaping) -> Iterator[Blame]:
    for name, what in _WITHOUT_TRACE.items():
        if wiring.said(ref, name) is not None:
            yield f"a trace says {what}: set `{_TRACE}` or `{name}`, not both", (name,)
    kind = wiring.value(ref, "shape.kind")
    if kind not in {None, USUAL}:
        yield f"a trace is followed by `{USUAL}` alone, not by `{kind}`", ("shape.kind",)
    if told.frame_bytes > OPPORTUNITY_BYTES:
        message = f"an opportunity of a trace has {OPPORTUNITY_BYTES} bytes; the longest frame counts"
        yield f"{message} {told.frame_bytes} and would never pass: set `mtu: 1500 B`", (_TRACE, "mtu")


def _figure_problems(told: Shaping) -> Iterator[Blame]:
    if told.rate_bps % BITS_PER_BYTE:
        yield _WHOLE, ("shape.rate", "line")
    least = show(told.smallest_burst_bytes, SIZE)
    if told.burst_bytes is None:
        if told.kind == POLICE:
            yield f"a policer lives by its burst: set `shape.burst`, {least} or more", ("shape.kind",)
    elif told.kind == CAKE:
        yield "`cake` spaces frames and has no burst", ("shape.burst",)
    elif told.burst_bytes < told.smallest_burst_bytes:
        frame = f"one frame, which counts {show(told.frame_bytes, SIZE)}, so nothing would pass"
        message = f"a burst of {show(told.burst_bytes, SIZE)} does not hold {frame}: {least} or more do"
        yield message, ("shape.burst", "mtu")
    elif told.burst_bytes > told.largest_burst_bytes:
        most = show(told.largest_burst_bytes, SIZE)
        yield f"tc keeps a burst as a time, and that of no more than {most} at this rate", ("shape.burst",)


def _neighbour_problems(wiring: Wiring, ref: PortRef, told: Shaping) -> Iterator[Blame]:
    if wiring.setting(ref, "rate") is not None:
        yield "a port has a `rate` (a router's own shaper) or a `shape` (a line's), not both", ("rate",)
    if wiring.priorities(ref):
        names = ("pfc", "shape.rate", "line")
        yield "a shaper has one queue: a port with `pfc` has one for each priority", names
    segments = wiring.setting(ref, "gso_max_segs")
    if segments is not None and int(segments.value) > 1:
        yield "a shaper counts frames: where one is `gso_max_segs` is 1", ("gso_max_segs",)
    queue = wiring.setting(ref, "queue")
    if told.kind == CAKE and queue is not None and queue.value != CAKE:
        yield f"`shape.kind: cake` is the egress queue, too: no `{queue.value}` is below it", ("queue",)
