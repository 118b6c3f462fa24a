"""A folder that is to be the root of a machine: made alike wherever it is made, readable by all."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wirelab.errors import LabError

_HINT: Final = "this is no Debian as it is installed: take the lab from elsewhere, or build it here"


@dataclass(frozen=True, slots=True)
class Mend:
    """What is wrong in a file below a root, and what is to be there instead."""

    file: str
    old: str
    new: str


def remove(root: Path, patterns: Iterable[str]) -> None:
    """Remove what matches ``patterns`` below ``root``: files, links, whole folders.

    Raises LabError where that is outside of it, as for all of these: see `_below`.
    """
    for pattern in patterns:
        # glob takes a plain name that is a dangling link for one that is not there.
        for path in sorted(root.glob(pattern)) if "*" in pattern else [root / pattern]:
            _below(root, path)
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def normalize(root: Path, newest_s: int) -> None:
    """Give every file and folder the mode and time that depend on its content alone.

    Readable by all, writable by its owner only, never set-user-id: the files are on the host too. A file
    newer than ``newest_s`` (seconds since 1970) was made here and now: it gets that time, like all folders.
    """
    for path in _inside_out(root):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            os.utime(path, (newest_s, newest_s), follow_symlinks=False)
            continue
        is_folder = stat.S_ISDIR(status.st_mode)
        is_executable = is_folder or status.st_mode & 0o111
        path.chmod(0o755 if is_executable else 0o644)
        modified_s = newest_s if is_folder else min(int(status.st_mtime), newest_s)
        os.utime(path, (modified_s, modified_s))


def manifest(root: Path) -> str:
    """A hash over all that a machine with this root can see: names, modes, times, links and contents."""
    digest = hashlib.sha256()
    for name, seen in records(root):
        digest.update(b"%s\0%s" % (name, seen))
    return digest.hexdigest()


def records(root: Path) -> Iterator[tuple[bytes, bytes]]:
    """Each file and folder of a tree, in order: its name below ``root``, and what a machine sees of it."""
    for path in reversed(_inside_out(root)):
        status = path.lstat()
        seen = b"%o %d\0" % (status.st_mode, int(status.st_mtime))
        if stat.S_ISLNK(status.st_mode):
            seen += os.fsencode(path.readlink())
        elif stat.S_ISREG(status.st_mode):
            seen += file_digest(path)
        yield os.fsencode(path.relative_to(root)), seen


def file_digest(path: Path) -> bytes:
    """The SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def lay_over(root: Path, overlay: Path, files: Iterable[Path], modified_s: int) -> None:
    """Put ``files`` of ``overlay`` at their places in ``root``, in place of what is there.

    A link that is there is replaced, never followed to what it points to. All get the time ``modified_s``
    (seconds since 1970): when somebody checked them out, or installed them, is nothing to a lab.
    """
    for file in files:
        target = _below(root, root / file.relative_to(overlay))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy(file, target)
        os.utime(target, (modified_s, modified_s))


def link(root: Path, links: Mapping[str, str]) -> None:
    """Put symbolic links into ``root``, each with what it points to, in place of what is there."""
    for where, target in links.items():
        path = _below(root, root / where)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(target)


def mend(root: Path, mends: Iterable[Mend], modified_s: int) -> None:
    """Replace in files below ``root`` what is wrong there; they get the time ``modified_s``.

    What Python has compiled of a file goes with it. Raises LabError where what is wrong is not there, once.
    """
    for mend in mends:
        path = _below(root, root / mend.file)
        if path.is_symlink():
            raise LabError(f"{mend.file} of the root image is a link and is to be mended", hint=_HINT)
        text = path.read_text(encoding="utf-8")
        if text.count(mend.old) != 1:
            hint = "rootfs/mends.toml says what is to be there"
            raise LabError(f"{mend.file} of the root image is another than was to be mended", hint=hint)
        path.write_text(text.replace(mend.old, mend.new), encoding="utf-8")
        os.utime(path, (modified_s, modified_s))
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            _below(root, compiled).unlink()


def size_bytes(root: Path) -> int:
    """What the files of a tree hold, in bytes."""
    return sum(path.lstat().st_size for path in _inside_out(root) if not path.is_dir() or path.is_symlink())


def _below(root: Path, path: Path) -> Path:
    """``path``, if its folder is below ``root``, or will be: a link above it leads wherever a Debian says.

    Raises LabError if not: who imports a lab lets its Debian change that lab's root and no file beside it.
    """
    try:
        is_below = path.parent.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):
        # Links in a circle.
        is_below = False
    if not is_below:
        raise LabError(f"{path.relative_to(root)} of the root image is outside of it, by a link", hint=_HINT)
    return path


def _inside_out(root: Path) -> list[Path]:
    """Everything below ``root`` and ``root`` itself, a folder after what is in it."""
    return sorted((root, *root.rglob("*")), reverse=True)
