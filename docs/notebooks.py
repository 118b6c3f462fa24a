"""The notebooks of the documentation: run as a reader would, kept with their outputs, shown as pages.

    PYTHONPATH=src:. python -m docs.notebooks

runs them and keeps what they print. Virtual time prints the same everywhere, so a test compares.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from docs.commands import DOCS, EXAMPLES, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NOTEBOOKS: Final = tuple(sorted((DOCS / "notebooks").glob("*.ipynb")))
_FILES: Final = EXAMPLES / "notebooks"
_LIMIT_S: Final = 300
_COMPARED: Final = "text/plain"


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook as its file has it: nbformat 4."""

    path: Path
    content: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> Notebook:
        """The notebook in a file."""
        return cls(path, json.loads(path.read_text(encoding="utf-8")))

    def run(self) -> Notebook:
        """What comes of it in a folder that holds the files it is about. Raises CellExecutionError."""
        # Who reads the pages need not run notebooks.
        import nbformat  # noqa: PLC0415 - see above
        from nbclient import NotebookClient  # noqa: PLC0415 - see above
        from traitlets.config import Config  # noqa: PLC0415 - see above

        notebook: Any = nbformat.reads(json.dumps(self.content), as_version=4)  # type: ignore[no-untyped-call]
        with tempfile.TemporaryDirectory() as folder:
            # Neither what a user has set up for IPython, nor another wirelab that is installed.
            ours = {"PYTHONPATH": str(ROOT / "src"), "IPYTHONDIR": f"{folder}/.ipython"}
            shutil.copytree(_FILES, folder, dirs_exist_ok=True)
            where = {"metadata": {"path": folder}}
            # Sockets of files in that folder: by TCP anybody on the machine could listen.
            local = Config(
                {"KernelManager": {"transport": "ipc", "connection_file": f"{folder}/.kernel.json"}}
            )
            client = NotebookClient(
                notebook, timeout=_LIMIT_S, resources=where, record_timing=False, config=local
            )
            client.execute(env={**os.environ, **ours})
        return Notebook(self.path, _plain(notebook))

    def outputs(self) -> list[list[str]]:
        """What each cell of code shows, as text."""
        return [[_text(output) for output in cell["outputs"]] for cell in self._cells("code")]

    def store(self) -> None:
        """Write it into its file."""
        text = json.dumps(self.content, indent=1, ensure_ascii=False)
        self.path.write_text(f"{text}\n", encoding="utf-8")

    def page(self) -> str:
        """It as Markdown."""
        return "\n".join(_markdown(cell) for cell in self.content["cells"])

    def _cells(self, kind: str) -> Iterator[Mapping[str, Any]]:
        return (cell for cell in self.content["cells"] if cell["cell_type"] == kind)


def pages() -> Iterator[tuple[str, str]]:
    """Every notebook, as (address in the site, Markdown)."""
    for path in NOTEBOOKS:
        yield f"notebooks/{path.stem}.md", Notebook.read(path).page()


def main() -> None:
    """Run all of them, and keep those that show something else than before."""
    for path in NOTEBOOKS:
        kept = Notebook.read(path)
        fresh = kept.run()
        if fresh.outputs() != kept.outputs():
            fresh.store()
            print(f"new outputs in {path.relative_to(ROOT)}")


def _plain(notebook: Any) -> dict[str, Any]:  # noqa: ANN401 - nbformat's
    """As plain JSON, its texts as lines, without what tells of this machine."""
    import nbformat  # noqa: PLC0415 - see above

    content: dict[str, Any] = json.loads(nbformat.writes(notebook))  # type: ignore[no-untyped-call]
    content["metadata"]["language_info"] = {"name": "python"}
    return content


def _text(output: Mapping[str, Any]) -> str:
    shown = output["text"] if output["output_type"] == "stream" else output["data"][_COMPARED]
    return "".join(shown)


def _markdown(cell: Mapping[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return f"{source}\n"
    return "\n".join([_fenced("python", source), *map(_shown, cell["outputs"])])


def _shown(output: Mapping[str, Any]) -> str:
    pieces = output.get("data", {}).get("text/html")
    if pieces is None:
        return _fenced("text", _text(output).rstrip("\n"))
    # A blank line would end the block, and what follows be Markdown.
    lines = [line for line in "".join(pieces).splitlines() if line.strip()]
    return "\n".join(['<div class="notebook-output">', *lines, "</div>\n"])


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```\n"


if __name__ == "__main__":
    main()
