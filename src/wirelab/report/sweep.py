"""A sweep as a table, as CSV, and as a heat map."""

from __future__ import annotations

import csv
import html
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from wirelab.report.text import STYLES, print_table
from wirelab.units import COUNT, RATE, rounded
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from wirelab.runner.run_result import VariantResult


@dataclass(frozen=True, slots=True)
class Point:
    """What was measured at one point: the values of the varied settings, and the run."""

    values: tuple[str, ...]
    variant: VariantResult


@dataclass(frozen=True, slots=True)
class Sweep:
    """A finished sweep over ``keys``."""

    scenario: str
    keys: tuple[str, ...]
    points: tuple[Point, ...]

    def flows(self) -> tuple[str, ...]:
        """The names of all flows."""
        return tuple(dict.fromkeys(flow.name for point in self.points for flow in point.variant.flows))


def print_sweep(console: Console, sweep: Sweep) -> None:
    """Print a line for each point and flow."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim", show_edge=False)
    for key in sweep.keys:
        table.add_column(key, justify="right")
    table.add_column("flow")
    for title in ("goodput", "retransmits"):
        table.add_column(title, justify="right")
    table.add_column("verdict")
    for point in sweep.points:
        verdict = Text(str(point.variant.verdict), style=STYLES[point.variant.verdict])
        if not point.variant.flows:
            table.add_row(*point.values, "-", "-", "-", verdict)
            continue
        for flow in point.variant.flows:
            retransmits = "-" if flow.retransmits is None else rounded(flow.retransmits, COUNT)
            table.add_row(*point.values, flow.name, rounded(flow.goodput_bps, RATE), retransmits, verdict)
    print_table(console, table)


def sweep_csv(sweep: Sweep) -> str:
    """A row for each point and flow, figures in base units."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*sweep.keys, "flow", "goodput_bps", "retransmits", "verdict"])
    for point in sweep.points:
        flows = point.variant.flows
        for flow in flows:
            figures = [round(flow.goodput_bps), "" if flow.retransmits is None else flow.retransmits]
            writer.writerow([*point.values, flow.name, *figures, point.variant.verdict])
        if not flows:
            writer.writerow([*point.values, "", "", "", point.variant.verdict])
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
    for flow in sweep.flows():
        parts += [f"<h2>{html.escape(flow)}: goodput</h2>", *_map(sweep, flow)]
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _map(sweep: Sweep, flow: str) -> Iterator[str]:
    cells: dict[tuple[str, str], float] = {}
    bad: set[tuple[str, str]] = set()
    for point in sweep.points:
        place = (point.values[0], ", ".join(point.values[1:]))
        cells.update((place, own.goodput_bps) for own in point.variant.flows if own.name == flow)
        if point.variant.verdict is Verdict.ERROR:
            bad.add(place)
    most = max(cells.values(), default=0.0) or 1.0
    rows = tuple(dict.fromkeys(point.values[0] for point in sweep.points))
    columns = tuple(dict.fromkeys(", ".join(point.values[1:]) for point in sweep.points))
    across = ", ".join(sweep.keys[1:])
    yield "<table>"
    heads = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    yield f"<tr><th>{html.escape(sweep.keys[0])} <small>{html.escape(across)}</small></th>{heads}</tr>"
    for row in rows:
        line = [f"<th>{html.escape(row)}</th>"]
        for column in columns:
            place = (row, column)
            if place in bad or place not in cells:
                line.append("<td>error</td>")
                continue
            hue = round(120 * cells[place] / most)
            shown = html.escape(rounded(cells[place], RATE))
            line.append(f'<td style="background:hsl({hue} 70% 50% / .45)">{shown}</td>')
        yield f"<tr>{''.join(line)}</tr>"
    yield "</table>"
