"""Files that are asked for on the command line: what they are called, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wirelab.errors import LabError
from wirelab.report.junit import junit
from wirelab.report.markdown import markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wirelab.runner.run_result import RunResult

Junit = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML.")]
JsonFile = Annotated[
    Path | None, typer.Option("--json-file", metavar="FILE", help="Write all results as one JSON list.")
]
Markdown = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", help="Write a summary for a CI job's page.")
]


@dataclass(frozen=True, slots=True)
class Files:
    """Where the reports on many runs go, None for one that nobody asked for."""

    junit: Path | None
    json: Path | None
    markdown: Path | None

    def write(self, runs: Sequence[RunResult]) -> None:
        """Write them. Raises LabError naming the file."""
        if self.junit is not None:
            write_file(self.junit, lambda: junit(runs))
        if self.json is not None:
            write_file(self.json, lambda: _json_list(runs))
        if self.markdown is not None:
            write_file(self.markdown, lambda: markdown(runs))


def write_file(path: Path, text: Callable[[], str]) -> None:
    """Write a file that was asked for. Raises LabError naming it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(), encoding="utf-8")
    except OSError as error:
        raise LabError(f"{path}: cannot be written: {error.strerror}") from error


def _json_list(runs: Sequence[RunResult]) -> str:
    texts = ",\n".join(run.to_json().rstrip() for run in runs)
    return f"[\n{texts}\n]\n"
