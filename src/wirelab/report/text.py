"""A run as a person reads it: the wiring, what was measured, the verdict and its proof."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final, Self

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wirelab.results.ping import percentile
from wirelab.units import COUNT, MICROSECONDS, RATE, rounded
from wirelab.verdict.verdict import Verdict, worst

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wirelab.plan.types import Plan
    from wirelab.results.flow import FlowResult
    from wirelab.results.ping import PingResult
    from wirelab.runner.record import RunRecord, VariantRecord
    from wirelab.verdict.checks import Check

STYLES: Final = {
    Verdict.PASS: "bold green",
    Verdict.SKIP: "bold yellow",
    Verdict.FAIL: "bold red",
    Verdict.ERROR: "bold magenta",
}

_DIGEST_DIGITS: Final = 12
_FLOW_METRICS: Final = ("goodput", "retransmits")


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


def verdict_line(record: RunRecord) -> Text:
    """The one line that ``--quiet`` leaves: ``sfp-mismatch: pass``."""
    return Text.assemble(f"{record.scenario}: ", _word(record.verdict))


def print_header(console: Console, plan: Plan) -> None:
    """Say what is about to run: the scenario, its seed and its wiring."""
    _line(console, Text.assemble((plan.scenario, "bold"), f"  seed {plan.seed}"))
    _line(console, Text(plan.drawing.rstrip(), style="cyan"), indent=2)


def print_report(console: Console, record: RunRecord, folder: Path | None) -> None:
    """Print a judged run; ``folder`` is where it was kept, None if it could not be."""
    variants = [each for each in record.variants if each.breaks is None]
    for variant in variants:
        if len(variants) > 1:
            _line(console, Text(variant.name, style="bold"))
        _print_variant(console, variant)
    for control in record.variants:
        if control.breaks is not None:
            _print_control(console, control)
    _line(console, _footer(record, folder))


def print_table(console: Console, table: Table) -> None:
    """Print a table; what is kept in a file has no blanks at the ends of its lines."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        console.print(Text(line.rstrip()), soft_wrap=True)


def _print_variant(console: Console, variant: VariantRecord) -> None:
    result = variant.result
    if result is not None and result.flows:
        print_table(console, _flow_table(variant, tuple(result.flows.values())))
    if result is not None and result.pings:
        print_table(console, _ping_table(tuple(result.pings.values())))
    others = [check for check in variant.checks if not _in_flow_table(check, variant)]
    if any(check.verdict is not Verdict.ERROR for check in others):
        print_table(console, _check_table([check for check in others if check.verdict is not Verdict.ERROR]))
    for line in _proofs(variant):
        _line(console, line, indent=2)


