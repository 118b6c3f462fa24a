"""A folder for the moment, wherever this machine lets us have one."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab import container
from wirelab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator


def temporary_folder() -> Path:
    """Where files for the moment go: $TMPDIR, /tmp and so on. Raises LabError if none can be written."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        message = "neither $TMPDIR nor /tmp nor the current folder can be written"
        hint = "set TMPDIR to a folder of yours"
        raise LabError(message, hint=container.MEMORY_HINT if container.is_one() else hint) from error


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder that is gone with the context. Raises LabError if none can be made."""
    place = temporary_folder()
    try:
        folder = tempfile.TemporaryDirectory(prefix="wirelab-", dir=place, ignore_cleanup_errors=True)
    except OSError as error:
        message = f"{place}: no folder can be made there: {error.strerror}"
        raise LabError(message, hint="make room, or set TMPDIR to another folder") from error
    with folder as name:
        yield Path(name)
