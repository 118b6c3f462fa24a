"""Files and folders for the moment, wherever this machine lets us have them, and their removal."""

import contextlib
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from wirelab import container
from wirelab.errors import LabError
from wirelab.lab.lock import SUFFIX, exclusive_now, locked_folder

# How names of folders begin that are cleared away: no file that we give anybody is called so.
SHELL: Final = "wirelab-shell-"
"""Of sessions at a prompt: what a killed one leaves may be gigabytes."""

_SCRATCH: Final = "wirelab-scratch-"


def temporary_folder() -> Path:
    """Where files for the moment go: $TMPDIR, /tmp and so on. Raises LabError if none can be written."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        message = "neither $TMPDIR nor /tmp nor the current folder can be written"
        hint = "set TMPDIR to a folder of yours"
        raise LabError(message, hint=container.MEMORY_HINT if container.is_one() else hint) from error


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder that is gone with the context. Raises LabError if none can be made."""
    place = clear_temporary()
    try:
        folder, lock = own_folder(place, _SCRATCH)
    except OSError as error:
        message = f"{place}: no folder can be made there: {error.strerror}"
        raise LabError(message, hint="make room, or set TMPDIR to another folder") from error
    try:
        yield folder
    finally:
        discard(folder)
        os.close(lock)


def clear_temporary() -> Path:
    """The folder of files for the moment, without what was left there by what was killed."""
    place = temporary_folder()
    for prefix in (SHELL, _SCRATCH):
        clear_away(place, prefix)
    return place


@contextlib.contextmanager
def replacement(path: Path) -> Iterator[Path]:
    """A name for what takes the place of ``path`` if the context ends in peace, and is removed if not."""
    place = path.absolute()
    fresh = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        yield fresh
        fresh.replace(place)
    finally:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)


def own_folder(disk: Path, prefix: str) -> tuple[Path, int]:
    """A new folder for one process, and a descriptor that locks it: nobody else of this machine may use it.

    What was left there under ``prefix`` goes. Raises OSError.
    """
    clear_away(disk, prefix)
    return locked_folder(disk, prefix, mode=0o700)


def clear_away(disk: Path, prefix: str) -> None:
    """Remove the locked folders that a wirelab of this user has left under ``prefix`` that was killed.

    All may write there: of somebody else's, which may be a link to something of ours, nothing is touched,
    and nothing that is no such folder, whatever it is called.
    """
    for left in disk.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            if not is_own(left, prefix):
                continue
            with exclusive_now(left) as is_left:
                if is_left:
                    discard(left)


def is_own(path: Path, prefix: str) -> bool:
    """Whether a `locked_folder` of this user's is called so, and is a folder. Raises OSError."""
    status = path.lstat()
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return is_ours and re.fullmatch(re.escape(prefix) + SUFFIX, path.name) is not None


def discard(path: Path) -> None:
    """Remove a file or a tree, whatever modes its folders have and whoever else is removing it."""
    if path.is_symlink() or not path.is_dir():
        with contextlib.suppress(OSError):
            path.unlink()
        return
    for folder, names, _ in os.walk(path):
        for name in names:
            inner = Path(folder, name)
            if not inner.is_symlink():
                with contextlib.suppress(OSError):
                    inner.chmod(0o700)
    shutil.rmtree(path, ignore_errors=True)
