"""A run as a person reads it: the wiring, what was measured, the verdict and its proof."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, Final, Self

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wirelab.report.tables import BRIEF, NOTHING, flow_table, ping_table
from wirelab.report.tables import Table as Figures
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wirelab.plan.types import Plan
    from wirelab.runner.run_result import RunResult, VariantResult
    from wirelab.verdict.checks import Check

STYLES: Final = {
    Verdict.PASS: "bold green",
    Verdict.SKIP: "bold yellow",
    Verdict.FAIL: "bold red",
    Verdict.ERROR: "bold magenta",
}

_DIGEST_DIGITS: Final = 12
_FILE_COLUMNS: Final = 120


class Output(Console):
    """A stream that people read: coloured and as wide as their screen, else plain and a set width."""

    @classmethod
    def for_stream(cls, stream: IO[str]) -> Self:
        """The console on a stream of this process."""
        width = None if stream.isatty() else _FILE_COLUMNS
        return cls(file=stream, width=width, highlight=False)

    def on_broken_pipe(self) -> None:
        """Pass it on: rich would end the process with the exit code of a failed check."""
        raise  # noqa: PLE0704 - called while the BrokenPipeError is handled


def warn(message: str) -> None:
    """Print a warning on standard error."""
    Output.for_stream(sys.stderr).print(Text(f"warning: {message}"), soft_wrap=True)


def verdict_line(run: RunResult) -> Text:
    """The one line that ``--quiet`` leaves: ``sfp-mismatch: pass``."""
    return Text.assemble(f"{run.scenario}: ", _word(run.verdict))


def print_header(console: Console, plan: Plan) -> None:
    """Say what is about to run: the scenario, its seed and its wiring."""
    _line(console, Text.assemble((plan.scenario, "bold"), f"  seed {plan.seed}"))
    _line(console, Text(plan.drawing.rstrip(), style="cyan"), indent=2)


def print_report(console: Console, run: RunResult, folder: Path | None) -> None:
    """Print a judged run; ``folder`` is where it was kept, None if it could not be."""
    variants = [variant for variant in run.variants if variant.breaks is None]
    for variant in variants:
        if len(variants) > 1:
            _line(console, Text(variant.name, style="bold"))
        _print_variant(console, variant)
    for control in run.variants:
        if control.breaks is not None:
            _print_control(console, control)
    _line(console, _footer(run, folder))


def print_table(console: Console, table: Table) -> None:
    """Print a table; what is kept in a file has no blanks at the ends of its lines."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        console.print(Text(line.rstrip()), soft_wrap=True)


def _print_variant(console: Console, variant: VariantResult) -> None:
    if variant.flows:
        print_table(console, _rich(flow_table([variant], brief=True)))
    if variant.pings:
        print_table(console, _rich(ping_table(variant.pings, arrow="->")))
    told = {flow.name for flow in variant.flows}
    others = [
        check
        for check in variant.checks
        if check.verdict is not Verdict.ERROR and not (check.subject in told and check.metric in BRIEF)
    ]
    if others:
        rows = [(check.name, check.measured, check.expected, str(check.verdict)) for check in others]
        titles = ("check", "measured", "expected", "verdict")
        print_table(console, _rich(Figures(titles, tuple(rows), frozenset({"measured"}))))
    for line in _proofs(variant):
        _line(console, line, indent=2)


def _rich(figures: Figures) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim", show_edge=False)
    for title in figures.titles:
        number = title in figures.numbers
        whole = number or title == "verdict"
        table.add_column(title, justify="right" if number else "left", no_wrap=whole, overflow="fold")
    for row in figures.rows:
        cells = zip(figures.titles, row, strict=True)
        table.add_row(*(_verdict(cell) if title == "verdict" else Text(cell) for title, cell in cells))
    return table


def _verdict(word: str) -> Text:
    return Text(word) if word == NOTHING else _word(Verdict(word))


def _proofs(variant: VariantResult) -> Iterator[Text]:
    """What broke or failed, each with its sentence; then one line of proof for each subject that holds."""
    bad = [check for check in variant.checks if check.verdict is not Verdict.PASS]
    for check in sorted(bad, key=lambda check: check.verdict is not Verdict.ERROR):
        yield Text.assemble(_word(check.verdict), f" {check.name}: {check.explanation}")
        if check.why:
            yield Text(check.why, style="dim")
    told = {check.subject for check in bad}
    for check in variant.checks:
        if check.subject not in told and check.explanation:
            told.add(check.subject)
            reasons = "; ".join([*_reasons(check, variant), check.explanation])
            yield Text(f"{check.subject}: {reasons}", style="dim")


def _reasons(check: Check, variant: VariantResult) -> list[str]:
    """The scenario's reasons for what it expects of a subject; where it has several, each by its metric."""
    metrics: dict[str, list[str]] = {}
    for other in variant.checks:
        if other.subject == check.subject and other.why:
            metrics.setdefault(other.why, []).append(str(other.metric))
    if len(metrics) == 1:
        return list(metrics)
    return [f"{' and '.join(names)}: {why}" for why, names in metrics.items()]


def _print_control(console: Console, control: VariantResult) -> None:
    for check in control.checks:
        line = Text.assemble(f"control {control.name}: ", _word(check.verdict), "  ")
        words = check.explanation or ""
        if check.verdict is Verdict.PASS:
            words = f"{check.name}, as it must: {words}"
        _line(console, line.append(words, style="dim" if check.verdict is Verdict.PASS else ""))
        if check.verdict is Verdict.ERROR and check.why:
            _line(console, Text(check.why, style="dim"), indent=2)


def _footer(run: RunResult, folder: Path | None) -> Text:
    parts = [
        f"{run.virtual_s:.1f} virtual s in {run.wall_s:.1f} s"
        + (f" ({run.wall_s / run.virtual_s:.2f} s each)" if run.virtual_s else "")
    ]
    if run.cached:
        parts = [f"{run.virtual_s:.1f} virtual s, cached: measured before"]
    if run.digest:
        parts.append(f"digest {run.digest[:_DIGEST_DIGITS]}")
    if folder is not None:
        parts.append(str(folder))
    return Text.assemble(verdict_line(run), "  ", ("  ".join(parts), "dim"))


def _word(verdict: Verdict) -> Text:
    return Text(str(verdict), style=STYLES[verdict])


def _line(console: Console, text: Text, *, indent: int = 0) -> None:
    """Print a line: wrapped on a screen, whole where a program reads it."""
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 0, indent)))
    else:
        console.print(Text(" " * indent).append_text(text), soft_wrap=True)
