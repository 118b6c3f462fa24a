"""A part of a record, as a record of its own: what the driver would have written of these windows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wirelab.errors import LabError, refusals
from wirelab.results.record import HEAD, MAGIC, WORD_BYTES, Kind
from wirelab.units import PS_PER_NS


def write_excerpt(record: Path, out: Path, windows_ns: Sequence[tuple[int, int]]) -> None:
    """Write what ``record`` has of windows of the lab's clock; frames are numbered anew, from 1 on.

    Where it ends before they do, so does the excerpt. Raises LabError where it is damaged, or cannot be read
    or written.
    """
    with refusals(record):
        content = memoryview(record.read_bytes())
    if content[: len(MAGIC)] != MAGIC:
        raise LabError(f"{record} is no record of this wirelab")
    excerpt = _Excerpt([(from_ns * PS_PER_NS, until_ns * PS_PER_NS) for from_ns, until_ns in windows_ns])
    with refusals(out), out.open("wb") as file:
        file.write(MAGIC)
        for place, at_ps, is_whole in _entries(content):
            if not is_whole:
                file.write(excerpt.end(at_ps))
                return
            try:
                file.writelines(excerpt.of(content[place:]))
            except KeyError as error:
                raise LabError(f"{record} is damaged at byte {place}") from error


def _entries(content: memoryview) -> Iterator[tuple[int, int, bool]]:
    """Where each entry begins, when it happened, and whether it is whole: only the last one may not be."""
    place = len(MAGIC)
    while place + HEAD.size <= len(content):
        at_ps, _, _, kind, words = HEAD.unpack_from(content, place)
        after = place + HEAD.size + words * WORD_BYTES
        yield place, at_ps, after <= len(content)
        if kind == Kind.END:
            return
        place = after


@dataclass(slots=True)
class _Excerpt:
    """What was told of ports and frames so far, by the numbers of the record."""

    windows_ps: Sequence[tuple[int, int]]
    _ports: dict[int, bytes] = field(default_factory=dict)
    _frames: dict[int, memoryview] = field(default_factory=dict)
    _told_ports: set[int] = field(default_factory=set)
    _numbers: dict[int, int] = field(default_factory=dict)

    def end(self, at_ps: int) -> bytes:
        """That the record is cut there, unless all windows are over by then."""
        is_over = all(until_ps <= at_ps for _, until_ps in self.windows_ps)
        return b"" if is_over else HEAD.pack(at_ps, 0, 0, Kind.END, 0)

    def of(self, entry: memoryview) -> Iterator[bytes]:
        """An entry with what has to be said before it, if it is in a window.

        Raises KeyError for a number that was not told of.
        """
        at_ps, number, port, kind, words = HEAD.unpack_from(entry)
        body = entry[HEAD.size : HEAD.size + words * WORD_BYTES]
        if kind == Kind.PORT:
            self._ports[port] = entry[: HEAD.size].tobytes() + body.tobytes()
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
                head = HEAD.pack(at_ps, self._numbers[number], 0, Kind.FRAME, len(kept) // WORD_BYTES)
                yield head + kept.tobytes()
            yield HEAD.pack(at_ps, self._numbers.get(number, 0), port, kind, words) + body.tobytes()
