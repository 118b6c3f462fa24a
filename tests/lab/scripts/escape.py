"""As root of the lab, reach for files of the host: mount the folders named, and do there what is said.

Each line of the answer is an attempt and the errno it got, or 0.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LIBC = ctypes.CDLL(None, use_errno=True)


def make(path: Path) -> None:
    """A new file; what was made by mistake is not left."""
    with path.open("xb"):
        path.unlink()


def change(path: Path) -> None:
    """Open for writing, and write nothing."""
    with path.open("r+b"):
        pass


HOW: dict[str, Callable[[Path], object]] = {
    "list": lambda path: list(path.iterdir()),
    "read": Path.read_bytes,
    "change": change,
    "make": make,
    "rename": lambda path: path.rename(path.with_name("renamed")),
    "chmod": lambda path: path.chmod(0o777),
    "follow": Path.readlink,
}


def attempt(number: int, folder: str, name: str, how: str) -> int:
    """The errno that the host answered with, or 0."""
    place = Path("/run/escape", str(number))
    place.mkdir(parents=True)
    if LIBC.mount(b"none", str(place).encode(), b"hostfs", 0, folder.encode()) != 0:
        return ctypes.get_errno()
    try:
        HOW[how](place / name if name else place)
    except OSError as error:
        return error.errno or -1
    finally:
        LIBC.umount2(str(place).encode(), 0)
    return 0


for number, words in enumerate(sys.argv[1:]):
    print(words, attempt(number, *words.split(":")))
