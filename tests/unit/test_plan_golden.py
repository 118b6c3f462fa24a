"""Golden Plans: a change of any figure of a shipped scenario is seen in a diff.

``PYTHONPATH=src python tests/golden/regenerate.py`` writes them anew.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest
from examples import ROOT

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


def _regenerate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("regenerate", ROOT / "tests/golden/regenerate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REGENERATE = _regenerate()
GOLDEN: dict[Path, str] = dict(REGENERATE.golden_files())


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_a_golden_file_is_what_the_scenario_gives(path: Path) -> None:
    """The Plan and its commands are byte for byte those that were last agreed on."""
    assert GOLDEN[path] == (ROOT / path).read_text(encoding="utf-8")


def test_no_golden_file_is_left_over() -> None:
    """A scenario or control that is gone takes its golden files with it."""
    paths = {path.relative_to(ROOT) for path in (ROOT / "tests/golden").iterdir() if path.is_file()}
    assert {path for path in paths if path.suffix not in {".py", ".yaml"}} == set(GOLDEN)
