"""What several files of unit tests begin with."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from labs import build, build_context

from tests.jail.ground import Ground
from tests.jail.programs import compiled

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.recipe import BuildContext


@pytest.fixture
def here(tmp_path: Path) -> BuildContext:
    """Where a lab is built."""
    return build(build_context(tmp_path / "here"))


@pytest.fixture
def there(tmp_path: Path) -> BuildContext:
    """Another machine, with nothing."""
    return build_context(tmp_path / "there")


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
