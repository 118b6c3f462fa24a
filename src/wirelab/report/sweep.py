"""A sweep as a table, as CSV, and as a page with charts and heat maps."""

import csv
import io
from typing import Final

from rich.console import Console

from wirelab.model.metric import METRICS, Choice, Metric
from wirelab.report.chart import Plots
from wirelab.report.grid import brief, charts, item_figure, lines
from wirelab.report.html import filled_in, html_report
from wirelab.report.script import Script
from wirelab.report.tables import NOTHING, shown
from wirelab.report.text import print_table
from wirelab.results.flow import FlowResult
from wirelab.results.ping import PingResult
from wirelab.runner.run_result import RunResult
from wirelab.runner.sweep import Sweep
from wirelab.units import MICROSECONDS
from wirelab.verdict.verdict import Verdict

_METRICS: Final = tuple(metric for metric in METRICS.values() if {"flow", "UDP flow"} & set(metric.subjects))


def print_sweep(console: Console, sweep: Sweep) -> None:
    """Print a line for each point and flow or ping."""
    metrics = [METRICS[name] for name in brief(sweep)]
    rows = []
    for point, item in lines(sweep):
        cells = [shown(metric, item_figure(metric.name, item)) for metric in metrics]
        rows.append([*point.values, item.name if item else NOTHING, *cells, str(point.verdict)])
    keys = [factor.key for factor in sweep.factors]
    numbers = [metric.title for metric in metrics]
    kinds = {"flow": any(point.flows for point in sweep.points), "ping": any(p.pings for p in sweep.points)}
    kind = " or ".join(word for word, is_there in kinds.items() if is_there) or "flow"
    titles = (*keys, kind, *numbers, "verdict")
    print_table(console, titles, rows, numbers=(*keys, *numbers), overflow="ellipsis")


def sweep_csv(sweep: Sweep) -> str:
    """A row for each point and flow or ping: every metric that these may have, in its base unit.

    The column ``flow`` has the name of a ping, too.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    keys = (factor.key for factor in sweep.factors)
    writer.writerow([*keys, "flow", *figures(None), "verdict"])
    for point, item in lines(sweep):
        cells = ["" if figure is None else figure for figure in figures(item).values()]
        writer.writerow([*point.values, item.name if item else "", *cells, point.verdict])
    return out.getvalue()


def figures(item: FlowResult | PingResult | None) -> dict[str, float | str | None]:
    """Every metric that a flow or a ping may have, by a name that ends with its base unit: ``goodput_bps``.

    None where nothing tells it; all are, where there is neither.
    """
    return {_head(metric): _figure(metric, item) for metric in _METRICS}


def numbers() -> tuple[str, ...]:
    """The names of those of ``figures`` that are numbers, and not words."""
    return tuple(_head(metric) for metric in _METRICS if not isinstance(metric.quantity, Choice))


def _head(metric: Metric) -> str:
    return f"{metric.name}{metric.quantity.suffix}"


def _figure(metric: Metric, item: FlowResult | PingResult | None) -> float | str | None:
    figure = item_figure(metric.name, item)
    if figure is None:
        return None
    decimals = 1 if metric.quantity is MICROSECONDS else None
    return metric.shown(figure) if isinstance(metric.quantity, Choice) else round(figure, decimals)


def point_page(run: RunResult) -> str:
    """The page of a point whose files are kept, beside which they lie."""
    return html_report(run, place="point")


def heat_map(sweep: Sweep) -> str:
    """An HTML page with charts over the first setting, and a map for each flow.

    A map has the first setting down and the second across, or one column; a cell has its point's verdict.
    """
    first, *others = (factor.key for factor in sweep.factors)
    columns = dict.fromkeys(", ".join(point.values[1:]) for point in sweep.points)
    cells = {point.values: (point.values[0], ", ".join(point.values[1:])) for point in sweep.points}
    maps: dict[str, dict[tuple[str, str], float | str]] = {}
    for point in sweep.points:
        for flow in point.flows:
            goodputs_bps = maps.setdefault(flow.name, {})
            if point.verdict is not Verdict.ERROR:
                cell = cells[point.values]
                goodputs_bps[cell] = flow.untold or flow.goodput_bps or 0.0
    return filled_in(
        "sweep.html.j2",
        scenario=sweep.scenario,
        variant=sweep.variant,
        seed=sweep.seed,
        plots=Plots.of(charts(sweep, brief(sweep))),
        script=Script.load(),
        maps=maps,
        first=first,
        others=", ".join(others),
        values=sweep.factors[0].values,
        columns=columns,
        verdicts={cells[point.values]: point.verdict for point in sweep.points},
        shown=METRICS["goodput"].shown,
    )
