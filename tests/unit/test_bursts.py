"""Single frames tell how long bursts are, what of one finds room, and what releases it."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING

from recorded import G, plan

from wirelab.results.record import Dropped, Event, Frame, Kind, Sent
from wirelab.verdict.bursts import Bursts, Seen, bursts

if TYPE_CHECKING:
    from collections.abc import Sequence

PS = 1000
WIRE_NS = 1231
DOWNLOAD = plan().flows[1]
WINDOW_NS = (4 * G, 4 * G + 100_000_000)


def headers(sequence: int, *, acknowledges: int | None = None) -> bytes:
    """Of a segment of the download, or of an acknowledgement of it."""
    length, flags = (1500, 0x18) if acknowledges is None else (52, 0x10)
    ends = [bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])]
    ports = [DOWNLOAD.client_port, DOWNLOAD.port]
    if acknowledges is not None:
        ends, ports = ends[::-1], ports[::-1]
    ip = struct.pack(">BxH2xHxB2x4s4s", 0x45, length, 0, 6, *ends)
    tcp = struct.pack(">HHIIBB", *ports, sequence, acknowledges or 0, 0x80, flags)
    return bytes(12) + b"\x08\x00" + ip + tcp


def burst(first: int, at_ns: int, length: int, room: int) -> list[Frame | Event]:
    """Frames that come to the module one after the other: those after ``room`` find none."""
    told: list[Frame | Event] = []
    for number in range(first, first + length):
        at_ps = (at_ns + (number - first) * WIRE_NS) * PS
        told += [
            Frame(at_ps, number, 1514, headers(1448 * number)),
            Event(at_ps, Kind.ARRIVED, "module-host", number),
        ]
        if number >= first + room:
            told.append(Dropped(at_ps, Kind.DROPPED, "module-line", number, None, 15_140, 16_384))
    return told


def left(*at_ns: int) -> list[Frame | Event]:
    """Frames that leave the module."""
    return [Sent(ns * PS, Kind.SENT, "module-line", 1, ns * PS - 1, False, False) for ns in at_ns]  # noqa: FBT003


def heard(first: int, at_ns: int, *acknowledges: int) -> list[Frame | Event]:
    """Acknowledgements that the sender hears of at once."""
    told: list[Frame | Event] = []
    for number, sequence in enumerate(acknowledges, first):
        told += [
            Frame(at_ns * PS, number, 66, headers(0, acknowledges=sequence)),
            Event(at_ns * PS, Kind.HANDED, "server-eth0", number),
        ]
    return told


def read(told: Sequence[Frame | Event]) -> Bursts | None:
    """What they tell of the download at the module."""
    return bursts(plan(), DOWNLOAD, "module.line", told, WINDOW_NS)


def test_a_burst_ends_where_another_frame_had_room() -> None:
    """Three that come one after the other, a pause, and two."""
    found = read([*burst(1, 0, 3, 3), *burst(4, 100_000, 2, 2)])
    assert found is not None
    assert (found.count, found.frames, found.losing) == (2, Seen(2, 2, 3), 0)
    assert found.losing_frames is found.found_room is None


def test_of_a_burst_that_loses_some_it_is_told_what_found_room_meanwhile() -> None:
    """Of 20 frames 14 came before the first that was lost; three had left by then."""
    told = [*burst(1, 0, 20, 14), *left(5000, 10_000, 15_000, 20_000), *burst(40, 500_000, 10, 10)]
    found = read(sorted(told, key=lambda one: one.at_ps))
    assert found is not None
    assert (found.count, found.losing) == (2, 1)
    assert [str(seen) for seen in (found.losing_frames, found.found_room, found.left, found.lost)] == [
        *("20", "14", "3", "6")
    ]
    assert found.sentences("download")[-1] == (
        "1 of the bursts lost some: of 20 frames 14 find room while 3 leave; 6 are lost"
    )


def test_a_frame_that_is_told_of_again_is_no_other() -> None:
    """It may get a tag before it is lost: data and acknowledgements count as often as they come."""
    told = [*burst(1, 0, 20, 14), *heard(40, 100_000, 1_000_000), *heard(41, 200_000, 1_001_448)]
    kept = {one.number: one for one in told if isinstance(one, Frame)}
    again: list[Frame | Event] = []
    for entry in told:
        if not isinstance(entry, Frame):
            again.append(replace(kept[entry.number], at_ps=entry.at_ps, length_bytes=1518))
        again.append(entry)
    found = read(told)
    assert found is not None
    assert read(again) == found


def test_segments_of_one_number_are_lost_one_by_one() -> None:
    """A firewall has joined them: each is a frame again, by its sequence number."""
    told = [replace(entry, number=1) for entry in burst(1, 0, 20, 14)]
    found = read(told)
    assert found is not None
    assert [str(seen) for seen in (found.losing_frames, found.found_room, found.lost)] == ["20", "14", "6"]


def test_acknowledgements_that_come_at_once_count_together() -> None:
    """Two of two segments each are four; one that says nothing new releases nothing."""
    base = 1_000_000
    told = [
        *heard(1, 0, base),
        *heard(2, 100_000, base + 2 * 1448, base + 4 * 1448),
        *heard(4, 200_000, base + 4 * 1448),
        *burst(10, 300_000, 4, 4),
    ]
    found = read(told)
    assert found is not None
    assert (found.acknowledged, found.acknowledgements) == (Seen(4, 4, 4), Seen(2, 2, 2))
    assert "the 2 acknowledgements that the sender hears of at once tell of 4 segments" in "\n".join(
        found.sentences("download")
    )


def test_sequence_numbers_that_wrap_are_still_ahead() -> None:
    """They have 32 bits."""
    near = (1 << 32) - 1448
    found = read([*heard(1, 0, near), *heard(2, 100_000, 1448), *burst(10, 300_000, 2, 2)])
    assert found is not None
    assert found.acknowledged == Seen(2, 2, 2)


def test_frames_of_others_do_not_count() -> None:
    """A record in which no frame of the flow came tells nothing."""
    assert read([Frame(0, 1, 60, bytes(60)), Event(0, Kind.ARRIVED, "module-host", 1)]) is None
