"""Many runs as Markdown: what a CI job shows on its page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wirelab.report.summary import claim, count_line, failures
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirelab.runner.run_result import RunResult

_SIGNS: Final = {Verdict.PASS: "✅", Verdict.SKIP: "⏭️", Verdict.FAIL: "❌", Verdict.ERROR: "💥"}


def markdown(runs: Sequence[RunResult]) -> str:
    """A table of the scenarios, and below it the sentence for each check that does not hold."""
    lines = [
        "## wirelab",
        "",
        f"{count_line(runs).plain}",
        "",
        "| | scenario | seed | virtual s | wall s | reproduces |",
        "|---|---|---:|---:|---:|---|",
    ]
    for run in runs:
        wall = "cached" if run.cached else f"{run.wall_s:.1f}"
        lines.append(
            f"| {_SIGNS[run.verdict]} {run.verdict} | {_cell(run.scenario)} | {run.seed} "
            f"| {run.virtual_s:.1f} | {wall} | {_cell(claim(run.measured, run.fitted))} |"
        )
    proofs = [line for run in runs for line in failures(run)]
    if proofs:
        lines += ["", *(f"- {_cell(line)}" for line in proofs)]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text that cannot end a cell, make a line or begin a tag."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
