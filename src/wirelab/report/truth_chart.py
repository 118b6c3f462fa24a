"""The table of truth as SVG: for each row how many times the published figure the lab's is, on a log axis.

Colours are the page's business: figures have the classes ``goodput``, ``retransmits`` and ``other``, and
``miss`` where they are off by more than what needs a cause.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from wirelab.report.drawing import px
from wirelab.report.tables import shown
from wirelab.report.truth import off, published
from wirelab.runner.truth import Figure, Row, Table
from wirelab.verdict.comparison import MOST_OFF

WIDTH: Final = 480
_LEFT: Final = 16
_RIGHT: Final = WIDTH - 16
_TOP: Final = 4
_ROW_PX: Final = 27
_RADIUS_PX: Final = 4.5
_LETTER_PX: Final = 4
_NAME_PX: Final = 19
"""The name of a row stands above its line: beside it a phone would have no room for the line."""
_TICKS: Final = ((1 / 4, "1/4"), (1 / 2, "1/2"), (0.8, "0.8"), (1, "1"), (1.25, "1.25"), (2, "2"), (4, "4"))
_END: Final = 4.0
"""What is further off than so many times stands at the edge, with an arrow."""


def truth_svg(table: Table, *, fitted: bool) -> str:
    """The predicted figures, or the fitted ones, as an ``svg`` element; empty if there are none."""
    rows = [(row, _figures(row, fitted=fitted)) for row in table.rows]
    rows = [(row, figures) for row, figures in rows if figures]
    if not rows:
        return ""
    bottom = _TOP + _ROW_PX * len(rows)
    root = Element("svg", {"viewBox": f"0 0 {WIDTH} {bottom + 38}", "role": "img"})
    word = "fitted" if fitted else "predicted"
    SubElement(root, "title").text = f"What the lab gives, {word}, as so many times what was published"
    _draw_axis(root, bottom)
    for number, (row, figures) in enumerate(rows):
        _draw_row(root, row.name, figures, _TOP + _ROW_PX * number + _NAME_PX)
    return tostring(root, encoding="unicode")


def _figures(row: Row, *, fitted: bool) -> list[Figure]:
    """Those that can stand on the axis: of shapes and words there is no ratio."""
    if row.grade == "shape":
        return []
    figures = (figure for figure in row.figures if (figure.fitted is not None) == fitted)
    return [figure for figure in figures if figure.measured is not None and not _is_word(figure)]


def _is_word(figure: Figure) -> bool:
    return not (figure.low is not None and figure.low == figure.high) and figure.error == 0 and not figure.low


def _ratio(figure: Figure) -> float:
    """How many times the published figure the lab's is; within what was published it is once."""
    if not math.isfinite(figure.error):
        return math.copysign(math.inf, figure.error) if figure.error > 0 else 0.0
    if figure.metric == "retransmits":
        return 1 + figure.error if figure.error >= 0 else 1 / (1 - figure.error)
    return 1 + figure.error


def _x(ratio: float) -> float:
    """Where a ratio stands, in px."""
    clamped = min(max(ratio, 1 / _END), _END)
    return _LEFT + (_RIGHT - _LEFT) * (0.5 + math.log(clamped) / (2 * math.log(_END)))


def _draw_axis(root: Element, bottom: int) -> None:
    low, high = _x(1 / (1 + MOST_OFF)), _x(1 + MOST_OFF)
    band = {"x": px(low), "y": f"{_TOP}", "width": px(high - low), "height": f"{bottom - _TOP}"}
    SubElement(root, "rect", {"class": "band", **band})
    grid = SubElement(root, "g", {"class": "grid"})
    words = SubElement(root, "g", {"class": "ticks"})
    for ratio, label in _TICKS:
        at = px(_x(ratio))
        ends = {"x1": at, "x2": at, "y1": f"{_TOP}", "y2": f"{bottom + _LETTER_PX}"}
        SubElement(grid, "line", ends)
        _text(words, label, _x(ratio), bottom + 17, anchor="middle")
    _text(words, "lab / published", (_LEFT + _RIGHT) / 2, bottom + 34, anchor="middle")


def _draw_row(root: Element, name: str, figures: Sequence[Figure], y: float) -> None:
    group = SubElement(root, "g", {"class": "row"})
    _text(group, name, _LEFT, y - _LETTER_PX - 3, anchor="start")
    ends = {"x1": f"{_LEFT}", "x2": f"{_RIGHT}", "y1": px(y), "y2": px(y)}
    SubElement(SubElement(group, "g", {"class": "grid"}), "line", ends)
    for figure in _outer_first(figures):
        _draw_figure(group, figure, y)


def _outer_first(figures: Iterable[Figure]) -> list[Figure]:
    """So that what is near to the truth is not hidden."""
    return sorted(figures, key=lambda figure: -abs(math.log(min(max(_ratio(figure), 0.01), 100))))


def _draw_figure(group: Element, figure: Figure, y: float) -> None:
    ratio = _ratio(figure)
    at = _x(ratio)
    kind = figure.metric if figure.metric in ("goodput", "retransmits") else "other"
    style = f"{kind} miss" if figure.is_miss else kind
    if 1 / _END <= ratio <= _END:
        mark = SubElement(group, "circle", {"cx": px(at), "cy": px(y), "r": f"{_RADIUS_PX}"})
    else:
        tip = at + math.copysign(9, ratio - 1)
        points = f"{px(tip)},{px(y)} {px(at)},{px(y - 5)} {px(at)},{px(y + 5)}"
        mark = SubElement(group, "polygon", {"points": points})
    mark.set("class", style)
    figures = f"{published(figure)} published, {shown(figure.of, figure.measured)} in the lab"
    title = SubElement(mark, "title")
    title.text = f"{figure.variant} {figure.name}: {figures}, {off(figure.of, figure.error)}"


def _text(parent: Element, words: str, x: float, y: float, *, anchor: str) -> None:
    element = SubElement(parent, "text", {"x": px(x), "y": px(y), "text-anchor": anchor})
    element.text = words
