"""A real lab for every test here: the kernel and root image that `wirelab lab build` has made."""

from __future__ import annotations

import pytest

from wirelab.lab.select import Lab, select


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Lab:
    """The lab that is built; without one these tests fail, they are not skipped."""
    return select(request.config.getoption("--kernel"), request.config.getoption("--root"))
