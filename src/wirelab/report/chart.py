"""Lines over an axis as SVG: pure functions from numbers in base units to text.

Colours are the page's business: the lines of a chart have the classes ``c0``, ``c1`` ... up to ``COLOURS``.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Final, Self
from xml.etree.ElementTree import Element, SubElement, tostring

from wirelab.units import Quantity, unit_for

COLOURS: Final = 8

WIDTH: Final = 960
_LEFT: Final = 66
_RIGHT: Final = WIDTH - 12
_TOP: Final = 20
_BELOW: Final = 36
_X_TICKS: Final = 16
_PX_PER_Y_TICK: Final = 24
_TICK_PX: Final = 4
_LABEL_PX: Final = 13
_PX_PER_LETTER: Final = 6.5
_POINTS_PER_PX: Final = 4

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """From 0 to ``high``, more than 0, in base units; ``per_unit`` of them make the unit in ``label``."""

    label: str
    high: float | Fraction
    per_unit: Fraction = Fraction(1)

    @classmethod
    def of(cls, name: str, quantity: Quantity, high: float, *, unit: str | None = None) -> Self:
        """The axis of a quantity from 0 to ``high``, in ``unit`` or the one that suits; 1 if that is 0."""
        word = unit or unit_for(high, quantity)
        per_unit = quantity.units[word] if word else Fraction(1)
        return cls(f"{name} ({word})" if word else name, high if high > 0 else float(per_unit), per_unit)

    def ticks(self, at_most: int) -> tuple[Decimal, ...]:
        """Its ticks, in the unit of the label."""
        return ticks(Fraction(0), Fraction(self.high) / self.per_unit, at_most)

    def up_to(self, high: float, at_most: int) -> Self:
        """The same, extended to hold ``high`` and rounded up to the next tick."""
        whole = Fraction(max(self.high, high))
        step = Fraction(tick_step(whole / self.per_unit, at_most)) * self.per_unit
        return replace(self, high=-(-whole // step) * step)


@dataclass(frozen=True, slots=True)
class Line:
    """Points in the order of x. ``colour`` counts from 0; ``note`` says more in the legend.

    ``step``: the y of a point holds until the next one, instead of a straight line to it. ``dashed`` lets
    see a line behind.
    """

    name: str
    points: Sequence[Point]
    colour: int
    note: str = ""
    step: bool = False
    dashed: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.note}" if self.note else self.name


@dataclass(frozen=True, slots=True)
class Spans:
    """Upright strokes: each at an x, from one y to another. ``colour`` counts from 0."""

    name: str
    strokes: Sequence[tuple[float, float, float]]
    colour: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A place on an axis that means something: where a flow begins, or how much a buffer holds."""

    name: str
    at: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over common axes. ``note`` says where the figures come from; ``height`` is the plot's, in px.

    Levels and points above the y axis' end raise that.
    """

    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    levels: tuple[Mark, ...] = ()
    marks: tuple[Mark, ...] = ()
    spans: tuple[Spans, ...] = ()
    note: str = ""
    height: int = 130


def svg(chart: Chart) -> str:
    """The chart as an ``svg`` element to stand in an HTML page, with a title for those who cannot see it."""
    heights = [y for line in chart.lines for _, y in line.points] + [level.at for level in chart.levels]
    y_ticks = max(chart.height // _PX_PER_Y_TICK, 2)
    x = _Scale(chart.x, _LEFT, _RIGHT)
    y = _Scale(chart.y.up_to(max(heights, default=0), y_ticks), _TOP + chart.height, _TOP)
    root = Element("svg", {"viewBox": f"0 0 {WIDTH} {y.start + _BELOW}", "role": "img"})
    lines = "; ".join(map(str, chart.lines))
    SubElement(root, "title").text = f"{chart.title}: {chart.y.label} over {chart.x.label}. {lines}"
    _draw_grid(root, x, y, y_ticks)
    _draw_marks(root, x, y.start, chart.marks)
    _draw_levels(root, y, chart.levels)
    for line in chart.lines:
        _draw_line(root, x, y, line)
    for spans in chart.spans:
        _draw_spans(root, x, y, spans)
    return tostring(root, encoding="unicode")


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where on the drawing the values of an axis are, in px: 0 is at ``start``, its highest at ``end``."""

    axis: Axis
    start: int
    end: int

    def px(self, value: float) -> float:
        return self.start + value * ((self.end - self.start) / float(self.axis.high))

    def ticks(self, at_most: int) -> Iterator[tuple[str, float]]:
        """The label of each tick, and where it is."""
        for tick in self.axis.ticks(at_most):
            yield tick_label(tick), round(self.px(float(Fraction(tick) * self.axis.per_unit)), 1)


