"""A tar of plain files and nothing else: what is read must be, byte for byte, what would have been written.

No link, device, folder, sparse file or extended header is known, and nothing but a name and a size is read.
"""

import os
import shutil
import tarfile
from gzip import GzipFile
from pathlib import PurePosixPath
from typing import BinaryIO, Final

Stream = BinaryIO | GzipFile

CHUNK_BYTES: Final = 1 << 20

_BLOCK_BYTES: Final = tarfile.BLOCKSIZE
_END: Final = bytes(2 * _BLOCK_BYTES)
# The fields of a header, see tar(5).
_NAME, _SIZE, _PREFIX = slice(0, 100), slice(124, 135), slice(345, 500)


class FormatError(Exception):
    """Something else than what ``write`` writes."""


class CutShortError(Exception):
    """The beginning of what ``write`` writes."""


def write(out: Stream, name: str, content: BinaryIO) -> None:
    """Write a member; ``content`` can be sought in. Raises ValueError for a name that no header holds."""
    size_bytes = content.seek(0, os.SEEK_END)
    content.seek(0)
    out.write(_header(name, size_bytes))
    shutil.copyfileobj(content, out, CHUNK_BYTES)
    out.write(bytes(-size_bytes % _BLOCK_BYTES))


def write_end(out: Stream) -> None:
    """Write what comes after the last member."""
    out.write(_END)


def read_header(stream: Stream) -> tuple[str, int] | None:
    """The name and the size in bytes of the member that begins here, None at the end.

    The name is a relative path that leads down. Raises FormatError, or CutShortError.
    """
    header = read(stream, _BLOCK_BYTES)
    if header == _END[:_BLOCK_BYTES]:
        if read(stream, _BLOCK_BYTES) != header or stream.read(1):
            raise FormatError("something follows its end")
        return None
    try:
        prefix, name = (header[place].rstrip(b"\0").decode() for place in (_PREFIX, _NAME))
        path, size_bytes = f"{prefix}/{name}" if prefix else name, int(header[_SIZE], 8)
        whole = header == _header(path, size_bytes)
    except ValueError:
        raise FormatError("it holds what is no plain file") from None
    parts = PurePosixPath(path).parts
    if not whole:
        raise FormatError(f"{path!a} is no plain file")
    if not (path.isprintable() and path == "/".join(parts) and parts and not {"/", ".."} & {*parts}):
        raise FormatError(f"{path!a} is no name for a file")
    return path, size_bytes


def read_padding(stream: Stream, size_bytes: int) -> None:
    """Read what fills the last block of a member. Raises FormatError, or CutShortError."""
    if any(read(stream, -size_bytes % _BLOCK_BYTES)):
        raise FormatError("its padding is not empty")


def read(stream: Stream, size_bytes: int) -> bytes:
    """Just so many bytes. Raises CutShortError."""
    content = stream.read(size_bytes)
    if len(content) < size_bytes:
        raise CutShortError("it is cut short")
    return content


def _header(name: str, size_bytes: int) -> bytes:
    member = tarfile.TarInfo(name)
    member.size = size_bytes
    return member.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")
