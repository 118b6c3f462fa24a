"""What tshark reads of a capture."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def read_by_tshark(path: Path, *fields: str) -> list[list[str]]:
    """The fields of each packet. A complaint of tshark is a failure."""
    argv = [
        "tshark",
        "-n",
        "-r",
        str(path),
        "-T",
        "fields",
        *(word for name in fields for word in ("-e", name)),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if "Running as user" not in line]
    assert (done.returncode, complaints) == (0, [])
    return [line.split("\t") for line in done.stdout.splitlines()]
