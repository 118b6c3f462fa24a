"""Submissions: works out of folders and archives of strangers. Nothing is written, followed or started.

Of an archive only what could be works is unpacked, in memory, and each no further than a work may be long.
What is refused is told with the reason, and costs nobody else anything.
"""

import gzip
import io
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final, cast

from wirelab.errors import InputError
from wirelab.exercise.work import LIMIT_BYTES, Work, parse_work
from wirelab.results.values import printable
from wirelab.runner.store import PLAN, RESULT, SWEEP
from wirelab.units import BYTES_PER_KIB

MOST_FILES: Final = 10_000
MOST_BYTES: Final = 64 * BYTES_PER_KIB**2
"""What all works of an archive may hold together."""
_NESTED_BYTES: Final = BYTES_PER_KIB**2
_LONGEST_NAME: Final = 120
_ARCHIVES: Final = (".zip", ".tar", ".tar.gz", ".tgz")
_OTHERS: Final = {PLAN, RESULT, SWEEP, "truth.json", "package.json"}
_OTHER_FOLDERS: Final = {"results", "__MACOSX"}
_MOODLE: Final = re.compile(r"(?P<name>.+?)_(?P<id>[0-9]{1,12})_assignsubmission_")
_GZIP: Final = b"\x1f\x8b"
_PACKED: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGED: Final = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, ValueError),
    *(NotImplementedError, RuntimeError, OverflowError, MemoryError),
)


@dataclass(frozen=True, slots=True)
class Submission:
    """A work and where it was found; ``owner`` is whose folder that is, by Moodle's name and number."""

    where: str
    work: Work
    owner: str | None = None
    participant: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """What could not be taken, and why."""

    where: str
    why: str


def submissions(path: Path) -> Iterator[Submission | Refused]:
    """What is in a folder, an archive or a file. Raises InputError where there is no such thing."""
    if path.is_dir():
        yield from _of_folder(path)
    elif not path.exists():
        raise InputError("there is no such file or folder", file=str(path))
    elif path.name.lower().endswith(_ARCHIVES):
        try:
            with path.open("rb") as file:
                yield from _of_archive(file, path.name, shown(path.name), nested=False)
        except _DAMAGED as error:
            yield Refused(shown(path.name), f"is no archive that can be read: {shown(str(error))}")
    else:
        with path.open("rb") as file:
            yield _work(file.read(LIMIT_BYTES + 1), path.name)


def shown(name: str) -> str:
    """A name of a stranger's file as a terminal may see it."""
    plain = printable(name).replace("\n", " ").replace("\t", " ")
    return plain if len(plain) <= _LONGEST_NAME else f"{plain[:_LONGEST_NAME]}..."


def _of_folder(top: Path) -> Iterator[Submission | Refused]:
    count = 0
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in _OTHER_FOLDERS)
        for name in sorted(names):
            path = Path(folder, name)
            where = os.fsencode(path.relative_to(top)).decode(errors="replace")
            if not _is_asked(PurePosixPath(where)):
                continue
            count += 1
            if count > MOST_FILES:
                yield Refused(shown(str(top)), f"has more than {MOST_FILES} files; the others are not read")
                return
            yield from _of_file(path, where)
        for name in list(folders):
            if Path(folder, name).is_symlink():
                yield Refused(shown(name), "is a link, which is not followed")


def _of_file(path: Path, where: str) -> Iterator[Submission | Refused]:
    try:
        # A FIFO would be waited for, and a link leads anywhere.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        is_link = path.is_symlink()
        yield Refused(shown(where), "is a link, which is not followed" if is_link else f"{error.strerror}")
        return
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            yield Refused(shown(where), "is no file")
        elif where.lower().endswith(_ARCHIVES):
            try:
                yield from _of_archive(file, where, where, nested=False)
            except _DAMAGED as error:
                yield Refused(shown(where), f"is no archive that can be read: {shown(str(error))}")
        else:
            yield _work(file.read(LIMIT_BYTES + 1), where)


