"""Lines over an axis as SVG: pure functions from numbers in base units to text.

Colours are the page's business: the lines of a chart have the classes ``c0``, ``c1`` ... up to ``COLOURS``.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element, SubElement, tostring

from wirelab.report.axis import decimal, tick_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wirelab.report.axis import Axis

COLOURS: Final = 8

WIDTH: Final = 960
_LEFT: Final = 66
_RIGHT: Final = 12
_TOP: Final = 20
_BOTTOM: Final = 36
_X_TICKS: Final = 16
_PX_PER_Y_TICK: Final = 24
_TICK_PX: Final = 4
_LABEL_PX: Final = 13
_PX_PER_LETTER: Final = 6.5
_POINTS_PER_PX: Final = 4

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """Points in the order of x. ``colour`` counts from 0; ``note`` says more in the legend.

    ``step``: the y of a point holds until the next one, instead of a straight line to it. ``dashed`` lets
    see a line behind.
    """

    name: str
    points: tuple[Point, ...]
    colour: int
    note: str = ""
    step: bool = False
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """A y that means something, such as the size of a buffer."""

    name: str
    y: float


@dataclass(frozen=True, slots=True)
class Mark:
    """An x at which something begins."""

    name: str
    x: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over common axes. ``note`` says where the figures come from; ``height`` is the plot's, in px.

    Levels and points above the y axis' end raise that; it begins where the axis does.
    """

    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    levels: tuple[Level, ...] = ()
    marks: tuple[Mark, ...] = ()
    note: str = ""
    height: int = 130


