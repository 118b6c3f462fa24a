"""Which ports are worth a chart of what they held, and the limits that were in sight there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wirelab.model import ethernet
from wirelab.report.chart import Level
from wirelab.units import COUNT, SIZE, rounded, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.plan.types import Port
    from wirelab.results.port import PortResult
    from wirelab.runner.run_result import Evidence

PORTS_SHOWN: Final = 5
"""More are in the table of ports."""

LEVEL_IN_SIGHT: Final = 1.6
"""A level farther above everything that happened would press that to the ground."""

RULE: Final = (
    f"At most {PORTS_SHOWN} ports have a chart of what they held: those that dropped frames, the most first; "
    "then those that sent PAUSE; then by what they held at most. One that never held more than one frame has "
    "none. Between two samples more may have been held: that shows in the high water alone, which the ports "
    "count themselves."
)


def busy_ports(evidence: Evidence) -> list[Port]:
    """The ports where something happened, by the rule that ``RULE`` states."""

    def weight(port: Port) -> tuple[int, bool, int]:
        counted = evidence.result.ports[port.label]
        sent_pause = counted.tx_pause_frames + counted.tx_pfc_frames > 0
        return counted.dropped_frames, sent_pause, most_held_bytes(counted)

    def happened(port: Port) -> bool:
        dropped, _, highest = weight(port)
        return dropped > 0 or highest > ethernet.frame_bytes(port.mtu_bytes)

    return sorted(filter(happened, evidence.plan.ports), key=weight, reverse=True)


def most_held_bytes(counted: PortResult) -> int:
    """The high water of the queue or the buffer, whichever was higher."""
    return max(counted.queue_high_water_bytes, counted.buffer_high_water_bytes)


def levels(port: Port, counted: PortResult) -> tuple[Level, ...]:
    """The high water, and what was nearly reached of that which a port has."""
    highest = most_held_bytes(counted)
    return Level(f"high water {rounded(highest, SIZE)}", highest), *_limits(port, counted)


def _limits(port: Port, counted: PortResult) -> Iterator[Level]:
    queue, buffer = counted.queue_high_water_bytes, counted.buffer_high_water_bytes
    limits = []
    if port.queue is not None and port.queue.limit_bytes is not None:
        limits.append((f"{port.queue.kind} limit", port.queue.limit_bytes, queue))
    if port.pause_tx or port.pfc:
        limits.append(("XOFF", port.xoff_bytes, buffer))
    limits.append(("packet buffer", port.buffer_bytes, buffer))
    for name, limit_bytes, highest in limits:
        if limit_bytes <= highest * LEVEL_IN_SIGHT:
            yield Level(f"{name} {show(limit_bytes, SIZE)}", limit_bytes)


def room(port: Port) -> str:
    """What there is room for at a port: ``bfifo of 22 KiB; packet buffer of 64 KiB; XOFF at ...``."""
    parts = []
    if port.queue is not None:
        limit = "" if port.queue.limit_bytes is None else f" of {show(port.queue.limit_bytes, SIZE)}"
        if port.queue.limit_frames is not None:
            limit = f" of {rounded(port.queue.limit_frames, COUNT)} frames"
        parts.append(f"{port.queue.kind}{limit}")
    if port.buffer_bytes:
        parts.append(f"packet buffer of {show(port.buffer_bytes, SIZE)}")
    if port.pause_tx or port.pfc:
        parts.append(f"XOFF at {show(port.xoff_bytes, SIZE)}, XON at {show(port.xon_bytes, SIZE)}")
    return "; ".join(parts)
