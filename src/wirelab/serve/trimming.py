"""Trimming: the results of a classroom have a bound, and what nobody needs goes first."""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from wirelab.lab.scratch import discard
from wirelab.serve.runs import Run, Runs

LIMIT_BYTES: Final = 4 << 30
"""What all results together may take; those that were asked for longest ago go first."""

LEAST_KEPT: Final = 100
"""Of the newest, whatever they take: somebody looks at them."""
_BLOCK_BYTES: Final = 512
_STAMPED: Final = "[0-9]*T[0-9]*Z*-*"
"""How folders of results are called; `latest` is none."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class Trimming:
    """Keeps the results in ``folder`` within ``limit_bytes``. May be asked from any thread.

    What a student's work refers to stays, unless ``is_repeatable`` says that the same comes of it again
    from what was measured; it is asked for again when somebody looks at it.
    """

    runs: Runs
    folder: Path
    is_repeatable: Callable[[Run], bool]
    limit_bytes: int = LIMIT_BYTES
    least_kept: int = LEAST_KEPT
    _sizes: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """Remove what the database knows nothing of: a server was killed between the one and the other."""
        known = self.runs.folders()
        for path in self.folder.glob(_STAMPED):
            if path.name not in known:
                _LOG.info("%s belongs to no run: it is removed", path)
                discard(path)
        self.trim()

    def trim(self) -> None:
        """Make room, where there is too much."""
        with self._lock:
            folders = self.runs.folders()
            self._sizes = {name: self._size_bytes(name) for name in folders}
            over_bytes = sum(self._sizes.values()) - self.limit_bytes
            if over_bytes <= 0:
                return
            by_age = self.runs.by_age()
            for run, is_referred_to in by_age[: max(0, len(by_age) - self.least_kept)]:
                if over_bytes <= 0:
                    return
                if run.folder is None or (is_referred_to and not self.is_repeatable(run)):
                    continue
                # The database first: a folder that it does not know is removed by the next server.
                self.runs.trimmed(run.id)
                discard(self.folder / run.folder)
                over_bytes -= self._sizes.pop(run.folder)
            if over_bytes > 0:
                _LOG.warning(
                    "results take %d MiB more than they should: works refer to them", over_bytes >> 20
                )

    def _size_bytes(self, name: str) -> int:
        """Of a folder, which never changes."""
        if name in self._sizes:
            return self._sizes[name]
        size_bytes = 0
        with suppress(OSError):
            for path in (self.folder / name).rglob("*"):
                with suppress(OSError):
                    size_bytes += path.lstat().st_blocks * _BLOCK_BYTES
        return size_bytes
