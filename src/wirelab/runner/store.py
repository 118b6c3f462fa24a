"""Result folders: made aside, named when whole, never overwritten.

```
results/20260722T101530Z-sfp-mismatch/   result.json, report.html, for each variant its plan.json and raw/
results/latest/sfp-mismatch              a link to the newest
results/sweeps/20260722T101530Z-...      sweep.json, and the points whose files are kept
results/truth/20260722T101530Z-...       truth.json, of the variants that stand in the table of truth
results/.partial-...                     a run under way, or what a killed one left
```
"""

import contextlib
import errno
import itertools
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Self

from wirelab import container
from wirelab.errors import LabError
from wirelab.lab import lock
from wirelab.lab.scratch import discard, replacement

RESULT: Final = "result.json"
REPORT: Final = "report.html"
PLAN: Final = "plan.json"
RAW: Final = "raw"
LATEST: Final = "latest"
SWEEPS: Final = "sweeps"
SWEEP: Final = "sweep.json"
TRUTH: Final = "truth"
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
    def of_sweeps(cls, results: Path) -> Self:
        """The sweeps below a folder of results."""
        return cls(results / SWEEPS, SWEEP)

    @classmethod
    def of_truth(cls, results: Path) -> Self:
        """What was run for the table of truth: not whole scenarios, so no results."""
        return cls(results / TRUTH, f"{TRUTH}.json")

    def begin(self, scenario: str, when: datetime) -> "Draft":
        """A folder for a run that starts now; ``when`` is in UTC.

        What killed runs left behind is removed, once. Raises LabError naming the path if the folder cannot
        be made.
        """
        with _named(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            with self._lock:
                for leftover in () if self._is_swept else self.leftovers():
                    discard(leftover)
                self._is_swept = True
            return Draft(self, scenario, f"{when:%Y%m%dT%H%M%SZ}")

    def leftovers(self) -> Iterator[Path]:
        """Folders that no run holds, each locked until the next is asked for: see `lock.locked_folder`."""
        for path in sorted(self.root.glob(f"{_PARTIAL}*")):
            with contextlib.suppress(OSError), lock.exclusive_now(path) as abandoned:
                if abandoned:
                    yield path


class Draft(contextlib.ExitStack):
    """The folder of a run under way: a context that removes it again unless ``commit`` was called.

    The folder is locked for as long as the run lives, however it ends, so that another run can tell
    it from one that was left behind.
    """

    def __init__(self, store: Store, scenario: str, stamp: str) -> None:
        super().__init__()
        self._store = store
        self._scenario = scenario
        self._stamp = stamp
        self.folder, self._descriptor = lock.locked_folder(store.root, f"{_PARTIAL}{stamp}-{scenario}-")
        self.callback(os.close, self._descriptor)
        # A result that was committed has another name by then.
        self.callback(discard, self.folder)

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
            write_file(self.folder / self._store.document, document)
            with contextlib.suppress(OSError):
                os.fsync(self._descriptor)
            final = self._rename()
        self._link(final)
        return final

    def _rename(self) -> Path:
        """Take the first name of this second that is free: renaming never replaces a folder with files."""
        for number in itertools.count(1):
            stamp = self._stamp if number == 1 else f"{self._stamp}.{number}"
            final = self._store.root / f"{stamp}-{self._scenario}"
            try:
                self.folder.rename(final)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise
            else:
                return final
        raise AssertionError

    def _link(self, final: Path) -> None:
        link = self._store.root / LATEST / self._scenario
        with _named(link):
            link.parent.mkdir(exist_ok=True)
            with replacement(link) as fresh:
                fresh.symlink_to(Path("..") / final.name)


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
