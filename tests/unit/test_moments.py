"""Files of moments: what of their blocks becomes a record, and which are refused."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

import pytest
from bursts import at_ps, in_moments, record, written

from wirelab.errors import LabError
from wirelab.results.moments import BLOCK_BYTES, write_record
from wirelab.results.record import HEAD, MAGIC, Event, Frame, Kind, read_record

if TYPE_CHECKING:
    from pathlib import Path

SAME = 15
HALF = len(record()) // 2


def entries(told: list[Frame | Event]) -> bytes:
    """As they are in a block, with the names of all ports before them."""
    return written(told)[len(MAGIC) :]


def same(number: int, before: int) -> bytes:
    """That a frame of a number is the one of another."""
    return HEAD.pack(at_ps(0), number, 0, SAME, 1) + struct.pack("<II", before, 0)


def made(folder: Path, content: bytes) -> list[Frame | Event]:
    """What the record of it has."""
    (folder / "moments.bin").write_bytes(content)
    write_record(folder / "moments.bin", folder / "record.bin")
    return list(read_record(folder / "record.bin"))


def test_blocks_are_read_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    """Wherever in the file there was room for them; what was told again of ports is left out."""
    first, last = entries(record()[:HALF]), entries(record()[HALF:])
    assert made(tmp_path, in_moments((2, 9, last), (1, 8, first), first=(1, 2))) == record()


def test_what_is_of_no_moment_is_left_out(tmp_path: Path) -> None:
    """A block of another slice, and one that was never written."""
    blocks = ((1, 1, entries(record())), (4, 2, entries(record())), (0, 0, b""))
    assert made(tmp_path, in_moments(*blocks, first=(1, 3))) == record()
    assert made(tmp_path, in_moments(*blocks, first=(0, 0))) == []


def test_a_frame_has_one_number_in_all_slices(tmp_path: Path) -> None:
    """Each slice tells of it anew, as another one; also where what told of it first was not kept."""
    frame = Frame(at_ps(0), 1, 1514, b"a frame's")
    queued, sent, arrived = (
        Event(at_ps(number), Kind.ARRIVED, "module-host", number) for number in (1, 7, 20)
    )
    again, once_more = (Frame(at_ps(number), number, 1514, b"a frame's") for number in (7, 20))
    blocks = (
        (1, 1, entries([frame, queued])),
        (2, 2, same(7, 1) + entries([again, sent])),
        (3, 3, same(20, 7) + entries([once_more, arrived])),
    )
    told = made(tmp_path, in_moments(*blocks, first=(1, 3)))
    assert [(type(one), one.number, one.at_ps) for one in told] == [
        (Frame, 1, at_ps(0)),
        *((Event, 1, at_ps(number)) for number in (1, 7, 20)),
    ]
    later = made(tmp_path, in_moments(*blocks, first=(2, 3)))
    assert [(type(one), one.number) for one in later] == [(Frame, 1), (Event, 1), (Event, 1)]


def test_where_there_was_no_more_room_the_record_ends(tmp_path: Path) -> None:
    """As one that is full does."""
    *told, last = made(tmp_path, in_moments((1, 1, entries(record())), end_ps=at_ps(99)))
    assert (told, last) == (record(), Event(at_ps(99), Kind.END, "", 0))


WHOLE = in_moments((1, 1, entries(record())))
COUNT = struct.calcsize("<16sQI")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is no record of moments"),
        (written(), "is no record of moments"),
        (WHOLE[:30], "is no record of moments"),
        (WHOLE[:BLOCK_BYTES], f"is damaged at byte {BLOCK_BYTES}"),
        (WHOLE[: BLOCK_BYTES + 100], f"is damaged at byte {BLOCK_BYTES}"),
        (WHOLE[:COUNT] + b"\xff" * 4 + WHOLE[COUNT + 4 :], "is damaged at byte 0"),
        (
            in_moments((1, 1, entries(record()[HALF:])), (1, 2, entries(record()[:HALF]))),
            f"is damaged at byte {2 * BLOCK_BYTES}",
        ),
        (in_moments((1, 1, entries(record())[:-1])), f"is damaged at byte {BLOCK_BYTES}"),
        (in_moments((1, 1, HEAD.pack(0, 7, 0, SAME, 0))), f"is damaged at byte {BLOCK_BYTES}"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    """A lab's root may have written anything there; the message names the file."""
    with pytest.raises(LabError, match=re.escape(words)) as caught:
        made(tmp_path, content)
    assert "moments.bin" in caught.value.message