def _flow_table(variant: VariantRecord, flows: tuple[FlowResult, ...]) -> Table:
    table = _table("flow", "direction")
    for title in ("goodput", "retransmits"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("expected")
    table.add_column("verdict", no_wrap=True)
    for flow in flows:
        checks = [check for check in variant.checks if check.name.rpartition(".")[0] == flow.name]
        retransmits = "-" if flow.retransmits is None else rounded(flow.retransmits, COUNT)
        table.add_row(
            flow.name,
            f"{flow.sender} -> {flow.receiver}",
            rounded(flow.goodput_bps, RATE) if flow.connected else "no connection",
            retransmits,
            ", ".join(_expected(check) for check in checks if _metric(check) in _FLOW_METRICS) or "-",
            _word(worst(check.verdict for check in checks)) if checks else Text("-"),
        )
    return table


def _ping_table(pings: tuple[PingResult, ...]) -> Table:
    table = _table("ping", "direction")
    for title in ("median", "99 %", "longest", "lost"):
        table.add_column(title, justify="right", no_wrap=True)
    for ping in pings:
        rtts = ping.rtts_us
        values = (percentile(rtts, 50), percentile(rtts, 99), max(rtts, default=None))
        figures = ["-" if value is None else rounded(value, MICROSECONDS) for value in values]
        lost = f"{ping.sent - len(rtts)} of {ping.sent}"
        table.add_row(ping.name, f"{ping.sender} -> {ping.receiver}", *figures, lost)
    return table


def _check_table(checks: list[Check]) -> Table:
    table = _table("check")
    table.add_column("measured", justify="right", no_wrap=True)
    table.add_column("expected")
    table.add_column("verdict", no_wrap=True)
    for check in checks:
        table.add_row(check.name, check.measured, check.expected, _word(check.verdict))
    return table


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim", show_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    return table


def _proofs(variant: VariantRecord) -> Iterator[Text]:
    """What broke or failed, each with its sentence; then one line of proof for each subject that holds."""
    bad = [check for check in variant.checks if check.verdict is not Verdict.PASS]
    for check in sorted(bad, key=lambda check: check.verdict is not Verdict.ERROR):
        yield Text.assemble(_word(check.verdict), f" {check.name}: {check.explanation}")
        if check.why:
            yield Text(check.why, style="dim")
    told = {_subject(check) for check in bad}
    for check in variant.checks:
        if _subject(check) not in told and check.explanation:
            told.add(_subject(check))
            said = "; ".join([*_reasons(check, variant), check.explanation])
            yield Text(f"{_subject(check)}: {said}", style="dim")


def _reasons(check: Check, variant: VariantRecord) -> list[str]:
    """The scenario's reasons for what it expects of a subject; where it has several, each by its metric."""
    metrics: dict[str, list[str]] = {}
    for each in variant.checks:
        if _subject(each) == _subject(check) and each.why:
            metrics.setdefault(each.why, []).append(_metric(each))
    if len(metrics) == 1:
        return list(metrics)
    return [f"{' and '.join(names)}: {why}" for why, names in metrics.items()]


def _print_control(console: Console, control: VariantRecord) -> None:
    for check in control.checks:
        line = Text.assemble(f"control {control.name}: ", _word(check.verdict), "  ")
        said = check.explanation or ""
        if check.name.startswith("breaks ") and check.verdict is Verdict.PASS:
            said = f"{check.name}, as it must: {said}"
        _line(console, line.append(said, style="dim" if check.verdict is Verdict.PASS else ""))
        if check.verdict is Verdict.ERROR and check.why:
            _line(console, Text(check.why, style="dim"), indent=2)


def _footer(record: RunRecord, folder: Path | None) -> Text:
    parts = [
        f"{record.virtual_s:.1f} virtual s in {record.wall_s:.1f} s"
        + (f" ({record.wall_s / record.virtual_s:.2f} s each)" if record.virtual_s else "")
    ]
    if record.cached:
        parts = [f"{record.virtual_s:.1f} virtual s, cached: measured before"]
    if record.digest:
        parts.append(f"digest {record.digest[:_DIGEST_DIGITS]}")
    if folder is not None:
        parts.append(str(folder))
    return Text.assemble(verdict_line(record), "  ", ("  ".join(parts), "dim"))


def _in_flow_table(check: Check, variant: VariantRecord) -> bool:
    flows = variant.result.flows if variant.result else {}
    return _subject(check) in flows and _metric(check) in _FLOW_METRICS


def _expected(check: Check) -> str:
    """A range with the metric's name where the range alone does not show it."""
    return check.expected if _metric(check) == "goodput" else f"{check.expected} {_metric(check)}"


def _subject(check: Check) -> str:
    return check.name.rpartition(".")[0] or check.name


def _metric(check: Check) -> str:
    return check.name.rpartition(".")[2]


def _word(verdict: Verdict) -> Text:
    return Text(str(verdict), style=STYLES[verdict])


def _line(console: Console, text: Text, *, indent: int = 0) -> None:
    """Print a line: wrapped on a screen, whole where a program reads it."""
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 0, indent)))
    else:
        console.print(Text(" " * indent).append_text(text), soft_wrap=True)
