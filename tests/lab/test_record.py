"""The recorder: it sees every frame, and changes nothing."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.lab.processes import leave_room
from tests.lab.rig import NS_PER_S
from tests.lab.shortened import everything
from tests.lab.test_catalogue import few_frames, main_plan, shortened
from wirelab.lab.recipe import Recipe
from wirelab.lab.recording import RECORD, Recording
from wirelab.results.causes import PLACES
from wirelab.results.record import Connection, Dropped, Event, Frame, Kind, read_record
from wirelab.results.result import read_result

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.lab.rig import Rig

# From before a network is ready to long after its traffic.
ALL = Recording(((0, 10_000 * NS_PER_S),), 1 << 30)
# The counters that a record tells, too, by the driver's place of them where they count losses.
COUNTED = {Kind.SENT: "tx_frames", Kind.ARRIVED: "rx_wire_frames", Kind.HANDED: "rx_frames"}
COUNTERS = re.findall(
    r"^\tu64 (\w+);",
    (Recipe.find().home / "kernel" / "driver" / "counters.h").read_text(encoding="utf-8"),
    re.MULTILINE,
)
QUEUE = "queue_dropped_frames"
DROPS = (QUEUE, *PLACES.values())
PAUSES = ("tx_pause_frames", "rx_pause_frames")
PAUSE = b"\x88\x08"
# What is to be seen in each: few frames, and between them every way to lose one that a shipped scenario has.
SCENARIOS = {
    "ftp-2001": "tx_frames",
    "sfp-siblings": QUEUE,
    "dirty-connector": "rx_dropped_fcs",
    "flapping-cable": QUEUE,
    "pause-headroom": "tx_pause_frames",
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_record_has_every_frame_and_changes_none(rig: Rig, name: str) -> None:
    """Every raw file is the same with a recorder and without, byte for byte.

    And each port's record has as many frames sent, arrived, handed on and dropped by each cause as its
    counters have, from the first one on.
    """
    plan = shortened(main_plan(name))
    plain, recorded = rig.run(plan), rig.run(plan, recording=ALL)
    files = everything(recorded)
    assert files.pop(RECORD)
    assert files == everything(plain)
    snapshots = json.loads((recorded / "counters.json").read_text())["snapshots"]
    told = counted(read_record(recorded / RECORD, {Kind.FRAME, Kind.DROPPED, *COUNTED}))
    (recorded / RECORD).unlink()
    names = (*COUNTED.values(), *PAUSES, *DROPS)
    for port, counters in snapshots[-1]["ports"].items():
        assert {key: told[port, key] for key in names} == {key: counters[key] for key in names}
    assert SCENARIOS[name] in {key for (_, key), count in told.items() if count}


def counted(record: Iterable[Frame | Event]) -> Counter[tuple[str, str]]:
    """How many frames of each kind a record has of each port, by the names of the port's counters."""
    frames: dict[int, Frame] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for entry in record:
        if isinstance(entry, Frame):
            frames[entry.number] = entry
        elif isinstance(entry, Dropped):
            counts[entry.port, QUEUE if entry.counter is None else COUNTERS[entry.counter]] += 1
        elif name := COUNTED.get(entry.kind):
            is_pause = frames[entry.number].headers[12:14] == PAUSE
            counts[entry.port, f"{name[:2]}_pause_frames" if is_pause else name] += 1
    return counts


def test_each_pause_frame_is_a_frame_of_its_own(rig: Rig) -> None:
    """A MAC makes the next one in the memory of one that was read: in a record each is sent once."""
    raw = rig.run(few_frames("pause-headroom"), recording=ALL)
    frames, sent = {}, Counter[int]()
    for entry in read_record(raw / RECORD, {Kind.FRAME, Kind.SENT}):
        if isinstance(entry, Frame):
            frames[entry.number] = entry
        elif entry.kind is Kind.SENT and frames[entry.number].headers[12:14] == PAUSE:
            sent[entry.number] += 1
    assert len(sent) > 100, "more than are ever under way"
    assert set(sent.values()) == {1}


def test_a_record_is_as_long_as_its_limit(rig: Rig) -> None:
    """The limit is of bytes that are written: a full record has room for no entry more, and says so."""
    limit_bytes = 1_000_000
    raw = rig.run(few_frames("sfp-mismatch"), recording=Recording(ALL.windows_ns, limit_bytes))
    assert limit_bytes - 400 < (raw / RECORD).stat().st_size <= limit_bytes
    *_, last = read_record(raw / RECORD)
    assert not isinstance(last, Frame)
    assert last.kind is Kind.END


def test_a_record_tells_what_tcp_sends_again(rig: Rig) -> None:
    """Each retransmission with its sequence numbers, as many as the connection counts, none twice at a time.

    And a state is told after what a segment has changed in it: what one acknowledges is acknowledged then.
    """
    plan = few_frames("sfp-mismatch")
    raw = rig.run(plan, recording=ALL)
    client = plan.flows[0].client_port
    states = [
        entry
        for entry in read_record(raw / RECORD, {Kind.TCP})
        if isinstance(entry, Connection) and entry.local_port == client
    ]
    again = [state for state in states if state.again_end != state.again]
    segments = [math.ceil((state.again_end - state.again) / state.mss_bytes) for state in again]
    assert sum(segments) == states[-1].retransmissions > 0
    assert all(state.again < state.again_end <= state.next for state in again)
    assert states[-1].una == states[-1].next


def test_a_full_disk_ends_a_record_and_says_where(rig: Rig) -> None:
    """The end is in the place of what found no room, with its instant; the run is whole and the same."""
    plan = few_frames("sfp-mismatch")
    plain = rig.run(plan)
    room_bytes = 1_200_000
    raw = rig.run(plan, recording=ALL, on_poll=partial(leave_room, room_bytes))
    content = (raw / RECORD).read_bytes()
    entries = list(read_record(raw / RECORD))
    assert len(content) <= room_bytes
    last = entries[-1]
    assert not isinstance(last, Frame)
    assert last.kind is Kind.END
    assert last.at_ps >= max(entry.at_ps for entry in entries[:-1] if entry.at_ps) - 10**9
    assert read_result(plan, raw).digest == read_result(plan, plain).digest
