"""Results on a disk that is full."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.lab.rig import Rig


def test_a_full_disk_costs_only_the_result_it_was_full_for(rig: Rig) -> None:
    """The message says what to do; the earlier result stays, nothing half is left, the next one is kept."""
    told = rig.script("full_disk.py")
    earlier, full, later = told["answers"]
    assert earlier == "20260722T101530Z-sfp-mismatch"
    assert full.endswith(
        "result.json: cannot write results: No space left on device; "
        "the disk is full: make room, or choose another folder with --out"
    )
    assert later == "20260722T101530Z.2-sfp-mismatch"
    assert told["left"] == [earlier, later, "latest"]
