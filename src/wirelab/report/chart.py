"""Charts: named series with units, ranges and marks, and the JSON that the page's script draws with uPlot.

Whoever has figures over an axis makes charts of them, and a page of their group::

    time = Axis.of("virtual time", TIME, end_ns, unit="s")
    line = Line("download", [(at_ns, bps), ...], colour=0, step=True)
    goodput = Chart("Goodput", time, Axis.of("goodput", RATE, highest_bps), (line,))
    filled_in("some.html.j2", plots=Plots.of([goodput, ...]), script=Script.load())

The template has ``{% import "plots.html.j2" as drawn %}``, ``{{ drawn.policy(script) }}`` in its head,
``{{ drawn.colours() }}`` and ``{{ drawn.style() }}`` in its style, ``{{ drawn.plots(plots) }}`` where the
charts stand, and ``{{ drawn.script(script) }}`` at its end. All charts of a page whose x axes have one label
are linked: zoom and cursor of one are those of all.

uPlot draws them: it is made for series over time, is quick at 100 000 points, and is 50 kB, so that it fits
into each page, which loads nothing. The drawing of a network and the table of truth, which has no time, stay
text and SVG.

Colours are the page's business: those of a chart are numbers, from 0 up to ``COLOURS``.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, Self

from wirelab.results.values import printable
from wirelab.units import Quantity, unit_for

COLOURS: Final = 8

_DIGITS: Final = 7
"""Of a figure that is no whole number: more than anybody reads."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """From 0 to ``high``, more than 0, in base units; ``per_unit`` of them make ``unit``.

    ``units`` are those in which a single value may be told, by size. An axis with ``names`` has no quantity:
    its places are 0, 1, 2 ..., and those are their names.
    """

    name: str
    high: float
    unit: str = ""
    per_unit: Fraction = Fraction(1)
    units: Mapping[str, Fraction] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, quantity: Quantity, high: float, *, unit: str | None = None) -> Self:
        """The axis of a quantity from 0 to ``high``, in ``unit`` or the one that suits; 1 if that is 0."""
        word = unit or unit_for(high, quantity)
        per_unit = quantity.units[word] if word else Fraction(1)
        units = {each: quantity.units[each] for each in quantity.rounding}
        return cls(name, high if high > 0 else float(per_unit), word or "", per_unit, units)

    @classmethod
    def of_names(cls, name: str, names: Iterable[str]) -> Self:
        """The axis of things that have names, and no distance from each other."""
        known = tuple(names)
        return cls(name, max(len(known) - 1, 1), names=known)

    @property
    def label(self) -> str:
        """Its name, with the unit: ``goodput (Gbit/s)``."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True, slots=True)
class Line:
    """Points in the order of x, which is in whole base units. ``colour`` counts from 0.

    ``note`` says more in the legend. ``step``: the y of a point holds until the next one; else a straight
    line leads to it. ``dashed`` lets see a line behind. ``dots`` are points alone.
    """

    name: str
    points: Sequence[Point]
    colour: int
    note: str = ""
    step: bool = False
    dashed: bool = False
    dots: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.note}" if self.note else self.name


@dataclass(frozen=True, slots=True)
class Spans:
    """Upright strokes in the order of x: each at an x, from one y to another. ``colour`` counts from 0."""

    name: str
    strokes: Sequence[tuple[float, float, float]]
    colour: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A place on an axis that means something: where a flow begins, or how much a buffer holds."""

    name: str
    at: float


@dataclass(frozen=True, slots=True)
class Range:
    """Where something was expected: between two y, None for an open end, from one x to another."""

    name: str
    low: float | None
    high: float | None
    begins: float
    ends: float
    colour: int


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over an axis. ``note`` says where the figures come from; ``height`` is the plot's, in px.

    Levels, ranges and points above the y axis' end raise that. ``from_zero``: y begins with 0 however closely
    one looks.
    """

    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    levels: tuple[Mark, ...] = ()
    marks: tuple[Mark, ...] = ()
    spans: tuple[Spans, ...] = ()
    ranges: tuple[Range, ...] = ()
    note: str = ""
    height: int = 130
    from_zero: bool = True

    def __str__(self) -> str:
        lines = "; ".join([*map(str, self.lines), *(spans.name for spans in self.spans)])
        return f"{self.title}: {self.y.label} over {self.x.label}. {lines}"


@dataclass(frozen=True, slots=True)
class Plots:
    """Charts as a page has them, one below the other: their legends are markup, ``data`` is what is drawn."""

    charts: tuple[Chart, ...]
    data: str

    @classmethod
    def of(cls, charts: Iterable[Chart]) -> Self:
        """The same charts are the same text, to the byte."""
        drawn = tuple(charts)
        columns: dict[tuple[int, ...], int] = {}
        told = [_chart(chart, columns) for chart in drawn]
        group = {"columns": [_differences(column) for column in columns], "charts": told}
        return cls(drawn, as_data(json.dumps(group, ensure_ascii=False, separators=(",", ":"))))


def as_data(text: str) -> str:
    """JSON that may stand in a ``script`` element: whatever is named in it, nothing ends that."""
    return printable(text).replace("<", "\\u003c")


def _chart(chart: Chart, columns: dict[tuple[int, ...], int]) -> dict[str, Any]:
    def column(xs: Iterable[float]) -> int:
        """The place of what lines have in common: most of them are of the same samples."""
        return columns.setdefault(tuple(map(round, xs)), len(columns))

    return {
        "title": chart.title,
        "x": _axis(chart.x),
        "y": _axis(chart.y),
        "height": chart.height,
        "fromZero": chart.from_zero,
        "lines": [
            {
                "name": line.name,
                "colour": line.colour % COLOURS,
                "drawn": "dots" if line.dots else "step" if line.step else "line",
                "dashed": line.dashed,
                "x": column(x for x, _ in line.points),
                "y": [_figure(y) for _, y in line.points],
            }
            for line in chart.lines
        ],
        "spans": [
            {
                "name": spans.name,
                "colour": spans.colour % COLOURS,
                "x": column(x for x, *_ in spans.strokes),
                "low": _differences([round(low) for _, low, _ in spans.strokes]),
                "size": [round(high - low) for _, low, high in spans.strokes],
            }
            for spans in chart.spans
        ],
        "levels": [[level.name, _figure(level.at)] for level in chart.levels],
        "marks": [[mark.name, _figure(mark.at)] for mark in sorted(chart.marks, key=lambda mark: mark.at)],
        "ranges": [
            {
                "low": one.low,
                "high": one.high,
                "begins": _figure(one.begins),
                "ends": _figure(one.ends),
                "colour": one.colour % COLOURS,
            }
            for one in chart.ranges
        ],
    }


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "label": axis.label,
        "high": _figure(axis.high),
        "perUnit": _figure(float(axis.per_unit)),
        "unit": axis.unit,
        "units": [[word, float(size)] for word, size in axis.units.items()],
        "names": axis.names,
    }


def _figure(value: float) -> float:
    """The value, with no more digits than are read; whole numbers as they are."""
    if isinstance(value, int):
        return value
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() else short


def _differences(figures: Sequence[int]) -> list[int]:
    """Each less the one before: of instants it takes half the room."""
    return [after - before for before, after in zip((0, *figures), figures, strict=False)]
