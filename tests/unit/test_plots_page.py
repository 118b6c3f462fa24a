"""The charts of a page in a browser: linked zoom and cursor, hands and keys, phones, paper, and the dark."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from browser import look, opened
from pages import DROPS, FEW, GOODPUT, judged, outcome
from recorded import plan
from test_compare import side
from test_sweep import sweep

from wirelab.report.chart import Axis, Chart, Line, Mark, Plots, Range, Spans
from wirelab.report.compare import comparison_page
from wirelab.report.html import filled_in, html_report
from wirelab.report.script import Script
from wirelab.report.sweep import heat_map
from wirelab.runner.compare import compare
from wirelab.units import NS_PER_S, SIZE, TIME

if TYPE_CHECKING:
    from pathlib import Path

EVIL = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>"
END_NS = 7.2 * NS_PER_S


@pytest.fixture
def html(tmp_path: Path) -> Path:
    """A report with a variant and a control."""
    variants = (judged(tmp_path / "a", GOODPUT, DROPS), judged(tmp_path / "b", FEW, breaks=FEW.name))
    return written(tmp_path, html_report(outcome(*variants).run))


def written(folder: Path, text: str) -> Path:
    """The page as a file."""
    path = folder / "report.html"
    path.write_text(text, encoding="utf-8")
    return path


def views(page: Any) -> set[tuple[float, float]]:  # noqa: ANN401 - Playwright is no dependency of wirelab
    """The parts of their axis that the charts of a page show, in ns."""
    page.wait_for_timeout(50)
    drawn = page.locator(".drawn:has(canvas)").evaluate_all("all => all.map(one => ({...one.dataset}))")
    return {(float(one["from"]), float(one["until"])) for one in drawn}


def over(page: Any, chart: int, at_ns: float) -> tuple[float, float]:  # noqa: ANN401 - the same
    """Where on the screen an instant of a chart is, with the chart in sight."""
    area = page.locator(".u-over").nth(chart)
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    ((from_ns, until_ns),) = views(page)
    return box["x"] + (at_ns - from_ns) / (until_ns - from_ns) * box["width"], box["y"] + box["height"] / 2


def drag(page: Any, chart: int, from_ns: float, until_ns: float) -> None:  # noqa: ANN401 - the same
    """Mark a part of a chart with the mouse."""
    start, end = over(page, chart, from_ns), over(page, chart, until_ns)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def test_a_drag_zooms_all_charts(html: Path) -> None:
    """To what was marked in one of them; a double click, and the button, go back."""
    with opened(html) as page:
        assert views(page) == {(0, END_NS)}
        drag(page, 0, 4 * NS_PER_S, 6 * NS_PER_S)
        ((from_ns, until_ns),) = views(page)
        assert from_ns == pytest.approx(4 * NS_PER_S, abs=0.02 * NS_PER_S)
        assert until_ns == pytest.approx(6 * NS_PER_S, abs=0.02 * NS_PER_S)
        assert page.locator(".plot-tools span").first.inner_text().startswith("4.0")
        page.mouse.dblclick(*over(page, 2, 5 * NS_PER_S))
        assert views(page) == {(0, END_NS)}
        drag(page, 1, NS_PER_S, 2 * NS_PER_S)
        page.get_by_role("button", name="the whole axis").first.click()
        assert views(page) == {(0, END_NS)}
        assert page.get_by_role("button", name="farther").first.is_disabled()


def test_the_cursor_of_one_is_that_of_all(html: Path) -> None:
    """Each legend has its own values of that instant, with units, and none when the pointer has left."""
    with opened(html) as page:
        page.mouse.move(*over(page, 2, 5.02 * NS_PER_S))
        told = page.locator(".plot").evaluate_all(
            "all => all.map(one => [...one.querySelectorAll('output')].map(output => output.textContent))"
        )
        shown = told[:4]
        # The upload is over then: it has no value any more.
        assert shown[0] == ["", "800 Mbit/s"]
        assert shown[1] == ["", "42"]
        assert shown[2] == ["", "312 us"]
        assert shown[3] == ["15.14 kB", "0 B"]
        page.mouse.move(5, 5)
        assert set(page.locator("output").all_inner_texts()) == {""}


def test_a_line_has_a_value_as_long_as_it_lasts(tmp_path: Path) -> None:
    """A step to its closing point, samples as far as the next one would be; a name has none of another's."""
    x, y = Axis.of("time", TIME, 1000), Axis.of("held", SIZE, 10)
    lines = (
        Line("step", [(100, 1), (200, 2), (300, 2)], 0, step=True),
        Line("line", [(100, 3), (200, 4)], 1),
        Line("dots", [(100, 5), (200, 6)], 2, dots=True),
    )
    names = Axis.of_names("module.fifo", ("8 KiB", "16 KiB", "32 KiB"))
    few = Line("few", [(0, 7), (1, 8)], 0)
    charts = (Chart("Over time", x, y, lines), Chart("By name", names, y, (few,)))
    with opened(made(tmp_path, *charts)) as page:

        def values(chart: int, share: float) -> list[str]:
            box = page.locator(".u-over").nth(chart).bounding_box()
            page.mouse.move(box["x"] + share * box["width"], box["y"] + 30)
            told: list[str] = page.locator(".plot").nth(chart).locator("output").all_inner_texts()
            return told

        assert values(0, 0.05)[:2] == ["", ""]
        assert values(0, 0.19) == ["1 B", "4 B", "6 B"]
        assert values(0, 0.28) == ["2 B", "4 B", "6 B"]
        assert values(0, 0.32) == ["", "", ""]
        assert values(0, 0.99) == ["", "", ""]
        assert [values(1, share) for share in (0.1, 0.5, 0.9)] == [["7 B"], ["8 B"], [""]]


