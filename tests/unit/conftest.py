"""What several files of unit tests begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from labs import build, build_context

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
