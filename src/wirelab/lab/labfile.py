"""A lab in one file: a tar of just these members, in this order, with the checksum of each.

```
wirelab-lab/lab.json        what it is: format, by which wirelab, of which recipe, what the cache says of it
wirelab-lab/SHA256SUMS      of all the others; sha256sum(1) reads it, too
wirelab-lab/config          the kernel's configuration
wirelab-lab/linux.gz        the kernel
wirelab-lab/debian.tar.gz   the packed Debian
```

What is read must be, but for the members' content, what would have been written: no name of a file is ever
used as a path, and no link, device or other kind of member is known.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import tarfile
from typing import TYPE_CHECKING, Annotated, BinaryIO, Final

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from wirelab import __version__
from wirelab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORMAT: Final = 1
CONFIG, KERNEL, DEBIAN = "config", "linux.gz", "debian.tar.gz"
CONTENTS: Final = (CONFIG, KERNEL, DEBIAN)

_FOLDER: Final = "wirelab-lab"
_ABOUT, _SUMS = "lab.json", "SHA256SUMS"
_LIMITS_BYTES: Final = {_ABOUT: 1 << 20, _SUMS: 1 << 12, CONFIG: 1 << 20, KERNEL: 1 << 26, DEBIAN: 1 << 30}
_BLOCK_BYTES: Final = tarfile.BLOCKSIZE
_END: Final = bytes(2 * _BLOCK_BYTES)
_CHUNK_BYTES: Final = 1 << 20
_SIZE: Final = slice(124, 135)  # the octal digits of a member's size, see tar(5)

_AGAIN_HINT: Final = "copy it again, or make it again with `wirelab lab export FILE`"

Content = io.BufferedReader | io.BytesIO
Line = Annotated[str, StringConstraints(pattern=r"^[ -~]{1,200}$")]
Key = Annotated[str, StringConstraints(pattern=r"^[0-9a-z]{20}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class _Facts(BaseModel):
    """What a cache entry says of itself, of which we need these to go on with it."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow")

    title: Line


class KernelFacts(_Facts):
    """Those of a kernel."""

    series: Line
    objects: int


class DebianFacts(_Facts):
    """Those of a packed Debian."""

    suite: Line
    packages: dict[str, str]
    newest_s: int


class KernelAbout(_Strict):
    """A kernel: its key in a cache, the recipe it is the answer to, and its facts."""

    key: Key
    recipe: Line
    facts: KernelFacts


class DebianAbout(_Strict):
    """The same of a packed Debian."""

    key: Key
    recipe: Line
    facts: DebianFacts


class RootAbout(_Strict):
    """The root image that comes of the Debian: its key, and a hash over all that a lab sees of it."""

    key: Key
    manifest: Line


class About(_Strict):
    """What a lab file says of itself."""

    format: int = FORMAT
    wirelab: Line = __version__
    kernel: KernelAbout
    debian: DebianAbout
    rootfs: RootAbout


class _Versioned(BaseModel):
    """What every format has in common."""

    format: int


def write(out: BinaryIO, about: About, contents: Mapping[str, Content]) -> None:
    """Write a lab file: ``contents`` has each member of CONTENTS, as a file that can be sought in.

    The same lab gives the same bytes.
    """
    head = about.model_dump_json(indent=1).encode() + b"\n"
    sums = {_ABOUT: hashlib.sha256(head).hexdigest()}
    sums |= {name: hashlib.file_digest(contents[name], "sha256").hexdigest() for name in CONTENTS}
    table = "".join(f"{found}  {name}\n" for name, found in sums.items())
    members: dict[str, Content] = {_ABOUT: io.BytesIO(head), _SUMS: io.BytesIO(table.encode()), **contents}
    for name in (_ABOUT, _SUMS, *CONTENTS):
        content = members[name]
        size_bytes = content.seek(0, os.SEEK_END)
        content.seek(0)
        out.write(_tar_header(name, size_bytes))
        shutil.copyfileobj(content, out, _CHUNK_BYTES)
        out.write(bytes(-size_bytes % _BLOCK_BYTES))
    out.write(_END)


