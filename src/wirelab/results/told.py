"""Where the frames of a record are, and with which headers: at each port those that a frame has there.

A record tells a frame's headers when it is first seen, and again where they have changed: before it enters
an egress queue, and before a TX ring. One number may be that of several frames at a time: what a switch
floods leaves here with a tag and there without, and what a firewall has joined leaves as segments.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, Generic, TypeVar

from wirelab.plan.types import Cable
from wirelab.results.record import Event, Frame, Kind

PLACING: Final = frozenset(
    {Kind.FRAME, Kind.QUEUED, Kind.TX_RING, Kind.SENT, Kind.ARRIVED, Kind.HANDED, Kind.DROPPED}
)
"""What of a record says where a frame is."""

Kept = TypeVar("Kept")


def told_at_ports(record: Iterable[Frame | Event], cables: Iterable[Cable]) -> Iterator[Frame | Event]:
    """The same with each event behind the headers that its frame has there, unless they were told last."""
    places = Places[Frame](cables)
    told: dict[int, Frame] = {}
    for entry in record:
        if isinstance(entry, Frame):
            places.tell(entry.number, entry)
            continue
        frame = places.headers(entry.kind, entry.port, entry.number)
        if frame is not None and (before := told.get(entry.number)) is not frame:
            told[entry.number] = frame
            yield replace(frame, at_ps=entry.at_ps) if before else frame
        yield entry


class Places(Generic[Kept]):
    """The headers of each frame at each place where it is: they go with it, in the order of the frames.

    Ports are those of the ``cables``, by interface name.
    """

    def __init__(self, cables: Iterable[Cable]) -> None:
        self._peers = {
            out: into for cable in cables for out, into in ((cable.a, cable.b), (cable.b, cable.a))
        }
        self._last: dict[int, Kept] = {}
        self._queued: dict[tuple[str, int], list[Kept]] = {}
        self._in_ring: dict[tuple[str, int], list[Kept]] = {}
        self._on_cable: dict[tuple[str, int], list[Kept]] = {}
        self._came: dict[tuple[str, int], list[Kept]] = {}

    def tell(self, number: int, headers: Kept) -> None:
        """These are the frame's from now on, wherever it is put next."""
        self._last[number] = headers

    def headers(self, kind: Kind, port: str, number: int) -> Kept | None:
        """Those of the frame to which something happens, in the order of the record; None where none are."""
        last = self._last.get(number)
        if last is None:
            return None
        here = port, number
        match kind:
            case Kind.QUEUED:
                self._queued.setdefault(here, []).append(last)
            case Kind.TX_RING:
                _take(self._queued, here)
                self._in_ring.setdefault(here, []).append(last)
            case Kind.SENT:
                last = _take(self._in_ring, here) or last
                self._on_cable.setdefault((self._peers.get(port, ""), number), []).append(last)
            case Kind.ARRIVED:
                last = _take(self._on_cable, here) or last
                self._came.setdefault(here, []).append(last)
            case Kind.STORED | Kind.RX_RING if here in self._came:
                last = self._came[here][-1]
            case Kind.HANDED:
                last = _take(self._came, here) or last
            case Kind.DROPPED:
                last = self._dropped(port, number) or last
        return last

    def _dropped(self, port: str, number: int) -> Kept | None:
        """It is at one place of a port, or has just been sent."""
        for places in (self._queued, self._in_ring, self._came):
            if headers := _take(places, (port, number)):
                return headers
        return _take(self._on_cable, (self._peers.get(port, ""), number))


def _take(places: dict[tuple[str, int], list[Kept]], place: tuple[str, int]) -> Kept | None:
    """What came to a place first, which is not there any more."""
    headers = places.get(place)
    if not headers:
        return None
    first = headers.pop(0)
    if not headers:
        del places[place]
    return first
