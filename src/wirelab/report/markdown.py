"""Many runs as Markdown: what a CI job shows on its page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wirelab.report.summary import claim, count_line, failures
from wirelab.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirelab.matrix import Outcome

_SIGNS: Final = {Verdict.PASS: "✅", Verdict.SKIP: "⏭️", Verdict.FAIL: "❌", Verdict.ERROR: "💥"}


def markdown(outcomes: Sequence[Outcome]) -> str:
    """A table of the scenarios, and below it the sentence for each check that does not hold."""
    lines = [
        "## wirelab",
        "",
        f"{count_line(outcomes).plain}",
        "",
        "| | scenario | seed | virtual s | wall s | reproduces |",
        "|---|---|---:|---:|---:|---|",
    ]
    for outcome in outcomes:
        record = outcome.record
        wall = "cached" if record.cached else f"{record.wall_s:.1f}"
        lines.append(
            f"| {_SIGNS[record.verdict]} {record.verdict} | {_cell(record.scenario)} | {record.seed} "
            f"| {record.virtual_s:.1f} | {wall} | {_cell(claim(outcome))} |"
        )
    proofs = [line for outcome in outcomes for line in failures(outcome)]
    if proofs:
        lines += ["", *(f"- {_cell(line)}" for line in proofs)]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text that cannot end a cell, make a line or begin a tag."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
