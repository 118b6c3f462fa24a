"""The memory of a lab: all of its processes, shared pages counted once."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path


class PeakMemory:
    """Called at every look at a running lab; keeps the largest sum it has seen."""

    def __init__(self) -> None:
        self.peak_bytes = 0
        self._looks = 0

    def __call__(self) -> None:
        """Add up the proportional set sizes (proc(5), smaps_rollup) of this process's descendants."""
        self._looks += 1
        if self._looks % 10 == 0:
            self.peak_bytes = max(self.peak_bytes, sum(map(_pss_bytes, _descendants(os.getpid()))))


def _descendants(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "stat").read_text().rpartition(")")[2].split()
            parents.setdefault(int(words[1]), []).append(int(folder.name))
    descendants, waiting = [], [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        descendants += children
        waiting += children
    return descendants


def _pss_bytes(pid: int) -> int:
    with suppress(OSError):
        match = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
        if match:
            return int(match[1]) * 1024
    return 0
