"""record.bin -> what became of each frame, as the driver's recorder wrote it (kernel/driver/record.h)."""

import struct
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Final

from wirelab.errors import LabError, refusals

HEADERS_BYTES: Final = 96
"""What is kept of a frame, at the most."""

_FORMAT: Final = b"wirelab record "
MAGIC: Final = _FORMAT + b"2"
HEAD: Final = struct.Struct("<QIHBB")
WORD_BYTES: Final = 8
_NAME: Final = 16
_QUEUE: Final = 0x10000
_NO_SSTHRESH: Final = 0x7FFFFFFF  # TCP_INFINITE_SSTHRESH


class Kind(IntEnum):
    """What happened; the numbers are those of enum etherport_record_kind."""

    PORT = 1
    FRAME = 2
    QUEUED = 3
    TX_RING = 4
    SENT = 5
    ARRIVED = 6
    STORED = 7
    GIVEN = 8
    RX_RING = 9
    HANDED = 10
    DROPPED = 11
    PAUSED = 12
    TCP = 13
    END = 14


ALL: Final = frozenset(Kind)
_PORT: Final = int(Kind.PORT)
_END: Final = int(Kind.END)


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame before its first event, and again once it has changed: length without FCS, and first bytes."""

    at_ps: int
    number: int
    length_bytes: int
    headers: bytes


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at a port, by interface name, to the frame ``number``; "" and 0: to none."""

    at_ps: int
    kind: Kind
    port: str
    number: int


@dataclass(frozen=True, slots=True)
class Fill(Event):
    """It is in a queue, a ring or a buffer, or has left it; what that holds from now on.

    With a ring it is the ring's frames; the bytes are those left in the egress queue, of a TX ring.
    """

    fill_bytes: int
    fill_frames: int


@dataclass(frozen=True, slots=True)
class Sent(Event):
    """Its last bit has left, its first one at ``start_ps``; ``ring_frames`` are in the TX rings by then."""

    start_ps: int
    is_control: bool
    is_damaged: bool
    ring_frames: int = 0


@dataclass(frozen=True, slots=True)
class Dropped(Event):
    """It is lost. ``counter`` is the place of what counts it, None for the egress queue.

    ``limit_bytes`` is 0 where it was not for lack of room.
    """

    counter: int | None
    fill_bytes: int
    limit_bytes: int


@dataclass(frozen=True, slots=True)
class Paused(Event):
    """The port is to be silent, in a class, until then; no longer where ``quanta`` is 0.

    The pause expires at ``until_ps`` unless that class of the port is told of another before.
    """

    until_ps: int
    priority: int
    quanta: int


@dataclass(frozen=True, slots=True)
class Connection(Event):
    """The state of a TCP connection's end (RFC 9293 3.3.1; ``state`` is TCP_CA_Open and so on).

    It is told with each segment that leaves, when one that came has been dealt with, and when what is from
    ``again`` up to ``again_end`` was sent once more (both 0: nothing was).
    """

    local: IPv4Address | IPv6Address
    remote: IPv4Address | IPv6Address
    local_port: int
    remote_port: int
    mss_bytes: int
    una: int
    next: int
    received: int
    send_window_bytes: int
    receive_window_bytes: int
    cwnd_frames: int
    ssthresh_frames: int
    in_flight_frames: int
    retransmitted_frames: int
    lost_frames: int
    retransmissions: int
    srtt_8us: int
    rto_us: int
    state: int
    again: int = 0
    again_end: int = 0

    @property
    def srtt_us(self) -> float:
        """The smoothed RTT, 0 while nothing has been measured."""
        return self.srtt_8us / 8

    @property
    def ssthresh_bytes(self) -> int | None:
        """The slow-start threshold, None while TCP has none yet."""
        return self.ssthresh_frames * self.mss_bytes if self.ssthresh_frames < _NO_SSTHRESH else None


_FILL: Final = struct.Struct("<II")
_SENT: Final = struct.Struct("<QHHI")
_DROPPED: Final = struct.Struct("<IIQ")
_PAUSED: Final = struct.Struct("<QII")
_FRAME: Final = struct.Struct("<II")
_TCP: Final = struct.Struct("<16s16sHH17I")


def read_record(path: Path, kinds: Collection[Kind] = ALL) -> Iterator[Frame | Event]:
    """What a file of the recorder holds of ``kinds``, in its order.

    Kind.END is the last of one that is not whole: it was as long as it may be, or a disk was full. A file may
    end anywhere. Raises LabError where it is no such file, or damaged.
    """
    reader = RecordReader(path)
    yield from reader.more(kinds)
    if reader.is_cut and Kind.END in kinds:
        yield Event(reader.at_ps, Kind.END, "", 0)


