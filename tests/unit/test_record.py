"""The recorder's file: what is read of it, and what of a damaged one."""

from __future__ import annotations

import re
import struct
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

import pytest

from wirelab.errors import LabError
from wirelab.lab.recipe import Recipe
from wirelab.results.causes import PLACES, WORDS
from wirelab.results.record import (
    HEADERS_BYTES,
    MAGIC,
    Connection,
    Dropped,
    Event,
    Fill,
    Frame,
    Kind,
    Paused,
    Sent,
    read_record,
)

if TYPE_CHECKING:
    from pathlib import Path

DRIVER = Recipe.find().home / "kernel" / "driver"


def entry(kind: int, body: bytes = b"", *, at_ps: int = 5_000, frame: int = 0, port: int = 0) -> bytes:
    """One record, filled up to whole words."""
    body += bytes(-len(body) % 8)
    return struct.pack("<QIHBB", at_ps, frame, port, kind, len(body) // 8) + body


PORT = entry(Kind.PORT, b"switch-p1".ljust(16, b"\0"), port=1)
FRAME = entry(Kind.FRAME, struct.pack("<II", 1514, 14) + bytes(range(14)), frame=7)


def written(folder: Path, *entries: bytes) -> Path:
    """A file with these records."""
    path = folder / "record.bin"
    path.write_bytes(MAGIC + b"".join(entries))
    return path


def test_each_kind_is_read_as_the_driver_wrote_it(tmp_path: Path) -> None:
    """With the port's name, the frame's number, and the figures of its kind."""
    path = written(
        tmp_path,
        PORT,
        FRAME,
        entry(Kind.QUEUED, struct.pack("<II", 3028, 2), frame=7, port=1),
        entry(Kind.SENT, struct.pack("<QHHI", 4_000, 0, 1, 3), frame=7, port=1),
        entry(Kind.ARRIVED, frame=7, port=1),
        entry(Kind.DROPPED, struct.pack("<IIQ", 20, 15_000, 16_384), frame=7, port=1),
        entry(Kind.DROPPED, struct.pack("<IIQ", 0x10000 + 9, 15_000, 0), frame=7, port=1),
        entry(Kind.PAUSED, struct.pack("<QII", 9_000, 3, 0xFFFF), port=1),
        entry(
            Kind.TCP,
            bytes(10) + b"\xff\xff\x0a\x00\x00\x01" + bytes(10) + b"\xff\xff\x0a\x00\x00\x02"
            + struct.pack("<HH17I", 5201, 40_000, *range(17)),
        ),
    )  # fmt: skip
    address = IPv4Address("10.0.0.1"), IPv4Address("10.0.0.2")
    assert list(read_record(path)) == [
        Frame(5_000, 7, 1514, bytes(range(14))),
        Fill(5_000, Kind.QUEUED, "switch-p1", 7, 3028, 2),
        Sent(5_000, Kind.SENT, "switch-p1", 7, 4_000, is_control=False, is_damaged=True, ring_frames=3),
        Event(5_000, Kind.ARRIVED, "switch-p1", 7),
        Dropped(5_000, Kind.DROPPED, "switch-p1", 7, 20, 15_000, 16_384),
        Dropped(5_000, Kind.DROPPED, "switch-p1", 7, None, 15_000, 0),
        Paused(5_000, Kind.PAUSED, "switch-p1", 0, 9_000, 3, 0xFFFF),
        Connection(5_000, Kind.TCP, "", 0, *address, 5201, 40_000, *range(17)),
    ]


def test_a_record_may_end_anywhere(tmp_path: Path) -> None:
    """The disk was full, or the lab ended: what is whole counts."""
    whole = MAGIC + PORT + FRAME + entry(Kind.ARRIVED, frame=7, port=1)
    path = tmp_path / "record.bin"
    counts = set()
    for length in range(len(MAGIC), len(whole) + 1):
        path.write_bytes(whole[:length])
        told = list(read_record(path))
        cut = [entry for entry in told if not isinstance(entry, Frame) and entry.kind is Kind.END]
        # Where its end is not that of an entry, it says that it is cut.
        assert told[len(told) - len(cut) :] == cut
        counts.add((len(told) - len(cut), len(cut)))
    assert counts == {(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)}


def test_nothing_is_read_behind_the_end(tmp_path: Path) -> None:
    """What a full disk took the beginning of lies there."""
    path = written(tmp_path, PORT, entry(Kind.END), b"what found no room")
    assert list(read_record(path)) == [Event(5_000, Kind.END, "", 0)]


def test_a_record_of_another_form_is_refused(tmp_path: Path) -> None:
    """It is of a lab of another wirelab."""
    (tmp_path / "record.bin").write_bytes(b"wirelab record 1" + PORT)
    with pytest.raises(LabError, match="is no record of this wirelab"):
        list(read_record(tmp_path / "record.bin"))


@pytest.mark.parametrize(
    "damaged",
    [
        entry(99, port=1),
        entry(Kind.ARRIVED, port=2),
        entry(Kind.SENT, b"", port=1),
        entry(Kind.PORT, b"\xff".ljust(16, b"\0"), port=2),
    ],
    ids=["kind", "port", "short", "name"],
)
def test_a_damaged_record_is_named_with_its_place(damaged: bytes, tmp_path: Path) -> None:
    """Never a traceback."""
    path = written(tmp_path, PORT, damaged)
    with pytest.raises(LabError, match=rf"record.bin is damaged at byte {len(MAGIC) + len(PORT)}$"):
        list(read_record(path))


def test_another_file_is_no_record(tmp_path: Path) -> None:
    """Whatever begins otherwise."""
    (tmp_path / "record.bin").write_bytes(b"\n\r\r\n")
    with pytest.raises(LabError, match="is no record of a lab"):
        list(read_record(tmp_path / "record.bin"))


def test_the_kinds_are_those_of_the_driver() -> None:
    """In its order, from 1 on; behind them is the one that only a file of moments has."""
    header = (DRIVER / "record.h").read_text()
    named = re.findall(r"^\tETHERPORT_RECORD_([A-Z_]+)(?: = 1)?,", header, re.MULTILINE)
    assert [*(kind.name for kind in Kind), "SAME"] == named
    assert f"HEADERS_LEN\t{HEADERS_BYTES}\t" in header


def test_each_cause_is_a_counter_of_lost_frames() -> None:
    """By its place in the driver's counters: all that drop, and no other. Each has its words."""
    names = re.findall(r"^\tu64 (\w+);", (DRIVER / "counters.h").read_text(), re.MULTILINE)
    counters = enumerate(names)
    lost = {place: name for place, name in counters if re.search(r"_dropped_|_lost_|_damaged_", name)}
    assert lost == PLACES
    assert WORDS.keys() == set(PLACES.values())
