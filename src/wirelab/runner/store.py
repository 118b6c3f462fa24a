"""Result folders: made aside, named when whole, never overwritten.

```
results/20260722T101530Z-sfp-mismatch/   result.json, report.html, for each variant its plan.json and raw/
results/latest/sfp-mismatch              a link to the newest
results/sweeps/20260722T101530Z-...      sweep.json, and the points whose files are kept
results/.partial-...                     a run under way, or what a killed one left
```
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import secrets
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from wirelab import container
from wirelab.errors import LabError
from wirelab.lab import lock
from wirelab.lab.discard import discard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from types import TracebackType

RESULT: Final = "result.json"
REPORT: Final = "report.html"
PLAN: Final = "plan.json"
RAW: Final = "raw"
LATEST: Final = "latest"
SWEEPS: Final = "sweeps"
SWEEP: Final = "sweep.json"
_PARTIAL: Final = ".partial-"

_HINTS: Final = {
    errno.ENOSPC: "the disk is full: make room, or choose another folder with --out",
    errno.EDQUOT: "your quota is used up: make room, or choose another folder with --out",
    errno.EACCES: "choose a folder of your own with --out",
    errno.EPERM: "choose a folder of your own with --out",
    errno.EROFS: "choose a folder on a disk that can be written with --out",
    errno.ENOTDIR: "choose a folder with --out",
    errno.EEXIST: "choose a folder with --out",
}


@dataclass(slots=True)
class Store:
    """A folder of results, each of which ``document`` makes whole. May be used from any thread."""

    root: Path
    document: str = RESULT
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _is_swept: bool = field(default=False, init=False)

    @classmethod
    def of_sweeps(cls, results: Path) -> Store:
        """The sweeps below a folder of results."""
        return cls(results / SWEEPS, SWEEP)

    def begin(self, scenario: str, when: datetime) -> Draft:
        """A folder for a run that starts now; ``when`` is in UTC.

        What killed runs left behind is removed, once. Raises LabError naming the path if the folder cannot
        be made.
        """
        with _named(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            with self._lock:
                for leftover in () if self._is_swept else self._abandoned():
                    discard(leftover)
                self._is_swept = True
            stamp = f"{when:%Y%m%dT%H%M%SZ}"
            folder, descriptor = lock.locked_folder(self.root, f"{_PARTIAL}{stamp}-{scenario}-")
        return Draft(self.root, scenario, stamp, self.document, folder, descriptor)

    def results(self) -> list[Path]:
        """The whole results, oldest first."""
        if not self.root.is_dir():
            return []
        return sorted(path.parent for path in self.root.glob(f"[!.]*/{self.document}"))

    def leftovers(self) -> list[Path]:
        """Folders of runs that were killed: begun, and nobody's any more."""
        return list(self._abandoned())

    def _abandoned(self) -> Iterator[Path]:
        """Each such folder, locked until the next is asked for: a run that just made one waits."""
        for path in sorted(self.root.glob(f"{_PARTIAL}*")):
            with contextlib.suppress(OSError), lock.exclusive_now(path) as abandoned:
                if abandoned:
                    yield path


class Draft:
    """The folder of a run under way: a context that removes it again unless ``commit`` was called.

    The folder is locked for as long as the run lives, however it ends, so that another run can tell
    it from one that was left behind.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - made by a store alone
        self, root: Path, scenario: str, stamp: str, document: str, folder: Path, descriptor: int
    ) -> None:
        self.folder = folder
        self._root = root
        self._scenario = scenario
        self._stamp = stamp
        self._document = document
        self._descriptor = descriptor
        self._is_committed = False
        self._is_open = True

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave a committed result, or nothing."""
        self.close()

    def close(self) -> None:
        """Leave a committed result, or nothing; a second time does nothing."""
        if not self._is_open:
            return
        self._is_open = False
        if not self._is_committed:
            discard(self.folder)
        os.close(self._descriptor)

    def variant(self, name: str, plan: str) -> Path:
        """Make a variant's folder, with ``plan`` in it as plan.json; its raw files go to raw/ there."""
        folder = self.folder / name
        with _named(folder):
            folder.mkdir()
            (folder / PLAN).write_text(plan, encoding="utf-8")
        return folder

    def commit(self, document: str, report: str | None = None) -> Path:
        """Write what makes a result whole and report.html, name the folder and point ``latest`` to it.

        Returns the folder. Raises LabError naming the path; then there is no result, or, if only the
        link could not be made, a whole one.
        """
        with _named(self.folder):
            if report is not None:
                write_file(self.folder / REPORT, report)
            write_file(self.folder / self._document, document)
            with contextlib.suppress(OSError):
                os.fsync(self._descriptor)
            final = self._rename()
        self._is_committed = True
        self._link(final)
        return final

    def _rename(self) -> Path:
        """Take the first name of this second that is free: renaming never replaces a folder with files."""
        for number in itertools.count(1):
            stamp = self._stamp if number == 1 else f"{self._stamp}.{number}"
            final = self._root / f"{stamp}-{self._scenario}"
            try:
                self.folder.rename(final)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise
            else:
                return final
        raise AssertionError

    def _link(self, final: Path) -> None:
        link = self._root / LATEST / self._scenario
        fresh = link.with_name(f".{self._scenario}.{secrets.token_hex(4)}")
        with _named(link):
            link.parent.mkdir(exist_ok=True)
            try:
                fresh.symlink_to(Path("..") / final.name)
                fresh.replace(link)
            finally:
                fresh.unlink(missing_ok=True)


def write_file(path: Path, text: str) -> None:
    """Write a new file that is on the disk when this returns. Raises LabError naming it."""
    with _named(path), path.open("x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn what the operating system refuses into a LabError with the path and what to do."""
    try:
        yield
    except OSError as error:
        where = error.filename2 or error.filename or path
        msg = f"{where}: cannot write results: {error.strerror}"
        raise LabError(msg, hint=container.hint(error, path) or _HINTS.get(error.errno or 0)) from error
