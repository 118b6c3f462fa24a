"""A record by hand for the burst picture: five frames that come at once to a FIFO with room for two."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from recorded import G, plan

from wirelab.plan.path import flow_path
from wirelab.report.picture import Moment, Picture, moment
from wirelab.results.record import (
    HEAD,
    MAGIC,
    WORD_BYTES,
    Dropped,
    Event,
    Fill,
    Frame,
    Kind,
    Paused,
    Sent,
)
from wirelab.units import PS_PER_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

READY_NS = 30 * G
AT_NS = 4_200_000_000
FRAMES = 5
WIRE_NS = 1221
SLOW_NS = 4884
LENGTH_BYTES = 1514
WAY = flow_path(plan(), plan().flows[1])


def at_ps(ns: int) -> int:
    """An instant of the lab's clock, from the first drop on."""
    return (READY_NS + AT_NS + ns) * PS_PER_NS


def headers(sequence: int) -> bytes:
    """Of a TCP segment of the download."""
    ip = struct.pack(">BxH2xHxB2x4s4s", 0x45, 1500, 0, 6, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    return bytes(12) + b"\x08\x00" + ip + struct.pack(">HHIIBB", 5201, 40_000, sequence, 0, 0x80, 0x10)


def record() -> list[Frame | Event]:
    """Frames 1 to 5 leave the switch one after the other; the module drops 3 to 5 and is paused then."""
    told: list[Frame | Event] = []
    for number in range(1, FRAMES + 1):
        end = (number - 3) * WIRE_NS
        told += [
            Frame(at_ps(end), number, LENGTH_BYTES, headers(1448 * number)),
            Sent(at_ps(end), Kind.SENT, "switch-p2", number, at_ps(end - WIRE_NS), False, False),  # noqa: FBT003
            Event(at_ps(end), Kind.ARRIVED, "module-host", number),
        ]
        if number <= 2:
            told.append(Fill(at_ps(end), Kind.QUEUED, "module-line", number, LENGTH_BYTES * number, number))
        else:
            full = Dropped(at_ps(end), Kind.DROPPED, "module-line", number, None, 15_140, 16_384)
            told.append(full)
    told += [
        Paused(at_ps(5000), Kind.PAUSED, "module-line", 0, at_ps(9000), 0, 100),
        Paused(at_ps(7000), Kind.PAUSED, "module-line", 0, at_ps(7000), 0, 0),
        Fill(at_ps(9000), Kind.TX_RING, "module-line", 1, 1514, 1),
        Sent(at_ps(9000 + SLOW_NS), Kind.SENT, "module-line", 1, at_ps(9000), False, False),  # noqa: FBT003
        Event(at_ps(9015 + SLOW_NS), Kind.ARRIVED, "client-eth0", 1),
    ]
    return told


PORTS = ("switch-p2", "module-host", "module-line", "client-eth0")


def written(told: Sequence[Frame | Event] | None = None) -> bytes:
    """The same as the driver writes it."""
    content = MAGIC
    for number, name in enumerate(PORTS, 1):
        content += _entry(0, 0, number, Kind.PORT, name.encode().ljust(16, b"\0"))
    for one in record() if told is None else told:
        if isinstance(one, Frame):
            body = struct.pack("<II", one.length_bytes, len(one.headers)) + one.headers
            content += _entry(one.at_ps, one.number, 0, Kind.FRAME, body)
        else:
            port = PORTS.index(one.port) + 1 if one.port else 0
            content += _entry(one.at_ps, one.number, port, one.kind, _body(one))
    return content


def in_moments(*blocks: tuple[int, int, bytes], first: tuple[int, int] = (1, 1), end_ps: int = 0) -> bytes:
    """A file of moments as the driver writes it; of each block its slice, its place in order, its entries.

    The moment of the ``first`` event is kept, in these slices; there is no other.
    """
    table = struct.pack("<16sQIIIIIIII", b"wirelab moment 1", end_ps, 11, len(blocks), *first, 0, 0, 0, 0)
    table += b"".join(struct.pack("<III", slice_, len(entries), order) for slice_, order, entries in blocks)
    return b"".join(part.ljust(128 << 10, b"\0") for part in (table, *(one for *_, one in blocks)))


def _entry(at_ps: int, number: int, port: int, kind: Kind, body: bytes) -> bytes:
    body += bytes(-len(body) % WORD_BYTES)
    return HEAD.pack(at_ps, number, port, kind, len(body) // WORD_BYTES) + body


def _body(one: Event) -> bytes:
    if isinstance(one, Sent):
        return struct.pack("<QHHI", one.start_ps, one.is_control, one.is_damaged, one.ring_frames)
    if isinstance(one, Fill):
        return struct.pack("<II", one.fill_bytes, one.fill_frames)
    if isinstance(one, Dropped):
        return struct.pack("<IIQ", 0x10000, one.fill_bytes, one.limit_bytes)
    if isinstance(one, Paused):
        return struct.pack("<QII", one.until_ps, one.priority, one.quanta)
    return b""


def burst(told: Sequence[Frame | Event] | None = None) -> Moment:
    """The moment of the first drop."""
    return moment("first drop", AT_NS, record() if told is None else told, WAY, READY_NS)


def picture(*moments: Moment, variant: str = "main") -> Picture:
    """A picture of these moments."""
    return Picture(variant, "0" * 64, "download: server to client", moments or (burst(),))
