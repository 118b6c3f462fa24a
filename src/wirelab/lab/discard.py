"""Removing what may be in any state: a part of a tree, somebody else's, or already gone."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path


def discard(path: Path) -> None:
    """Remove a file or a tree, whatever modes its folders have and whoever else is removing it."""
    if path.is_symlink() or not path.is_dir():
        with contextlib.suppress(OSError):
            path.unlink()
        return
    for folder, names, _ in os.walk(path):
        for name in names:
            inner = Path(folder, name)
            if not inner.is_symlink():
                with contextlib.suppress(OSError):
                    inner.chmod(0o700)
    shutil.rmtree(path, ignore_errors=True)
