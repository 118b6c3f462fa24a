"""The files around the image: what linters, compose and editors make of them. Most need no engine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.image.box import GID, UID
from tests.image.compose import CHOICES, COMPOSE, compose

if TYPE_CHECKING:
    from tests.image.box import Box
    from tests.image.engine import Engine

HERE = Path(__file__).resolve().parents[2]
DOCKERFILE = HERE / "Dockerfile"
DEVCONTAINER = HERE / ".devcontainer" / "devcontainer.json"

STAGE = re.compile(r"^FROM \S+ AS (\S+)$", re.MULTILINE)


def test_the_dockerfile_is_clean() -> None:
    """No complaint of hadolint, nor of shellcheck, which it asks about the commands."""
    linter = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert linter is not None, "hadolint is not installed: pip install --group image"
    done = subprocess.run([linter, str(DOCKERFILE)], capture_output=True, text=True, check=False)
    assert (done.stdout + done.stderr, done.returncode) == ("", 0)


def test_an_engine_gets_what_the_image_is_made_of() -> None:
    """Every folder and file that the wheel is made of is let through, and neither results nor repository."""
    allowed = {line[1:] for line in lines(HERE / ".dockerignore") if line.startswith("!")}
    assert "*" in lines(HERE / ".dockerignore")
    needed = {PurePath(name).parts[0] for name in what_the_wheel_is_made_of()}
    assert {"src", "LICENSE", "README.md", "man"} <= needed
    assert needed | {"pyproject.toml"} <= allowed
    assert not {".git", "results", "tests", ".venv", "dist"} & allowed
    assert [name for name in allowed - {"dist/image"} if not (HERE / name).exists()] == []


def what_the_wheel_is_made_of() -> set[str]:
    """The files and folders that pyproject.toml names for it, without which no wheel can be made."""
    document = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))
    project, wheel = document["project"], document["tool"]["hatch"]["build"]["targets"]["wheel"]
    named = (project["license-files"], wheel["packages"], wheel["force-include"], wheel["shared-data"])
    return {project["readme"], *chain.from_iterable(named)}


def lines(path: Path) -> set[str]:
    """The lines of a file that say something."""
    return {line for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"}


def service(name: str = "matrix") -> dict[str, Any]:
    """A service of the compose file, as it is written."""
    return dict(yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"][name])


def test_compose_asks_for_no_right() -> None:
    """What the image does without, compose does not give it; the user is the caller."""
    asked = service()
    assert asked["network_mode"] == "none"
    assert asked["read_only"] is True
    assert asked["cap_drop"] == ["ALL"]
    assert asked["security_opt"] == ["no-new-privileges:true"]
    assert asked["user"] == "${UID:-1000}:${GID:-1000}"
    assert not {"privileged", "cap_add", "devices", "pid", "ipc", "shm_size", "tmpfs"} & set(asked)
    assert asked["volumes"] == ["./results:/results"]


def test_a_classroom_has_no_right_but_a_port_of_loopback() -> None:
    """Unless somebody says otherwise; what it keeps is in a volume, and nothing else is written."""
    asked = service("classroom")
    assert asked["ports"] == ["${BIND:-127.0.0.1}:${PORT:-8080}:8080"]
    assert asked["read_only"] is True
    assert asked["cap_drop"] == ["ALL"]
    assert asked["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "devices", "pid", "ipc", "shm_size", "tmpfs", "user"} & set(asked)
    assert asked["volumes"] == ["class:/class"]


def test_compose_understands_it() -> None:
    """The file is valid, and its variables are what they are said to be."""
    done = compose("config", environ={**os.environ, **CHOICES})
    assert done.returncode == 0, done.stderr
    description = yaml.safe_load(done.stdout)["services"]["matrix"]
    assert (description["user"], description["image"]) == (f"{UID}:{GID}", "wirelab-chosen")
    assert description["build"]["args"]["BASE"] == "some-base"


def test_compose_runs_it(engine: Engine, box: Box, tmp_path: Path) -> None:
    """One scenario, in a folder of its own: verdict, exit code and owner are as with docker."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to somebody else")
    shutil.copy(COMPOSE, tmp_path)
    (tmp_path / "results").mkdir()
    shutil.chown(tmp_path / "results", UID, GID)
    environ = {**engine.environ, **CHOICES, "IMAGE": box.image}
    project, file = ("--project-name", box.image), tmp_path / "compose.yaml"
    run = ("run", "--rm", "matrix", "run", "ftp-2001-firewall", "--quiet")
    done = compose(*project, *run, environ=environ, file=file)
    compose(*project, "down", "--volumes", environ=environ, file=file)
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = (tmp_path / "results").glob("2*-ftp-2001-firewall")
    assert (folder.stat().st_uid, folder.stat().st_gid) == (UID, GID)


def test_a_devcontainer_opens_the_checkout() -> None:
    """A stage of the Dockerfile that has the tools, a user of it, and one command that readies the lab."""
    document = json.loads(DEVCONTAINER.read_text(encoding="utf-8"))
    build = document["build"]
    assert (DEVCONTAINER.parent / build["dockerfile"]).resolve() == DOCKERFILE
    assert (DEVCONTAINER.parent / build["context"]).resolve() == HERE
    text = DOCKERFILE.read_text(encoding="utf-8")
    assert build["target"] in STAGE.findall(text)
    assert f"useradd --create-home --shell /bin/bash {document['remoteUser']};" in text
    assert document["postCreateCommand"].endswith("make lab")
    assert document["forwardPorts"] == [8080]
    assert not {"privileged", "capAdd", "securityOpt", "runArgs"} & set(document)


@pytest.mark.skipif(shutil.which("devcontainer") is None, reason="the dev container CLI is not installed")
def test_the_dev_container_cli_understands_it(engine: Engine) -> None:
    """`devcontainer read-configuration`, which resolves what editors resolve; it asks the engine, too."""
    argv = ["devcontainer", "read-configuration", "--workspace-folder", str(HERE)]
    done = subprocess.run(argv, env=dict(engine.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["configuration"]["name"] == "wirelab"
