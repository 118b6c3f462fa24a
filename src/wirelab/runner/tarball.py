"""A folder of files as bytes, and back: of whatever bytes, nothing comes but files below a folder."""

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from wirelab.lab import ustar


class DamagedTarballError(ValueError):
    """Bytes that ``pack`` did not make."""


def pack(folder: Path) -> bytes:
    """All files below ``folder``; a folder without one is left out. The same files give the same bytes."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0, compresslevel=1) as tar:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                with path.open("rb") as content:
                    ustar.write(tar, str(path.relative_to(folder)), content)
        ustar.write_end(tar)
    return buffer.getvalue()


def unpack(tarball: bytes, limit_bytes: int) -> Iterator[tuple[str, bytes]]:
    """The files of a tarball one after the other, by their paths below its folder; no path leads out of it.

    Raises DamagedTarballError as soon as it meets anything else, or more than ``limit_bytes`` of content.
    """
    room_bytes = limit_bytes
    # A name twice, or a file where another has its folder, could not be written.
    files: set[str] = set()
    folders: set[str] = set()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(tarball)) as tar:
            while (header := ustar.read_header(tar)) is not None:
                name, size_bytes = header
                room_bytes -= size_bytes
                if room_bytes < 0:
                    raise DamagedTarballError(f"more than {limit_bytes >> 20} MiB")
                parents = {str(folder) for folder in PurePosixPath(name).parents}
                if name in files | folders or parents & files:
                    raise DamagedTarballError(f"`{name}` is in it twice")
                files.add(name)
                folders |= parents
                yield name, ustar.read(tar, size_bytes)
                ustar.read_padding(tar, size_bytes)
    except (ustar.FormatError, ustar.CutShortError, EOFError, zlib.error, OSError) as error:
        raise DamagedTarballError(str(error)) from error


def write(path: Path, content: bytes) -> None:
    """Write a new file, whose folder is made. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(content)
