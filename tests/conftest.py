"""Options of the test suite."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings


def pytest_configure(config: pytest.Config) -> None:
    """No deadline for generated examples: on a busy machine it would measure the machine.

    And Ctrl-C works in what tests start: a shell's background jobs, and all they start, are born deaf to it.
    They start wirelab some two hundred times: it is compiled once, also where the environment forbids that,
    and not into the folder of its source. So are the tests themselves, which each worker reads.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if cache := getattr(config, "cache", None):
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(cache.mkdir("bytecode"))
        sys.dont_write_bytecode = False
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.register_profile("wirelab", deadline=None)
    settings.load_profile("wirelab")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which lab the lab tests use, else the one `wirelab lab build` has made; how many files are damaged."""
    parser.addoption("--kernel", type=Path, default=None, help="another lab kernel")
    parser.addoption("--root", type=Path, default=None, help="another root image")
    parser.addoption("--mutations", type=int, default=300, help="so many damaged files are read")
    parser.addoption("--first-mutation", type=int, default=0, help="the seed of the first of them")
    parser.addoption("--every-scenario", action="store_true", help="all of the catalogue are repeated")
    parser.addoption("--steps", type=int, default=10_000, help="so many random settings, while traffic runs")
    parser.addoption("--stress-seed", type=int, default=1, help="by which they are drawn")


@pytest.fixture(scope="session")
def lab_options(request: pytest.FixtureRequest) -> list[str]:
    """What chooses that lab on the command line of wirelab: nothing, if it is the one that is built."""
    return [f"--{name}={path}" for name in ("kernel", "root") if (path := request.config.getoption(name))]
