"""Whether a build is still what was built: a glance at sizes and times, or a comparison of all content."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from typing import TYPE_CHECKING, Final

from wirelab.lab import tree
from wirelab.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ENTRY: Final = "entry.json"
CONTENTS: Final = "contents.json"
"""The hash of each file of a build; in the tree of a root image, also of its mode and time."""

_WATCHED_FILES: Final = 256
_HASH_DIGITS: Final = 16


def record(folder: Path) -> dict[str, tuple[int, int]]:
    """Write CONTENTS of a build in ``folder``. Returns what ``is_suspicious`` looks at.

    That is the sizes in bytes and the times in ns of the largest files, and the times of their folders.
    """
    for path in folder.iterdir():
        # In whole seconds, as they are in a container's image.
        if path.is_file():
            os.utime(path, ns=(whole_ns := path.stat().st_mtime_ns // NS_PER_S * NS_PER_S, whole_ns))
    hashes = _hashes(folder)
    (folder / CONTENTS).write_text(json.dumps(hashes, indent=0) + "\n", encoding="utf-8")
    sizes_bytes = {name: size for name in hashes if (size := _look(f"{folder}/{name}")[0]) >= 0}
    watched = sorted(sizes_bytes, key=lambda name: (-sizes_bytes[name], name))[:_WATCHED_FILES]
    watched += sorted({parent for name in watched if (parent := os.path.dirname(name))})  # noqa: PTH120 - a str
    return {name: _look(f"{folder}/{name}") for name in watched if name.isprintable()}


def is_suspicious(folder: Path, watched: Mapping[str, tuple[int, int]]) -> bool:
    """Whether one of the ``watched`` has another size or time, or is gone: some 300 calls of lstat(2).

    It misses a small file that was written in place, a change after which the times were put back, and bytes
    that rotted on the disk. ``differences`` misses none of these.
    """
    try:
        return any(_look(f"{folder}/{name}") != known for name, known in watched.items())
    except OSError:
        return True


def differences(folder: Path) -> list[str]:
    """Every file that is not as it was when CONTENTS was written, with what is wrong with it."""
    try:
        known = json.loads((folder / CONTENTS).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        return [f"{CONTENTS} cannot be read: {error}"]
    if not isinstance(known, dict):
        return [f"{CONTENTS} holds no hashes"]
    try:
        hashes = _hashes(folder)
    except OSError as error:
        return [f"{error.filename} cannot be read: {error.strerror}"]
    changed = [f"{name} was changed" for name in known.keys() & hashes.keys() if known[name] != hashes[name]]
    missing = [f"{name} is missing" for name in known.keys() - hashes.keys()]
    return sorted([*changed, *missing, *(f"{name} was added" for name in hashes.keys() - known.keys())])


def _look(path: str) -> tuple[int, int]:
    status = os.lstat(path)
    return (status.st_size if stat.S_ISREG(status.st_mode) else -1), status.st_mtime_ns


def _hashes(folder: Path) -> dict[str, str]:
    records = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            for name, seen in tree.records(path):
                records[os.path.normpath(os.path.join(path.name, os.fsdecode(name)))] = seen  # noqa: PTH118 - a str
        elif path.name not in (CONTENTS, ENTRY):
            records[path.name] = tree.file_digest(path)
    return {name: hashlib.sha256(seen).hexdigest()[:_HASH_DIGITS] for name, seen in records.items()}
