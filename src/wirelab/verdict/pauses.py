"""Who was kept silent: by PAUSE, or by PFC of a priority."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirelab.units import COUNT, PPM, RATIO, TIME, rounded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wirelab.plan.path import Hop
    from wirelab.results.port import PortResult
    from wirelab.results.result import Result


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


def pauses(result: Result, way: Iterable[Hop], flow: str | None) -> list[Pause]:
    """Who was paused during ``flow`` (None: the whole run), the longest first."""
    silences = []
    for hop in way:
        change = result.change(hop.out.name, flow)
        if change["tx_paused_ns"] > 0:
            ppm = change["tx_paused_ns"] * PPM // max(change.elapsed_ns, 1)
            silences.append(Pause(hop, ppm, change["rx_pause_frames"], change.get("rx_pfc_frames")))
    return sorted(silences, key=lambda pause: -pause.ppm)


def priorities_paused(port: PortResult, elapsed_ns: int) -> str:
    """How long each priority of a port was silent."""
    silences = [
        f"priority {priority} was paused for {rounded(paused_ns, TIME)} of {rounded(elapsed_ns, TIME)}"
        for priority, paused_ns in enumerate(port.priority_paused_ns)
        if paused_ns
    ]
    frames = f"{rounded(port.rx_pfc_frames, COUNT)} PFC frames came"
    return "; ".join([*silences, frames]) if silences else "its peer never paused a priority"
