"""The image under test: base and image built by `make`, as a user builds them, under names of their own."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.image.box import GID, UID, Box
from tests.image.engine import Engine, NoEngineError, any_engine

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """An engine; where none can be had, the tests that need one are skipped with the reason."""
    opened = any_engine()
    try:
        engine_at_work = opened.__enter__()
    except NoEngineError as error:
        pytest.skip(str(error))
    try:
        yield engine_at_work
    finally:
        opened.__exit__(None, None, None)


@pytest.fixture(scope="session")
def image(engine: Engine) -> Iterator[str]:
    """The name of the image, built from a base that was built for it; both are removed."""
    name = f"wirelab-test-{secrets.token_hex(4)}"
    base = f"{name}-base"
    try:
        make(engine, "image-base", f"BASE_IMAGE={base}")
        make(engine, "image", f"BASE_IMAGE={base}", f"BASE={base}", f"IMAGE={name}")
        yield name
    finally:
        forget(engine, name, base)


def forget(engine: Engine, name: str, base: str) -> None:
    """Remove an image, its base, and the stages that the classic builder leaves, which only name their base.

    Nothing else, for the engine may be the user's.
    """
    stages = ("--filter", "dangling=true", "--filter", f"label=org.opencontainers.image.base.name={base}")
    tagged = engine.docker("images", "--format", "{{.Repository}}:{{.Tag}}", name).stdout.split()
    untagged = engine.docker("images", "--quiet", *stages).stdout.split()
    engine.docker("rmi", "--force", *tagged, *untagged, base, check=False)


def make(engine: Engine, target: str, *choices: str) -> None:
    """Run a target of the Makefile with that engine; what it said is the failure's text."""
    # Of the make that may have started us, nothing: ARGS is for pytest.
    environ = {
        name: value for name, value in engine.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    argv = ["make", "--no-print-directory", target, *choices]
    done = subprocess.run(argv, cwd=HERE, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(argv)}\n{done.stdout}{done.stderr}"


@pytest.fixture
def box(engine: Engine, image: str) -> Box:
    """Runs the image."""
    return Box(engine, image)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder for results that belongs to the user the containers run as."""
    folder = tmp_path / "results"
    folder.mkdir()
    if os.geteuid() == 0:
        shutil.chown(folder, UID, GID)
    else:
        folder.chmod(0o777)
    return folder
