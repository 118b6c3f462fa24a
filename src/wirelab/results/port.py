"""What one port did over a whole run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Self

from pydantic import Field

from wirelab.model.metric import DUPLEX, LINK, PAUSED_PRIORITY, PRIORITIES
from wirelab.plan.types import Duplex
from wirelab.results.counters import PortCounters
from wirelab.results.values import Cause, Count
from wirelab.units import PPM

_MOST_CAUSES: Final = 100
_COUNTED: Final = (
    *("tx_frames", "rx_frames", "tx_bytes", "rx_bytes", "tx_pause_frames", "rx_pause_frames"),
    *("queue_high_water_bytes", "buffer_high_water_bytes", "cpu_busy_ns", "tx_pfc_frames", "rx_pfc_frames"),
)
"""What has the same name in the file of counters."""


@dataclass(frozen=True, slots=True)
class PortResult:
    """One port over the whole run.

    ``drops`` counts frames by cause: ``queue`` (the egress qdisc), ``netem`` (lost on purpose), ``police``
    (by a policer), and the port's own, ``rx_buffer``, ``rx_oversize``, ``tx_error`` ...
    ``paused_ns`` is how long its peer kept it silent, ``priority_paused_ns`` the same for each priority
    (PFC). ``speed_bps`` and ``duplex`` are what the link came to, None without a link. ``collisions`` counts
    those that frames of this port met on a shared medium, ``late_collisions`` those after 512 bit times.
    ``cpu_busy_ns`` is how long the CPU was busy with frames of this port.
    """

    tx_frames: Count
    rx_frames: Count
    tx_bytes: Count
    rx_bytes: Count
    drops: Annotated[dict[Cause, Count], Field(max_length=_MOST_CAUSES)]
    tx_pause_frames: Count
    rx_pause_frames: Count
    paused_ns: Count
    queue_high_water_bytes: Count
    buffer_high_water_bytes: Count
    link: bool
    speed_bps: Count | None
    duplex: Duplex | None
    collisions: Count = 0
    late_collisions: Count = 0
    cpu_busy_ns: Count = 0
    tx_pfc_frames: Count = 0
    rx_pfc_frames: Count = 0
    priority_paused_ns: Annotated[tuple[Count, ...], Field(min_length=PRIORITIES, max_length=PRIORITIES)] = (
        0,
    ) * PRIORITIES
    ecn_marks: Count = 0

    @classmethod
    def of(cls, change: PortCounters) -> Self:
        """What a port counted over a run."""
        link = change.link
        priorities_ns = (change.get(f"tx_paused_ns_prio{priority}") for priority in range(PRIORITIES))
        return cls(
            **{name: change.get(name) for name in _COUNTED},
            drops=change.drops_by_cause,
            paused_ns=change["tx_paused_ns"],
            link=link.up,
            speed_bps=link.speed_bps,
            duplex=link.duplex,
            collisions=change.get("tx_collisions"),
            late_collisions=change.get("tx_late_collisions"),
            priority_paused_ns=tuple(priorities_ns),
            ecn_marks=change.marked_frames,
        )

    @property
    def dropped_frames(self) -> int:
        """Frames lost, for any cause."""
        return sum(self.drops.values())


def _priority_paused_ns(priority: int) -> Callable[[PortResult], int]:
    return lambda port: port.priority_paused_ns[priority]


# Without a link its speed is 0 and its duplex no word at all.
FIGURES: Final[Mapping[str, Callable[[PortResult], int]]] = {
    "drops": lambda port: port.dropped_frames,
    "pause_sent": lambda port: port.tx_pause_frames,
    "pause_received": lambda port: port.rx_pause_frames,
    "queue_high_water": lambda port: port.queue_high_water_bytes,
    "buffer_high_water": lambda port: port.buffer_high_water_bytes,
    "link": lambda port: LINK.values.index("up" if port.link else "down"),
    "speed": lambda port: port.speed_bps or 0,
    "duplex": lambda port: DUPLEX.values.index(port.duplex) if port.duplex else -1,
    "ecn_marks": lambda port: port.ecn_marks,
    "collisions": lambda port: port.collisions,
    "late_collisions": lambda port: port.late_collisions,
    "pfc_sent": lambda port: port.tx_pfc_frames,
    "pfc_received": lambda port: port.rx_pfc_frames,
}

TIMES_NS: Final[Mapping[str, Callable[[PortResult], int]]] = {
    "paused": lambda port: port.paused_ns,
    "cpu_busy": lambda port: port.cpu_busy_ns,
    **{f"{PAUSED_PRIORITY}{number}": _priority_paused_ns(number) for number in range(PRIORITIES)},
}
"""What is told as a share of the whole time."""


def port_figure(metric: str, port: PortResult, elapsed_ns: int) -> float:
    """A metric of a port in its base unit, over a run that took ``elapsed_ns``."""
    if metric in TIMES_NS:
        return TIMES_NS[metric](port) * PPM / max(elapsed_ns, 1)
    return FIGURES[metric](port)