def test_charts_are_of_one_time_though_one_lasts_longer(tmp_path: Path) -> None:
    """Those that are drawn already show as much as the longest; then there is nothing more to go back to."""
    flows = []
    for name, end in (("short", 1000), ("long", 4000), ("middling", 2000)):
        axes = Axis.of("time", TIME, end), Axis.of("held", SIZE, 10)
        flows.append((name, Plots.of([Chart(name, *axes, (Line("queue", [(0, 1), (end, 5)], 0),))])))
    text = filled_in("graphs.html.j2", title="t", begins="0 s", flows=flows, script=Script.load())
    with opened(written(tmp_path, text)) as page:
        assert page.locator(".drawn canvas").count() == 3
        assert views(page) == {(0, 4000)}
        whole = page.get_by_role("button", name="the whole axis").first
        assert whole.is_disabled()
        drag(page, 0, 500, 900)
        assert whole.is_enabled()


def test_what_a_control_measured_shows_the_same_time(html: Path) -> None:
    """Folded away or not: who opens it sees what was looked at in the variant."""
    with opened(html) as page:
        drag(page, 0, 4 * NS_PER_S, 6 * NS_PER_S)
        page.get_by_text("What it measured").click()
        control = page.locator("details .drawn:has(canvas)")
        control.first.scroll_into_view_if_needed()
        assert control.count() == 9
        assert len(views(page)) == 1
        assert views(page) != {(0, END_NS)}


def test_keys_move_the_cursor_and_zoom(html: Path) -> None:
    """Whoever has no mouse reaches each chart, hears its values and gets as close."""
    with opened(html) as page:
        chart = page.locator(".drawn").nth(1)
        chart.focus()
        chart.press("ArrowRight")
        aloud = page.locator(".plots .aloud").first
        assert aloud.inner_text() == "3.672 s. Congestion window: upload nothing, download nothing"
        chart.press("Shift+ArrowRight")
        assert aloud.inner_text() == "4.392 s. Congestion window: upload nothing, download 42"
        chart.press("+")
        ((from_ns, until_ns),) = views(page)
        assert until_ns - from_ns == pytest.approx(END_NS / 2)
        chart.press("PageDown")
        assert views(page) != {(from_ns, until_ns)}
        chart.press("Home")
        assert views(page) == {(0, END_NS)}
        key = page.locator(".plot button.key").first
        key.press("Enter")
        assert key.get_attribute("aria-pressed") == "false"


def test_fingers_read_pinch_and_press(html: Path) -> None:
    """One finger moves the cursor, two zoom; a button goes back."""
    with opened(html, 390, 844) as page:
        area = page.locator(".u-over").first
        area.scroll_into_view_if_needed()
        touch = """(area, [[id, kind, share]]) => area.dispatchEvent(new PointerEvent(kind, {
            pointerId: id, pointerType: 'touch', bubbles: true,
            clientX: area.getBoundingClientRect().x + share * area.clientWidth,
            clientY: area.getBoundingClientRect().y + 20}))"""
        area.evaluate(touch, [[1, "pointerdown", 0.7]])
        assert page.locator("output").nth(1).inner_text() == "800 Mbit/s"
        area.evaluate(touch, [[2, "pointerdown", 0.9]])
        area.evaluate(touch, [[2, "pointermove", 0.95]])
        area.evaluate(touch, [[1, "pointermove", 0.55]])
        ((from_ns, until_ns),) = views(page)
        assert until_ns - from_ns == pytest.approx(END_NS / 2, rel=0.02)
        page.get_by_role("button", name="the whole axis").first.click()
        assert views(page) == {(0, END_NS)}


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(html: Path, width: int) -> None:
    """On a phone or a desk, closely looked at or not."""
    with opened(html, width, 844) as page:
        page.get_by_text("What it measured").click()
        drag(page, 0, 4.1 * NS_PER_S, 4.3 * NS_PER_S)
        drag(page, 0, 4.1234567 * NS_PER_S, 4.1434567 * NS_PER_S)
        assert views(page) != {(0, END_NS)}
        assert page.evaluate("document.documentElement.scrollWidth") == width
        boxes = [one.bounding_box() for one in page.locator(".uplot").all()]
        assert len(boxes) >= 10
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)


