"""What a grid of settings gave: its points with their flows and pings, and charts over the first setting."""

from collections.abc import Iterator, Sequence
from typing import Final

from wirelab.model.metric import METRICS, Choice
from wirelab.report.chart import Axis, Chart, Line
from wirelab.report.tables import BRIEF, BRIEF_PING
from wirelab.results.flow import FlowResult, flow_figure
from wirelab.results.ping import PingResult, ping_figure
from wirelab.runner.sweep import Point, Sweep
from wirelab.verdict.verdict import Verdict

_PX: Final = 220


def lines(sweep: Sweep) -> Iterator[tuple[Point, FlowResult | PingResult | None]]:
    """Each point with each of its flows and then of its pings, or with none."""
    for point in sweep.points:
        items: list[FlowResult | PingResult] = [*point.flows, *point.pings]
        for item in items or (None,):
            yield point, item


def item_figure(metric: str, item: FlowResult | PingResult | None) -> float | None:
    """A metric of a flow or a ping in its base unit; None where nothing tells it, or it has none of this."""
    if isinstance(item, PingResult):
        return ping_figure(metric, item) if "ping" in METRICS[metric].subjects else None
    return None if item is None else flow_figure(metric, item)


def brief(sweep: Sweep) -> tuple[str, ...]:
    """The metrics of a narrow table or page: those of flows if there are any, and of pings."""
    # Where every lab broke nothing tells what there was.
    of_flows = BRIEF if any(point.flows for point in sweep.points) else ()
    of_pings = BRIEF_PING if any(point.pings for point in sweep.points) else ()
    return (*of_flows, *of_pings) or BRIEF


def charts(sweep: Sweep, metrics: Sequence[str] = BRIEF) -> Iterator[Chart]:
    """A chart of each metric over the first setting.

    It has a line for each flow or ping and combination of other values.
    """
    factor, *others = sweep.factors
    places = {value: place for place, value in enumerate(factor.values)}
    axis = Axis.of_names(factor.key, factor.values)
    for metric in (METRICS[name] for name in metrics):
        if isinstance(metric.quantity, Choice):
            continue
        named: dict[str, list[tuple[float, float]]] = {}
        for point, item in lines(sweep):
            figure = item_figure(metric.name, item) if point.verdict is not Verdict.ERROR else None
            if item is not None and figure is not None:
                settings = zip((other.key for other in others), point.values[1:], strict=True)
                name = ", ".join([item.name, *(f"{key} {value}" for key, value in settings)])
                named.setdefault(name, []).append((places[point.values[0]], figure))
        drawn = tuple(Line(name, points, colour) for colour, (name, points) in enumerate(named.items()))
        most = max((figure for line in drawn for _, figure in line.points), default=0)
        if drawn:
            title = metric.title[0].upper() + metric.title[1:]
            yield Chart(title, axis, Axis.of(metric.title, metric.quantity, most), drawn, height=_PX)
