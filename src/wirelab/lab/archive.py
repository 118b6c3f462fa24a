"""A lab in one file: a tar of just these members, in this order, with the checksum of each.

```
wirelab-lab/lab.json        what it is: format, by which wirelab, of which recipe, what the cache says of it
wirelab-lab/SHA256SUMS      of all the others; sha256sum(1) reads it, too
wirelab-lab/config          the kernel's configuration
wirelab-lab/linux.gz        the kernel
wirelab-lab/debian.tar.gz   the packed Debian
```

No name of a file is ever used as a path, and members have their order: see `ustar`.
"""

import contextlib
import hashlib
import io
from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from wirelab import __version__
from wirelab.errors import InputError
from wirelab.lab import ustar
from wirelab.lab.entry import DebianFacts, KernelFacts, Key, Line

FORMAT: Final = 1
CONFIG, KERNEL, DEBIAN = "config", "linux.gz", "debian.tar.gz"
CONTENTS: Final = (CONFIG, KERNEL, DEBIAN)

_FOLDER: Final = "wirelab-lab"
_ABOUT, _SUMS = "lab.json", "SHA256SUMS"
_LIMITS_BYTES: Final = {_ABOUT: 1 << 20, _SUMS: 1 << 12, CONFIG: 1 << 20, KERNEL: 1 << 26, DEBIAN: 1 << 30}

_AGAIN_HINT: Final = "copy it again, or make it again with `wirelab lab export FILE`"

Content = io.BufferedReader | io.BytesIO
FactsT = TypeVar("FactsT", bound=BaseModel)


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", defer_build=True)


class BuildAbout(_Strict, Generic[FactsT]):
    """A build: its key in a cache, the recipe it is the answer to, and its facts."""

    key: Key
    recipe: Line
    facts: FactsT


class RootAbout(_Strict):
    """The root image that comes of the Debian: its key, and a hash over all that a lab sees of it."""

    key: Key
    manifest: Line


class About(_Strict):
    """What an archive says of itself."""

    format: int = FORMAT
    wirelab: Line = __version__
    kernel: BuildAbout[KernelFacts]
    debian: BuildAbout[DebianFacts]
    rootfs: RootAbout


def write(out: BinaryIO, about: About, contents: Mapping[str, Content]) -> None:
    """Write an archive: ``contents`` has each member of CONTENTS, as a file that can be sought in.

    The same lab gives the same bytes.
    """
    head = about.model_dump_json(indent=1).encode() + b"\n"
    sums = {_ABOUT: hashlib.sha256(head).hexdigest()}
    sums |= {name: hashlib.file_digest(contents[name], "sha256").hexdigest() for name in CONTENTS}
    members: dict[str, Content] = {_ABOUT: io.BytesIO(head), _SUMS: io.BytesIO(_table(sums)), **contents}
    for name in (_ABOUT, _SUMS, *CONTENTS):
        ustar.write(out, f"{_FOLDER}/{name}", members[name])
    ustar.write_end(out)


class Archive:
    """An archive that is whole: making this has read all of it."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        """``stream`` can be sought in and stays open as long as this is used; ``name`` is for messages.

        Raises InputError if it is no archive, of another format, cut short or damaged, or cannot be read.
        """
        self.name = name
        self._stream = stream
        self._places: dict[str, tuple[int, int]] = {}
        self._sums: dict[str, str] = {}
        self._member = _ABOUT
        with self._refusals():
            self._read()

    def chunks(self, name: str) -> Iterator[bytes]:
        """The content of a member, in pieces. Raises InputError if it is damaged: only its end may tell."""
        start, size_bytes = self._places[name]
        self._member = name
        digest = hashlib.sha256()
        with self._refusals():
            self._stream.seek(start)
            for offset_bytes in range(0, size_bytes, ustar.CHUNK_BYTES):
                chunk = ustar.read(self._stream, min(size_bytes - offset_bytes, ustar.CHUNK_BYTES))
                digest.update(chunk)
                yield chunk
            ustar.read_padding(self._stream, size_bytes)
            # The first two are read before it is known what they must be.
            if self._sums and digest.hexdigest() != self._sums[name]:
                raise ustar.FormatError

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        """Say what is wrong with which file, and where."""
        try:
            yield
        except ustar.CutShortError:
            raise self._refused("a lab archive that is cut short") from None
        except (ustar.FormatError, ValidationError):
            raise self._refused(f"a lab archive that is damaged ({self._member})") from None
        except OSError as error:
            raise self._refused(f"cannot be read: {error.strerror or error}") from error

    def _read(self) -> None:
        try:
            self._find(_ABOUT)
        except (ustar.FormatError, ustar.CutShortError):
            hint = "`wirelab lab export FILE` makes one"
            raise self._refused("not a lab archive", hint=hint) from None
        head = b"".join(self.chunks(_ABOUT))
        number = _Versioned.model_validate_json(head).format
        if number != FORMAT:
            message = f"a lab archive of format {number}; wirelab {__version__} reads format {FORMAT}"
            raise self._refused(message, hint="export it again with the wirelab that imports it")
        self._find(_SUMS)
        table = b"".join(self.chunks(_SUMS))
        sums = [line[:64].decode("ascii", "replace") for line in table.splitlines()]
        self._sums = dict(zip((_ABOUT, *CONTENTS), sums, strict=False))
        is_whole = len(sums) == 1 + len(CONTENTS) and _table(self._sums) == table
        if not is_whole or hashlib.sha256(head).hexdigest() != self._sums[_ABOUT]:
            raise ustar.FormatError
        self._member = _ABOUT
        self.about = About.model_validate_json(head)
        for name in CONTENTS:
            self._find(name)
            for _ in self.chunks(name):
                pass
        self._member = "the end"
        if ustar.read_header(self._stream) is not None:
            raise ustar.FormatError

    def _find(self, name: str) -> None:
        """Note the place of the member that begins here, which must be the one of that name."""
        self._member = name
        header = ustar.read_header(self._stream)
        if header is None or header[0] != f"{_FOLDER}/{name}" or header[1] > _LIMITS_BYTES[name]:
            raise ustar.FormatError
        self._places[name] = self._stream.tell(), header[1]

    def _refused(self, message: str, hint: str = _AGAIN_HINT) -> InputError:
        return InputError(message, file=self.name, hint=hint)


class _Versioned(BaseModel):
    """What every format has in common."""

    format: int


def _table(sums: Mapping[str, str]) -> bytes:
    """SHA256SUMS, as sha256sum(1) writes it."""
    return "".join(f"{digest}  {name}\n" for name, digest in sums.items()).encode()
