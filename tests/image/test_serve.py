"""The image serves a class: as nobody, on a root that nobody writes to."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.image.box import Box

LOOK = (
    "import urllib.request;print(urllib.request.urlopen('http://127.0.0.1:8080/', timeout=5).read().decode())"
)
LOOKS = 120


def test_it_serves_a_class(box: Box, results: Path) -> None:
    """Its log has the link for the password; the class is in /class, and the front page is there."""
    name = box.start("serve", results=results)
    try:
        for _ in range(LOOKS):
            asked = box.engine.docker("exec", name, "/opt/wirelab/bin/python", "-c", LOOK, check=False)
            if asked.returncode == 0:
                break
            time.sleep(0.5)
        log = box.engine.docker("logs", name, check=False)
        assert "Join your class" in asked.stdout, asked.stderr + log.stdout + log.stderr
        assert "/set-up/" in log.stdout + log.stderr
        kept = box.engine.docker("exec", name, "ls", "/class").stdout.split()
        assert "classroom.sqlite" in kept
    finally:
        box.remove(name)
