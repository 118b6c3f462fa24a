"""Many runs at a glance: a line for each scenario, and what several seeds came to."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from wirelab.model.metric import METRICS
from wirelab.report.tables import BRIEF
from wirelab.report.text import STYLES, print_table
from wirelab.results.flow import flow_figure
from wirelab.verdict.verdict import Verdict, worst

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from wirelab.runner.run_result import RunResult, VariantResult

_COLUMNS: Final = ("scenario", "verdict", "virtual s", "wall s", "reproduces", "")


def claim(measured: Sequence[str], fitted: Sequence[str]) -> str:
    """What a scenario says about the measurements: ``prediction of nbase.qnap-5g-usb3``."""
    predicted = [row for row in measured if row not in fitted]
    claims = (("prediction of", predicted), ("fitted to", fitted))
    return "; ".join(f"{words} {', '.join(rows)}" for words, rows in claims if rows)


def result_line(run: RunResult) -> Text:
    """One scenario that is done: ``pass  sfp-mismatch  48.4 virtual s in 17.3 s``."""
    time = "cached" if run.cached else f"{run.virtual_s:.1f} virtual s in {run.wall_s:.1f} s"
    return Text.assemble(_word(run.verdict, width=5), f"  {_name(run)}  ", (time, "dim"))


def print_summary(console: Console, runs: Sequence[RunResult]) -> None:
    """Print what failed and why, a table of all scenarios, their count, and what several seeds came to."""
    for run in runs:
        for line in failures(run):
            console.print(Text(line), soft_wrap=True)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim", show_edge=False)
    for title in _COLUMNS:
        table.add_column(title, justify="right" if title.endswith(" s") else "left", overflow="fold")
    for run in runs:
        table.add_row(
            _name(run),
            _word(run.verdict),
            f"{run.virtual_s:.1f}",
            f"{run.wall_s:.1f}",
            claim(run.measured, run.fitted),
            "cached" if run.cached else "",
        )
    print_table(console, table)
    console.print(count_line(runs))
    if len({run.seed for run in runs}) > 1:
        _print_seeds(console, runs)


def count_line(runs: Iterable[RunResult]) -> Text:
    """``12 pass, 1 fail, 13 of 13 cached``."""
    counted = list(runs)
    counts = Counter(run.verdict for run in counted)
    parts = [f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict]]
    cached = sum(run.cached for run in counted)
    if cached:
        parts.append(f"{cached} of {len(counted)} cached")
    return Text(", ".join(parts), style=STYLES[worst(run.verdict for run in counted)])


def failures(run: RunResult) -> list[str]:
    """The sentences of all checks of a scenario that do not hold."""
    return [
        f"{check.verdict} {_name(run)}: {variant.name}: {check.name}: {check.explanation}"
        for variant in run.variants
        for check in variant.checks
        if check.verdict in (Verdict.FAIL, Verdict.ERROR)
    ]


def _print_seeds(console: Console, runs: Sequence[RunResult]) -> None:
    """Print, for each scenario that ran with several seeds, how its figures are distributed."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim", show_edge=False)
    for title in ("scenario", "flow", "metric", "median", "least", "most", "seeds"):
        table.add_column(title, justify="left" if title in ("scenario", "flow", "metric") else "right")
    for scenario in dict.fromkeys(run.scenario for run in runs):
        seeds: dict[str, list[VariantResult]] = {}
        for run in runs:
            for variant in run.variants if run.scenario == scenario else ():
                if variant.breaks is None:
                    seeds.setdefault(variant.name, []).append(variant)
        for name, variants in seeds.items():
            for row in _distributions(variants):
                table.add_row(scenario if len(seeds) == 1 else f"{scenario} {name}", *row)
    print_table(console, table)


def _distributions(variants: Sequence[VariantResult]) -> Iterable[tuple[str, ...]]:
    """For each flow and metric the median, least and most over the runs of one variant."""
    for name in dict.fromkeys(flow.name for variant in variants for flow in variant.flows):
        flows = [flow for variant in variants for flow in variant.flows if flow.name == name]
        for metric in map(METRICS.__getitem__, BRIEF):
            figures = [flow_figure(metric.name, flow) for flow in flows]
            values = [figure for figure in figures if figure is not None]
            if values:
                spread = (statistics.median(values), min(values), max(values))
                yield (name, metric.name, *map(metric.shown, spread), str(len(values)))


def _name(run: RunResult) -> str:
    return run.scenario if run.seed == 1 else f"{run.scenario} (seed {run.seed})"


def _word(verdict: Verdict, width: int = 0) -> Text:
    return Text(str(verdict).ljust(width), style=STYLES[verdict])
