"""A part of a record, as a record of its own: what the driver would have written of these windows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wirelab.errors import refusals
from wirelab.plan.types import Cable
from wirelab.results.record import HEAD, MAGIC, WORD_BYTES, Kind, checked, damaged, entries, port_name
from wirelab.results.told import Places
from wirelab.units import PS_PER_NS


def write_excerpt(
    record: Path, out: Path, windows_ns: Sequence[tuple[int, int]], cables: Sequence[Cable] = ()
) -> None:
    """Write what ``record`` has of windows of the lab's clock; frames are numbered anew, from 1 on.

    Each event has the headers before it that its frame had there, on a network with these ``cables``.
    Where it ends before they do, so does the excerpt. Raises LabError where it is damaged, or cannot be read
    or written.
    """
    with refusals(record):
        content = record.read_bytes()
    first = checked(record, content)
    windows_ps = [(from_ns * PS_PER_NS, until_ns * PS_PER_NS) for from_ns, until_ns in windows_ns]
    excerpt = _Excerpt(windows_ps, Places(cables))
    with refusals(out), out.open("wb") as file:
        file.write(MAGIC)
        for body, end, at_ps, number, port, kind in entries(content, first):
            if end > len(content):
                file.write(excerpt.end(at_ps))
                return
            try:
                file.writelines(excerpt.of(content[body:end], at_ps, number, port, kind))
            except (KeyError, ValueError) as error:
                raise damaged(record, body - HEAD.size) from error


@dataclass(slots=True)
class _Excerpt:
    """What was told of ports and frames so far, by the numbers of the record."""

    windows_ps: Sequence[tuple[int, int]]
    places: Places[bytes]
    _ports: dict[int, bytes] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=lambda: {0: ""})
    _told_ports: set[int] = field(default_factory=set)
    _told: dict[int, bytes] = field(default_factory=dict)
    _numbers: dict[int, int] = field(default_factory=dict)

    def end(self, at_ps: int) -> bytes:
        """That the record is cut there, unless all windows are over by then."""
        is_over = all(until_ps <= at_ps for _, until_ps in self.windows_ps)
        return b"" if is_over else HEAD.pack(at_ps, 0, 0, Kind.END, 0)

    def of(self, body: bytes, at_ps: int, number: int, port: int, kind: int) -> Iterator[bytes]:
        """An entry with what has to be said before it, if it is in a window.

        Raises KeyError for a number that was not told of, ValueError for what is no kind or no name.
        """
        if kind == Kind.PORT:
            self._ports[port] = _entry(body, at_ps, number, port, kind)
            self._names[port] = port_name(body)
        elif kind == Kind.FRAME:
            self.places.tell(number, body)
        elif kind == Kind.END:
            yield self.end(at_ps)
        else:
            headers = self.places.headers(Kind(kind), self._names[port], number) if number else b""
            if not any(from_ps <= at_ps < until_ps for from_ps, until_ps in self.windows_ps):
                return
            if port and port not in self._told_ports:
                yield self._ports[port]
                self._told_ports.add(port)
            if headers is None:
                raise KeyError(number)
            if number and self._told.get(number) != headers:
                self._told[number] = headers
                told = self._numbers.setdefault(number, len(self._numbers) + 1)
                yield _entry(headers, at_ps, told, 0, Kind.FRAME)
            yield _entry(body, at_ps, self._numbers.get(number, 0), port, kind)


def _entry(body: bytes, at_ps: int, number: int, port: int, kind: int) -> bytes:
    return HEAD.pack(at_ps, number, port, kind, len(body) // WORD_BYTES) + body
