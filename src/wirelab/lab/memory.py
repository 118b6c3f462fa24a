"""Where the memory of a lab lives: its kernel maps it from a file, and executes there."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from wirelab import container
from wirelab.errors import LabError
from wirelab.lab.host import disk_of, executes
from wirelab.lab.scratch import clear_temporary, own_folder
from wirelab.plan.types import MEMORY_BYTES

_NAME = "wirelab-memory-"


def memory_folder(
    fallback: Path, preferred: Iterable[Path] | None = None, *, memory_bytes: int = MEMORY_BYTES
) -> Path:
    """Where a lab's memory may live: a folder in memory if one has room, else $TMPDIR, else ``fallback``.

    The kernel maps its memory from a file and executes there; in containers /dev/shm is small and mounted
    noexec. ``preferred`` are other folders to try first. Raises LabError if none will do.
    """
    if preferred is None:
        named = Path(os.environ.get("TMPDIR", ""))
        preferred = [Path("/dev/shm"), Path(f"/run/user/{os.getuid()}")]  # noqa: S108 memory, not a temporary name
        preferred += [named] if named.is_absolute() else []
    for folder in preferred:
        if executes(folder) and shutil.disk_usage(folder).free >= memory_bytes:
            return folder
    if not executes(fallback):
        msg = f"{disk_of(fallback)} does not let code be executed: a lab's memory cannot live there"
        hint = "set TMPDIR to a folder that is not mounted noexec"
        raise LabError(msg, hint=container.MEMORY_HINT if container.is_one() else hint)
    return fallback


def own_memory(disk: Path) -> tuple[Path, int]:
    """A new folder for one lab's memory, locked: it must reach no other's, nor what else is on that disk.

    What killed sessions at a prompt and commands have left goes as well.
    """
    clear_temporary()
    return own_folder(disk, _NAME)


def room_wanted(disk: Path, memory_bytes: int) -> str:
    """A line where a lab's memory may not have had enough of it: a lab dies of that without a word."""
    free_bytes = shutil.disk_usage(disk).free
    if free_bytes >= memory_bytes:
        return ""
    return (
        f"its memory, up to {memory_bytes >> 20} MiB, is on {disk_of(disk)}, which has "
        f"{free_bytes >> 20} MiB free: make room there, or set TMPDIR to another folder\n"
    )
