"""What makes a lab fast gives what the long way gives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.lab.shortened import SCENARIOS, everything, shortened, told

if TYPE_CHECKING:
    from pathlib import Path

    from tests.lab.rig import Rig
    from wirelab.plan.types import Plan


@pytest.mark.parametrize("name", SCENARIOS)
def test_staying_in_the_idle_loop_changes_no_byte(rig: Rig, name: str) -> None:
    """Every raw file is the same when each event leaves the idle loop, but for what iperf3 calls its test."""
    plan = shortened(name)
    assert everything(rig.run(plan)) == everything(rig.run(plan, slow="idle"))


@pytest.mark.parametrize("name", SCENARIOS)
def test_reading_whole_blocks_changes_nothing_that_a_flow_tells(rig: Rig, name: str) -> None:
    """Every interval, retransmit and drop is the same when iperf3 wakes for whatever has come.

    That is so of flows one after the other. Of two at once each is moved by nanoseconds where the other's
    program wakes, for reading the clock takes 50 ns, and may become another. When iperf3 stops reading, at
    the end of a test, is decided by a timer of its own: what is still under way then is counted by the ports
    and by no flow.
    """
    plan = shortened(name)
    fast, slow = rig.run(plan), rig.run(plan, slow="blocks")
    for flow in plan.flows:
        for file in (flow.sender_file, flow.receiver_file):
            assert told(fast / file) == told(slow / file)
    assert len(dropped(fast, plan)) >= len(plan.flows) * 10
    assert dropped(fast, plan) == dropped(slow, plan)


def test_a_block_is_waited_for_and_dropped(rig: Rig) -> None:
    """Only a read() of just that size, from a socket, into whole pages; at the end it gives the rest."""
    answer = rig.script("whole_blocks.py")
    pieces = [10_000] * 20
    assert answer["plain"] == {"got": pieces, "copied": True}
    assert answer["whole"] == {"got": [128 << 10, 200_000 - (128 << 10)], "copied": False}
    for otherwise in ("another_size", "within_a_page", "off"):
        assert answer[otherwise] == {"got": pieces, "copied": True}
    assert answer["file"]["copied"]


def dropped(raw: Path, plan: Plan) -> list[dict[str, int]]:
    """What each port has lost at each look while a flow runs, since the first of them."""
    samples = [json.loads(line) for line in (raw / "samples.jsonl").read_text().splitlines()]
    lost: dict[str, int] = {}
    before: dict[str, dict[str, int]] = {}
    looks = []
    for sample in samples:
        lost |= {name: port["dropped_frames"] for name, port in sample["ports"].items()}
        for flow in plan.flows:
            if flow.start_ns <= sample["at_ns"] < flow.end_ns:
                first = before.setdefault(flow.name, dict(lost))
                looks.append({name: count - first[name] for name, count in lost.items()})
    return looks
