"""A Linux system in a folder: Python, the two wheels, and nothing else that they were said to need.

It is entered with namespaces of its own, and there is no network in it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.fleet import roots

if TYPE_CHECKING:
    from pathlib import Path

# What each calls the Python that wirelab is installed with.
PYTHONS = {"bookworm": "python3.11", "trixie": "python3.13", "jammy": "python3.11", "noble": "python3.12"}
USER_ID = 1000
HOME = "/home/student"
WIRELAB = f"{HOME}/venv/bin/wirelab"


@dataclass(frozen=True)
class System:
    """An installed system and its one user, who is nobody special."""

    root: Path

    @property
    def home(self) -> Path:
        """Where the user's home is, seen from here."""
        return self.root / HOME[1:]

    def give(self, name: str, content: bytes, mode: int = 0o644) -> None:
        """Put a file into the user's home, which is theirs with the folder that it is in."""
        path = self.home / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
        for made in (path, path.parent):
            os.chown(made, USER_ID, USER_ID)

    def call(self, *argv: str, folder: str = HOME, wall_limit_s: float = 300) -> str:
        """What a program prints that the user runs in ``folder``. It must end well, and in time."""
        entered = ["unshare", "--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child", "--mount-proc"]
        entered += [f"--root={self.root}", f"--wd={folder}", f"--setuid={USER_ID}", f"--setgid={USER_ID}"]
        environment = [f"HOME={HOME}", "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "COLUMNS=200"]
        done = subprocess.run(
            [*entered, "env", "-i", *environment, *argv],
            capture_output=True,
            text=True,
            check=False,
            timeout=wall_limit_s,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def installed(release: str, folder: Path, wheels: Path, more: tuple[str, ...] = ()) -> System:
    """A minimal system of a release, with the two wheels in a virtual environment of its user.

    ``more`` are other packages of the release. Raises CannotError where the release cannot be had.
    """
    root, python = folder / release, PYTHONS[release]
    roots.make(release, root, packages=(python, f"{python}-venv", *more), hooks=())
    system = System(root)
    system.home.mkdir(parents=True)
    os.chown(system.home, USER_ID, USER_ID)
    shutil.copytree(wheels, root / "wheels")
    (root / "wheels").chmod(0o755)
    system.call(python, "-m", "venv", "venv")
    from_the_folder = ("--no-index", "--find-links", "/wheels")
    system.call("venv/bin/pip", "install", "--quiet", *from_the_folder, "wirelab[lab]")
    shutil.rmtree(root / "wheels")
    return system
