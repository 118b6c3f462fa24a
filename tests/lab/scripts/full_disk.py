"""Keep results on a disk that fills up: a file system in memory, which only a lab can mount without root."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, "/run/wirelab/lib")

from wirelab.errors import LabError
from wirelab.runner.store import Store

DISK = Path("/mnt/disk")
WHEN = datetime(2026, 7, 22, 10, 15, 30, tzinfo=UTC)


def keep(text: str) -> str:
    """Keep a result; what is said about it."""
    try:
        with Store(DISK).begin("sfp-mismatch", WHEN) as draft:
            draft.variant("main", "{}")
            return str(draft.commit(text).name)
    except LabError as error:
        return f"{error.message}; {error.hint}"


DISK.mkdir()
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(DISK)], check=True)
answers = [keep("{}"), keep("x" * 100_000), keep("{}")]
left = sorted(path.name for path in DISK.iterdir())
print(json.dumps({"answers": answers, "left": left}))
