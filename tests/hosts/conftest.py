"""The wheels as `make wheels` makes them, and what the lab in them gives on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fleet.conftest import QUICKEST
from tests.fleet.hosts import CannotError
from tests.hosts.systems import PYTHONS, System, installed

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).resolve().parents[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which systems: each has to be fetched."""
    told = f"a system that wirelab is installed on: {', '.join(PYTHONS)}; may be repeated"
    parser.addoption("--host", action="append", default=[], choices=list(PYTHONS), help=told)
    parser.addoption("--emulated", action="store_true", help="on an emulated processor, too: minutes")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that has a release has those that were asked for."""
    if "release" in metafunc.fixturenames:
        none = pytest.param("", marks=pytest.mark.skip(reason="no --host: make test-hosts"), id="none")
        metafunc.parametrize("release", metafunc.config.getoption("host") or [none], scope="session")


@pytest.fixture(scope="session")
def system(release: str, wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """One of that release with wirelab in it; where it cannot be had, tests are skipped with the reason."""
    folder = opened(tmp_path_factory.mktemp(release))
    try:
        yield installed(release, folder, wheels)
    except CannotError as error:
        pytest.skip(f"no {release} here: {error}")
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the two wheels and, for the Python of each system, those that they depend on."""
    folder = tmp_path_factory.mktemp("wheels")
    run("make", "wheels", f"DIST={folder}")
    (wheel,) = folder.glob("wirelab-*.whl")
    for version in sorted({python.removeprefix("python") for python in PYTHONS.values()}):
        chosen = ("--only-binary=:all:", "--python-version", version, "--dest", str(folder))
        run(sys.executable, "-m", "pip", "download", "--quiet", *chosen, str(wheel))
    return folder


@pytest.fixture(scope="session")
def digest(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What this machine measures with the same lab."""
    file = tmp_path_factory.mktemp("here") / "all.json"
    written = ("--quiet", "--out", str(file.parent), "--json-file", str(file))
    run(sys.executable, "-m", "wirelab", "run", QUICKEST, *written)
    return digest_in(file.read_text())


def digest_in(listed: str) -> str:
    """The digest of the one run that a list of them has."""
    (document,) = json.loads(listed)
    return str(document["digest"])


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Where a system is installed; its user passes by, and it is removed, for it is large."""
    yield opened(tmp_path)
    shutil.rmtree(tmp_path)


def opened(folder: Path) -> Path:
    """A folder of pytest's, by which others may pass."""
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(0o755)
    return folder


def run(*argv: str) -> str:
    """What a program prints that is run in the checkout. It must end well."""
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "src")}
    done = subprocess.run(argv, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
