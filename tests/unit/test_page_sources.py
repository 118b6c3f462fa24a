"""The script of the pages: what is shipped is what its sources give, and they are sound."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from wirelab import report

PAGE = Path(__file__).resolve().parents[2] / "page"
BUNDLE = Path(report.__file__).parent / "page.js"


def npm(*command: str) -> None:
    """A script of the folder."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not here: apt-get install npm")
    if not (PAGE / "node_modules").is_dir():
        pytest.skip("its tools are not here: make page-lint has them installed")
    done = subprocess.run(  # noqa: S603 - a list of our own
        ["npm", "run", "--silent", *command],  # noqa: S607 - wherever npm is
        cwd=PAGE,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_bundle_is_that_of_the_sources(tmp_path: Path) -> None:
    """To the byte what esbuild makes of the folder."""
    bundle = tmp_path / "page.js"
    npm("build", "--", f"--outfile={bundle}", "--log-level=warning")
    assert bundle.read_text(encoding="utf-8") == BUNDLE.read_text(encoding="utf-8"), "make page"


def test_its_types_are_sound() -> None:
    """With all that is strict."""
    npm("types")


def test_its_linter_is_content() -> None:
    """No rule is broken, and it is formatted."""
    npm("lint")


def test_the_licence_of_what_is_bundled_comes_with_it() -> None:
    """uPlot's, whole, as it asks for."""
    text = BUNDLE.read_text(encoding="utf-8")
    assert text.startswith("/*! uPlot 1.6.32")
    assert "The above copyright notice and this permission notice shall be included in" in text
