"""The recorder: it sees every frame, and changes nothing."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.lab.rig import NS_PER_S
from tests.lab.test_catalogue import main_plan, shortened
from tests.lab.test_shortcuts import everything
from tests.tshark import read_by_tshark
from wirelab.lab.recipe import Recipe
from wirelab.lab.recording import RECORD, Recording
from wirelab.report.capture import CAUSES, write_capture
from wirelab.results.record import Dropped, Event, Frame, Kind, read_record
from wirelab.results.result import read_result

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

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
DROPS = (QUEUE, *(COUNTERS[place] for place in CAUSES))
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


def test_tshark_reads_the_capture_of_a_record(rig: Rig, tmp_path: Path) -> None:
    """An interface for each port that was asked for, each frame with its number, each drop with its reason.

    A frame that went through has the same number at every port; PAUSE frames say for how long.
    """
    plan = shortened(main_plan("sfp-mismatch"))
    raw = rig.run(plan, recording=Recording(ALL.windows_ns, 64 << 20))
    ready_ns = read_result(plan, raw).status.ready_ns
    file = tmp_path / "capture.pcapng"
    names = ("module-host", "module-line", "client-eth0")
    with file.open("wb") as out:
        captured = write_capture(out, plan, read_record(raw / RECORD), ready_ns, names)
    packets = read_by_tshark(file, "frame.interface_name", "frame.packet_id", "frame.comment", "tcp.len")
    assert len(packets) == captured.packets
    assert {name for name, *_ in packets} == {"module.host", "module.line", "client"}
    drops = [packet for packet in packets if packet[2]]
    assert len(drops) == captured.drops > 0
    assert {(name, re.sub(r"[\d ]+ B waiting", " N B waiting", comment)) for name, _, comment, _ in drops} == {
        ("module.line", "dropped here: FIFO 16 KiB full, N B waiting")
    }
    seen = {name: {number for at, number, *_ in packets if at == name} for name in ("module.host", "client")}
    lost = {number for _, number, *_ in drops}
    assert lost <= seen["module.host"]
    assert not lost & seen["client"]
