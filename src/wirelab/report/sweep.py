"""A sweep as a table, as CSV, and as a heat map."""

from __future__ import annotations

import csv
import html
import io
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from wirelab.report.text import STYLES, print_table
from wirelab.units import COUNT, RATE, rounded
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from wirelab.runner.sweep import Sweep


def print_sweep(console: Console, sweep: Sweep) -> None:
    """Print a line for each point and flow."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim", show_edge=False)
    for factor in sweep.factors:
        table.add_column(factor.key, justify="right")
    table.add_column("flow")
    for title in ("goodput", "retransmits"):
        table.add_column(title, justify="right")
    table.add_column("verdict")
    for point in sweep.points:
        verdict = Text(str(point.verdict), style=STYLES[point.verdict])
        for flow in point.flows:
            retransmits = "-" if flow.retransmits is None else rounded(flow.retransmits, COUNT)
            table.add_row(*point.values, flow.name, rounded(flow.goodput_bps, RATE), retransmits, verdict)
        if not point.flows:
            table.add_row(*point.values, "-", "-", "-", verdict)
    print_table(console, table)


def sweep_csv(sweep: Sweep) -> str:
    """A row for each point and flow, figures in base units."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    keys = (factor.key for factor in sweep.factors)
    writer.writerow([*keys, "flow", "goodput_bps", "retransmits", "verdict"])
    for point in sweep.points:
        for flow in point.flows:
            figures = (round(flow.goodput_bps), flow.retransmits)
            writer.writerow([*point.values, flow.name, *figures, point.verdict])
        if not point.flows:
            writer.writerow([*point.values, "", "", "", point.verdict])
    return out.getvalue()


def heat_map(sweep: Sweep) -> str:
    """An HTML page with a map for each flow: the first setting down, the second across, or one column."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f"<title>{html.escape(sweep.scenario)}: sweep</title>",
        "<style>",
        ":root{color-scheme:light dark} body{font:15px system-ui,sans-serif;margin:2rem}",
        "table{border-collapse:collapse;margin:1rem 0} th,td{padding:.4rem .8rem;text-align:right}",
        "td{border:1px solid #8884} small{opacity:.7}",
        "</style></head><body>",
        f"<h1>{html.escape(sweep.scenario)}</h1>",
    ]
    for flow in dict.fromkeys(flow.name for point in sweep.points for flow in point.flows):
        parts += [f"<h2>{html.escape(flow)}: goodput</h2>", *_map(sweep, flow)]
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _map(sweep: Sweep, flow_name: str) -> Iterator[str]:
    first, *others = (factor.key for factor in sweep.factors)
    goodputs_bps: dict[tuple[str, str], float] = {}
    columns: dict[str, None] = {}
    for point in sweep.points:
        column = ", ".join(point.values[1:])
        columns[column] = None
        for flow in point.flows if point.verdict is not Verdict.ERROR else ():
            if flow.name == flow_name:
                goodputs_bps[point.values[0], column] = flow.goodput_bps
    most_bps = max(goodputs_bps.values(), default=0.0) or 1.0
    yield "<table>"
    heads = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    corner = f"<th>{html.escape(first)} <small>{html.escape(', '.join(others))}</small></th>"
    yield f"<tr>{corner}{heads}</tr>"
    for value in sweep.factors[0].values:
        cells = (_cell(goodputs_bps.get((value, column)), most_bps) for column in columns)
        yield f"<tr><th>{html.escape(value)}</th>{''.join(cells)}</tr>"
    yield "</table>"


def _cell(goodput_bps: float | None, most_bps: float) -> str:
    if goodput_bps is None:
        return "<td>error</td>"
    hue = round(120 * goodput_bps / most_bps)
    shown = html.escape(rounded(goodput_bps, RATE))
    return f'<td style="background:hsl({hue} 70% 50% / .45)">{shown}</td>'
