"""What the compiler makes fast in the lab's kernel gives what the long way gives."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.lab.rig import Rig
from tests.lab.shortened import SCENARIOS, everything, shortened
from wirelab.lab.select import select

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_compiled_shortcuts_change_no_byte(
    request: pytest.FixtureRequest, plain_kernel: Path, tmp_path: Path, name: str
) -> None:
    """Every raw file is the same from a kernel without them, whose other shortcuts are turned off as well."""
    plan = shortened(name)
    root, cpu = request.config.getoption("--root"), min(os.sched_getaffinity(0))
    fast = Rig(select(None, root), tmp_path / "fast", cpu=cpu)
    plain = Rig(select(plain_kernel, root), tmp_path / "plain", cpu=cpu)
    assert everything(fast.run(plan)) == everything(plain.run(plan, slow="idle"))
