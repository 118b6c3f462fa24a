"""Many runs at a glance: a line for each scenario, and what several seeds came to."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from wirelab.report.text import STYLES, print_table
from wirelab.units import COUNT, RATE, Quantity, rounded
from wirelab.verdict import Verdict, worst

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from wirelab.matrix import Outcome
    from wirelab.record import VariantRecord

_COLUMNS: Final = ("scenario", "verdict", "virtual s", "wall s", "reproduces", "")


def claim(outcome: Outcome) -> str:
    """What a scenario says about the measurements: ``prediction of nbase.qnap-5g-usb3``."""
    fitted = outcome.job.fitted
    predicted = tuple(row for row in outcome.job.rows if row not in fitted)
    claims = (("prediction of", predicted), ("fitted to", fitted))
    return "; ".join(f"{what} {', '.join(rows)}" for what, rows in claims if rows)


def result_line(outcome: Outcome) -> Text:
    """One scenario that is done: ``pass  sfp-mismatch  48.4 virtual s in 17.3 s``."""
    record = outcome.record
    time = "cached" if record.cached else f"{record.virtual_s:.1f} virtual s in {record.wall_s:.1f} s"
    name = record.scenario if record.seed == 1 else f"{record.scenario} (seed {record.seed})"
    return Text.assemble(_word(record.verdict, width=5), f"  {name}  ", (time, "dim"))


def print_summary(console: Console, outcomes: Sequence[Outcome]) -> None:
    """Print a table of all scenarios, the proofs of what failed above it, and the count."""
    for outcome in outcomes:
        for line in failures(outcome):
            console.print(Text(line), soft_wrap=True)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim", show_edge=False)
    for title in _COLUMNS:
        table.add_column(title, justify="right" if title.endswith(" s") else "left", overflow="fold")
    for outcome in outcomes:
        record = outcome.record
        table.add_row(
            record.scenario if record.seed == 1 else f"{record.scenario} (seed {record.seed})",
            _word(record.verdict),
            f"{record.virtual_s:.1f}",
            f"{record.wall_s:.1f}",
            claim(outcome),
            "cached" if record.cached else "",
        )
    print_table(console, table)
    console.print(count_line(outcomes))


def count_line(outcomes: Iterable[Outcome]) -> Text:
    """``12 pass, 1 fail, 13 of 13 scenarios cached``."""
    found = list(outcomes)
    counts = Counter(outcome.record.verdict for outcome in found)
    parts = [f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict]]
    cached = sum(outcome.record.cached for outcome in found)
    if cached:
        parts.append(f"{cached} of {len(found)} cached")
    return Text(", ".join(parts), style=STYLES[worst(outcome.record.verdict for outcome in found)])


def failures(outcome: Outcome) -> list[str]:
    """The sentences of all checks of a scenario that do not hold."""
    return [
        f"{check.verdict} {outcome.record.scenario}: {variant.name}: {check.name}: {check.explanation}"
        for variant in outcome.record.variants
        for check in variant.checks
        if check.verdict in (Verdict.FAIL, Verdict.ERROR)
    ]


def print_seeds(console: Console, outcomes: Sequence[Outcome]) -> None:
    """Print, for each scenario that ran with several seeds, how its figures are distributed."""
    scenarios = dict.fromkeys(outcome.job.scenario for outcome in outcomes)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim", show_edge=False)
    for title in ("scenario", "flow", "metric", "median", "least", "most", "seeds"):
        table.add_column(title, justify="left" if title in ("scenario", "flow", "metric") else "right")
    for scenario in scenarios:
        runs = [outcome.record for outcome in outcomes if outcome.job.scenario == scenario]
        variants = {each.name: None for run in runs for each in run.variants if each.breaks is None}
        for name in variants:
            records = [each for run in runs for each in run.variants if each.name == name]
            for row in _distributions(records):
                table.add_row(scenario if len(variants) == 1 else f"{scenario} {name}", *row)
    print_table(console, table)


def _distributions(records: Sequence[VariantRecord]) -> Iterable[tuple[str, ...]]:
    """For each flow and figure its median, least and most over the runs of one variant."""
    results = [record.result for record in records if record.result]
    flows = dict.fromkeys(name for result in results for name in result.flows)
    for flow in flows:
        found = [result.flows[flow] for result in results if flow in result.flows]
        yield from _distribution(flow, "goodput", [each.goodput_bps for each in found], RATE)
        counts = [float(each.retransmits) for each in found if each.retransmits is not None]
        yield from _distribution(flow, "retransmits", counts, COUNT)


def _distribution(
    flow: str, metric: str, values: Sequence[float], quantity: Quantity
) -> Iterable[tuple[str, ...]]:
    if values:
        figures = (statistics.median(values), min(values), max(values))
        yield (flow, metric, *(rounded(each, quantity) for each in figures), str(len(values)))


def _word(verdict: Verdict, width: int = 0) -> Text:
    return Text(str(verdict).ljust(width), style=STYLES[verdict])