def svg(chart: Chart) -> str:
    """The chart as an ``svg`` element to stand in an HTML page, with a title for who cannot see it."""
    heights = [y for line in chart.lines for _, y in line.points] + [level.y for level in chart.levels]
    y_ticks = max(chart.height // _PX_PER_Y_TICK, 2)
    plane = _Plane.of(chart.x, chart.y.up_to(max(heights, default=0), y_ticks), chart.height)
    root = Element("svg", {"viewBox": f"0 0 {WIDTH} {plane.bottom + _BOTTOM}", "role": "img"})
    SubElement(root, "title").text = _title(chart)
    _draw_grid(root, plane, y_ticks)
    _draw_marks(root, plane, chart.marks)
    _draw_levels(root, plane, chart.levels)
    for line in chart.lines:
        _draw_line(root, plane, line)
    return tostring(root, encoding="unicode")


@dataclass(frozen=True, slots=True)
class _Plane:
    """Where on the drawing a point of the chart is, in px; ``bottom`` is where the plot ends."""

    x_axis: Axis
    y_axis: Axis
    bottom: int
    px_per_x: float
    px_per_y: float

    @classmethod
    def of(cls, x_axis: Axis, y_axis: Axis, height: int) -> _Plane:
        px_per_x = (WIDTH - _LEFT - _RIGHT) / float(x_axis.high - x_axis.low)
        return cls(x_axis, y_axis, _TOP + height, px_per_x, height / float(y_axis.high - y_axis.low))

    def x(self, x: float) -> float:
        return _LEFT + (x - self.x_axis.low) * self.px_per_x

    def y(self, y: float) -> float:
        return self.bottom - (y - self.y_axis.low) * self.px_per_y


def _title(chart: Chart) -> str:
    lines = "; ".join(f"{line.name}: {line.note}" if line.note else line.name for line in chart.lines)
    return f"{chart.title}: {chart.y.label} over {chart.x.label}. {lines}"


def _draw_grid(root: Element, plane: _Plane, y_ticks: int) -> None:
    grid = SubElement(root, "g", {"class": "grid"})
    words = SubElement(root, "g", {"class": "ticks"})
    left, right = str(_LEFT), str(WIDTH - _RIGHT)
    for tick in plane.y_axis.ticks(y_ticks):
        at = _px(plane.y(float(tick * decimal(plane.y_axis.per_unit))))
        SubElement(grid, "line", {"x1": left, "x2": right, "y1": at, "y2": at})
        _text(words, tick_label(tick), _LEFT - _TICK_PX - 2, float(at) + _TICK_PX, anchor="end")
    for tick in plane.x_axis.ticks(_X_TICKS):
        at = _px(plane.x(float(tick * decimal(plane.x_axis.per_unit))))
        SubElement(grid, "line", {"x1": at, "x2": at, "y1": str(_TOP), "y2": str(plane.bottom + _TICK_PX)})
        _text(words, tick_label(tick), float(at), plane.bottom + _TICK_PX + _LABEL_PX - 1)
    _text(words, plane.x_axis.label, (_LEFT + WIDTH - _RIGHT) / 2, plane.bottom + _BOTTOM - 4)
    middle = (_TOP + plane.bottom) / 2
    turned = _text(words, plane.y_axis.label, _LABEL_PX, middle)
    turned.set("transform", f"rotate(-90 {_LABEL_PX} {_px(middle)})")


def _draw_marks(root: Element, plane: _Plane, marks: Iterable[Mark]) -> None:
    """Each a line, with its name where that does not run into the one before."""
    group = SubElement(root, "g", {"class": "mark"})
    free_from = 0.0
    for mark in sorted(marks, key=lambda mark: mark.x):
        at = plane.x(mark.x)
        line = {"x1": _px(at), "x2": _px(at), "y1": str(_TOP - 4), "y2": str(plane.bottom)}
        SubElement(group, "line", line)
        if at >= free_from:
            _text(group, mark.name, at + 3, _TOP - 6, anchor="start")
            free_from = at + 3 + _PX_PER_LETTER * (len(mark.name) + 1)


def _draw_levels(root: Element, plane: _Plane, levels: Iterable[Level]) -> None:
    """Each a line with its name above, moved up where names would meet; no line goes through a name."""
    group = SubElement(root, "g", {"class": "level"})
    names: list[tuple[str, float]] = []
    free_above = float(plane.bottom)
    for level in sorted(levels, key=lambda level: level.y):
        at = plane.y(level.y)
        line = {"x1": str(_LEFT), "x2": str(WIDTH - _RIGHT), "y1": _px(at), "y2": _px(at)}
        SubElement(group, "line", line)
        names.append((level.name, min(at - 3, free_above)))
        free_above = names[-1][1] - _LABEL_PX
    for name, at in names:
        _text(group, name, WIDTH - _RIGHT - 4, at, anchor="end")


def _draw_line(root: Element, plane: _Plane, line: Line) -> None:
    points = _stairs(line.points) if line.step else line.points
    places = _thinned([(plane.x(x), plane.y(y)) for x, y in points])
    drawn = " ".join(f"{_px(x)},{_px(y)}" for x, y in places)
    colour = f"c{line.colour % COLOURS}"
    element = SubElement(root, "polyline", {"class": f"{colour} dashed" if line.dashed else colour})
    element.set("points", drawn)
    SubElement(element, "title").text = f"{line.name}: {line.note}" if line.note else line.name


def _stairs(points: Sequence[Point]) -> list[Point]:
    """Each point, and before the next one the corner below or above that."""
    corners = [(after[0], before[1]) for before, after in itertools.pairwise(points)]
    return [point for pair in itertools.zip_longest(points, corners) for point in pair if point is not None]


def _thinned(places: Sequence[Point]) -> list[Point]:
    """Without what nobody sees: in a column of pixels the first, lowest, highest and last place are enough.

    Then without the places in the middle of what is level.
    """
    kept: list[Point] = []
    for _, group in itertools.groupby(places, key=lambda place: int(place[0])):
        column = list(group)
        kept += column if len(column) <= _POINTS_PER_PX else _extremes(column)
    levels = [_px(y) for _, y in kept]
    last = len(kept) - 1
    return [
        place
        for at, place in enumerate(kept)
        if at in (0, last) or not levels[at - 1] == levels[at] == levels[at + 1]
    ]


def _extremes(places: Sequence[Point]) -> list[Point]:
    """The first, the lowest, the highest and the last place, in their order."""
    by_height = sorted(range(len(places)), key=lambda at: places[at][1])
    return [places[at] for at in sorted({0, by_height[0], by_height[-1], len(places) - 1})]


def _text(parent: Element, words: str, x: float, y: float, *, anchor: str = "middle") -> Element:
    element = SubElement(parent, "text", {"x": _px(x), "y": _px(y), "text-anchor": anchor})
    element.text = words
    return element


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
