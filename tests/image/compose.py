"""The compose file, and whoever reads it here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.image.box import GID, UID

COMPOSE = Path(__file__).resolve().parents[2] / "compose.yaml"
# Those of its variables that decide what is run, as whom.
CHOICES = {"UID": str(UID), "GID": str(GID), "IMAGE": "wirelab-chosen", "BASE": "some-base"}


def compose(*argv: str, environ: dict[str, str], file: Path = COMPOSE) -> subprocess.CompletedProcess[str]:
    """What compose answers. Where there is none the test is skipped."""
    command = _command()
    if command is None:
        pytest.skip("neither docker compose nor docker-compose is installed")
    return subprocess.run(
        [*command, "--file", str(file), *argv], env=environ, capture_output=True, text=True, check=False
    )


def _command() -> list[str] | None:
    """Whichever compose there is: docker's plugin, or the program of its own."""
    for argv in (["docker", "compose"], ["docker-compose"]):
        if (
            shutil.which(argv[0])
            and subprocess.run([*argv, "version"], capture_output=True, check=False).returncode == 0
        ):
            return argv
    return None
