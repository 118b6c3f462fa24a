"""A lab whose kernel looks after itself: the kernel of the lab with what finds mistakes in it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.lab.rig import Rig
from wirelab.lab import kernel
from wirelab.lab.cache import Cache
from wirelab.lab.recipe import BuildContext, Recipe
from wirelab.lab.reporter import Reporter
from wirelab.lab.select import select

DEBUG_CONFIG = Path(__file__).with_name("debug.config")


@pytest.fixture(scope="session")
def debug_kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab's kernel with ``debug.config``, from the cache or built: that takes some ten minutes."""
    home = tmp_path_factory.mktemp("recipe")
    shutil.copytree(Recipe.find().home / "kernel", home / "kernel")
    with (home / "kernel/lab.config").open("a", encoding="utf-8") as config:
        config.write(DEBUG_CONFIG.read_text(encoding="utf-8"))
    context = BuildContext(Recipe(home), Cache.at(os.environ), os.environ, Reporter())
    return kernel.ensure(context).path / "linux"


@pytest.fixture
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Rig:
    """Runs commands in that lab, or in that of ``--kernel``."""
    kernel_file = request.config.getoption("--kernel") or request.getfixturevalue("debug_kernel")
    lab = select(kernel_file, request.config.getoption("--root"))
    return Rig(lab, tmp_path, cpu=min(os.sched_getaffinity(0)))
