"""Options of the test suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    import pytest


def pytest_configure() -> None:
    """No deadline for generated examples: on a busy machine it would measure the machine."""
    settings.register_profile("wirelab", deadline=None)
    settings.load_profile("wirelab")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which lab the lab tests use; without these, the one `wirelab lab build` has made."""
    parser.addoption("--kernel", type=Path, default=None, help="another lab kernel")
    parser.addoption("--root", type=Path, default=None, help="another root image")
