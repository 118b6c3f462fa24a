"""The notebooks of the documentation as pages: made of what their files keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from docs.notebooks import NOTEBOOKS, Notebook, pages

if TYPE_CHECKING:
    from pathlib import Path


def cell(kind: str, source: str, **outputs: object) -> dict[str, object]:
    """A cell of a notebook."""
    return {"cell_type": kind, "source": source.splitlines(keepends=True), **outputs}


def test_a_cell_is_shown_with_what_it_shows(tmp_path: Path) -> None:
    """Text as text, a table as HTML that no blank line ends, code in a block."""
    shown = [
        {"output_type": "stream", "name": "stdout", "text": ["two\n", "lines <b>\n"]},
        {"output_type": "execute_result", "data": {"text/plain": ["7"]}},
        {
            "output_type": "execute_result",
            "data": {"text/plain": ["a"], "text/html": ["<table>\n", "\n", "# a\n", "</table>"]},
        },
    ]
    cells = [cell("markdown", "# A title"), cell("code", "print(1)\nx", outputs=shown)]
    notebook = Notebook(tmp_path / "a.ipynb", {"cells": cells})
    assert notebook.page() == (
        "# A title\n\n```python\nprint(1)\nx\n```\n\n```text\ntwo\nlines <b>\n```\n\n```text\n7\n```\n\n"
        '<div class="notebook-output">\n<table>\n# a\n</table>\n</div>\n'
    )
    assert notebook.outputs() == [["two\nlines <b>\n", "7", "a"]]
    notebook.store()
    assert Notebook.read(notebook.path) == notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_as_it_was_run(path: Path) -> None:
    """From its first cell to its last, each once; what each shows is no error."""
    cells = [one for one in Notebook.read(path).content["cells"] if one["cell_type"] == "code"]
    assert [one["execution_count"] for one in cells] == [*range(1, len(cells) + 1)]
    kinds = {shown["output_type"] for one in cells for shown in one["outputs"]}
    assert kinds <= {"stream", "execute_result"}


def test_every_notebook_is_a_page() -> None:
    """In the navigation, with one title."""
    navigation = (NOTEBOOKS[0].parents[1] / "mkdocs.yml").read_text(encoding="utf-8")
    made = dict(pages())
    assert len(made) == len(NOTEBOOKS) > 1
    assert [name for name in made if f": {name}\n" not in navigation] == []
    assert [name for name, text in made.items() if not text.startswith("# ")] == []
