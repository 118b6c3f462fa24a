"""Charts: axes in the unit that suits, and the JSON that a page's script draws."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab.report.chart import COLOURS, Axis, Chart, Line, Mark, Plots, Range, Spans
from wirelab.units import COUNT, MICROSECONDS, NS_PER_S, RATE, RATIO, SIZE, TIME

xs = st.lists(st.integers(0, 10**12), unique=True, max_size=200).map(sorted)


def chart_of(*lines: Line, **more: Any) -> Chart:  # noqa: ANN401 - what a chart has
    """A chart of 10 s and 1 Gbit/s."""
    time = Axis.of("virtual time", TIME, 10 * NS_PER_S, unit="s")
    return Chart("Goodput", time, Axis.of("goodput", RATE, 1e9), lines, **more)


def drawn(*charts: Chart) -> dict[str, Any]:
    """What the script reads."""
    told: dict[str, Any] = json.loads(Plots.of(charts).data)
    return told


def line_of(*points: tuple[float, float], name: str = "download", colour: int = 0) -> Line:
    """A line through points."""
    return Line(name, points, colour)


@pytest.mark.parametrize(
    ("axis", "label", "per_unit"),
    [
        (Axis.of("goodput", RATE, 2.37e9), "goodput (Gbit/s)", 1e9),
        (Axis.of("goodput", RATE, 940e6), "goodput (Mbit/s)", 1e6),
        (Axis.of("RTT", MICROSECONDS, 1418), "RTT (ms)", 1e3),
        (Axis.of("held", SIZE, 0), "held (B)", 1),
        (Axis.of("dropped frames", COUNT, 159), "dropped frames", 1),
        (Axis.of("time paused", RATIO, 1_000_000), "time paused (%)", 1e4),
        (Axis.of("virtual time", TIME, 24 * NS_PER_S, unit="s"), "virtual time (s)", 1e9),
    ],
)
def test_an_axis_has_the_unit_that_suits(axis: Axis, label: str, per_unit: float) -> None:
    """Its label says it, and the script learns how much of it makes one."""
    told = drawn(Chart("x", axis, axis, ()))["charts"][0]["y"]
    assert (told["label"], told["perUnit"]) == (label, per_unit)
    assert axis.high > 0


def test_values_are_told_in_the_units_of_their_quantity() -> None:
    """Those that a rounded figure may be printed in, with what they are worth."""
    (chart,) = drawn(chart_of())["charts"]
    assert chart["y"]["units"] == [["bit/s", 1], ["kbit/s", 1e3], ["Mbit/s", 1e6], ["Gbit/s", 1e9]]
    assert drawn(Chart("x", chart_of().x, Axis.of("drops", COUNT, 5), ()))["charts"][0]["y"]["units"] == []


def test_things_with_names_have_places() -> None:
    """0, 1, 2, and no quantity."""
    axis = Axis.of_names("module.fifo", ("8 KiB", "16 KiB", "32 KiB"))
    told = drawn(Chart("Goodput", axis, axis, ()))["charts"][0]["x"]
    assert (told["label"], told["names"], told["high"]) == (
        "module.fifo",
        ["8 KiB", "16 KiB", "32 KiB"],
        2,
    )


@given(xs)
def test_instants_come_as_differences(instants: list[int]) -> None:
    """Added up they are what they were, to the nanosecond."""
    told = drawn(chart_of(line_of(*((at, 1) for at in instants))))
    column = told["columns"][told["charts"][0]["lines"][0]["x"]]
    assert list(itertools.accumulate(column)) == instants


def test_lines_of_the_same_samples_share_their_instants() -> None:
    """However many lines and charts there are of them."""
    one, other = line_of((0, 1), (5, 2)), line_of((0, 3), (5, 4), name="upload")
    told = drawn(chart_of(one, other), chart_of(other), chart_of(line_of((0, 1))))
    assert len(told["columns"]) == 2
    assert [line["x"] for chart in told["charts"] for line in chart["lines"]] == [0, 0, 0, 1]


def test_whole_numbers_stay_whole() -> None:
    """Counts are exact; of other figures there are as many digits as anybody reads."""
    (chart,) = drawn(chart_of(line_of((0, 123_456_789), (1, 1207340123.4), (2, 1 / 3))))["charts"]
    assert chart["lines"][0]["y"] == [123_456_789, 1_207_340_000, 0.3333333]


def test_a_chart_has_all_that_was_said_of_it() -> None:
    """Lines, strokes, levels, marks in their order, and ranges with their open ends."""
    (chart,) = drawn(
        chart_of(
            Line("download", ((0, 1),), 1, step=True),
            Line("samples", ((0, 1),), COLOURS + 2, dots=True, dashed=True),
            spans=(Spans("sent", ((3, 10, 14), (4, 14, 18)), 3),),
            levels=(Mark("FIFO 16 KiB", 0.8),),
            marks=(Mark("download", 5), Mark("upload", 1)),
            ranges=(Range("expected", None, 50, 1, 9, 1),),
            from_zero=False,
        )
    )["charts"]
    assert [(line["drawn"], line["colour"], line["dashed"]) for line in chart["lines"]] == [
        ("step", 1, False),
        ("dots", 2, True),
    ]
    assert [(one["low"], one["size"]) for one in chart["spans"]] == [([10, 4], [4, 4])]
    assert chart["levels"] == [["FIFO 16 KiB", 0.8]]
    assert chart["marks"] == [["upload", 1], ["download", 5]]
    assert chart["ranges"] == [{"low": None, "high": 50, "begins": 1, "ends": 9, "colour": 1}]
    assert chart["fromZero"] is False


def test_a_chart_says_what_it_shows() -> None:
    """To who cannot see it."""
    chart = chart_of(Line("download", ((0, 1),), 0, "1.2 Gbit/s in all"), line_of(name="upload"))
    words = "Goodput: goodput (Gbit/s) over virtual time (s). download: 1.2 Gbit/s in all; upload"
    assert str(chart) == words


def test_names_are_text() -> None:
    """Nothing that a scenario calls itself ends the element that has the data."""
    evil = "</script><script>alert(1)</script>"
    data = Plots.of([chart_of(line_of(name=evil), levels=(Mark(evil, 1),), marks=(Mark(evil, 0),))]).data
    assert "<" not in data
    assert json.loads(data)["charts"][0]["lines"][0]["name"] == evil


def test_the_same_charts_are_the_same_text() -> None:
    """To the byte."""
    assert Plots.of([chart_of(line_of((0, 0.3)))]) == Plots.of([chart_of(line_of((0, 0.3)))])