class RecordReader:
    """Reads a file of the recorder that may still grow, from where it left off."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place = 0
        self._ports = {0: ""}
        self._has_ended = False
        self.is_cut = False
        """Whether the file ends in the middle of a record, which may still be written."""
        self.at_ps = 0
        """The instant of the last record, be it whole or not."""

    def skip(self) -> None:
        """Pass over what has come since the last time."""
        for _ in self.more(frozenset()):
            pass

    def more(
        self, kinds: Collection[Kind] = ALL, *, only: Collection[int] | None = None
    ) -> Iterator[Frame | Event]:
        """What has come since the last time, as `read_record` has it; ``only`` of frames of these numbers."""
        with refusals(self._path), self._path.open("rb") as file:
            file.seek(self._place)
            content = file.read()
        whole = 0 if self._place else checked(self._path, content)
        wanted = {int(kind): (kind, _PARSERS.get(kind, _event)) for kind in kinds}
        try:
            for body, end, at_ps, number, port, kind in () if self._has_ended else entries(content, whole):
                self.at_ps = at_ps
                if end > len(content):
                    break
                place = self._place + body - HEAD.size
                if kind not in ALL:
                    raise damaged(self._path, place)
                try:
                    if kind == _PORT:
                        self._ports[port] = port_name(content[body:end])
                    elif (known := wanted.get(kind)) is not None and (only is None or number in only):
                        told, parse = known
                        yield parse(content[body:end], at_ps, told, self._ports[port], number)
                except (struct.error, ValueError, KeyError) as error:
                    raise damaged(self._path, place) from error
                whole = end
                # A disk that was full may have left anything behind it.
                self._has_ended = kind == _END
        finally:
            self.is_cut = not self._has_ended and whole != len(content)
            self._place += whole


def checked(path: Path, content: bytes) -> int:
    """Where the first entry of a record begins. Raises LabError where the content is none."""
    if content[: len(MAGIC)] != MAGIC:
        other = content.startswith(_FORMAT)
        raise LabError(f"{path} is no record of {'this wirelab' if other else 'a lab'}")
    return len(MAGIC)


def damaged(path: Path, place: int) -> LabError:
    """That an entry makes no sense."""
    return LabError(f"{path} is damaged at byte {place}")


def entries(content: bytes, place: int) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Where the body of each entry begins and ends, when it happened, its frame, port and kind, undecoded.

    A second of a full link has millions of them. The last one may end behind the content: it is not whole.
    """
    unpack, head_bytes, content_bytes = HEAD.unpack_from, HEAD.size, len(content)
    while (body := place + head_bytes) <= content_bytes:
        at_ps, number, port, kind, words = unpack(content, place)
        place = body + words * WORD_BYTES
        yield body, place, at_ps, number, port, kind
        if place > content_bytes or kind == _END:
            return


def port_name(body: bytes) -> str:
    """The interface that an entry of Kind.PORT is about. Raises ValueError where it is no name."""
    return body[:_NAME].partition(b"\0")[0].decode("ascii")


def parsed(kind: Kind, body: bytes, at_ps: int, port: str, number: int) -> Frame | Event:
    """One entry. Raises struct.error where it is too short."""
    return _PARSERS.get(kind, _event)(body, at_ps, kind, port, number)


def _frame(body: bytes, at_ps: int, _: Kind, __: str, number: int) -> Frame:
    length_bytes, kept_bytes = _FRAME.unpack_from(body)
    return Frame(at_ps, number, length_bytes, body[_FRAME.size :][:kept_bytes])


def _event(_: bytes, at_ps: int, kind: Kind, port: str, number: int) -> Event:
    return Event(at_ps, kind, port, number)


def _fill(body: bytes, at_ps: int, kind: Kind, port: str, number: int) -> Fill:
    return Fill(at_ps, kind, port, number, *_FILL.unpack_from(body))


def _sent(body: bytes, at_ps: int, kind: Kind, port: str, number: int) -> Sent:
    start_ps, control, damaged, ring_frames = _SENT.unpack_from(body)
    return Sent(at_ps, kind, port, number, start_ps, bool(control), bool(damaged), ring_frames)


def _dropped(body: bytes, at_ps: int, kind: Kind, port: str, number: int) -> Dropped:
    cause, fill_bytes, limit_bytes = _DROPPED.unpack_from(body)
    counter = cause if cause < _QUEUE else None
    return Dropped(at_ps, kind, port, number, counter, fill_bytes, limit_bytes)


def _paused(body: bytes, at_ps: int, kind: Kind, port: str, number: int) -> Paused:
    return Paused(at_ps, kind, port, number, *_PAUSED.unpack_from(body))


def _connection(body: bytes, at_ps: int, kind: Kind, port: str, number: int) -> Connection:
    local, remote, *figures = _TCP.unpack_from(body)
    return Connection(at_ps, kind, port, number, _address(local), _address(remote), *figures)


def _address(packed: bytes) -> IPv4Address | IPv6Address:
    address = IPv6Address(packed)
    return address.ipv4_mapped or address


_PARSERS: Final[Mapping[Kind, Callable[[bytes, int, Kind, str, int], Frame | Event]]] = {
    Kind.FRAME: _frame,
    **dict.fromkeys((Kind.QUEUED, Kind.TX_RING, Kind.STORED, Kind.GIVEN, Kind.RX_RING, Kind.HANDED), _fill),
    Kind.SENT: _sent,
    Kind.DROPPED: _dropped,
    Kind.PAUSED: _paused,
    Kind.TCP: _connection,
}
