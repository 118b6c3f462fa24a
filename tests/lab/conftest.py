"""A real lab for every test here: the kernel and root image that `wirelab lab build` has made."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.lab.other_series import otherwise
from tests.lab.rig import Rig
from wirelab.lab.select import Lab, select

if TYPE_CHECKING:
    from pathlib import Path


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On another kernel than the newest a few tests must fail, each for a reason."""
    if (kernel := config.getoption("--kernel")) is None:
        return
    listed = otherwise(select(kernel, config.getoption("--root")).kernel_title())
    for item in items:
        if reason := listed.get(item.name):
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True, raises=AssertionError))


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Lab:
    """The lab that is built; without one these tests fail, they are not skipped."""
    return select(request.config.getoption("--kernel"), request.config.getoption("--root"))


@pytest.fixture
def rig(lab: Lab, tmp_path: Path) -> Rig:
    """Runs Plans and commands in the lab, each test with a folder of its own."""
    return Rig(lab, tmp_path, cpu=_cpu())


def _cpu() -> int:
    # One CPU for each test process: two labs on one CPU only wait for each other.
    cpus = sorted(os.sched_getaffinity(0))
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    return cpus[int(worker.removeprefix("gw")) % len(cpus)]