def _of_archive(file: IO[bytes], name: str, where: str, *, nested: bool) -> Iterator[Submission | Refused]:
    """What is in an archive; one within it is looked into, too, and none within that."""
    room = MOST_BYTES
    members = _of_zip(file) if name.lower().endswith(".zip") else _of_tar(file)
    for number, (member, content) in enumerate(members):
        inside = f"{where}/{member}"
        if number >= MOST_FILES:
            yield Refused(shown(where), f"has more than {MOST_FILES} files; the others are not read")
            return
        if isinstance(content, str):
            yield Refused(shown(inside), content)
            continue
        room -= len(content)
        if room < 0:
            yield Refused(shown(where), f"holds more than {MOST_BYTES >> 20} MiB; the others are not read")
            return
        if not member.lower().endswith(_ARCHIVES):
            yield _work(content, inside)
        elif nested:
            yield Refused(shown(inside), "is an archive in an archive in an archive")
        else:
            try:
                yield from _of_archive(io.BytesIO(content), member, inside, nested=True)
            except _DAMAGED as error:
                yield Refused(shown(inside), f"is no archive that can be read: {shown(str(error))}")


def _of_zip(file: IO[bytes]) -> Iterator[tuple[str, bytes | str]]:
    """Each member that could be a work with its content, or why it has none."""
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            path = PurePosixPath(member.filename)
            mode = member.external_attr >> 16
            if complaint := _complaint(path):
                yield member.filename, complaint
            elif stat.S_ISLNK(mode):
                yield member.filename, "is a link, which is not followed"
            elif member.is_dir() or not _is_asked(path):
                continue
            elif member.flag_bits & 1:
                yield member.filename, "is encrypted"
            elif member.compress_type not in _PACKED:
                # The others unpack a block as a whole, however long it is.
                yield member.filename, "is packed as no zip of a class is"
            else:
                try:
                    with archive.open(member) as content:
                        yield member.filename, _whole(content, path)
                except _DAMAGED as error:
                    yield member.filename, f"is damaged: {shown(str(error))}"


class _Capped(io.RawIOBase):
    """A stream that is cut off with an error: to get past a member of a tar, it has to be unpacked, too."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._room = MOST_BYTES

    def read(self, size: int = -1) -> bytes:
        """So many bytes. Raises ValueError where the stream has more than it may."""
        raw = self._stream.read(min(size, self._room + 1) if size >= 0 else self._room + 1)
        self._room -= len(raw)
        if self._room < 0:
            raise ValueError(f"it holds more than {MOST_BYTES >> 20} MiB")
        return raw


def _of_tar(file: IO[bytes]) -> Iterator[tuple[str, bytes | str]]:
    packed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    stream = _Capped(cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if packed else file)
    # As a stream: nothing is looked for beyond what was read.
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if complaint := _complaint(path):
                yield member.name, complaint
            elif member.issym() or member.islnk():
                yield member.name, "is a link, which is not followed"
            elif member.isdir() or not _is_asked(path):
                continue
            elif not member.isreg() or (content := archive.extractfile(member)) is None:
                yield member.name, "is no file"
            else:
                yield member.name, _whole(content, path)


def _whole(content: IO[bytes], path: PurePosixPath) -> bytes | str:
    limit = _NESTED_BYTES if path.name.lower().endswith(_ARCHIVES) else LIMIT_BYTES
    raw = content.read(limit + 1)
    return raw if len(raw) <= limit else f"is larger than {limit // BYTES_PER_KIB} KiB"


def _complaint(path: PurePosixPath) -> str | None:
    if not path.parts:
        return "has no name"
    return "leads out of the archive" if path.is_absolute() or ".." in path.parts else None


def _is_asked(path: PurePosixPath) -> bool:
    """Whether it could be a work: JSON, or an archive, and not among results or what is hidden."""
    if any(part.startswith(".") or part in _OTHER_FOLDERS for part in path.parts):
        return False
    name = path.name.lower()
    return (name.endswith(".json") and name not in _OTHERS) or name.endswith(_ARCHIVES)


def _work(content: bytes, where: str) -> Submission | Refused:
    try:
        work = parse_work(content)
    except ValueError as error:
        return Refused(shown(where), f"is no whole work: {error}")
    owner = next((match for part in where.split("/") if (match := _MOODLE.match(part))), None)
    if owner is None:
        return Submission(shown(where), work)
    return Submission(shown(where), work, shown(owner["name"]), owner["id"])
