"""The image serves a class: as nobody, on a root that nobody writes to, at the port that is published."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fleet.conftest import QUICKEST
from tests.image.compose import COMPOSE, compose
from tests.image.test_run import outside

if TYPE_CHECKING:
    from tests.image.box import Box
    from tests.image.engine import Engine

LOOK = (
    "import urllib.request;print(urllib.request.urlopen('http://127.0.0.1:8080/', timeout=5).read().decode())"
)
FIRST_HOUR = Path(__file__).parents[1] / "serve/first_hour.py"
SERVES, SET_UP = r"wirelab serves at", r"/set-up/(\w+)"
LOOKS = 120
LOOK_S = 0.5


def test_it_serves_a_class(box: Box, results: Path) -> None:
    """Its log has the link for the password; the class is in /class, and the front page is there."""
    name = box.start("serve", results=results)
    try:
        assert set_up_key(box.engine, name)
        asked = box.engine.docker("exec", name, "/opt/wirelab/bin/python", "-c", LOOK, check=False)
        assert "Join your class" in asked.stdout, asked.stderr
        kept = box.engine.docker("exec", name, "ls", "/class").stdout.split()
        assert "classroom.sqlite" in kept
    finally:
        box.remove(name)


def test_a_class_comes_in_by_a_published_port(box: Box, results: Path, tmp_path: Path) -> None:
    """A course, a student and a run, asked for from outside; it measures what this machine measures."""
    needs_a_bridge(box.engine)
    name = box.start("serve", results=results, network="bridge", options=("--publish", "127.0.0.1::8080"))
    try:
        address = box.engine.docker("port", name, "8080/tcp").stdout.split()[0]
        page = first_hour(box.engine, address, set_up_key(box.engine, name))
    finally:
        box.remove(name)
    assert page.startswith("200 "), page
    assert f"digest <code>{digest_of_the_first_variant(tmp_path)[:12]}<" in page, page


def test_compose_opens_a_classroom(box: Box, tmp_path: Path) -> None:
    """With `up`, at the port that was chosen; the next `up` finds the same class, its teacher and all."""
    needs_a_bridge(box.engine)
    file, port = Path(shutil.copy(COMPOSE, tmp_path)), free_port()
    environ = {**box.engine.environ, "IMAGE": box.image, "PORT": str(port)}
    project, up = ("--project-name", box.image), ("up", "--detach", "--no-build", "classroom")

    def composed(*argv: str) -> str:
        done = compose(*project, *argv, environ=environ, file=file)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    try:
        composed(*up)
        key = set_up_key(box.engine, composed("ps", "--quiet", "classroom"))
        page = first_hour(box.engine, f"127.0.0.1:{port}", key)
        assert page.startswith("200 "), page
        composed("down")
        composed(*up)
        assert "/set-up/" not in logged(box.engine, composed("ps", "--quiet", "classroom"), SERVES)
    finally:
        composed("down", "--volumes")


def needs_a_bridge(engine: Engine) -> None:
    """Skip the test where containers cannot have a network."""
    if not engine.has_bridge:
        pytest.skip("the engine that can be started here has no bridge")


def set_up_key(engine: Engine, name: str) -> str:
    """What the link for the teacher's password ends with."""
    return str(re.findall(SET_UP, logged(engine, name, SET_UP))[0])


def logged(engine: Engine, name: str, awaited: str) -> str:
    """What a container has logged, as soon as what is awaited is there."""
    for _ in range(LOOKS):
        log = engine.docker("logs", name, check=False)
        if re.search(awaited, log.stdout + log.stderr):
            return log.stdout + log.stderr
        time.sleep(LOOK_S)
    raise AssertionError(log.stdout + log.stderr)


def first_hour(engine: Engine, address: str, key: str) -> str:
    """The page of the first run of a class, or what kept it from coming."""
    argv = engine.within(sys.executable, str(FIRST_HOUR), f"http://{address}", key, QUICKEST)
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def digest_of_the_first_variant(folder: Path) -> str:
    """That of the same scenario, run on this machine: the bench runs no controls."""
    return str(outside(QUICKEST, folder)["variants"][0]["digest"])


def free_port() -> int:
    """One of loopback that nobody listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