def colours(page: Any) -> list[str]:  # noqa: ANN401 - Playwright is no dependency of wirelab
    """The colour that is most of a line in the first chart, and how many there are."""
    found: list[str] = page.locator(".drawn canvas").first.evaluate(
        """canvas => {
            const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
            copy.drawImage(canvas, 0, 0);
            const data = copy.getImageData(0, 0, canvas.width, canvas.height).data;
            const seen = new Set();
            for (let at = 0; at < data.length; at += 4)
                if (data[at + 3] === 255) seen.add([...data.slice(at, at + 3)].join(" "));
            return [...seen];
        }"""
    )
    return found


def test_paper_has_the_charts_as_they_stand(html: Path) -> None:
    """In the colours of paper, within the sheet, without what nobody can press there."""
    with opened(html) as page:
        light, dark = "11 111 184", "90 179 245"
        page.emulate_media(color_scheme="dark")
        page.wait_for_timeout(100)
        assert dark in colours(page)
        assert light not in colours(page)
        page.emulate_media(media="print", color_scheme="dark")
        page.set_viewport_size({"width": 700, "height": 900})
        page.wait_for_timeout(100)
        assert light in colours(page)
        assert dark not in colours(page)
        assert not page.locator(".plot-tools").first.is_visible()
        box = page.locator(".drawn canvas").first.bounding_box()
        assert box["x"] + box["width"] <= 700
        assert page.evaluate("document.documentElement.scrollWidth") == 700


def made(tmp_path: Path, *charts: Chart) -> Path:
    """A page with these charts alone: that of the graphs."""
    flows = [("download", Plots.of(charts))]
    text = filled_in("graphs.html.j2", title="t", begins="0 s", flows=flows, script=Script.load())
    return written(tmp_path, text)


def test_strokes_are_seen_however_closely_one_looks(tmp_path: Path) -> None:
    """Segments fill the chart from the lowest to the highest in sight; the legend has the last of them."""
    strokes = [(at, at * 10, at * 10 + 1448) for at in range(0, 10_000_000, 1000)]
    chart = Chart(
        "Time-sequence",
        Axis.of("time", TIME, 10_000_000),
        Axis.of("sequence", SIZE, 100_001_448),
        (Line("acknowledged", [(0, 0), (10_000_000, 90_000_000)], 1, step=True),),
        spans=(Spans("sent", strokes, 0),),
        from_zero=False,
    )
    with opened(made(tmp_path, chart)) as page:
        drag(page, 0, 5_000_000, 5_050_000)
        assert views(page) != {(0, 10_000_000)}
        page.mouse.move(*over(page, 0, 5_020_500))
        assert page.locator("output").all_inner_texts() == ["0 B", "to 50.20 MB"]
        assert "11 111 184" in colours(page)


def test_a_hundred_thousand_points_are_all_there(tmp_path: Path) -> None:
    """None is left out, and a zoom shows the ones it is about."""
    points = [(at, at % 1000) for at in range(100_000)]
    axis = Axis.of("time", TIME, 100_000)
    chart = Chart("Many", axis, Axis.of("held", SIZE, 1000), (Line("queue", points, 0),))
    with opened(made(tmp_path, chart)) as page:
        assert page.locator(".drawn").get_attribute("data-points") == "100000"
        drag(page, 0, 49_500, 50_500)
        drag(page, 0, 50_000, 50_100)
        page.mouse.move(*over(page, 0, 50_042))
        assert page.locator("output").inner_text() == "42 B"


DOTTED = """() => {
  const first = CanvasRenderingContext2D.prototype.moveTo;
  window.marks = [];
  CanvasRenderingContext2D.prototype.moveTo = function (x, y) {
    if (this.getLineDash().join() === "1,3") marks.push(x);
    first.call(this, x, y);
  };
}"""


