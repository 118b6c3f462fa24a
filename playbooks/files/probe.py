"""What a machine is, for a controller that knows nothing of it yet: one line of JSON, by any Python 3."""

from __future__ import annotations

import importlib.util
import json
import platform
import shutil
import sys
from pathlib import Path


def missing(path: Path) -> list[str]:
    """The folders that have to be made for ``path`` to be one."""
    return [str(folder) for folder in (path, *path.parents) if not folder.is_dir()]


def is_foreign(launcher: Path) -> bool:
    """Whether there is a command of that name, and we did not write it."""
    try:
        return "# Made by wirelab's playbooks" not in launcher.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return launcher.is_symlink()
    except OSError:
        return True


def main(home: Path, launcher: Path | None) -> None:
    """Tell all of it."""
    place = next(path for path in (home, *home.parents) if path.is_dir())
    folders = {*missing(home), *(missing(launcher.parent) if launcher else ())}
    foreign = launcher is not None and is_foreign(launcher)
    marked = (home / "fleet.json").exists()
    facts = {
        "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "machine": platform.machine(),
        # Its folder alone is no module.
        "venv": getattr(importlib.util.find_spec("ensurepip"), "origin", None) is not None,
        "home": str(home),
        "launcher": str(launcher) if launcher and not foreign else "",
        "foreign": str(launcher) if foreign else "",
        "made": sorted(folders),
        "place": str(place),
        "free_mib": shutil.disk_usage(str(place)).free >> 20,
        "taken": home.is_dir() and not marked and any(home.iterdir()),
    }
    print(json.dumps(facts))


main(Path(sys.argv[1]).expanduser(), Path(sys.argv[2]).expanduser() if sys.argv[2] else None)
