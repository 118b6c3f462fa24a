"""The programs that the guest keeps open and tells what to do line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.lab.rig import Rig


def test_lines_are_carried_out_in_order_and_answered_each(rig: Rig) -> None:
    """Whichever device a line named before, tc tells of all; the line that fails is the last.

    What it failed of is told in the tool's own words.
    """
    answer = rig.script("batch.py")
    assert answer["routes"] == 100
    assert answer["classes"] == []
    assert answer["qdiscs"] == {"lo": "noqueue", "dummy0": "pfifo", "ifb0": "bfifo"}
    assert answer["failure"].startswith("ip -d -j -batch -: exit 1: Cannot find device")
    assert "Command failed -:" in answer["failure"]
    assert answer["mtu"] == 1400
