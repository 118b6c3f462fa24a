"""What was measured before need not be measured again: raw files under the hash of all they depend on.

In virtual time the raw files of a Plan are a pure function of what the lab gets of it, the kernel, the root
image and the code that runs inside. They are kept; verdicts are not: those are made anew each time, so that
a changed expectation is judged on what was measured.

```
<cache>/runs/<key>          the SHA-256 of the rest, a newline, a tarball of the raw folder
<cache>/runs/<key>-<name>   the same with what else was made of that run, such as its picture
```
"""

import contextlib
import hashlib
import os
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from wirelab.lab.scratch import discard, replacement
from wirelab.lab.select import Lab
from wirelab.plan.types import Plan
from wirelab.runner import tarball

FOLDER: Final = "runs"
LIMIT_BYTES: Final = 1 << 30
"""What all runs together may take; the ones that were asked for longest ago go first."""
RAW_LIMIT_BYTES: Final = 256 << 20
"""What the raw files of one run may hold; more is not kept."""

# Trimmed to less, so that not each one more has the whole folder looked through.
_TRIMMED_BYTES: Final = LIMIT_BYTES * 9 // 10
# What an entry looks like: one of another form has another key, and is not found instead of called damaged.
_FORM: Final = "ustar"
_KEY_DIGITS: Final = 40
_CODE: Final = (
    "guest/*.py",
    "model/__init__.py",
    "model/graph.py",
    "model/trace.py",
    "plan/__init__.py",
    "plan/bond.py",
    "plan/capture.py",
    "plan/event.py",
    "plan/iproute2.py",
    "plan/jsonform.py",
    "plan/node.py",
    "plan/path.py",
    "plan/port_settings.py",
    "plan/shape.py",
    "plan/tagged.py",
    "plan/traffic/*.py",
    "plan/types.py",
    "lab/machine.py",
)


@dataclass(slots=True)
class MeasurementCache:
    """The runs that were measured with one lab; may be asked from any thread.

    ``warn`` is told what was damaged and is forgotten.
    """

    folder: Path
    lab_id: str
    warn: Callable[[str], None]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _size_bytes: int | None = None

    @classmethod
    def of(cls, cache_root: Path, lab: Lab, warn: Callable[[str], None]) -> Self:
        """The runs of ``lab`` in a cache folder."""
        parts = (_FORM, lab.kernel_id, lab.root_id, _code_id())
        return cls(cache_root / FOLDER, hashlib.sha256("\0".join(parts).encode()).hexdigest(), warn)

    def path(self, plan: Plan) -> Path:
        """Where the raw files of a Plan are, if they are."""
        key = hashlib.sha256(f"{self.lab_id}\0{plan.physical_json()}".encode()).hexdigest()
        return self.folder / key[:_KEY_DIGITS]

    def restore(self, plan: Plan, raw: Path) -> bool:
        """Put the raw files of ``plan`` into the folder ``raw``, which is made. False: they are not known."""
        path = self.path(plan)
        try:
            # All of it, before anything is written.
            files = dict(tarball.unpack(_read(path), RAW_LIMIT_BYTES))
        except OSError:
            return False
        except tarball.DamagedTarballError as error:
            self.forget(plan, str(error))
            return False
        raw.mkdir()
        for name, content in files.items():
            tarball.write(raw / name, content)
        with contextlib.suppress(OSError):
            os.utime(path)
        return True

    def beside(self, plan: Plan, name: str) -> bytes | None:
        """What was kept of that name beside the raw files of ``plan``; None where there is nothing whole."""
        path = self._beside(plan, name)
        try:
            return _read(path)
        except OSError:
            return None
        except tarball.DamagedTarballError as error:
            self.forget_beside(plan, name, str(error))
            return None

    def keep_beside(self, plan: Plan, name: str, content: bytes) -> None:
        """Keep something that was made of ``plan`` in the same lab."""
        self._write(self._beside(plan, name), content)

    def forget_beside(self, plan: Plan, name: str, why: str) -> None:
        """Remove what is kept of that name: it is damaged."""
        path = self._beside(plan, name)
        self.warn(f"{path} is damaged ({why}); it is removed")
        discard(path)

    def _beside(self, plan: Plan, name: str) -> Path:
        path = self.path(plan)
        return path.with_name(f"{path.name}-{name}")

    def forget(self, plan: Plan, why: str) -> None:
        """Remove what is kept of ``plan``: it is damaged."""
        path = self.path(plan)
        self.warn(f"{path} is damaged ({why}); it is removed, and what it held is measured again")
        discard(path)

    def keep(self, plan: Plan, raw: Path) -> None:
        """Keep the raw files of ``plan``. That there is no room for them is nobody's trouble."""
        if sum(path.stat().st_size for path in raw.rglob("*")) > RAW_LIMIT_BYTES:
            return
        self._write(self.path(plan), tarball.pack(raw))

    def _write(self, path: Path, packed: bytes) -> None:
        content = hashlib.sha256(packed).hexdigest().encode() + b"\n" + packed
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacement(path) as fresh:
                fresh.write_bytes(content)
            self._trim(len(content))

    def _trim(self, added_bytes: int) -> None:
        """Make room after something was added; all entries are looked at only where that may be too much."""
        with self._lock:
            if self._size_bytes is not None:
                self._size_bytes += added_bytes
                if self._size_bytes <= LIMIT_BYTES:
                    return
            entries = sorted(self._entries(), reverse=True)
            self._size_bytes = sum(size_bytes for _, size_bytes, _ in entries)
            if self._size_bytes > LIMIT_BYTES:
                while self._size_bytes > _TRIMMED_BYTES:
                    _, size_bytes, oldest = entries.pop()
                    discard(oldest)
                    self._size_bytes -= size_bytes

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        for path in self.folder.iterdir():
            with contextlib.suppress(OSError):
                status = path.lstat()
                yield status.st_mtime, status.st_size, path


def _read(path: Path) -> bytes:
    """The tarball of an entry. Raises DamagedTarballError if it is not the one that was kept, OSError."""
    status = path.lstat()
    # Nobody may ever write to a FIFO, and a link leads anywhere.
    if not stat.S_ISREG(status.st_mode) or status.st_size > RAW_LIMIT_BYTES:
        raise tarball.DamagedTarballError("no entry of this cache")
    digest, _, packed = path.read_bytes().partition(b"\n")
    if digest != hashlib.sha256(packed).hexdigest().encode():
        raise tarball.DamagedTarballError("its checksum is wrong")
    return packed


def _code_id() -> str:
    """A hash of the code whose doing the raw files are."""
    home = Path(__file__).parents[1]
    code = hashlib.sha256()
    for path in sorted(path for pattern in _CODE for path in home.glob(pattern)):
        code.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return code.hexdigest()
