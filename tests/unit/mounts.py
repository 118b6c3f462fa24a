"""Folders on disks of their own, with the options that a user may have to live with."""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def in_memory(folder: Path, options: str) -> Iterator[Path]:
    """A folder in memory; only root can mount one, and not in every container."""
    folder.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", options, "wirelab-test", str(folder)]
    if os.geteuid() != 0 or subprocess.run(argv, check=False, capture_output=True).returncode != 0:  # noqa: S603 - our own
        pytest.skip("no folder in memory can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)  # noqa: S603, S607 - our own, of every Linux
