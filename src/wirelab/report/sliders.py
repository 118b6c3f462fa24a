"""The sliders of a page that is one of a grid: where each value leads, and what changes on the way there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from wirelab.model.metric import METRICS
from wirelab.report.chart import Chart, Mark, Plots
from wirelab.report.grid import charts
from wirelab.report.tables import shown
from wirelab.results.flow import flow_figure
from wirelab.runner.sweep import Factor, Point, Sweep
from wirelab.verdict.verdict import Verdict

_DRAWN: Final = ("goodput", "retransmits", "rtt")
_PLOT_PX: Final = 100


@dataclass(frozen=True, slots=True)
class Stop:
    """A value of a slider: the page that has it, and in a sentence what was measured there."""

    value: str
    page: str
    told: str


@dataclass(frozen=True, slots=True)
class Slider:
    """A setting that varies; the page that shows it is that of the stop at ``place``."""

    key: str
    stops: tuple[Stop, ...]
    place: int
    plots: Plots


@dataclass(frozen=True, slots=True)
class Panel:
    """The sliders of one page. ``story`` is markup in the place of the scenario's story, if there is any."""

    sliders: tuple[Slider, ...]
    story: str = ""

    @classmethod
    def of(cls, sweep: Sweep, pages: Sequence[str], number: int, story: str = "") -> Self:
        """Those of the page of point ``number``, from 0; ``pages`` has the name of each point's page.

        A slider leads to the points that differ from this one by its value alone. A setting of one value has
        none.
        """
        places = {point.values: place for place, point in enumerate(sweep.points)}
        here = sweep.points[number].values
        sliders = []
        for position, factor in enumerate(sweep.factors):
            if len(factor.values) > 1:
                along = [places[(*here[:position], value, *here[position + 1 :])] for value in factor.values]
                points = [sweep.points[place] for place in along]
                stops = tuple(
                    Stop(value, pages[place], told(sweep.points[place]))
                    for value, place in zip(factor.values, along, strict=True)
                )
                place = factor.values.index(here[position])
                plots = Plots.of(_along(sweep, factor, points, place))
                sliders.append(Slider(factor.key, stops, place, plots))
        return cls(tuple(sliders), story)


def told(point: Point) -> str:
    """What a point measured: ``download 1.21 Gbit/s, 9 826 retransmits``."""
    if point.verdict in (Verdict.ERROR, Verdict.SKIP):
        return f"{point.verdict}: {point.explanation or 'nothing was measured'}"
    goodput, retransmits, lost = METRICS["goodput"], METRICS["retransmits"], METRICS["lost"]
    flows = []
    for flow in point.flows:
        words = flow.untold or shown(goodput, flow.goodput_bps)
        again = f", {shown(retransmits, flow.retransmits)} retransmits" if flow.retransmits else ""
        gone = f", {shown(lost, ppm)} lost" if (ppm := flow_figure("lost", flow)) else ""
        flows.append(f"{flow.name} {words}{again}{gone}")
    return "; ".join(flows)


def _along(sweep: Sweep, factor: Factor, points: Sequence[Point], place: int) -> Iterator[Chart]:
    """What each metric is along a slider, without those that are 0 all the way."""
    alone = tuple(replace(point, values=(value,)) for value, point in zip(factor.values, points, strict=True))
    for chart in charts(replace(sweep, factors=(factor,), points=alone), _DRAWN):
        if any(y for line in chart.lines for _, y in line.points):
            yield replace(chart, marks=(Mark("here", place),), height=_PLOT_PX)
