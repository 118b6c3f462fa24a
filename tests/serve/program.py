"""`wirelab serve` itself, with a real lab, in a process of its own."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.lab.cache import Cache
from wirelab.runner import measurement_cache

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parents[2]
PASSWORD = "correct horse battery"  # noqa: S105 - of a class that is gone after the test
START_S = 300.0


def free_port() -> int:
    """A port of loopback that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def cache_without_measurements(folder: Path) -> Path:
    """A cache that has the labs of this machine, and nothing of what they have measured."""
    folder.mkdir()
    for entry in Cache.at(os.environ).root.iterdir():
        if entry.name != measurement_cache.FOLDER:
            (folder / entry.name).symlink_to(entry)
    return folder


def started(folder: Path, cache: Path | None = None) -> tuple[subprocess.Popen[str], str]:
    """The server of a class, as soon as it answers, and its address; ``cache`` if not the user's."""
    port = free_port()
    password = folder.parent / "password"
    password.write_text(f"{PASSWORD}\n", encoding="utf-8")
    argv = [sys.executable, "-m", "wirelab", "serve", "--data", str(folder), "--port", str(port)]
    log = (folder.parent / "log").open("a")
    process = subprocess.Popen(
        [*argv, "--password-file", str(password)],
        stderr=log,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(HERE / "src"),
            "WIRELAB_CACHE": str(cache or Cache.at(os.environ).root),
        },
    )
    deadline_s = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < deadline_s:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return process, f"http://127.0.0.1:{port}"
        time.sleep(0.05)
    raise AssertionError((folder.parent / "log").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Memory:
    """What a process and all that it has started hold of the machine's memory."""

    process: int

    def bytes(self) -> int:
        """What is theirs alone, and their part of what they share."""
        return sum(_pss_bytes(pid) for pid in self._family())

    def _family(self) -> Iterator[int]:
        parents = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError, IndexError, ValueError):
                    parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        family = {self.process}
        while more := {pid for pid, parent in parents.items() if parent in family} - family:
            family |= more
        yield from family


def _pss_bytes(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return 0
