"""What tshark reads of the captures of a lab: every frame at every port, no more, and what each says."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.lab.test_catalogue import few_frames
from tests.lab.test_record import ALL, DROPS
from tests.tshark import read_by_tshark
from wirelab.lab.recording import RECORD
from wirelab.report.capture import write_capture
from wirelab.results.record import read_record
from wirelab.results.result import read_result

if TYPE_CHECKING:
    from pathlib import Path

    from tests.lab.rig import Rig
    from wirelab.plan.types import Plan

INBOUND, OUTBOUND = "0x00000001", "0x00000002"
SENT = ("tx_frames", "tx_pause_frames", "tx_pfc_frames")
RECEIVED = ("rx_wire_frames", "rx_pause_frames", "rx_pfc_frames")
FIELDS = ("frame.interface_name", "frame.packet_flags_direction", "frame.packet_id", "frame.comment")


def captured(rig: Rig, plan: Plan, folder: Path) -> tuple[Path, Path]:
    """The raw files of a run, and the capture of all of it."""
    raw = rig.run(plan, recording=ALL)
    status = read_result(plan, raw).status
    file = folder / "capture.pcapng"
    from_ns = status.counted_from_ns - status.ready_ns
    with file.open("wb") as out:
        record = read_record(raw / RECORD)
        write_capture(out, plan, record, status.ready_ns, [port.name for port in plan.ports], from_ns=from_ns)
    return raw, file


@pytest.mark.parametrize("name", ["sfp-mismatch", "pause-headroom", "pfc-and-pause", "dirty-connector"])
def test_frames_at_each_interface_equal_the_counters_of_its_port(rig: Rig, tmp_path: Path, name: str) -> None:
    """Sent, received and dropped ones, those included that were there before the traffic; none is missing.

    What a port dropped has a comment at that port, and nothing else has. A frame that went through has the
    same number at every port, one that was dropped none behind it.
    """
    plan = few_frames(name)
    raw, file = captured(rig, plan, tmp_path)
    counted = json.loads((raw / "counters.json").read_text())["snapshots"]
    packets = read_by_tshark(file, *FIELDS)
    seen = Counter((port, way) for port, way, _, comment in packets if way == INBOUND or not comment)
    dropped = Counter(port for port, _, _, comment in packets if comment.startswith("dropped here: "))
    assert sum(dropped.values()) == sum(bool(comment) for *_, comment in packets)
    for port in plan.ports:
        first, last = (counted[at]["ports"][port.name] for at in (0, -1))

        def change(*names: str, before: dict[str, int] = first, after: dict[str, int] = last) -> int:
            return sum(after.get(key, 0) - before.get(key, 0) for key in names)

        assert seen[port.label, OUTBOUND] == change(*SENT), port.label
        assert seen[port.label, INBOUND] == change(*RECEIVED), port.label
        assert dropped[port.label] == change(*DROPS), port.label
    if name == "sfp-mismatch":
        lost = {number for port, _, number, comment in packets if comment}
        assert lost
        assert {comment for *_, comment in packets if comment} == {
            "dropped here: FIFO 16 KiB full, 15 140 B waiting"
        }
        assert lost <= {number for port, _, number, _ in packets if port == "module.host"}
        assert not lost & {number for port, _, number, _ in packets if port == "client"}


@pytest.mark.parametrize(
    ("variant", "opcode", "field"),
    [(0, "0x0101", "macc.cbfc.pause_time.c3"), (1, "0x0001", "macc.pause_time")],
)
def test_quanta_of_pause_and_pfc_decode(
    rig: Rig, tmp_path: Path, variant: int, opcode: str, field: str
) -> None:
    """As tshark reads them: XOFF asks for the quanta that the port has, XON for none."""
    plan = few_frames("pfc-and-pause", variant)
    _, file = captured(rig, plan, tmp_path)
    told = [row for row in read_by_tshark(file, "macc.opcode", field) if row[0]]
    assert {row[0] for row in told} == {opcode}
    assert {row[1] for row in told} == {"0", "65535"}
