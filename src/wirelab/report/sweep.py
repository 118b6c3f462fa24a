"""A sweep as a table, as CSV, and as a heat map."""

import csv
import io
from collections.abc import Iterator

from rich.console import Console

from wirelab.model.metric import METRICS, Choice, Metric
from wirelab.report.html import filled_in
from wirelab.report.tables import BRIEF, NOTHING, shown
from wirelab.report.text import print_table
from wirelab.results.flow import FlowResult, flow_figure
from wirelab.runner.sweep import Point, Sweep
from wirelab.units import MICROSECONDS
from wirelab.verdict.verdict import Verdict


def print_sweep(console: Console, sweep: Sweep) -> None:
    """Print a line for each point and flow."""
    rows = []
    for point, flow in _lines(sweep):
        figures = [shown(METRICS[name], flow_figure(name, flow) if flow else None) for name in BRIEF]
        rows.append([*point.values, flow.name if flow else NOTHING, *figures, str(point.verdict)])
    keys = [factor.key for factor in sweep.factors]
    numbers = [METRICS[name].title for name in BRIEF]
    titles = (*keys, "flow", *numbers, "verdict")
    print_table(console, titles, rows, numbers=(*keys, *numbers), overflow="ellipsis")


def sweep_csv(sweep: Sweep) -> str:
    """A row for each point and flow: every metric that a flow may have, in its base unit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    keys = (factor.key for factor in sweep.factors)
    metrics = [metric for metric in METRICS.values() if {"flow", "UDP flow"} & set(metric.subjects)]
    heads = (f"{metric.name}{metric.quantity.suffix}" for metric in metrics)
    writer.writerow([*keys, "flow", *heads, "verdict"])
    for point, flow in _lines(sweep):
        figures = [_cell(metric, flow) for metric in metrics]
        writer.writerow([*point.values, flow.name if flow else "", *figures, point.verdict])
    return out.getvalue()


def _cell(metric: Metric, flow: FlowResult | None) -> str:
    figure = flow_figure(metric.name, flow) if flow else None
    if figure is None:
        return ""
    decimals = 1 if metric.quantity is MICROSECONDS else None
    return metric.shown(figure) if isinstance(metric.quantity, Choice) else str(round(figure, decimals))


def heat_map(sweep: Sweep) -> str:
    """An HTML page with a map for each flow: the first setting down, the second across, or one column."""
    first, *others = (factor.key for factor in sweep.factors)
    columns = dict.fromkeys(", ".join(point.values[1:]) for point in sweep.points)
    maps: dict[str, dict[tuple[str, str], float | None]] = {}
    for point, flow in _lines(sweep):
        if flow is not None:
            goodputs_bps = maps.setdefault(flow.name, {})
            if point.verdict is not Verdict.ERROR:
                goodputs_bps[point.values[0], ", ".join(point.values[1:])] = flow.goodput_bps
    return filled_in(
        "sweep.html.j2",
        scenario=sweep.scenario,
        maps=maps,
        first=first,
        others=", ".join(others),
        values=sweep.factors[0].values,
        columns=columns,
        shown=METRICS["goodput"].shown,
    )


def _lines(sweep: Sweep) -> Iterator[tuple[Point, FlowResult | None]]:
    """Each point with each of its flows, or with none."""
    for point in sweep.points:
        for flow in point.flows or (None,):
            yield point, flow
