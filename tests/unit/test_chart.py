"""Charts: axes with ticks that people can read, and lines that are where the figures are."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab.report.chart import (
    COLOURS,
    WIDTH,
    Axis,
    Chart,
    Line,
    Mark,
    Point,
    svg,
    tick_label,
    tick_step,
    ticks,
)
from wirelab.units import COUNT, MICROSECONDS, NS_PER_S, RATE, RATIO, SIZE, TIME

numbers = st.floats(-1e15, 1e15)
at_mosts = st.integers(2, 30)
shares = st.floats(0, 1)
lines_of_points = st.lists(st.tuples(shares, shares), min_size=1, max_size=3000)


def drawn(chart: Chart) -> ET.Element:
    """The chart, parsed."""
    return ET.fromstring(svg(chart))  # noqa: S314 - of our own making


def chart_of(*lines: Line, levels: tuple[Mark, ...] = (), marks: tuple[Mark, ...] = ()) -> Chart:
    """A chart from 0 to 1 both ways."""
    return Chart("Goodput", Axis("time (s)", 1), Axis("rate (Gbit/s)", 1), lines, levels, marks)


def line_of(points: list[Point], *, step: bool = False) -> Line:
    """A line through points, from left to right."""
    return Line("download", tuple(sorted(points, key=lambda point: point[0])), 0, step=step)


def places(root: ET.Element) -> list[list[Point]]:
    """Where each line of a drawing goes."""
    return [
        [(float(x), float(y)) for x, y in (pair.split(",") for pair in line.get("points", "").split())]
        for line in root.iter("polyline")
    ]


def words(root: ET.Element) -> list[str]:
    """All text that is drawn."""
    return [text.text or "" for text in root.iter("text")]


@given(numbers, numbers, at_mosts)
def test_ticks_are_few_and_inside(one: float, other: float, at_most: int) -> None:
    """Ascending, from the low end to the high one, at most as many as asked for and not far fewer."""
    low, high = sorted((Fraction(one), Fraction(other)))
    if low == high:
        return
    values = ticks(low, high, at_most)
    assert all(low <= Fraction(tick) <= high for tick in values)
    assert all(before < after for before, after in itertools.pairwise(values))
    assert (at_most - 1) * 2 // 5 <= len(values) <= at_most


@given(numbers, numbers, at_mosts)
def test_ticks_are_multiples_of_a_round_step(one: float, other: float, at_most: int) -> None:
    """From tick to tick it is 1, 2 or 5 times a power of ten, and every tick is a multiple of that."""
    low, high = sorted((Fraction(one), Fraction(other)))
    if low == high:
        return
    step = tick_step(high - low, at_most)
    assert step.normalize().as_tuple().digits in ((1,), (2,), (5,))
    values = ticks(low, high, at_most)
    assert {after - before for before, after in itertools.pairwise(values)} <= {step}
    assert all(Fraction(tick) % Fraction(step) == 0 for tick in values)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**15), at_mosts)
def test_no_smaller_round_step_would_do(span: Fraction, at_most: int) -> None:
    """The next smaller of 1, 2, 5 leaves more ticks than asked for."""
    step = tick_step(span, at_most)
    smaller = {1: Fraction(1, 2), 2: Fraction(1, 2), 5: Fraction(2, 5)}[step.normalize().as_tuple().digits[0]]
    assert Fraction(step) * (at_most - 1) >= span > Fraction(step) * smaller * (at_most - 1)


@pytest.mark.parametrize(
    ("low", "high", "at_most", "labels"),
    [
        ("0", "2.5", 6, "0.0 0.5 1.0 1.5 2.0 2.5"),
        ("0", "24.2", 16, "0 2 4 6 8 10 12 14 16 18 20 22 24"),
        ("0", "16710", 5, "0 5_000 10_000 15_000"),
        ("-0.03", "0.04", 5, "-0.02 0.00 0.02 0.04"),
    ],
)
def test_labels(low: str, high: str, at_most: int, labels: str) -> None:
    """As many decimals as the step has, thousands apart."""
    values = ticks(Fraction(low), Fraction(high), at_most)
    assert [tick_label(tick) for tick in values] == [label.replace("_", " ") for label in labels.split()]


@pytest.mark.parametrize(("span", "at_most"), [(0, 5), (-1, 5), (1, 1)])
def test_what_has_no_ticks(span: int, at_most: int) -> None:
    """An empty span has none, and a single tick tells no scale."""
    with pytest.raises(ValueError, match="no ticks"):
        tick_step(Fraction(span), at_most)


@pytest.mark.parametrize(
    ("axis", "label", "last"),
    [
        (Axis.of("goodput", RATE, 2.37e9), "goodput (Gbit/s)", Decimal(2)),
        (Axis.of("goodput", RATE, 940e6), "goodput (Mbit/s)", Decimal(800)),
        (Axis.of("RTT", MICROSECONDS, 1418), "RTT (ms)", Decimal(1)),
        (Axis.of("held", SIZE, 0), "held (B)", Decimal(1)),
        (Axis.of("dropped frames", COUNT, 159), "dropped frames", Decimal(150)),
        (Axis.of("time paused", RATIO, 1_000_000), "time paused (%)", Decimal(100)),
        (Axis.of("virtual time", TIME, 24 * NS_PER_S, unit="s"), "virtual time (s)", Decimal(20)),
    ],
)
def test_an_axis_has_the_unit_that_suits(axis: Axis, label: str, last: Decimal) -> None:
    """Its label says it, and its ticks are in it."""
    assert axis.label == label
    assert axis.ticks(6)[-1] == last


@given(st.floats(1e-6, 1e12), st.floats(0, 1e12), at_mosts)
def test_an_axis_grows_to_its_next_tick(high: float, most: float, at_most: int) -> None:
    """What is higher than the axis is on it, and the axis ends with a tick."""
    axis = Axis("held (kB)", high, Fraction(1000)).up_to(most, at_most)
    assert axis.high >= max(high, most)
    assert Fraction(axis.ticks(at_most)[-1]) * 1000 == axis.high


def test_a_chart_says_what_it_shows() -> None:
    """A title for who cannot see it, the labels of both axes, their ticks, levels and marks."""
    chart = chart_of(
        line_of([(0, 0), (1, 0.9)]),
        levels=(Mark("FIFO 16 KiB", 0.8),),
        marks=(Mark("download", 0.5),),
    )
    root = drawn(chart)
    assert root.get("role") == "img"
    assert root[0].tag == "title"
    assert root[0].text == "Goodput: rate (Gbit/s) over time (s). download"
    assert {"time (s)", "rate (Gbit/s)", "0.0", "0.2", "1.0", "FIFO 16 KiB", "download"} <= set(words(root))


def test_a_line_has_a_colour_and_a_title() -> None:
    """Each has a class of its own as long as there are colours, and says its name under the pointer."""
    lines = [Line(f"flow{number}", ((0, 0), (1, 1)), number, "10 in all") for number in range(COLOURS + 1)]
    polylines = list(drawn(chart_of(*lines)).iter("polyline"))
    assert [line.get("class") for line in polylines] == [*(f"c{number}" for number in range(COLOURS)), "c0"]
    assert polylines[1][0].text == "flow1: 10 in all"


def test_names_are_text() -> None:
    """Nothing that a scenario calls itself becomes an element."""
    evil = "<script>alert(1)</script>"
    text = svg(chart_of(Line(evil, ((0, 0),), 0, evil), levels=(Mark(evil, 1),), marks=(Mark(evil, 0),)))
    assert "<script" not in text
    assert text.count("&lt;script&gt;") == 6


@given(lines_of_points, st.booleans())
def test_everything_is_on_the_drawing(points: list[Point], step: bool) -> None:  # noqa: FBT001 - drawn
    """No place of a line is outside, and a line begins and ends where its points do."""
    root = drawn(chart_of(line := line_of(points, step=step)))
    height = float(root.get("viewBox", "").split()[3])
    (corners,) = places(root)
    assert all(0 <= x <= WIDTH and 0 <= y <= height for x, y in corners)
    ends = drawn(chart_of(Line("ends", (line.points[0], line.points[-1]), 0)))
    assert [corners[0], corners[-1]] == [places(ends)[0][0], places(ends)[0][-1]]


@given(lines_of_points)
def test_thinning_keeps_what_is_seen(points: list[Point]) -> None:
    """Of however many points at most four in a column of pixels, the lowest and highest among them."""
    (corners,) = places(drawn(chart_of(line_of(points))))
    # A place is rounded to a tenth of a pixel, so one may show in the next column.
    assert len(corners) <= 4 * WIDTH
    alone = [places(drawn(chart_of(line_of([point]))))[0][0][1] for point in points[:50]]
    assert max(y for _, y in corners) >= max(alone)
    assert min(y for _, y in corners) <= min(alone)


def test_many_points_take_little_room() -> None:
    """A flow of ten minutes does not make a page of megabytes."""
    points = [(number / 100_000, (number * 7919 % 1000) / 1000) for number in range(100_000)]
    assert len(svg(chart_of(line_of(points)))) < 60_000


def test_what_is_level_is_one_line() -> None:
    """A queue that stays empty takes two places, however often it was looked at."""
    (corners,) = places(drawn(chart_of(line_of([(number / 1000, 0) for number in range(1001)]))))
    assert len(corners) == 2


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=1, max_size=50))
def test_steps_go_across_or_up(points: list[tuple[int, int]]) -> None:
    """What holds until the next reading is level, and then it is something else at once."""
    line = line_of([(x / 100, y / 100) for x, y in dict(points).items()], step=True)
    (corners,) = places(drawn(chart_of(line)))
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in itertools.pairwise(corners))


def test_a_step_holds_until_the_next_point() -> None:
    """It is level first and moves at the x of the next point, not of its own."""
    (corners,) = places(drawn(chart_of(line_of([(0, 0), (0.5, 1), (1, 0)], step=True))))
    (left, low), (middle, still_low), (again, high) = corners[:3]
    assert (still_low, again) == (low, middle)
    assert left < middle
    assert high < low


@given(st.lists(shares, min_size=2, max_size=4))
def test_names_of_levels_do_not_meet(heights: list[float]) -> None:
    """However near two levels are, both can be read."""
    root = drawn(chart_of(levels=tuple(Mark(f"level {y}", y) for y in heights)))
    baselines = sorted(float(t.get("y", "")) for t in root.iter("text") if (t.text or "").startswith("level"))
    assert all(below - above >= 12.9 for above, below in itertools.pairwise(baselines))


@given(st.lists(shares, max_size=20))
def test_names_of_marks_do_not_meet(places_of_marks: list[float]) -> None:
    """Every mark has its line; a name that would run into the one before is left out."""
    root = drawn(chart_of(marks=tuple(Mark("download", x) for x in places_of_marks)))
    (group,) = (element for element in root.iter("g") if element.get("class") == "mark")
    assert len(group.findall("line")) == len(places_of_marks)
    lefts = [float(text.get("x", "")) for text in group.findall("text")]
    assert bool(lefts) == bool(places_of_marks)
    assert all(after - before > 6 * len("download") for before, after in itertools.pairwise(lefts))


def test_the_same_chart_is_the_same_text() -> None:
    """To the byte."""
    assert svg(chart_of(line_of([(0, 0.3), (0.7, 0.1)]))) == svg(chart_of(line_of([(0, 0.3), (0.7, 0.1)])))
