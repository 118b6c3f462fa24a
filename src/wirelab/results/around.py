"""What a record has of some milliseconds, without decoding what was before them."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from wirelab.errors import refusals
from wirelab.results.record import HEAD, Event, Frame, Kind, checked, damaged, entries, parsed, port_name

_Entry = tuple[int, int, int, int, int, int]

_TOLD: Final = {int(kind): kind for kind in Kind if kind not in {Kind.PORT, Kind.FRAME, Kind.TCP, Kind.END}}
_IN_BUFFER: Final = frozenset({int(Kind.STORED), int(Kind.GIVEN)})


def read_around(path: Path, from_ps: int, until_ps: int) -> Iterator[Frame | Event]:
    """What happened to frames from one instant of the lab's clock to another, and what held when it began.

    What held are all pauses, the last fill of each buffer, and of each queue the last that was put into it
    with what has left it since. A frame comes before the first event that is about it. Raises LabError where
    it is no record, or damaged.
    """
    with refusals(path):
        content = path.read_bytes()
    ports = {0: ""}
    frames: dict[int, _Entry] = {}
    held: _Held | None = _Held()
    place = 0
    try:
        for entry in entries(content, checked(path, content)):
            body, end, at_ps, number, port, kind = entry
            place = body - HEAD.size
            if end > len(content):
                break
            if kind in _TOLD:
                if held and at_ps < from_ps:
                    held.add(entry)
                elif at_ps <= until_ps:
                    for told in (*held.entries(), entry) if held else (entry,):
                        yield from _decoded(content, told, ports, frames)
                    held = None
            elif kind == Kind.FRAME:
                frames[number] = entry
            elif kind == Kind.PORT:
                ports[port] = port_name(content[body:end])
        for told in held.entries() if held else ():
            yield from _decoded(content, told, ports, frames)
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


def _decoded(
    content: bytes, entry: _Entry, ports: dict[int, str], frames: dict[int, _Entry]
) -> Iterator[Frame | Event]:
    body, end, at_ps, number, port, kind = entry
    if (frame := frames.pop(number, None)) is not None:
        first, last, told_ps, *_ = frame
        yield parsed(Kind.FRAME, content[first:last], told_ps, "", number)
    yield parsed(_TOLD[kind], content[body:end], at_ps, ports[port], number)
