"""What a grid of settings gave: its points with their flows, and charts over the first setting."""

from collections.abc import Iterator, Sequence
from typing import Final

from wirelab.model.metric import METRICS, Choice
from wirelab.report.chart import Axis, Chart, Line
from wirelab.report.tables import BRIEF
from wirelab.results.flow import FlowResult, flow_figure
from wirelab.runner.sweep import Point, Sweep
from wirelab.verdict.verdict import Verdict

_PX: Final = 220


def lines(sweep: Sweep) -> Iterator[tuple[Point, FlowResult | None]]:
    """Each point with each of its flows, or with none."""
    for point in sweep.points:
        for flow in point.flows or (None,):
            yield point, flow


def charts(sweep: Sweep, metrics: Sequence[str] = BRIEF) -> Iterator[Chart]:
    """A chart of each metric over the first setting: a line for each flow and combination of other values."""
    factor, *others = sweep.factors
    places = {value: place for place, value in enumerate(factor.values)}
    axis = Axis.of_names(factor.key, factor.values)
    for metric in (METRICS[name] for name in metrics):
        if isinstance(metric.quantity, Choice):
            continue
        named: dict[str, list[tuple[float, float]]] = {}
        for point, flow in lines(sweep):
            figure = flow_figure(metric.name, flow) if flow and point.verdict is not Verdict.ERROR else None
            if flow is not None and figure is not None:
                settings = zip((other.key for other in others), point.values[1:], strict=True)
                name = ", ".join([flow.name, *(f"{key} {value}" for key, value in settings)])
                named.setdefault(name, []).append((places[point.values[0]], figure))
        drawn = tuple(Line(name, points, colour) for colour, (name, points) in enumerate(named.items()))
        most = max((figure for line in drawn for _, figure in line.points), default=0)
        if drawn:
            title = metric.title[0].upper() + metric.title[1:]
            yield Chart(title, axis, Axis.of(metric.title, metric.quantity, most), drawn, height=_PX)