class LabFile:
    """A lab file that is whole: making this has read all of it."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        """``stream`` can be sought in and stays open as long as this is used; ``name`` is for messages.

        Raises InputError if it is no lab file, of another format, cut short or damaged.
        """
        self.name = name
        self._stream = stream
        self._places: dict[str, tuple[int, int]] = {}
        head = self._small(_ABOUT)
        self._require_format(head)
        self._sums = self._table(self._small(_SUMS))
        if hashlib.sha256(head).hexdigest() != self._sums[_ABOUT]:
            raise self._damaged(_ABOUT)
        try:
            self.about = About.model_validate_json(head)
        except ValidationError as error:
            raise self._damaged(_ABOUT) from error
        for each in CONTENTS:
            size_bytes = self._size_bytes(each)
            self._places[each] = self._stream.tell(), size_bytes
            for _ in self.chunks(each):
                pass
            self._require_padding(each, size_bytes)
        if self._read(len(_END)) != _END or self._stream.read(1):
            raise self._damaged("the end")

    def chunks(self, name: str) -> Iterator[bytes]:
        """The content of a member of CONTENTS. Raises InputError, after the last, if it is damaged."""
        start, left_bytes = self._places[name]
        self._stream.seek(start)
        found = hashlib.sha256()
        while left_bytes:
            chunk = self._read(min(left_bytes, _CHUNK_BYTES))
            left_bytes -= len(chunk)
            found.update(chunk)
            yield chunk
        if found.hexdigest() != self._sums[name]:
            raise self._damaged(name)

    def _small(self, name: str) -> bytes:
        size_bytes = self._size_bytes(name)
        content = self._read(size_bytes)
        self._require_padding(name, size_bytes)
        return content

    def _size_bytes(self, name: str) -> int:
        """The size of the member that begins here, which must be the one of that name."""
        try:
            header = self._read(_BLOCK_BYTES)
            size_bytes = int(header[_SIZE], 8)
            known = 0 <= size_bytes <= _LIMITS_BYTES[name] and header == _tar_header(name, size_bytes)
        except ValueError:
            known = False
        except InputError:
            if name != _ABOUT:
                raise
            known = False
        if known:
            return size_bytes
        if name == _ABOUT:
            hint = "`wirelab lab export FILE` makes one"
            raise InputError("not a lab file", file=self.name, hint=hint)
        raise self._damaged(name)

    def _require_padding(self, name: str, size_bytes: int) -> None:
        if any(self._read(-size_bytes % _BLOCK_BYTES)):
            raise self._damaged(name)

    def _require_format(self, head: bytes) -> None:
        try:
            found = _Versioned.model_validate_json(head).format
        except ValidationError as error:
            raise self._damaged(_ABOUT) from error
        if found != FORMAT:
            message = f"a lab file of format {found}; wirelab {__version__} reads format {FORMAT}"
            hint = "export it again with the wirelab that imports it"
            raise InputError(message, file=self.name, hint=hint)

    def _table(self, content: bytes) -> dict[str, str]:
        lines = re.findall(rb"([0-9a-f]{64})  (\S+)\n", content)
        sums = {name.decode("ascii", "replace"): found.decode() for found, name in lines}
        written = "".join(f"{found}  {name}\n" for name, found in sums.items())
        if tuple(sums) != (_ABOUT, *CONTENTS) or written.encode() != content:
            raise self._damaged(_SUMS)
        return sums

    def _read(self, size_bytes: int) -> bytes:
        try:
            found = self._stream.read(size_bytes)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", file=self.name) from error
        if len(found) < size_bytes:
            raise InputError("a lab file that is cut short", file=self.name, hint=_AGAIN_HINT)
        return found

    def _damaged(self, where: str) -> InputError:
        return InputError(f"a lab file that is damaged ({where})", file=self.name, hint=_AGAIN_HINT)


def _tar_header(name: str, size_bytes: int) -> bytes:
    member = tarfile.TarInfo(f"{_FOLDER}/{name}")
    member.size = size_bytes
    return member.tobuf(tarfile.USTAR_FORMAT)
