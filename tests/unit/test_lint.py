"""The linters, and the rules of this house that no linter knows."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]
NOT_OURS = {"dist", "results", "__pycache__"}
DOTTED = {".ci", ".devcontainer", ".github"}
CODE = {".py", ".c", ".h", ".sh"}
LINES = 400
# Of one of src/wirelab; half of them have at most so many.
PYTHON_LINES, MEDIAN_LINES = 350, 110
# Folders that many things live in: a checkout's parent only tells of a workplace if it is none of them.
COMMON = {"/", "/tmp", "/home", "/root", "/opt", "/srv", "/src", "/usr/src", "/var/tmp", str(Path.home())}  # noqa: S108
ADDRESS = re.compile(
    r"https?://(?!\S*\.example\b)\S*(?:deb\.|mirror|pypi|pythonhosted|archive\.ubuntu)", re.IGNORECASE
)
SPDX = re.compile(r"SPDX-License-Identifier: GPL-2\.0-only")


def files() -> list[Path]:
    """Every file of the checkout that is ours."""
    paths = []
    for folder, folders, names in os.walk(HERE):
        folders[:] = [name for name in folders if name not in NOT_OURS and (name in DOTTED or name[0] != ".")]
        paths += [path for name in names if not (path := Path(folder, name)).is_symlink()]
    return sorted(paths)


def text_of(path: Path) -> str:
    """Its text, empty for one that is none."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def complaints(*argv: str) -> str:
    """What a tool complains about."""
    tool = shutil.which(argv[0], path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
    assert tool is not None, f"{argv[0]} is not installed"
    done = subprocess.run([tool, *argv[1:]], cwd=HERE, capture_output=True, text=True, check=False)  # noqa: S603
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize(
    "argv",
    [
        ("ruff", "check", "--quiet", "--output-format=concise", "."),
        ("ruff", "format", "--quiet", "--diff", "."),
        ("mypy",),
    ],
    ids=["ruff", "format", "mypy"],
)
def test_python_is_clean(argv: tuple[str, ...]) -> None:
    """All of ruff's rules but those pyproject.toml gives a reason against, its format, and strict types."""
    problems = complaints(*argv)
    assert not problems, problems


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shell_is_clean() -> None:
    """Every shell script, by its name or by its first line."""
    scripts = [path for path in files() if path.suffix == ".sh" or text_of(path)[:9] == "#!/bin/sh"]
    assert scripts, "there is at least .ci/run"
    problems = complaints("shellcheck", *map(str, scripts))
    assert not problems, problems


def test_files_are_small() -> None:
    """One job each: a file that outgrows 400 lines has found a second one."""
    long = {
        str(path.relative_to(HERE)): count
        for path in files()
        if path.suffix in CODE and (count := len(text_of(path).splitlines())) > LINES
    }
    assert long == {}


def test_modules_are_smaller() -> None:
    """A newcomer reads one in a few minutes, and most of them in one."""
    counts = {
        str(path.relative_to(HERE)): len(text_of(path).splitlines())
        for path in files()
        if path.suffix == ".py" and path.is_relative_to(HERE / "src" / "wirelab")
    }
    assert {name: count for name, count in counts.items() if count > PYTHON_LINES} == {}
    assert statistics.median(counts.values()) <= MEDIAN_LINES


def test_nothing_names_a_workplace_or_a_mirror() -> None:
    """No path of the machine it was written on; mirrors are read from each machine's configuration."""
    paths = {str(HERE)} | ({str(HERE.parent)} - COMMON)
    workplace = re.compile("|".join(rf"(?<![\w.]){re.escape(path)}\b" for path in paths))
    named = [
        f"{path.relative_to(HERE)}:{number}: {line.strip()}"
        for path in files()
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if workplace.search(line) or ADDRESS.search(line)
    ]
    assert named == []


def test_the_driver_says_its_licence() -> None:
    """kernel/driver is GPL-2.0-only, the rest Apache-2.0: each file there says so in its first line."""
    driver = HERE / "kernel" / "driver"
    sources = [
        path
        for path in driver.rglob("*")
        if path.suffix in {".c", ".h"} or path.name in {"Kconfig", "Makefile"}
    ]
    silent = [path.name for path in sources if not SPDX.search(text_of(path).partition("\n")[0])]
    assert sources
    assert silent == []


def test_make_knows_its_targets() -> None:
    """Each target that the help names can be made, as far as make can tell without doing it."""
    named = re.findall(r"@echo 'make ([\w-]+)", text_of(HERE / "Makefile"))
    assert {"scenario", "test", "lab", "bench"} <= set(named)
    for target in named:
        assert complaints("make", "--dry-run", "--silent", target, "NAME=sfp-mismatch") == ""
