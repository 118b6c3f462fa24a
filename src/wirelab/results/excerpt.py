"""A part of a record, as a record of its own: what the driver would have written of these windows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wirelab.errors import refusals
from wirelab.results.record import HEAD, MAGIC, WORD_BYTES, Kind, checked, damaged, entries
from wirelab.units import PS_PER_NS


def write_excerpt(record: Path, out: Path, windows_ns: Sequence[tuple[int, int]]) -> None:
    """Write what ``record`` has of windows of the lab's clock; frames are numbered anew, from 1 on.

    Where it ends before they do, so does the excerpt. Raises LabError where it is damaged, or cannot be read
    or written.
    """
    with refusals(record):
        content = record.read_bytes()
    first = checked(record, content)
    excerpt = _Excerpt([(from_ns * PS_PER_NS, until_ns * PS_PER_NS) for from_ns, until_ns in windows_ns])
    with refusals(out), out.open("wb") as file:
        file.write(MAGIC)
        for body, end, at_ps, number, port, kind in entries(content, first):
            if end > len(content):
                file.write(excerpt.end(at_ps))
                return
            try:
                file.writelines(excerpt.of(content[body:end], at_ps, number, port, kind))
            except KeyError as error:
                raise damaged(record, body - HEAD.size) from error


@dataclass(slots=True)
class _Excerpt:
    """What was told of ports and frames so far, by the numbers of the record."""

    windows_ps: Sequence[tuple[int, int]]
    _ports: dict[int, bytes] = field(default_factory=dict)
    _frames: dict[int, bytes] = field(default_factory=dict)
    _told_ports: set[int] = field(default_factory=set)
    _numbers: dict[int, int] = field(default_factory=dict)

    def end(self, at_ps: int) -> bytes:
        """That the record is cut there, unless all windows are over by then."""
        is_over = all(until_ps <= at_ps for _, until_ps in self.windows_ps)
        return b"" if is_over else HEAD.pack(at_ps, 0, 0, Kind.END, 0)

    def of(self, body: bytes, at_ps: int, number: int, port: int, kind: int) -> Iterator[bytes]:
        """An entry with what has to be said before it, if it is in a window.

        Raises KeyError for a number that was not told of.
        """
        if kind == Kind.PORT:
            self._ports[port] = _entry(body, at_ps, number, port, kind)
        elif kind == Kind.FRAME:
            self._frames[number] = body
        elif kind == Kind.END:
            yield self.end(at_ps)
        elif any(from_ps <= at_ps < until_ps for from_ps, until_ps in self.windows_ps):
            if port and port not in self._told_ports:
                yield self._ports[port]
                self._told_ports.add(port)
            if number and number not in self._numbers:
                kept = self._frames[number]
                self._numbers[number] = len(self._numbers) + 1
                yield _entry(kept, at_ps, self._numbers[number], 0, Kind.FRAME)
            yield _entry(body, at_ps, self._numbers.get(number, 0), port, kind)


def _entry(body: bytes, at_ps: int, number: int, port: int, kind: int) -> bytes:
    return HEAD.pack(at_ps, number, port, kind, len(body) // WORD_BYTES) + body
