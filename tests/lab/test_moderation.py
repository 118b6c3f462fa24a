"""Interrupt moderation by the words of the ethtool API: so long after the first frame, or so many frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig


@pytest.mark.parametrize(
    ("usecs_frames_ring", "interrupts", "received"),
    [
        ("0 0 256", [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
        ("0 1 256", [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
        ("0 3 256", [0, 0, 1, 1, 1, 2], [0, 0, 3, 3, 3, 6]),
        ("0 9 2", [0, 1, 1, 2, 2, 3], [0, 2, 2, 4, 4, 6]),
        ("1000000 3 256", [0, 0, 1, 1, 1, 2], [0, 0, 3, 3, 3, 6]),
        ("1000000 0 256", [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]),
        ("100 3 256", [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
    ],
)
def test_interrupt_comes_by_either_condition(
    rig: Rig, usecs_frames_ring: str, interrupts: list[int], received: list[int]
) -> None:
    """0 means no limit: without a time only the number counts, or a ring that is full."""
    counted = rig.script("moderation.py", *usecs_frames_ring.split(), str(len(interrupts)))
    assert (counted["interrupts"], counted["received"]) == (interrupts, received)
