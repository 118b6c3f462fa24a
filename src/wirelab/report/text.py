"""A run as a person reads it: the wiring, what was measured, the verdict and its proof."""

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Literal, Self

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from wirelab.plan.types import Plan
from wirelab.report.tables import BRIEF, flow_table, ping_table
from wirelab.report.tables import Table as Figures
from wirelab.runner.run_result import RunResult, VariantResult
from wirelab.units import held
from wirelab.verdict.checks import Check, not_passed
from wirelab.verdict.verdict import Verdict

STYLES: Final[Mapping[str, str]] = {
    Verdict.PASS: "bold green",
    Verdict.SKIP: "bold yellow",
    Verdict.FAIL: "bold red",
    Verdict.ERROR: "bold magenta",
}

COLUMN_GAP: Final = 3
# To rich, which breaks lines at all that Unicode calls space: one is none, the other one has no width.
_HELD: Final = "\ue000"
_MAY_BREAK: Final = "\x1f"
_HYPHEN: Final = re.compile(r"(?<=\w-)(?=\w)")
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


@dataclass(frozen=True, slots=True)
class _Wrapped:
    """Something that was wrapped where it may be, and is printed without the marks that said so."""

    marked: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self.marked, options):
            text = segment.text.replace(_HELD, " ").replace(_MAY_BREAK, "")
            yield Segment(text, segment.style, segment.control)


def warn(message: str) -> None:
    """Print a warning on standard error."""
    Output.for_stream(sys.stderr).print(Text(f"warning: {message}"), soft_wrap=True)


def verdict_line(run: RunResult) -> Text:
    """The one line that ``--quiet`` leaves: ``sfp-mismatch: pass``."""
    return Text.assemble(f"{run.scenario}: ", word(run.verdict))


def word(verdict: str, width: int = 0) -> Text:
    """A verdict in its colour; a cell without a verdict stays plain."""
    return Text(str(verdict).ljust(width), style=STYLES.get(verdict, ""))


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


def print_table(  # noqa: PLR0913 - what a table has
    console: Console,
    titles: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    numbers: Collection[str] = (),
    whole: Collection[str] = (),
    overflow: Literal["fold", "ellipsis"] = "fold",
) -> None:
    """Print a table without a frame: ``numbers`` are right-aligned, the columns in ``whole`` never wrap.

    ``overflow`` is what becomes of a word that is wider than its column. A file has no trailing blanks.
    """
    padding = (0, COLUMN_GAP, 0, 0)
    table = Table(box=None, pad_edge=False, padding=padding, header_style="dim", show_header=any(titles))
    for title in titles:
        justify: Literal["left", "right"] = "right" if title in numbers else "left"
        table.add_column(title, justify=justify, no_wrap=title in whole, overflow=overflow)
    for row in rows:
        cells = (_cell(title, cell) for title, cell in zip(titles, row, strict=True))
        table.add_row(*(_marked(cell, hyphens=overflow == "fold") for cell in cells))
    if console.is_terminal:
        console.print(_Wrapped(table))
        return
    with console.capture() as capture:
        console.print(_Wrapped(table))
    for line in capture.get().splitlines():
        console.print(Text(line.rstrip()), soft_wrap=True)


def _print_variant(console: Console, variant: VariantResult) -> None:
    if variant.flows:
        _print_figures(console, flow_table([variant], brief=True))
    if variant.pings:
        _print_figures(console, ping_table(variant.pings, arrow="->"))
    told = {flow.name for flow in variant.flows}
    others = [
        (check.name, check.measured, check.expected, str(check.verdict))
        for check in variant.checks
        if check.verdict is not Verdict.ERROR
        and not (check.subject in told and check.metric in BRIEF and check.of_all_time)
    ]
    if others:
        titles = ("check", "measured", "expected", "verdict")
        print_table(console, titles, others, numbers=("measured",), whole=("measured", "verdict"))
    for line in _proofs(variant):
        _line(console, line, indent=2)


def _cell(title: str, cell: str | Text) -> Text:
    if isinstance(cell, Text):
        return cell
    return word(cell) if title == "verdict" else Text(cell)


def _marked(text: Text, *, hyphens: bool = False) -> Text:
    """Text that says where a line of it may end: not within a number, and after ``hyphens`` of its words."""
    marked = text.copy()
    marked.plain = held(text.plain, _HELD)
    if not hyphens:
        return marked
    return Text(_MAY_BREAK).join(marked.divide(found.start() for found in _HYPHEN.finditer(marked.plain)))


def _print_figures(console: Console, figures: Figures) -> None:
    whole = {*figures.numbers, "verdict"}
    print_table(console, figures.titles, figures.rows, numbers=figures.numbers, whole=whole)


def _proofs(variant: VariantResult) -> Iterator[Text]:
    """What broke or failed, each with its sentence; then one line of proof for each subject that holds."""
    bad = not_passed(variant.checks)
    for check in bad:
        yield Text.assemble(word(check.verdict), f" {check.name}: {check.explanation}")
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
            metrics.setdefault(other.why, []).append(other.name.removeprefix(f"{other.subject}."))
    if len(metrics) == 1:
        return list(metrics)
    return [f"{' and '.join(names)}: {why}" for why, names in metrics.items()]


def _print_control(console: Console, control: VariantResult) -> None:
    for check in control.checks:
        line = Text.assemble(f"control {control.name}: ", word(check.verdict), "  ")
        words = check.explanation or ""
        if check.verdict is Verdict.PASS:
            words = f"{check.name}, as it must: {words}"
        _line(console, line.append(words, style="dim" if check.verdict is Verdict.PASS else ""))
        if check.verdict is Verdict.ERROR and check.why:
            _line(console, Text(check.why, style="dim"), indent=2)


def _footer(run: RunResult, folder: Path | None) -> Text:
    each = f" ({run.wall_s / run.virtual_s:.2f} s each)" if run.virtual_s else ""
    wall = ", cached: measured before" if run.cached else f" in {run.wall_s:.1f} s{each}"
    parts = [f"{run.virtual_s:.1f} virtual s{wall}"]
    if run.digest:
        parts.append(f"digest {run.digest[:_DIGEST_DIGITS]}")
    if folder is not None:
        parts.append(str(folder))
    return Text.assemble(verdict_line(run), "  ", ("  ".join(parts), "dim"))


def _line(console: Console, text: Text, *, indent: int = 0) -> None:
    """Print a line: wrapped on a screen, whole where a program reads it."""
    if console.is_terminal:
        console.print(_Wrapped(Padding(_marked(text), (0, 0, 0, indent))))
    else:
        console.print(Text(" " * indent).append_text(text), soft_wrap=True)
