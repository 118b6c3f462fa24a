"""Tell the host of progress, again and again, for much longer than the time that was given."""

from __future__ import annotations

import os
from pathlib import Path

RESULTS = Path("/run/wirelab/results")

for at_ns in range(1, 30_000):
    with (RESULTS / "partial").open("w") as file:
        file.write(f"{at_ns} 1000000000\n")
        file.flush()
        os.fsync(file.fileno())
    (RESULTS / "partial").rename(RESULTS / "progress")
