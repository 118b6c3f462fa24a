"""The notebooks of the documentation are run as a reader runs them, and show what they are kept with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from docs.notebooks import NOTEBOOKS, Notebook

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_is_kept_with(path: Path) -> None:
    """In virtual time every figure is the same on every machine; `python -m docs.notebooks` keeps others."""
    kept = Notebook.read(path)
    assert kept.run().outputs() == kept.outputs()
    assert len(kept.outputs()) > 4
    assert all(kept.outputs()[1:])
