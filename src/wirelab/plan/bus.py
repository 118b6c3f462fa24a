"""From a bus as its standard has it to the server that frames wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.plan.types import Bus
from wirelab.units import PPM

if TYPE_CHECKING:
    from wirelab.model.bus import Slot


def plan_bus(slot: Slot, payload_bytes: int | None = None) -> Bus:
    """The bus of a card in ``slot``; ``payload_bytes`` is its maximum payload if not the usual one."""
    bus = slot.bus
    return Bus(
        bps=bus.lane.value * slot.lanes * bus.coding.value // PPM,
        payload_bytes=payload_bytes or bus.payload.value,
        overhead_bytes=bus.overhead.value,
        frame_bytes=bus.frame.value,
    )
