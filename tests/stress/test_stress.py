"""Ten thousand random settings while traffic runs, on a kernel that notices what it does wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from tests.lab.rig import Rig

SCRIPTS = Path(__file__).parent / "scripts"
WALL_LIMIT_S = 7200


def test_a_port_survives_whatever_it_is_told(rig: Rig, request: pytest.FixtureRequest) -> None:
    """No complaint of the kernel, which would end the lab, and every frame is accounted for."""
    seed, steps = (str(request.config.getoption(name)) for name in ("--stress-seed", "--steps"))
    ended = rig.execute(*("python3", "-B", "stress.py", seed, steps), work=SCRIPTS, wall_limit_s=WALL_LIMIT_S)
    assert ended.code == 0, ended.stderr[-4000:]
    told = json.loads(ended.stdout)
    assert told["wrong"] == []
    # Each kind of step was done some time, not only refused.
    assert all(told["refused"].get(name, 0) < taken for name, taken in told["taken"].items()), told
