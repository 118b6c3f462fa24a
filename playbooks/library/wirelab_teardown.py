#!/usr/bin/python
"""Removes from a worker what the playbooks made there, and nothing else."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible.module_utils.basic import AnsibleModule

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENTATION = """
---
module: wirelab_teardown
short_description: Remove a wirelab worker
description:
  - Removes what provision.yml and matrix.yml made, by names that are theirs, in a folder that is marked.
  - Whatever else is in there stays, and with it the folder and its mark.
options:
  home: {description: The folder of the worker., type: path, required: true}
  launcher: {description: The command; empty for none., type: path, default: ""}
author: wirelab
"""

MARKER = "fleet.json"
# Of the folder, what the playbooks, a virtual environment and a cache of wirelab make.
OURS = (
    "runs",
    "inbox",
    "venv.before",
    *(f"venv/{name}" for name in ("bin", "include", "lib", "lib64", "share", "pyvenv.cfg", ".gitignore")),
    *(f"cache/{name}" for name in ("kernel", "debian", "rootfs", "refs", "locks", "logs", "runs")),
    *(f"cache/{name}" for name in ("downloads", "apt", "shell-history")),
)
FOLDERS = ("venv", "cache")
LAUNCHER_MARK = "# Made by wirelab's playbooks"


def present(path: Path) -> bool:
    """Whether there is something of that name, a link that leads nowhere too."""
    return path.is_symlink() or path.exists()


def is_busy(runs: Path) -> bool:
    """Whether a run is under way: each has a folder, and a lock on it where the file system has locks."""
    for folder in runs.iterdir() if runs.is_dir() else ():
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
    return False


def is_ours(launcher: Path) -> bool:
    """Whether we wrote that file."""
    with contextlib.suppress(OSError):
        return LAUNCHER_MARK in launcher.read_text(encoding="utf-8", errors="replace")
    return False


def discard(path: Path) -> None:
    """Remove a file or a tree, whatever modes its folders have."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    for folder, names, _ in os.walk(path):
        for name in names:
            inner = Path(folder, name)
            # What is somebody else's may be removed all the same, or the error says what may not.
            with contextlib.suppress(OSError):
                if not inner.is_symlink():
                    inner.chmod(0o700)
    shutil.rmtree(path)


def emptied(folders: Iterator[Path]) -> list[str]:
    """Those of the folders that were empty, and are removed."""
    gone = []
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
            gone.append(str(folder))
    return gone


def is_mixed(home: Path, doomed: list[Path]) -> bool:
    """Whether there is more in the folder than goes: without the mark, nothing could be made in it again."""
    holders = {home, *(home / name for name in FOLDERS), *(path.parent for path in doomed)}
    folders = [folder for folder in holders if folder.is_relative_to(home) and folder.is_dir()]
    ours = {*doomed, *folders, home / MARKER}
    return any(path not in ours for folder in folders for path in folder.iterdir())


def main() -> None:
    """Remove it, or in check mode say what would be."""
    spec: dict[str, dict[str, Any]] = {"home": {"type": "path", "required": True}}
    spec["launcher"] = {"type": "path", "default": ""}
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    home = Path(module.params["home"])
    launcher = Path(module.params["launcher"]) if module.params["launcher"] else None
    if not present(home / MARKER):
        if home.is_dir():
            message = f"{home} has no {MARKER}: the playbooks did not make it, and it stays"
            module.exit_json(changed=False, msg=message, left=[str(home)])
        module.exit_json(changed=False, msg="there is nothing of ours", left=[])
    if is_busy(home / "runs"):
        module.fail_json(msg=f"a run is under way in {home}/runs: wait for its end, and run this again")
    try:
        marker = json.loads((home / MARKER).read_text(encoding="utf-8"))
        made = [Path(path) for path in marker["made"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        module.fail_json(
            msg=f"{home / MARKER} cannot be read: {error}: look what is there, and remove it yourself"
        )
    doomed = [home / name for name in OURS if present(home / name)]
    if launcher and is_ours(launcher):
        doomed.append(launcher)
    # The marker last: what is interrupted can be repeated.
    marker_too = [] if is_mixed(home, doomed) else [home / MARKER]
    removed = list(map(str, doomed + marker_too))
    if not module.check_mode:
        try:
            for path in doomed:
                discard(path)
            emptied(home / name for name in FOLDERS)
            if marker_too:
                discard(home / MARKER)
        except OSError as error:
            message = f"{error.filename}: {error.strerror}: see what is there, and run this again"
            module.fail_json(msg=message)
        # Folders that were not there before, the inner ones first; only empty ones can be removed so.
        removed += emptied(iter(sorted((home, *made), key=lambda path: -len(path.parts))))
    stays = home.rglob("*") if home.is_dir() and not module.check_mode else ()
    left = sorted(str(path) for path in stays if path != home / MARKER)
    module.exit_json(changed=bool(removed), removed=removed, left=left)


if __name__ == "__main__":
    main()
