"""The kernel's source, from the package of Debian that the lab's kernel is made of."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def unpacked(package: Path, folder: Path, parts: Sequence[str]) -> Path:
    """Unpack parts of the source, which are patterns of tar, and return where it begins."""
    name = package.name.partition("_")[0]
    subprocess.run(["dpkg-deb", "--extract", package, folder / "package"], check=True)
    archive = folder / "package" / "usr" / "src" / f"{name}.tar.xz"
    wanted = [f"{name}/{part}" for part in parts]
    subprocess.run(["tar", "-xf", archive, "-C", folder, "--wildcards", *wanted], check=True)
    shutil.rmtree(folder / "package")
    return folder / name
