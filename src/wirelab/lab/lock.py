"""One holder at a time: a lock that the kernel lets go of when its holder ends, however it ends."""

import contextlib
import errno
import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from wirelab.errors import LabError

SUFFIX: Final = "[0-9a-f]{8}"
"""What the name of a locked folder ends with, as a regular expression."""

# NFS says the first of a folder, which nobody can open for writing; the second is of a disk without locks.
_NOT_TO_BE_HAD: Final = (errno.EBADF, errno.ENOLCK)


@contextlib.contextmanager
def exclusive(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file ``path`` alone; ``on_wait`` is called once if another process has it."""
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def exclusive_now(path: Path) -> Iterator[bool]:
    """Hold ``path`` alone if nobody else has it; yields whether that is so. A missing file is nobody's.

    Where the disk gives no such lock, somebody else may have it.
    """
    try:
        descriptor = _opened(path)
    except (FileNotFoundError, NotADirectoryError):
        yield True
        return
    try:
        yield _is_had(descriptor)
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """A descriptor of a file or a folder: for writing where it can be, or NFS locks it for nobody alone."""
    try:
        return os.open(path, os.O_RDWR)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError:
        return os.open(path, os.O_RDONLY)


def _is_had(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NOT_TO_BE_HAD:
            raise
        return False
    return True


@contextlib.contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold the file ``path`` together with others. Needs no right to write: it may be somebody else's.

    Raises LabError if it is not there, or no longer once we hold it: whoever removes it holds it alone.
    """
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("rb"))
            fcntl.flock(file, fcntl.LOCK_SH)
            is_there = os.path.samestat(os.fstat(file.fileno()), path.stat())
        except (FileNotFoundError, NotADirectoryError):
            is_there = False
        if not is_there:
            raise LabError(f"{path} was removed meanwhile", hint="start it again")
        yield


def locked_folder(parent: Path, prefix: str = "", *, mode: int = 0o777) -> tuple[Path, int]:
    """A new folder in ``parent`` and a descriptor that locks it, until it is closed or its holder ends.

    Between its making and its locking another process may take it for one that was left behind, and removes
    it under the lock: then the name is gone once we hold that, and the next one is tried.
    """
    while True:
        folder = parent / f"{prefix}{secrets.token_hex(4)}"
        folder.mkdir(mode)
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        # A file system without locks keeps what a killed process leaves: nobody can tell that it was killed.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if folder.exists():
            return folder, descriptor
        os.close(descriptor)
