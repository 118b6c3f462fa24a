"""The attackers that are programs: static ones, for where they are run there is no library."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def compiled(name: str, folder: Path) -> Path:
    """A program of this folder, in ``folder``. Where there is no compiler the test is skipped."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    program = folder / name
    argv = ["gcc", "-static", "-O1", "-o", str(program), str(HERE / f"{name}.c")]
    subprocess.run(argv, check=True)  # noqa: S603 - a compiler
    return program


def answers(lines: str) -> dict[str, int]:
    """What each attempt of a program came to, as an errno; 0 where it was let through."""
    return {name: int(code) for name, _, code in (line.rpartition(" ") for line in lines.splitlines())}
