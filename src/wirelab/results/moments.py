"""moments.bin -> record.bin: what the recorder kept of moments, in its order (kernel/driver/moments.h)."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from wirelab.errors import LabError, refusals
from wirelab.results.record import HEAD, MAGIC, WORD_BYTES, Kind, damaged, entries

MOMENTS_MAGIC: Final = b"wirelab moment 1"
BLOCK_BYTES: Final = 128 << 10

# Magic, end, kind, number of blocks; from and until of two moments; blocks written, nothing.
_TABLE: Final = struct.Struct("<16sQIIIIIIII")
_BLOCK: Final = struct.Struct("<III")
_SAME: Final = 15
_NUMBER: Final = struct.Struct("<I")


def write_record(moments: Path, record: Path) -> None:
    """Write the record of the moments that a file of them has; each frame has one number in all of it.

    Where there was no room for more it ends as a full record does. Raises LabError where that is no such
    file, or damaged, and where one cannot be read or written.
    """
    with refusals(moments):
        content = moments.read_bytes()
    if not content.startswith(MOMENTS_MAGIC) or len(content) < _TABLE.size:
        raise LabError(f"{moments} is no record of moments")
    _, end_ps, _, count, *ranges, _, _ = _TABLE.unpack_from(content)
    if _TABLE.size + count * _BLOCK.size > min(len(content), BLOCK_BYTES):
        raise damaged(moments, 0)
    wanted = tuple(range(first, last + 1) for first, last in (ranges[:2], ranges[2:]) if first)
    blocks = _kept(content, count, wanted)
    whole = _Whole()
    with refusals(record), record.open("wb") as file:
        file.write(MAGIC)
        before_ps = 0
        for begin, used_bytes in blocks:
            block = content[begin : begin + used_bytes]
            begun_ps = _begun_ps(block)
            if len(block) != used_bytes or begun_ps < before_ps:
                raise damaged(moments, begin)
            before_ps = begun_ps
            try:
                file.writelines(whole.of(block))
            except (struct.error, ValueError) as error:
                raise damaged(moments, begin) from error
        if end_ps:
            file.write(HEAD.pack(end_ps, 0, 0, Kind.END, 0))


def _begun_ps(block: bytes) -> int:
    """When the first of what a block tells of happened; 0 where it tells of nothing."""
    return next((at_ps for _, _, at_ps, _, _, kind in entries(block, 0) if kind != Kind.PORT), 0)


def _kept(content: bytes, count: int, wanted: tuple[range, ...]) -> list[tuple[int, int]]:
    """Where each block of a wanted slice begins, and how much of it is in use, in the order of writing."""
    blocks = _BLOCK.iter_unpack(content[_TABLE.size : _TABLE.size + count * _BLOCK.size])
    kept = [
        (order, number * BLOCK_BYTES, used_bytes)
        for number, (slice_, used_bytes, order) in enumerate(blocks, 1)
        if any(slice_ in slices for slices in wanted)
    ]
    return [(begin, used_bytes) for _, begin, used_bytes in sorted(kept)]


@dataclass(slots=True)
class _Whole:
    """What was told of ports and frames in the blocks before: each slice tells it anew."""

    _ports: dict[int, bytes] = field(default_factory=dict)
    _frames: dict[int, bytes] = field(default_factory=dict)
    _same: dict[int, int] = field(default_factory=dict)

    def of(self, block: bytes) -> Iterator[bytes]:
        """What a record has of a block. Raises ValueError or struct.error where it makes no sense."""
        end = 0
        for body, end, at_ps, told, port, kind in entries(block, 0):
            if end > len(block):
                break
            number = self._same.get(told, told)
            if kind == _SAME:
                (before,) = _NUMBER.unpack_from(block, body)
                self._same[told] = self._same.get(before, before)
            elif not self._is_known(kind, number, port, block[body:end]):
                yield HEAD.pack(at_ps, number, port, kind, (end - body) // WORD_BYTES) + block[body:end]
        if end != len(block):
            raise ValueError

    def _is_known(self, kind: int, number: int, port: int, body: bytes) -> bool:
        """Whether an entry says of a port or a frame what was said of it last."""
        if kind not in {Kind.PORT, Kind.FRAME}:
            return False
        known, it = (self._ports, port) if kind == Kind.PORT else (self._frames, number)
        is_known = known.get(it) == body
        known[it] = body
        return is_known
