"""Golden Plans: a change of any figure of a shipped scenario is seen in a diff.

``PYTHONPATH=src python tests/golden/regenerate.py`` writes them anew.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from examples import ROOT

if TYPE_CHECKING:
    from types import ModuleType


def _regenerate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("regenerate", ROOT / "tests/golden/regenerate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REGENERATE = _regenerate()
SCENARIOS: tuple[str, ...] = REGENERATE.scenarios()
KEPT = [
    path.relative_to(ROOT) for path in (ROOT / "tests/golden").iterdir() if path.suffix in {".json", ".txt"}
]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_golden_files_are_what_the_scenario_gives(scenario: str) -> None:
    """Byte for byte those that were last agreed on, and none of a control that is gone."""
    golden: dict[Path, str] = dict(REGENERATE.golden_files(scenario))
    for path, text in golden.items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, path
    assert {path for path in KEPT if _scenario(path) == Path(scenario).stem} == set(golden)


def test_no_golden_file_is_left_over() -> None:
    """A scenario that is gone takes its golden files with it."""
    assert {_scenario(path) for path in KEPT} <= {Path(scenario).stem for scenario in SCENARIOS}


def _scenario(path: Path) -> str:
    return path.name.partition(".")[0]
