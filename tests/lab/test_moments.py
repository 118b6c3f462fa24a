"""Moments that the recorder keeps of a run while it is measured: all that a record of the run has of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.lab.processes import leave_room
from tests.lab.rig import NS_PER_MS, NS_PER_S
from tests.lab.shortened import everything
from tests.lab.test_catalogue import main_plan, shortened
from wirelab.lab.recording import MOMENTS, RECORD, Moments, Recording
from wirelab.results.moments import BLOCK_BYTES, write_record
from wirelab.results.record import Dropped, Event, Frame, Kind, Paused, read_record
from wirelab.units import PS_PER_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.lab.rig import Rig
    from wirelab.plan.types import Plan

AROUND_NS = 2 * NS_PER_MS
WHOLE = Recording(((0, 10_000 * NS_PER_S),), 4 << 30)
LEFT_OUT = {Kind.RX_RING, Kind.HANDED, Kind.TCP}
KEPT = Moments(AROUND_NS, 256 << 20)


def kept(
    rig: Rig, plan: Plan, moments: Moments = KEPT, on_poll: Callable[[Path], None] | None = None
) -> tuple[Path, list[Frame | Event]]:
    """The raw files of a run, and what the recorder kept of its moments."""
    raw = rig.run(plan, recording=moments, on_poll=on_poll)
    write_record(raw / MOMENTS, raw / RECORD)
    told = list(read_record(raw / RECORD))
    (raw / MOMENTS).unlink()
    (raw / RECORD).unlink()
    return raw, told


def trouble(told: Sequence[Frame | Event]) -> list[int]:
    """When something was dropped; if nothing was, when a port was paused."""
    drops = [one.at_ps for one in told if isinstance(one, Dropped)]
    return sorted(drops or [one.at_ps for one in told if isinstance(one, Paused) and one.quanta])


def most(instants: Sequence[int]) -> tuple[int, int]:
    """How many are within twice AROUND_NS where most are, and the first of these. They are in order."""
    width_ps = 2 * AROUND_NS * PS_PER_NS
    counts = [bisect_right(instants, at + width_ps) - bisect_left(instants, at) for at in instants]
    return max(counts), instants[counts.index(max(counts))]


def happened(told: Sequence[Frame | Event], from_ps: int, until_ps: int) -> list[tuple[Any, ...]]:
    """What happened between two instants, and to which frame, by its bytes: a record numbers as it likes.

    But for what no picture has, which is more than half of what a whole record writes.
    """
    frames = {one.number: one.headers for one in told if isinstance(one, Frame)}
    return [
        (replace(one, number=0), frames[one.number] if one.number else b"")
        for one in told
        if isinstance(one, Event) and one.kind not in LEFT_OUT and from_ps <= one.at_ps <= until_ps
    ]


@pytest.mark.parametrize("name", ["sfp-siblings", "sfp-flow-control", "dirty-connector"])
def test_what_is_kept_of_a_moment_is_all_that_happened(name: str, rig: Rig) -> None:
    """Around the first drop, or pause, and around the most of them, as a record of everything has it.

    Each frame with one number from slice to slice. And every raw file is the same as without a recorder.
    """
    plan = shortened(main_plan(name))
    raw, told = kept(rig, plan)
    whole_raw = rig.run(plan, recording=WHOLE)
    whole = list(read_record(whole_raw / RECORD))
    (whole_raw / RECORD).unlink()
    assert everything(raw) == everything(whole_raw) == everything(rig.run(plan))
    instants = trouble(whole)
    count, from_ps = most(instants)
    assert most(trouble(told)) == (count, from_ps)
    around_ps = AROUND_NS * PS_PER_NS
    for begin, end in (
        (instants[0] - around_ps, instants[0] + around_ps),
        (from_ps, from_ps + 2 * around_ps),
    ):
        seen = happened(told, begin, end)
        assert seen == happened(whole, begin, end)
        assert len(seen) > 10
    frames = [one.number for one in told if isinstance(one, Frame)]
    assert len(frames) == len(set(frames))
    assert {one.number for one in told if isinstance(one, Event)} <= {0, *frames}
    assert len(told) < len(whole) / 3


def test_a_frame_under_way_from_slice_to_slice_stays_the_same(rig: Rig) -> None:
    """On a path of 20 ms a frame that is sent in one slice arrives many slices later, by the same number."""
    plan = shortened(main_plan("internet-rtt", 1))
    _, told = kept(rig, plan, Moments(20 * NS_PER_MS, KEPT.limit_bytes))
    sent = {one.number for one in told if isinstance(one, Event) and one.kind is Kind.SENT}
    server = {one.port for one in told if isinstance(one, Event) and one.port.startswith("server")}
    queued = {
        one.number
        for one in told
        if isinstance(one, Event) and one.kind is Kind.QUEUED and one.port in server
    }
    assert len(queued & sent) > 0.5 * len(queued) > 100


def test_what_has_no_room_ends_the_record(rig: Rig) -> None:
    """The run goes on and is the same; what was kept until then is whole, and its end says when that was."""
    plan = shortened(main_plan("sfp-siblings"))
    raw, told = kept(rig, plan, replace(KEPT, limit_bytes=1 << 20))
    assert everything(raw) == everything(rig.run(plan))
    assert isinstance(told[-1], Event)
    assert told[-1].kind is Kind.END
    assert all(one.at_ps <= told[-1].at_ps for one in told)


def test_a_full_disk_ends_the_record(rig: Rig) -> None:
    """So does a block that the disk has no room for: it is none of the file, which is whole without it."""
    plan = shortened(main_plan("sfp-siblings"))
    raw, told = kept(rig, plan, on_poll=partial(leave_room, 10 * BLOCK_BYTES + 1000))
    assert everything(raw) == everything(rig.run(plan))
    assert isinstance(told[-1], Event)
    assert told[-1].kind is Kind.END
    assert all(one.at_ps <= told[-1].at_ps for one in told)
    assert len(told) > 1000


def test_a_run_without_trouble_leaves_no_moment(rig: Rig) -> None:
    """Its file is a table and what is written again and again, and has nothing for a picture."""
    _, told = kept(rig, shortened(main_plan("jumbo-frames")))
    assert told == []
