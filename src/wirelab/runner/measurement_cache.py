"""What was measured before need not be measured again: raw files under the hash of all they depend on.

In virtual time the raw files of a Plan are a pure function of the Plan (its seed is in it), the kernel, the
root image and the code that runs inside. They are kept; verdicts are not: those are made anew each time,
so that a changed expectation is judged on what was measured.

```
<cache>/runs/<key>     the SHA-256 of the rest, a newline, a tar of the raw folder
```
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import secrets
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wirelab.lab.select import Lab

FOLDER: Final = "runs"
LIMIT_BYTES: Final = 1 << 30
"""What all runs together may take; the ones that were asked for longest ago go first."""

_KEY_DIGITS: Final = 40
_DIGEST_DIGITS: Final = 64
_CODE: Final = (
    "guest/*.py",
    "model/__init__.py",
    "model/graph.py",
    "plan/__init__.py",
    "plan/dcb.py",
    "plan/jsonform.py",
    "plan/path.py",
    "plan/port_settings.py",
    "plan/tc.py",
    "plan/traffic/*.py",
    "plan/types.py",
    "lab/machine.py",
)


@dataclass(frozen=True, slots=True)
class Recall:
    """The runs that were measured with one lab. ``warn`` is told what was damaged and is forgotten."""

    folder: Path
    lab_id: str
    warn: Callable[[str], None]

    @classmethod
    def of(cls, cache_root: Path, lab: Lab, warn: Callable[[str], None]) -> Recall:
        """The runs of ``lab`` in a cache folder."""
        parts = (lab.kernel_id, lab.root_id, _code_id())
        return cls(cache_root / FOLDER, hashlib.sha256("\0".join(parts).encode()).hexdigest(), warn)

    def path(self, plan: str) -> Path:
        """Where the raw files of a Plan, in JSON, are, if they are."""
        key = hashlib.sha256(f"{self.lab_id}\0{plan}".encode()).hexdigest()
        return self.folder / key[:_KEY_DIGITS]

    def restore(self, plan: str, raw: Path) -> bool:
        """Put the raw files of ``plan`` into the folder ``raw``, which is made. False: they are not known."""
        path = self.path(plan)
        try:
            content = path.read_bytes()
        except OSError:
            return False
        digest, archive = content[:_DIGEST_DIGITS], content[_DIGEST_DIGITS + 1 :]
        if hashlib.sha256(archive).hexdigest().encode() != digest:
            self.warn(f"{path} is damaged; it is removed, and what it held is measured again")
            with contextlib.suppress(OSError):
                path.unlink()
            return False
        raw.mkdir()
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            # Python has filters since 3.11.4; before, the archive is as we wrote it.
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(raw)  # noqa: S202 - filtered, see above
        with contextlib.suppress(OSError):
            os.utime(path)
        return True

    def keep(self, plan: str, raw: Path) -> None:
        """Keep the raw files of ``plan``. That there is no room for them is nobody's trouble."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
            for path in sorted(raw.iterdir()):
                tar.add(path, arcname=path.name)
        archive = buffer.getvalue()
        content = hashlib.sha256(archive).hexdigest().encode() + b"\n" + archive
        path = self.path(plan)
        fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                fresh.write_bytes(content)
                fresh.replace(path)
            finally:
                fresh.unlink(missing_ok=True)
            self._trim()

    def _trim(self) -> None:
        room_bytes = LIMIT_BYTES
        for _, size_bytes, path in sorted(self._entries(), reverse=True):
            room_bytes -= size_bytes
            if room_bytes < 0:
                path.unlink(missing_ok=True)

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        for path in self.folder.iterdir():
            with contextlib.suppress(OSError):
                stat = path.stat()
                yield stat.st_mtime, stat.st_size, path


def _code_id() -> str:
    """A hash of the code whose doing the raw files are."""
    home = Path(__file__).parents[1]
    found = hashlib.sha256()
    for path in sorted(path for pattern in _CODE for path in home.glob(pattern)):
        found.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()
