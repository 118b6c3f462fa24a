"""Unpacking a Debian without a program of the host: where a lab only runs, there may be no tar(1)."""

import gzip
import os
import shutil
import tarfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Final

from wirelab.errors import LabError

_CHUNK_BYTES: Final = 1 << 20
# What comes of a file that only looks like a tar, or that no file system here takes.
_REFUSALS: Final = (
    *(tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError),
    *(FileExistsError, FileNotFoundError, NotADirectoryError),
)


def unpack(archive: Path, root: Path) -> None:
    """Fill the new folder ``root`` with the files, folders and links of a packed tar, as files of ours.

    Devices are left out, and all that is in dev/. Of modes remains whether a file can be executed. Raises
    LabError for what is no such tar, or would leave ``root``.
    """
    links: list[tarfile.TarInfo] = []
    root.mkdir()
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                target = _target(root, member.name)
                if target.is_relative_to(root / "dev") and target != root / "dev":
                    continue
                if member.isdir():
                    target.mkdir(parents=True, exist_ok=True)
                elif member.isreg():
                    _write(tar, member, target)
                elif member.islnk():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.hardlink_to(_target(root, member.linkname))
                elif member.issym():
                    links.append(member)
        # Last: until then no name below root leads anywhere else, and nothing is written through a link.
        for member in links:
            target = _target(root, member.name)
            _refuse_link_above(root, target)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(member.linkname)
    except _REFUSALS as error:
        message = f"{archive} cannot be unpacked: {error}"
        raise LabError(message, hint=f"rm -r {archive.parent}; wirelab lab build") from error


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    content = tar.extractfile(member)
    with target.open("xb") as out:
        if content is not None:
            shutil.copyfileobj(content, out, _CHUNK_BYTES)
    target.chmod(0o755 if member.mode & 0o111 else 0o644)
    os.utime(target, (member.mtime, member.mtime))


def _target(root: Path, name: str) -> Path:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise tarfile.ReadError(f"{name!a} leads out of it")
    return root / path


def _refuse_link_above(root: Path, target: Path) -> None:
    """Links come in their order: one of before may be where the folder of the next should be."""
    for folder in target.parents[: len(target.relative_to(root).parts) - 1]:
        if folder.is_symlink():
            raise tarfile.ReadError(f"{str(target.relative_to(root))!a} is below a link")