def test_marks_are_told_from_each_other(tmp_path: Path) -> None:
    """Of nine hundred so many that the plot is no block of them; closely looked at each is there."""
    axes = Axis.of("time", TIME, 9000), Axis.of("held", SIZE, 10)
    marks = tuple(Mark("patch.link down", at) for at in range(0, 9000, 10))
    chart = Chart("Many", *axes, (Line("queue", [(0, 1), (9000, 5)], 0),), marks=marks)
    with opened(made(tmp_path, chart)) as page:

        def drawn() -> list[float]:
            page.wait_for_timeout(50)
            told: list[float] = page.evaluate("marks.splice(0)")
            assert min(after - before for before, after in pairwise(told)) >= 3
            return told

        page.evaluate(DOTTED)
        page.locator(".drawn").press("Home")
        assert 200 < len(drawn()) < 400
        drag(page, 0, 4001, 4999)
        drawn()
        page.locator(".drawn").press("+")
        ((from_ns, until_ns),) = views(page)
        assert len(drawn()) == sum(from_ns <= mark.at <= until_ns for mark in marks)


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    """Of lines, levels, marks, ranges and axes: the page has their letters and no element of theirs."""
    axis = replace(Axis.of("time", TIME, 10), name=EVIL)
    chart = Chart(
        EVIL,
        axis,
        replace(axis, unit=EVIL),
        (Line(EVIL, [(0, 1), (10, 5)], 0, EVIL),),
        levels=(Mark(EVIL, 3),),
        marks=(Mark(EVIL, 3),),
        ranges=(Range(EVIL, 1, 2, 0, 9, 0),),
        note=EVIL,
    )
    with opened(made(tmp_path, chart)) as page:
        assert page.title() == "t: TCP"
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 2
        page.locator(".drawn").press("ArrowRight")
        assert EVIL in page.locator(".aloud").inner_text()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_comparison_has_each_seed(tmp_path: Path, width: int) -> None:
    """Both sides of what changed, by seed; hostile names of theirs stay text."""
    sides = side(tmp_path / "a", [150, 160, 170, 180]), side(tmp_path / "b", [250, 260, 270, 280])
    page_text = comparison_page(compare(*sides), EVIL, "after")
    with opened(written(tmp_path, page_text), width) as page:
        assert page.locator("img").count() == 0
        chart = page.locator(".plot").filter(has_text="module.line drops").locator(".drawn")
        chart.press("Home")
        for _ in range(3):
            chart.press("ArrowLeft")
        values = (
            page.locator(".plot").filter(has_text="module.line drops").locator("output").all_inner_texts()
        )
        assert values == ["150", "250"]
        assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", [390, 1280])
def test_a_sweep_has_each_value(tmp_path: Path, width: int) -> None:
    """Goodput and retransmissions of each flow over the setting; a value is named as it was written."""
    with opened(written(tmp_path, heat_map(sweep(tmp_path))), width) as page:
        charts = json.loads(page.locator(".plots script").inner_text())["charts"]
        assert [chart["title"] for chart in charts] == ["Goodput", "Retransmits"]
        assert [line["name"] for line in charts[1]["lines"]] == ["upload", "download"]
        chart = page.locator(".drawn").nth(1)
        chart.press("ArrowRight")
        assert page.locator(".aloud").inner_text().startswith("16 KiB. Retransmits: upload 0, download 2")
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_everybody_can_read_a_page(tmp_path: Path) -> None:
    """With keys alone, a reader of screens, little contrast: report, comparison, sweep, graphs."""
    variants = (judged(tmp_path / "a", GOODPUT, DROPS), judged(tmp_path / "b", FEW, breaks=FEW.name))
    sides = side(tmp_path / "before", [150, 160]), side(tmp_path / "after", [250, 260])
    axis = Axis.of("time", TIME, 10)
    graph = Chart("One", axis, Axis.of("held", SIZE, 10), (Line("queue", [(0, 1), (10, 5)], 0),))
    graphs = filled_in(
        "graphs.html.j2", title="t", begins="0 s", flows=[("down", Plots.of([graph]))], script=Script.load()
    )
    pages = {
        "report": html_report(outcome(*variants).run),
        "comparison": comparison_page(compare(*sides), "before", "after"),
        "sweep": heat_map(sweep(tmp_path / "sweep")),
        "graphs": graphs,
    }
    for name, text in pages.items():
        with opened(written(tmp_path, text)) as page:
            for summary in page.locator("summary").all():
                summary.click()
            look(page, name)


def test_the_plan_of_a_page_is_not_what_is_drawn(tmp_path: Path) -> None:
    """A run in which nothing was sent has no charts, and its page complains of nothing."""
    with opened(written(tmp_path, html_report(outcome(judged(tmp_path, of=plan())).run))) as page:
        assert page.locator(".plots").count() == 1
