"""A frame whose headers change on its way: each port has those that it has there."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from bursts import AT_NS, READY_NS, WAY, at_ps, headers, in_moments, written
from recorded import plan

from wirelab.api.frames import frame_table
from wirelab.errors import LabError
from wirelab.report.capture import packets, write_capture
from wirelab.report.picture import moment
from wirelab.results.around import read_around
from wirelab.results.excerpt import write_excerpt
from wirelab.results.moments import write_record
from wirelab.results.record import MAGIC, Dropped, Event, Fill, Frame, Kind, Sent, read_record
from wirelab.results.told import told_at_ports
from wirelab.shell.sentence import Words

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PORTS = {port.name: port for port in plan().ports}
CABLES = plan().cables


def frame(ns: int, number: int = 1, *, tag: int | None = None, sequence: int = 1448) -> Frame:
    """A frame as it is told of, with a tag or without."""
    plain = headers(sequence)
    tagged = b"" if tag is None else b"\x81\x00" + tag.to_bytes(2)
    return Frame(at_ps(ns), number, 1514 + len(tagged), plain[:12] + tagged + plain[12:])


def fill(kind: Kind, port: str, ns: int, number: int = 1) -> Fill:
    """It is in a queue or a ring, or handed on."""
    return Fill(at_ps(ns), kind, port, number, 1514, 1)


def sent(port: str, ns: int, number: int = 1) -> Sent:
    """It has left a port."""
    return Sent(at_ps(ns), Kind.SENT, port, number, at_ps(ns - 100), is_control=False, is_damaged=False)


def came(port: str, ns: int, number: int = 1) -> Event:
    """It has come to a port."""
    return Event(at_ps(ns), Kind.ARRIVED, port, number)


def dropped(port: str, ns: int, number: int = 1) -> Dropped:
    """It has found no room in a queue."""
    return Dropped(at_ps(ns), Kind.DROPPED, port, number, None, 15_140, 16_384)


ON_ITS_WAY: list[Frame | Event] = [
    frame(0),
    fill(Kind.QUEUED, "server-eth0", 0),
    fill(Kind.TX_RING, "server-eth0", 0),
    sent("server-eth0", 200),
    came("switch-p1", 210),
    fill(Kind.HANDED, "switch-p1", 210),
    frame(220, tag=10),
    fill(Kind.QUEUED, "switch-p2", 220),
    fill(Kind.TX_RING, "switch-p2", 220),
    sent("switch-p2", 400),
    came("module-host", 410),
    fill(Kind.HANDED, "module-host", 410),
    frame(420, tag=20),
    fill(Kind.TX_RING, "module-line", 420),
    sent("module-line", 800),
    came("client-eth0", 810),
]
LENGTHS = {
    **dict.fromkeys(("server-eth0", "switch-p1"), 1514),
    **dict.fromkeys(("switch-p2", "module-host", "module-line", "client-eth0"), 1518),
}


def tags(record: Iterable[Frame | Event]) -> list[tuple[str, str, int | None]]:
    """What leaves and comes where, and with which tag."""
    seen: list[tuple[str, str, int | None]] = []
    for packet in packets(told_at_ports(record, CABLES), PORTS):
        assert packet.frame is not None
        kept = packet.frame.headers
        tag = int.from_bytes(kept[14:16]) if kept[12:14] == b"\x81\x00" else None
        assert packet.frame.length_bytes == (1514 if tag is None else 1518)
        seen.append((packet.event.port, packet.direction, tag))
    return seen


def test_a_packet_has_the_headers_of_its_port() -> None:
    """Those that were told last before it, though it is known only later what became of it there."""
    assert tags(ON_ITS_WAY) == [
        ("server-eth0", "outbound", None),
        ("switch-p1", "inbound", None),
        ("switch-p2", "outbound", 10),
        ("module-host", "inbound", 10),
        ("module-line", "outbound", 20),
        ("client-eth0", "inbound", 20),
    ]


def test_a_table_has_the_length_and_the_tag_of_each_port() -> None:
    """Four bytes more from where the tag is; a frame without one has none, which is not VLAN 0."""
    table = frame_table(told_at_ports(ON_ITS_WAY, CABLES), PORTS, READY_NS)
    labels = {port.label: LENGTHS[name] for name, port in PORTS.items()}
    assert dict(zip(table["port"], table["length_bytes"], strict=True)) == labels
    assert set(table["frame"]) == {1}
    vlans = dict(zip(table["port"], table["vlan"].fillna(-1), strict=True))
    assert vlans == {
        PORTS["server-eth0"].label: -1,
        PORTS["switch-p1"].label: -1,
        PORTS["switch-p2"].label: 10,
        PORTS["module-host"].label: 10,
        PORTS["module-line"].label: 20,
        PORTS["client-eth0"].label: 20,
    }


def test_a_copy_that_goes_another_way_keeps_its_headers() -> None:
    """A switch floods a frame with a tag and without one, before either has left."""
    flooded: list[Frame | Event] = [
        frame(0, tag=10),
        fill(Kind.QUEUED, "switch-p2", 0),
        fill(Kind.TX_RING, "switch-p2", 0),
        frame(1),
        fill(Kind.QUEUED, "switch-p1", 1),
        fill(Kind.QUEUED, "module-line", 1),
        frame(2, tag=20),
        fill(Kind.QUEUED, "module-host", 2),
        fill(Kind.TX_RING, "module-host", 2),
        sent("switch-p2", 200),
        came("module-host", 210),
        sent("module-host", 220),
        dropped("module-line", 225),
        dropped("module-host", 226),
        dropped("switch-p1", 230),
        came("switch-p2", 240),
    ]
    assert tags(flooded) == [
        ("switch-p2", "outbound", 10),
        ("module-host", "inbound", 10),
        ("module-host", "outbound", 20),
        ("module-line", "outbound", None),
        # Dropped as it came, which is why that packet is no other one.
        ("module-host", "outbound", 10),
        ("switch-p1", "outbound", None),
        ("switch-p2", "inbound", 20),
    ]


def test_segments_of_one_number_keep_their_order() -> None:
    """What a firewall has joined is in the ring segment by segment before the first one leaves."""
    ring = [
        entry
        for ns in range(3)
        for entry in (frame(ns, sequence=1448 * ns), fill(Kind.TX_RING, "server-eth0", ns))
    ]
    leave = [entry for ns in (10, 20, 30) for entry in (sent("server-eth0", ns), came("switch-p1", ns + 15))]
    leave.sort(key=lambda entry: entry.at_ps)
    seen = [
        (packet.event.port, packet.frame.headers)
        for packet in packets(told_at_ports([*ring, *leave], CABLES), PORTS)
        if packet.frame
    ]
    for port in ("server-eth0", "switch-p1"):
        assert [kept for at, kept in seen if at == port] == [headers(1448 * number) for number in range(3)]


def test_what_is_told_again_and_the_same_is_told_once() -> None:
    """Each event has one frame before it at the most, and no telling is left without an event."""
    told = list(told_at_ports(ON_ITS_WAY, CABLES))
    assert told == ON_ITS_WAY
    assert list(told_at_ports([*ON_ITS_WAY, frame(900)], CABLES)) == ON_ITS_WAY


def test_a_frame_that_was_not_told_of_is_an_error() -> None:
    """A record of a lab tells of each before anything else."""
    with pytest.raises(LabError, match="the record does not say what frame 7 is"):
        list(packets([came("switch-p1", 0, number=7)], PORTS))


def test_a_part_of_a_record_tells_what_changes_in_it(tmp_path: Path) -> None:
    """It begins with the headers that a frame has there, be they told long before or be another copy's."""
    path, out = tmp_path / "record.bin", tmp_path / "excerpt.bin"
    ports = ("module-line", "switch-p2", "module-host", "client-eth0")
    record = [entry for entry in ON_ITS_WAY if isinstance(entry, Frame) or entry.port in ports]
    path.write_bytes(written(record))
    for from_ns, until_ns, found in (
        (-10, 900, [("switch-p2", "outbound", 10), ("module-host", "inbound", 10),
                    ("module-line", "outbound", 20), ("client-eth0", "inbound", 20)]),
        (405, 415, [("module-host", "inbound", 10)]),
        (500, 900, [("module-line", "outbound", 20), ("client-eth0", "inbound", 20)]),
    ):  # fmt: skip
        begins_ns = READY_NS + AT_NS
        write_excerpt(path, out, ((begins_ns + from_ns, begins_ns + until_ns),), CABLES)
        assert tags(read_record(out)) == found
        frames = [entry for entry in read_record(out) if isinstance(entry, Frame)]
        assert [one.number for one in frames] == [1] * len({tag for *_, tag in found})
    copied: list[Frame | Event] = [
        *record[:4],
        frame(230),
        fill(Kind.QUEUED, "module-line", 230),
        *record[4:],
    ]
    path.write_bytes(written(copied))
    write_excerpt(path, out, ((begins_ns + 300, begins_ns + 411),), CABLES)
    assert tags(read_record(out)) == [("switch-p2", "outbound", 10), ("module-host", "inbound", 10)]


