"""Code is told by the names and contents of its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wirelab.runner.code import PACKAGE, files_id, package_id

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """Two modules and a template."""
    (tmp_path / "report").mkdir()
    for name in ("a.py", "report/b.py", "report/page.html.j2"):
        (tmp_path / name).write_text(f"{name}\n", encoding="utf-8")
    return tmp_path


def told(folder: Path) -> str:
    """Of all that is below it."""
    return files_id(folder, folder.rglob("*"))


@pytest.mark.parametrize("name", ["a.py", "report/b.py", "report/page.html.j2", "new.py"])
def test_each_file_counts(code: Path, name: str) -> None:
    """One byte of it, be it a template, and that it is there."""
    before = told(code)
    with (code / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert told(code) != before


def test_where_a_file_is_counts(code: Path) -> None:
    """Another folder is another module."""
    before = told(code)
    (code / "report" / "b.py").rename(code / "b.py")
    assert told(code) != before


def test_what_python_compiles_does_not(code: Path) -> None:
    """It is made as modules are imported."""
    before = told(code)
    (code / "__pycache__").mkdir()
    (code / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"compiled")
    assert told(code) == before


def test_the_package_is_all_of_it() -> None:
    """The same each time, with its modules and templates; a checkout has nothing else there."""
    assert package_id() == told(PACKAGE)
