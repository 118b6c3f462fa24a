"""A repository that uses wirelab, and the lab that its caches have."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.ci.runner import HERE, GitHub, environment
from wirelab.lab.scratch import discard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUICK = """
# A second through a healthy home.
name: quick
source: {title: a test}
topology: sfp-home
traffic:
  - iperf3: {name: up, from: client, to: server, time: 1 s, congestion: cubic}
expect:
  up: {goodput: 1 Gbit/s.., why: nothing is in its way}
"""

IMPOSSIBLE = QUICK.replace("name: quick", "name: impossible").replace(
    "1 Gbit/s.., why: nothing is in its way", '9 Gbit/s.., why: "::error::a word of a stranger"'
)


def make(*argv: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What a target of the Makefile of this checkout does with these variables in its environment."""
    return make_in(HERE, *argv, **variables)


def make_in(checkout: Path, *argv: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The same of another checkout."""
    return subprocess.run(
        ["make", "--no-print-directory", *argv],
        cwd=checkout,
        env={**environment(), "PYTHONPATH": str(checkout / "src"), **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def lab_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab of this machine in a file, as `make ci-lab` leaves it for a cache."""
    file = tmp_path_factory.mktemp("lab") / "lab"
    done = make("ci-lab", LAB=str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    return file


@pytest.fixture
def empty_cache(tmp_path: Path) -> Iterator[Path]:
    """Where a machine that has no lab yet will have it; that is too large to be left to pytest."""
    yield tmp_path / "caches" / "wirelab"
    discard(tmp_path / "caches")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A stranger's repository: two scenarios, one of which holds and one does not."""
    folder = tmp_path / "repository"
    (folder / "scenarios").mkdir(parents=True)
    (folder / "scenarios" / "quick.yaml").write_text(QUICK, encoding="utf-8")
    (folder / "scenarios" / "impossible.yaml").write_text(IMPOSSIBLE, encoding="utf-8")
    return folder


@pytest.fixture
def github(tmp_path: Path, repository: Path, lab_file: Path) -> GitHub:
    """GitHub, with that repository, whose cache has a lab."""
    server = GitHub(tmp_path / "github", repository)
    server.caches.mkdir(parents=True)
    key = make("ci-lab-key").stdout.strip()
    os.link(lab_file, server.caches / key)
    return server
