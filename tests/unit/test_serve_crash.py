"""A server that is killed at any moment has lost nothing that it acknowledged."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from killed import KilledServer, pretended

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 3


def test_nothing_acknowledged_is_lost_by_a_kill(tmp_path: Path) -> None:
    """Three times in the middle of what students type and ask for; `make test-serve` does it twenty times."""
    chance = random.Random(2026)  # noqa: S311 - the same moments in each test
    killed = KilledServer(tmp_path / "class", pretended)
    killed.begin()
    try:
        for _ in range(KILLS):
            killed.work_until_killed(chance.uniform(0.1, 1.0))
            killed.require_everything_acknowledged()
        killed.require_all_runs_done()
    finally:
        killed.end()
