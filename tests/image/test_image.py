"""What is in the image, and what is not."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import wirelab
from tests.image.box import Box
from tests.image.engine import Engine

HERE = Path(__file__).resolve().parents[2]
LIMIT_BYTES = 450 * 10**6


@pytest.fixture
def facts(box: Box) -> dict[str, Any]:
    """What the engine knows of the image."""
    (description,) = json.loads(box.engine.docker("image", "inspect", box.image).stdout)
    return dict(description)


def python(box: Box, script: str) -> str:
    """What a script prints that the image's own Python runs in a container."""
    done = box.run("-c", script, options=("--entrypoint", "python3"))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_small(facts: dict[str, Any]) -> None:
    """Uncompressed, as `docker images` shows it."""
    assert facts["Size"] <= LIMIT_BYTES


def test_it_says_what_it_is(facts: dict[str, Any]) -> None:
    """Version, source and licence are in the labels that registries and scanners read."""
    labels = facts["Config"]["Labels"]
    prefix = "org.opencontainers.image."
    assert labels[f"{prefix}version"] == wirelab.__version__
    assert {f"{prefix}{name}" for name in ("title", "revision", "source", "licenses")} <= set(labels)


def test_its_user_is_an_ordinary_one(facts: dict[str, Any]) -> None:
    """By number, as orchestrators want it that refuse to run root."""
    user, _, group = facts["Config"]["User"].partition(":")
    assert int(user) > 0
    assert int(group) > 0


def test_it_brings_its_lab(box: Box) -> None:
    """It is there for everybody; what it was built with is not."""
    said = box.run("--version").stdout
    assert f"wirelab {wirelab.__version__}\nlab kernel: Linux " in said
    script = "import os, shutil; print(sorted(os.listdir('/var/lib/wirelab')), shutil.which('gcc'))"
    assert python(box, script) == "['debian', 'kernel', 'refs', 'rootfs'] None\n"
    debian = (
        "import pathlib; print([path.name for path in pathlib.Path('/var/lib/wirelab').glob('debian/*/*')])"
    )
    assert python(box, debian) == "['entry.json']\n"


def test_nothing_in_it_is_writable_but_three_folders(box: Box) -> None:
    """For a user nobody has given anything: results and temporary files, whatever else is open to all."""
    script = (
        "import os; print(sorted(path for path, folders, files in os.walk('/')"
        " if not path.startswith(('/proc', '/sys', '/dev')) and os.access(path, os.W_OK)))"
    )
    assert python(box, script) == "['/class', '/results', '/tmp']\n"


def test_it_tells_of_no_mirror(box: Box) -> None:
    """The base was made with this machine's mirror, whose address is nobody else's business."""
    script = (
        "import pathlib; etc = pathlib.Path('/etc/apt');"
        " files = [path for path in etc.rglob('*') if path.is_file()];"
        " print([str(path) for path in files if '://' in path.read_text('latin-1')])"
    )
    assert python(box, script) == "[]\n"


@pytest.mark.parametrize("builder", ["0", "1"], ids=["classic", "buildkit"])
def test_it_builds_with_either_builder(builder: str, box: Box) -> None:
    """BuildKit and the classic one, from what `make image` has laid out, without any network."""
    name = f"{box.image}-{builder}"
    argv = ["build", "--network=none", "--build-arg", f"BASE={box.image}-base", "--build-arg", "LAB=shipped"]
    # Newer ones want a plugin for BuildKit, older ones do not.
    for command in docker_commands():
        engine = Engine({**box.engine.environ, "DOCKER_BUILDKIT": builder}, command)
        done = engine.docker(*argv, "--tag", name, str(HERE), check=False)
        if "buildx component is missing" not in done.stderr:
            break
    else:
        pytest.skip("no docker command here has BuildKit: buildx is not installed")
    try:
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"wirelab {wirelab.__version__}\n" in Box(engine, name).run("--version").stdout
    finally:
        engine.docker("rmi", "--force", name, check=False)


def docker_commands() -> list[str]:
    """All that are in the PATH, first the one that is taken."""
    candidates = (shutil.which("docker", path=folder) for folder in os.environ["PATH"].split(os.pathsep))
    return list(dict.fromkeys(str(Path(command).resolve()) for command in candidates if command))