def test_a_moment_tells_what_a_later_slice_tells_otherwise(tmp_path: Path) -> None:
    """A slice tells a frame anew: what it told of it before is left out, and what has changed is not."""
    first: list[Frame | Event] = [frame(0), sent("switch-p2", 100)]
    for again, told in ((frame(200), 0), (frame(200, tag=10), 1)):
        later: list[Frame | Event] = [again, came("module-host", 210)]
        blocks = [
            (number, number, written(part)[len(MAGIC) :]) for number, part in enumerate((first, later), 1)
        ]
        (tmp_path / "moments.bin").write_bytes(in_moments(*blocks, first=(1, 2)))
        write_record(tmp_path / "moments.bin", tmp_path / "record.bin")
        assert list(read_record(tmp_path / "record.bin")) == [*first, *later[1 - told :]]


def test_what_held_before_is_read_with_the_headers_of_then(tmp_path: Path) -> None:
    """A frame that waits since before its copy was told of; then come what was told since."""
    waits = fill(Kind.QUEUED, "module-line", 1)
    record: list[Frame | Event] = [
        frame(0),
        waits,
        frame(2, tag=10),
        fill(Kind.QUEUED, "switch-p2", 900),
        came("client-eth0", 950),
    ]
    path = tmp_path / "record.bin"
    path.write_bytes(written(record))
    assert list(read_around(path, at_ps(800), at_ps(1000))) == record


