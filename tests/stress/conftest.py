"""Labs with kernels of these tests: one that finds mistakes in itself, and one that takes no shortcut."""

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
# What makes the lab's kernel fast and is decided when it is compiled.
COMPILED_SHORTCUTS = (
    "0009-um-copy-by-string",
    "0012-um-call-directly",
    "0019-um-inline-irq-flags",
    "0027-um-copy-at-fork",
    "0029-hostfs-constant-root",
    "0030-openvswitch-no-cache-of-masks",
)


@pytest.fixture(scope="session")
def debug_kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab's kernel with ``debug.config``, from the cache or built: that takes some ten minutes."""
    recipe = _recipe(tmp_path_factory)
    with (recipe.home / "kernel/lab.config").open("a", encoding="utf-8") as config:
        config.write(DEBUG_CONFIG.read_text(encoding="utf-8"))
    return _built(recipe)


@pytest.fixture(scope="session")
def plain_kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab's kernel without the shortcuts that are compiled into it, from the cache or built."""
    recipe = _recipe(tmp_path_factory)
    for name in COMPILED_SHORTCUTS:
        (recipe.home / f"kernel/patches/{name}.patch").unlink()
    return _built(recipe)


def _recipe(tmp_path_factory: pytest.TempPathFactory) -> Recipe:
    """The kernel's recipe in a folder where it can be changed."""
    home = tmp_path_factory.mktemp("recipe")
    shutil.copytree(Recipe.find().home / "kernel", home / "kernel")
    return Recipe(home)


def _built(recipe: Recipe) -> Path:
    context = BuildContext(recipe, Cache.at(os.environ), os.environ, Reporter())
    return kernel.ensure(context).path / "linux"


@pytest.fixture
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Rig:
    """Runs commands in that lab, or in that of ``--kernel``."""
    kernel_file = request.config.getoption("--kernel") or request.getfixturevalue("debug_kernel")
    lab = select(kernel_file, request.config.getoption("--root"))
    return Rig(lab, tmp_path, cpu=min(os.sched_getaffinity(0)))
