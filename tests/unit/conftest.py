"""What several files of unit tests begin with."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from labs import build, build_context
from served import PretendTestbed, made_room, serving

from tests.jail.ground import Ground
from tests.jail.programs import compiled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from served import Served

    from wirelab.lab.recipe import BuildContext


@pytest.fixture
def here(tmp_path: Path) -> BuildContext:
    """Where a lab is built."""
    return build(build_context(tmp_path / "here"))


@pytest.fixture
def there(tmp_path: Path) -> BuildContext:
    """Another machine, with nothing."""
    return build_context(tmp_path / "there")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A classroom with nobody in it."""
    testbed = PretendTestbed()
    with serving(made_room(tmp_path / "class", testbed), testbed) as answers:
        yield answers


@pytest.fixture(scope="session")
def attacker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that stands for the kernel."""
    return compiled("taken", tmp_path_factory.mktemp("attacker"))


@pytest.fixture
def ground(tmp_path: Path, attacker: Path) -> Ground:
    """A kernel, a root image and a writable folder, with a secret beside them."""
    made = Ground(tmp_path, tmp_path / "kernels" / "linux")
    for folder in (made.root, made.writable, made.kernel.parent):
        folder.mkdir()
    shutil.copy(attacker, made.kernel)
    (tmp_path / "secret").write_text("mine\n")
    (made.root / "fstab").write_text("of the lab\n")
    (made.writable / "notes").write_text("of both\n")
    return made