def test_a_picture_tells_of_each_frame_once() -> None:
    """As it was when it was first seen."""
    seen = moment("a moment", AT_NS, ON_ITS_WAY, WAY, READY_NS)
    assert (seen.number, seen.length_bytes) == ((1,), (1514,))
    assert [len(lane.sent.frame) for lane in seen.lanes if lane.sent.frame] == [1] * 3


def test_where_a_frame_was_says_what_it_became() -> None:
    """Once where that can be seen in the words: a port's address is not among them."""
    moved = [
        replace(entry, headers=b"\x02" + entry.headers[1:]) if isinstance(entry, Frame) else entry
        for entry in ON_ITS_WAY
    ]
    lines = list(Words(plan(), READY_NS).lines([*ON_ITS_WAY, *moved], of_one=True))
    said = [line for line in lines if line.startswith("frame 1: ")]
    became = ["1514 B\n", "VLAN 10, 1518 B\n", "VLAN 20, 1518 B\n"]
    assert [line.partition("ACK, ")[2] for line in said] == 2 * became
    assert len(lines) == 6 + 2 * sum(isinstance(entry, Event) for entry in ON_ITS_WAY)


def test_a_capture_has_the_length_of_each_port() -> None:
    """In the file: that of the packet at each interface."""
    file = io.BytesIO()
    written_as = write_capture(file, plan(), ON_ITS_WAY, READY_NS, list(PORTS))
    assert (written_as.packets, written_as.drops) == (6, 0)
    content = file.getvalue()
    lengths = [(1514).to_bytes(4, "little"), (1518).to_bytes(4, "little")]
    assert [content.count(length) for length in lengths] == [2, 4]