def _draw_grid(root: Element, x: _Scale, y: _Scale, y_ticks: int) -> None:
    grid = SubElement(root, "g", {"class": "grid"})
    words = SubElement(root, "g", {"class": "ticks"})
    for label, at in y.ticks(y_ticks):
        _rule(grid, _LEFT, _RIGHT, at, at)
        _text(words, label, _LEFT - _TICK_PX - 2, at + _TICK_PX, anchor="end")
    for label, at in x.ticks(_X_TICKS):
        _rule(grid, at, at, _TOP, y.start + _TICK_PX)
        _text(words, label, at, y.start + _TICK_PX + _LABEL_PX - 1)
    _text(words, x.axis.label, (_LEFT + _RIGHT) / 2, y.start + _BELOW - 4)
    middle = (_TOP + y.start) / 2
    turned = _text(words, y.axis.label, _LABEL_PX, middle)
    turned.set("transform", f"rotate(-90 {_LABEL_PX} {_px(middle)})")


def _draw_marks(root: Element, x: _Scale, bottom: int, marks: Iterable[Mark]) -> None:
    """Each a line, with its name where that does not run into the one before."""
    group = SubElement(root, "g", {"class": "mark"})
    free_from = 0.0
    for mark in sorted(marks, key=lambda mark: mark.at):
        at = x.px(mark.at)
        _rule(group, at, at, _TOP - 4, bottom)
        if at >= free_from:
            _text(group, mark.name, at + 3, _TOP - 6, anchor="start")
            free_from = at + 3 + _PX_PER_LETTER * (len(mark.name) + 1)


def _draw_levels(root: Element, y: _Scale, levels: Iterable[Mark]) -> None:
    """Each a line with its name above, moved up where names would meet; no line goes through a name."""
    group = SubElement(root, "g", {"class": "level"})
    names: list[tuple[str, float]] = []
    free_above = float(y.start)
    for level in sorted(levels, key=lambda level: level.at):
        at = y.px(level.at)
        _rule(group, _LEFT, _RIGHT, at, at)
        names.append((level.name, min(at - 3, free_above)))
        free_above = names[-1][1] - _LABEL_PX
    for name, at in names:
        _text(group, name, _RIGHT - 4, at, anchor="end")


def _draw_line(root: Element, x: _Scale, y: _Scale, line: Line) -> None:
    points = _stairs(line.points) if line.step else line.points
    places = _thinned([(x.px(at), y.px(height)) for at, height in points])
    colour = f"c{line.colour % COLOURS}"
    element = SubElement(root, "polyline", {"class": f"{colour} dashed" if line.dashed else colour})
    element.set("points", " ".join(f"{_px(left)},{_px(top)}" for left, top in places))
    SubElement(element, "title").text = str(line)


def _draw_spans(root: Element, x: _Scale, y: _Scale, spans: Spans) -> None:
    """All as one path. Strokes that would be the same pixels are drawn once, and none is too short to see."""
    places = dict.fromkeys(
        (round(x.px(at)), round(y.px(low)), round(min(y.px(high), y.px(low) - 1)))
        for at, low, high in spans.strokes
    )
    if places:
        path = SubElement(root, "path", {"class": f"c{spans.colour % COLOURS}"})
        path.set("d", "".join(f"M{at} {low}V{high}" for at, low, high in places))
        SubElement(path, "title").text = spans.name


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
    thinned: list[Point] = []
    for _, level in itertools.groupby(kept, key=lambda place: _px(place[1])):
        first, *others = level
        thinned += [first, *others[-1:]]
    return thinned


def _extremes(places: Sequence[Point]) -> list[Point]:
    """The first, the lowest, the highest and the last place, in their order."""
    by_height = sorted(range(len(places)), key=lambda at: places[at][1])
    return [places[at] for at in sorted({0, by_height[0], by_height[-1], len(places) - 1})]


def _rule(parent: Element, x1: float, x2: float, y1: float, y2: float) -> None:
    SubElement(parent, "line", {"x1": _px(x1), "x2": _px(x2), "y1": _px(y1), "y2": _px(y2)})


def _text(parent: Element, words: str, x: float, y: float, *, anchor: str = "middle") -> Element:
    element = SubElement(parent, "text", {"x": _px(x), "y": _px(y), "text-anchor": anchor})
    element.text = words
    return element


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def tick_step(span: Fraction, at_most: int) -> Decimal:
    """The smallest step of 1, 2 or 5 times a power of ten of which ``at_most`` ticks cover ``span``.

    Raises ValueError unless ``span`` is above 0 and ``at_most`` at least 2.
    """
    if span <= 0 or at_most < 2:  # noqa: PLR2004 - the two ends
        raise ValueError(f"no ticks for a span of {span} with at most {at_most} of them")
    lowest = (Decimal(span.numerator) / span.denominator / (at_most - 1)).adjusted()
    steps = (Decimal(digit).scaleb(lowest + more) for more in (0, 1) for digit in (1, 2, 5))
    return next(step for step in steps if Fraction(step) * (at_most - 1) >= span)


def ticks(low: Fraction, high: Fraction, at_most: int) -> tuple[Decimal, ...]:
    """The multiples of a 1-2-5 step from ``low`` to ``high``, both included, ascending.

    There are at most ``at_most`` (2 or more) of them; each has as many decimals as the step needs.
    """
    step = tick_step(high - low, at_most)
    first, last = -(-low // Fraction(step)), high // Fraction(step)
    return tuple(number * step for number in range(first, last + 1))


def tick_label(tick: Decimal) -> str:
    """A tick as text: ``0.5``, ``16 000``."""
    return f"{tick:,f}".replace(",", " ")
