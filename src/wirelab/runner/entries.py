"""A folder of what may be forgotten: files with a checksum each; the oldest go when they get too much.

That there is no room for an entry is nobody's trouble.
"""

import contextlib
import hashlib
import os
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from wirelab.lab.scratch import discard, replacement

LIMIT_BYTES: Final = 1 << 30
"""What all entries together may take; the ones that were used longest ago go first."""
ENTRY_LIMIT_BYTES: Final = 256 << 20
"""What one entry may hold."""

# Trimmed to less, so that not each one more has the whole folder looked through.
_TRIMMED_BYTES: Final = LIMIT_BYTES * 9 // 10


@dataclass(slots=True)
class Entries:
    """The entries below ``folder``, by names that are file names; may be asked from any thread.

    ``warn`` is told what was damaged and is forgotten.
    """

    folder: Path
    warn: Callable[[str], None]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _size_bytes: int | None = None

    def read(self, name: str, then: str = "") -> bytes | None:
        """What was written; None where there is nothing whole.

        What is damaged is forgotten: ``then`` ends the sentence that says so.
        """
        path = self.folder / name
        try:
            status = path.lstat()
            # Nobody may ever write to a FIFO, and a link leads anywhere.
            if not stat.S_ISREG(status.st_mode) or status.st_size > ENTRY_LIMIT_BYTES:
                self.forget(name, "no entry of this cache", then)
                return None
            digest, _, content = path.read_bytes().partition(b"\n")
        except OSError:
            return None
        if digest != _checksum(content):
            self.forget(name, "its checksum is wrong", then)
            return None
        return content

    def used(self, name: str) -> None:
        """It served: the others go first."""
        with contextlib.suppress(OSError):
            os.utime(self.folder / name)

    def write(self, name: str, content: bytes) -> None:
        """Keep ``content`` in the place of what was there; more than an entry may hold is not kept."""
        whole = _checksum(content) + b"\n" + content
        if len(whole) > ENTRY_LIMIT_BYTES:
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacement(self.folder / name) as fresh:
                fresh.write_bytes(whole)
            self._trim(len(whole))

    def forget(self, name: str, why: str, then: str = "") -> None:
        """Remove an entry that is damaged, and say so."""
        path = self.folder / name
        self.warn(f"{path} is damaged ({why}); it is removed{then}")
        discard(path)

    def _trim(self, added_bytes: int) -> None:
        """Make room after something was added; all entries are looked at only where that may be too much."""
        with self._lock:
            if self._size_bytes is not None:
                self._size_bytes += added_bytes
                if self._size_bytes <= LIMIT_BYTES:
                    return
            entries = sorted(self._by_age(), reverse=True)
            self._size_bytes = sum(size_bytes for _, size_bytes, _ in entries)
            if self._size_bytes > LIMIT_BYTES:
                while self._size_bytes > _TRIMMED_BYTES:
                    _, size_bytes, oldest = entries.pop()
                    discard(oldest)
                    self._size_bytes -= size_bytes

    def _by_age(self) -> Iterator[tuple[float, int, Path]]:
        for path in self.folder.iterdir():
            with contextlib.suppress(OSError):
                status = path.lstat()
                yield status.st_mtime, status.st_size, path


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
