"""What several files of unit tests begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from labs import build, workshop

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.workshop import Workshop


@pytest.fixture
def here(tmp_path: Path) -> Workshop:
    """Where a lab is built."""
    return build(workshop(tmp_path / "here"))


@pytest.fixture
def there(tmp_path: Path) -> Workshop:
    """Another machine, with nothing."""
    return workshop(tmp_path / "there")
