"""What a record has of some milliseconds, without decoding what was before them."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from wirelab.errors import refusals
from wirelab.results.record import ALL, HEAD, Event, Frame, Kind, checked, damaged, entries, parsed, port_name

_Entry = tuple[int, int, int, int, int, int]

_TOLD: Final = {int(kind): kind for kind in Kind if kind not in {Kind.PORT, Kind.FRAME, Kind.TCP, Kind.END}}
_IN_BUFFER: Final = frozenset({int(Kind.STORED), int(Kind.GIVEN)})


def read_around(path: Path, from_ps: int, until_ps: int) -> Iterator[Frame | Event]:
    """What happened to frames from one instant of the lab's clock to another, and what held when it began.

    What held are all pauses, the last fill of each buffer, and of each queue the last that was put into it
    with what has left it since. A frame comes before the first event that is about it, and before the first
    one after its headers have changed. Raises LabError where it is no record, or damaged.
    """
    with refusals(path):
        content = path.read_bytes()
    decoder = _Decoder(content)
    held: _Held | None = _Held()
    place = 0
    try:
        for entry in entries(content, checked(path, content)):
            body, end, at_ps, _, _, kind = entry
            place = body - HEAD.size
            if end > len(content):
                break
            if kind not in _TOLD:
                decoder.learn(entry)
            elif held and at_ps < from_ps:
                held.add(entry)
            elif at_ps <= until_ps:
                for told in (*held.entries(), entry) if held else (entry,):
                    yield from decoder.decoded(told)
                held = None
        for told in held.entries() if held else ():
            yield from decoder.decoded(told)
    except (struct.error, ValueError, KeyError) as error:
        raise damaged(path, place) from error


@dataclass(slots=True)
class _Held:
    """What is to be known of the time before."""

    _pauses: list[_Entry] = field(default_factory=list)
    _buffers: dict[int, _Entry] = field(default_factory=dict)
    _queues: dict[int, list[_Entry]] = field(default_factory=dict)

    def add(self, entry: _Entry) -> None:
        """Something happened, after all that was added before."""
        *_, port, kind = entry
        if kind == Kind.QUEUED:
            self._queues[port] = [entry]
        elif kind == Kind.TX_RING and port in self._queues:
            self._queues[port].append(entry)
        elif kind in _IN_BUFFER:
            self._buffers[port] = entry
        elif kind == Kind.PAUSED:
            self._pauses.append(entry)

    def entries(self) -> list[_Entry]:
        """All of it, in its order."""
        queued = (entry for queue in self._queues.values() for entry in queue)
        return sorted((*self._pauses, *self._buffers.values(), *queued))


@dataclass(slots=True)
class _Decoder:
    """Decodes entries, and knows what was told of their ports and frames."""

    content: bytes
    _ports: dict[int, str] = field(default_factory=lambda: {0: ""})
    _frames: dict[int, list[_Entry]] = field(default_factory=dict)
    _told: dict[int, _Entry] = field(default_factory=dict)

    def learn(self, entry: _Entry) -> None:
        """Remember a port's name, and where a frame is told of. Raises ValueError for what is no entry."""
        body, end, _, number, port, kind = entry
        if kind == Kind.FRAME:
            self._frames.setdefault(number, []).append(entry)
        elif kind == Kind.PORT:
            self._ports[port] = port_name(self.content[body:end])
        elif kind not in ALL:
            raise ValueError(kind)

    def decoded(self, entry: _Entry) -> Iterator[Frame | Event]:
        """An event, with its frame as it was told of before the event, if that is not what was said last.

        Raises KeyError for a port that was not told of, struct.error where the entry is too short.
        """
        body, end, at_ps, number, port, kind = entry
        frame = next((one for one in reversed(self._frames.get(number, ())) if one < entry), None)
        if frame is not None and self._told.get(number) is not frame:
            self._told[number] = frame
            first, last, told_ps, *_ = frame
            yield parsed(Kind.FRAME, self.content[first:last], told_ps, "", number)
        yield parsed(_TOLD[kind], self.content[body:end], at_ps, self._ports[port], number)
