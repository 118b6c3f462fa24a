"""A run as a piece of a page: what was measured, what bounds it, and the charts that prove it."""

from collections.abc import Mapping
from dataclasses import dataclass

from wirelab.report.chart import Plots
from wirelab.report.explanation import bottleneck_table
from wirelab.report.tables import Table, flow_table, ping_table, port_table
from wirelab.report.timeline import RULE, Timeline
from wirelab.runner.run_result import RunResult, VariantResult
from wirelab.serve.templates import filled_in
from wirelab.units import TIME, rounded
from wirelab.verdict.bottleneck import bottlenecks


@dataclass(frozen=True, slots=True)
class _Shown:
    """A variant as the template shows it."""

    variant: VariantResult
    tables: Mapping[str, Table]
    plots: Plots | None
    more: Mapping[str, Table]
    virtual: str
    has_checks: bool = True


def panel(run: RunResult) -> str:
    """The piece, made where the evidence is at hand. Its charts are drawn by the page's script."""
    return filled_in(
        "panel.html.j2",
        run=run,
        shown=[_shown(variant) for variant in run.variants],
        rule=RULE,
        expects="What the scenario expects, against this network",
    )


def _shown(variant: VariantResult) -> _Shown:
    tables = {"Flows": flow_table([variant])}
    if variant.pings:
        tables["Pings"] = ping_table(variant.pings)
    more = {"Ports": port_table(variant)} if variant.ports else {}
    plots = None
    if variant.evidence is not None:
        if found := bottlenecks(variant.evidence.plan, variant.evidence.result):
            tables["What bounds them"] = bottleneck_table(variant.flows, found)
        plots = Plots.of(Timeline(variant.evidence, variant.checks).charts())
    shown = {title: table for title, table in tables.items() if table.rows}
    return _Shown(variant, shown, plots, more, rounded(variant.elapsed_ns, TIME))
