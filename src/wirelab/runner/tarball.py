"""A folder of files as bytes, and back: whatever the bytes are, nothing but their files comes of them."""

from __future__ import annotations

import io
import tarfile
import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_NAME_MAX_BYTES: Final = 255
_GZIP: Final = 31
"""zlib's word for a gzip header and the largest window."""


class DamagedTarballError(ValueError):
    """Bytes that ``pack`` did not make."""


def pack(folder: Path) -> bytes:
    """All files below ``folder``."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        for path in sorted(folder.rglob("*")):
            tar.add(path, arcname=str(path.relative_to(folder)), recursive=False)
    return buffer.getvalue()


def unpack(tarball: bytes, limit_bytes: int) -> dict[PurePosixPath, bytes]:
    """The files of a tarball by their names, which all lead below the folder that they are written to.

    Raises DamagedTarballError for anything but plain files and folders, and for more than ``limit_bytes``.
    """
    try:
        return _files(_inflated(tarball, limit_bytes))
    except DamagedTarballError:
        raise
    except Exception as error:
        # tarfile raises ValueError, OverflowError, RecursionError and more for what somebody else wrote.
        raise DamagedTarballError(f"{type(error).__name__}: {error}") from error


def write(files: Mapping[PurePosixPath, bytes], folder: Path) -> None:
    """Write files into ``folder``, which is made. Raises OSError."""
    folder.mkdir()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _inflated(tarball: bytes, limit_bytes: int) -> bytes:
    inflater = zlib.decompressobj(_GZIP)
    content = inflater.decompress(tarball, limit_bytes)
    if not inflater.eof:
        msg = "it is cut short" if not inflater.unconsumed_tail else f"it holds more than {limit_bytes} bytes"
        raise DamagedTarballError(msg)
    return content


def _files(content: bytes) -> dict[PurePosixPath, bytes]:
    files: dict[PurePosixPath, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as tar:
        for member in tar:
            name = PurePosixPath(member.name)
            # A sparse file says that it is larger than what is there of it.
            plain = member.isdir() or (member.type == tarfile.REGTYPE and member.sparse is None)
            if not plain or not _leads_below(name) or name in files:
                raise DamagedTarballError(f"it holds `{member.name}`, which does not belong there")
            if (file := tar.extractfile(member)) is not None:
                files[name] = file.read()
    if not files.keys().isdisjoint(folder for name in files for folder in name.parents):
        raise DamagedTarballError("it holds a file that is a folder, too")
    return files


def _leads_below(name: PurePosixPath) -> bool:
    parts = name.parts
    return (
        bool(parts)
        and not name.is_absolute()
        and all(part != ".." and "\0" not in part and len(part.encode()) <= _NAME_MAX_BYTES for part in parts)
    )
