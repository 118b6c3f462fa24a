"""What bounds the flows of a run, as text on a screen and as JSON values."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from wirelab.report.tables import Table
from wirelab.results.flow import FlowResult
from wirelab.runner.run_result import RunResult
from wirelab.units import RATE, rounded
from wirelab.verdict.explanation import Bottleneck

Explained = Mapping[str, Sequence[Bottleneck]]
"""The bottlenecks of each variant's flows, by its name."""


def print_explanation(console: Console, run: RunResult, explained: Explained) -> None:
    """Print the bottleneck of every flow, and below it what proves it."""
    variants = {variant.name: variant for variant in run.variants}
    for name, found in explained.items():
        console.print(Text(f"{run.scenario} {name}, seed {run.seed}", style="bold"), soft_wrap=True)
        flows = {flow.name: flow for flow in variants[name].flows}
        for one in found:
            head = f"  {one.flow}, {_goodput(flows[one.flow])}: bound by {one.where}"
            console.print(Text(head), soft_wrap=True)
            for words in one.evidence:
                console.print(Text(f"    {words}"), soft_wrap=True)


def explanation_values(run: RunResult, explained: Explained) -> dict[str, Any]:
    """The same as JSON values."""
    return {
        "schema": 1,
        "scenario": run.scenario,
        "seed": run.seed,
        "variants": [
            {"name": name, "flows": [asdict(one) for one in found]} for name, found in explained.items()
        ],
    }


def bottleneck_table(flows: Sequence[FlowResult], found: Sequence[Bottleneck]) -> Table:
    """What bounds each flow of a variant, and what proves it."""
    named = {flow.name: flow for flow in flows}
    rows = tuple((one.flow, _goodput(named[one.flow]), one.where, "; ".join(one.evidence)) for one in found)
    return Table(("flow", "goodput", "bound by", "because"), rows, frozenset({"goodput"}))


def _goodput(flow: FlowResult) -> str:
    return "nothing" if flow.goodput_bps is None else rounded(flow.goodput_bps, RATE)
