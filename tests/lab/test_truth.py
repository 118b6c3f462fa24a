"""A row of the table of truth, from the command line to the table, with a real lab."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from wirelab.runner.truth import parse_table

if TYPE_CHECKING:
    from pathlib import Path

    from tests.lab.rig import Rig


def test_jumbo_frames_on_a_path_that_has_none(rig: Rig, tmp_path: Path) -> None:
    """A connection, three retransmissions in the first second and not one byte: as in the source."""
    argv = [sys.executable, "-m", "wirelab", "truth", "iperf.jumbo-trap", "--json", "--no-cache"]
    argv += ["--out", str(tmp_path / "out"), "--kernel", str(rig.lab.kernel), "--root", str(rig.lab.root)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = parse_table(done.stdout).rows
    assert {figure.name: figure.error for figure in row.figures} == {
        "affected.goodput": 0,
        "affected.retransmits": 0,
        "affected.connects": 0,
    }
