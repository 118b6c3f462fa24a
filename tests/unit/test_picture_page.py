"""The burst picture in a browser: what it shows, what hands do to it, and that nothing else happens."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import pytest
from browser import look, opened
from bursts import FRAMES, LENGTH_BYTES, WIRE_NS, at_ps, burst, headers, picture, record
from pages import LOSSY, judged, outcome
from recorded import plan

from wirelab.report.html import html_report
from wirelab.report.picture import AROUND_NS
from wirelab.results.record import Event, Fill, Frame, Kind, Sent

if TYPE_CHECKING:
    from pathlib import Path

EVIL = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>"


@pytest.fixture
def html(tmp_path: Path) -> Path:
    """A report with the picture of five frames."""
    return written(tmp_path, html_report(outcome(judged(tmp_path, LOSSY)).run, [picture()]))


def written(folder: Path, text: str) -> Path:
    """The page as a file."""
    path = folder / "report.html"
    path.write_text(text, encoding="utf-8")
    return path


def seen(page: Any) -> tuple[float, float]:  # noqa: ANN401 - Playwright is no dependency of wirelab
    """The part of the moment that the canvas shows, in ns."""
    page.wait_for_timeout(50)
    data = page.locator(".burst canvas").evaluate("canvas => ({...canvas.dataset})")
    return float(data["fromNs"]), float(data["untilNs"])


def place(page: Any, label: str, row: str, at_ns: float) -> dict[str, float]:  # noqa: ANN401
    """Where on the canvas an instant is, in a row of a lane."""
    from_ns, until_ns = seen(page)
    rows = json.loads(page.locator(".burst canvas").get_attribute("data-rows"))
    number = [lane.label for lane in burst().lanes].index(label)
    width = page.locator(".burst canvas").bounding_box()["width"]
    return {"x": (at_ns - from_ns) / (until_ns - from_ns) * width, "y": rows[number][row] + 5}


def test_it_opens_at_the_first_drop(html: Path) -> None:
    """With the frames of the record, and above everything but the verdict."""
    with opened(html) as page:
        assert page.locator(".burst canvas").get_attribute("data-frames") == str(FRAMES)
        from_ns, until_ns = seen(page)
        assert from_ns < AROUND_NS < until_ns < 2 * AROUND_NS
        assert page.locator("h2").all_inner_texts()[:2] == ["The burst", "Flows"]


def test_a_frame_that_is_clicked_tells_its_story(html: Path) -> None:
    """Where it left, where it came to, and why it went no farther."""
    drop_ns = list(accumulate(burst().lanes[4].drops.at_ns))[1]
    with opened(html) as page:
        canvas = page.locator(".burst canvas")
        canvas.click(position=place(page, "switch.p2", "sent", drop_ns - 600))
        told = page.locator(".burst-story").inner_text()
        assert told.startswith("Frame 4 (TCP 10.0.0.1 port 5201 to 10.0.0.2 port 40000")
        assert "left switch.p2 at 4.200\u202f001\u202f221 s, came to module.host" in told
        assert "dropped at module.line: FIFO 16 KiB full, 15 140 B waiting." in told
        canvas.click(position=place(page, "module.line", "fill", drop_ns))
        assert page.locator(".burst-story").inner_text() == told
        canvas.press("Escape")
        assert "Choose a frame" in page.locator(".burst-story").inner_text()


def test_wheel_drag_and_keys_zoom_and_pan(html: Path) -> None:
    """About the pointer, with it, and never beyond what was recorded; without Ctrl the page scrolls."""
    with opened(html) as page:
        canvas = page.locator(".burst canvas")
        at = place(page, "switch.p2", "sent", AROUND_NS)
        before = seen(page)
        canvas.hover(position=at)
        page.evaluate("() => { window.scrolled = new Promise(done => { onscroll = () => done(true); }); }")
        page.mouse.wheel(0, -40)
        assert seen(page) == before
        page.mouse.wheel(0, 40)
        assert page.evaluate("scrolled")
        assert seen(page) == before
        page.evaluate("scrollTo(0, 0)")
        page.keyboard.down("Control")
        page.mouse.wheel(0, -150)
        page.keyboard.up("Control")
        closer = seen(page)
        assert closer[1] - closer[0] < 0.7 * (before[1] - before[0])
        assert place(page, "switch.p2", "sent", AROUND_NS)["x"] == pytest.approx(at["x"], abs=1)
        box = canvas.bounding_box()
        page.mouse.move(box["x"] + 300, box["y"] + 50)
        page.mouse.down()
        page.mouse.move(box["x"] + 200, box["y"] + 50, steps=5)
        page.mouse.up()
        dragged = seen(page)
        assert dragged[1] - dragged[0] == pytest.approx(closer[1] - closer[0])
        assert dragged[0] > closer[0]
        canvas.press("Home")
        assert seen(page) == (0, 2 * AROUND_NS)
        canvas.press("ArrowRight")
        assert seen(page) == (0, 2 * AROUND_NS)
        canvas.press("+")
        assert seen(page) == (AROUND_NS / 2, 1.5 * AROUND_NS)


WRITTEN = """() => {
  const first = CanvasRenderingContext2D.prototype.fillText;
  window.words = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
    words.push([text, y]);
    first.call(this, text, x, y, ...more);
  };
}"""
"""Keeps what is written, and at which height: that of the axis is 8."""
UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000}


def in_ns(word: str) -> int:
    """What a word of the axis says."""
    number, _, unit = word.replace("\u2212", "-").partition(" ")
    return round(float(number) * UNITS_NS[unit]) if unit else int(number)


def test_the_axis_tells_times_as_far_apart_as_they_are(html: Path) -> None:
    """However closely one looks: zeros go behind a point only."""
    told: set[str] = set()
    with opened(html) as page:
        canvas = page.locator(".burst canvas")
        page.evaluate(WRITTEN)
        canvas.press("Home")
        for _ in range(20):
            page.wait_for_timeout(50)
            page.evaluate("words.length = 0")
            canvas.press("+")
            page.wait_for_timeout(50)
            words = page.evaluate("words.filter(([, y]) => y === 8).map(([text]) => text)")
            told |= set(words)
            places = [in_ns(word) for word in words]
            assert len({after - before for before, after in pairwise(places)}) == 1, words
    assert {"+5 ns", "+50 ns", "+100 ns", "+500 ns", "+1 us", "+1.5 us", "+10 us", "+100 us"} <= told


def test_a_lane_says_over_which_time_frames_were_dropped(html: Path) -> None:
    """That of the moment which was kept; where there is room for little, what was dropped stays."""
    with opened(html) as page:
        for width, told in (
            (1280, "queue: at most 3 028 B of 16 KiB, 3 dropped in 4 ms"),
            (330, "3 dropped"),
        ):
            page.set_viewport_size({"width": width, "height": 740})
            page.evaluate(WRITTEN)
            page.locator(".burst canvas").press("Home")
            page.wait_for_timeout(50)
            words = page.evaluate("words.map(([text]) => text)")
            assert any(told in word.replace("\u202f", " ") for word in words), words


def test_what_fills_and_empties_in_an_instant_is_a_mark(tmp_path: Path) -> None:
    """No area could be filled below it, and a lane that says how much it held at most looks empty."""
    told = [one for one in record() if not isinstance(one, Fill)]
    at = at_ps(-420_000)
    told += [Fill(at, Kind.QUEUED, "module-line", 1, held, held // 1500) for held in (12_000, 0)]
    told.sort(key=lambda one: one.at_ps)
    html = html_report(outcome(judged(tmp_path, LOSSY)).run, [picture(burst(told))])
    with opened(written(tmp_path, html)) as page:
        canvas = page.locator(".burst canvas")
        canvas.press("Home")
        page.wait_for_timeout(50)
        [lane] = [
            lane
            for lane, of in zip(json.loads(canvas.get_attribute("data-rows")), burst().lanes, strict=True)
            if of.label == "module.line"
        ]
        x = canvas.bounding_box()["width"] * (AROUND_NS - 420_000) / (2 * AROUND_NS)
        colours = canvas.evaluate(
            """(canvas, [left, y]) => {
                const ratio = devicePixelRatio;
                const row = canvas.getContext("2d").getImageData(left * ratio, y * ratio, 20 * ratio, 1);
                return new Set(new Uint32Array(row.data.buffer)).size;
            }""",
            [x - 10, lane["fill"] + 25],
        )
        assert colours > 1


def test_keys_go_from_frame_to_frame_in_sight(tmp_path: Path) -> None:
    """The first is one that is in the view, and the view goes along with those that are not."""
    told: list[Frame | Event] = record()
    for number in range(FRAMES + 1, 41):
        end_ps, start_ps = at_ps((number - 3) * WIRE_NS), at_ps((number - 4) * WIRE_NS)
        told.append(Frame(end_ps, number, LENGTH_BYTES, headers(1448 * number)))
        told.append(Sent(end_ps, Kind.SENT, "switch-p2", number, start_ps, False, False))  # noqa: FBT003
    html = html_report(outcome(judged(tmp_path, LOSSY)).run, [picture(burst(told))])
    with opened(written(tmp_path, html)) as page:
        canvas = page.locator(".burst canvas")
        for key in ("+", "+", "ArrowRight", "ArrowRight"):
            canvas.press(key)
        from_ns, until_ns = seen(page)
        first = int(3 + 1 + (from_ns - AROUND_NS) // WIRE_NS)
        for key in ("n", "Escape", "p"):
            canvas.press(key)
            assert canvas.get_attribute("data-frame") == ("" if key == "Escape" else str(first))
        assert seen(page) == (from_ns, until_ns)
        for number in (*range(first + 1, 41), 40, *range(39, FRAMES, -1)):
            back = number < int(canvas.get_attribute("data-frame"))
            canvas.press("p" if back else "n")
            assert canvas.get_attribute("data-frame") == str(number)
            shown = seen(page)
            assert shown[0] - AROUND_NS < (number - 3) * WIRE_NS
            assert shown[1] - AROUND_NS > (number - 4) * WIRE_NS
            assert shown[1] - shown[0] == pytest.approx(until_ns - from_ns)


def test_a_picture_says_which_moment_it_shows(tmp_path: Path) -> None:
    """To who cannot see it, when another one is opened too; keys are told to be its own."""
    moments = picture(burst(), replace(burst(), title="the 4 ms with the most drops"))
    html = html_report(outcome(judged(tmp_path, LOSSY)).run, [moments])
    with opened(written(tmp_path, html)) as page:
        canvas = page.get_by_role("application", name="The frames at each port around")
        assert canvas.get_attribute("aria-label") == "The frames at each port around first drop"
        page.get_by_role("button", name="the 4 ms with the most drops").click()
        said = "The frames at each port around the 4 ms with the most drops"
        assert canvas.get_attribute("aria-label") == said
        assert (
            page.get_by_role("application", name="Goodput").get_attribute("aria-roledescription") == "chart"
        )


def test_a_phone_and_paper_have_it_whole(html: Path) -> None:
    """Nothing is wider than the screen or the sheet; what is drawn is no empty canvas."""
    with opened(html, 360, 740) as page:
        look(page, "burst")
        page.set_viewport_size({"width": 360, "height": 740})
        box = page.locator(".burst canvas").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        page.emulate_media(media="print")
        page.wait_for_timeout(50)
        colours = page.locator(".burst canvas").evaluate(
            """canvas => new Set(new Uint32Array(canvas.getContext("2d")
                .getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"""
        )
        assert colours > 10
        assert not page.locator(".burst-tools").is_visible()


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    """Of ports, causes and variants: the page has their letters and no element of theirs."""
    lanes = burst().lanes
    evil = replace(
        burst(), title=EVIL, lanes=(replace(lanes[0], holds=EVIL), *lanes[1:]), what=(EVIL,) * FRAMES
    )
    html = html_report(outcome(judged(tmp_path, LOSSY, of=plan(EVIL))).run, [picture(evil, variant=EVIL)])
    with opened(written(tmp_path, html)) as page:
        assert page.title() == "sfp-mismatch: pass"
        assert page.locator("img").count() == 0
        page.locator(".burst canvas").press("n")
        assert EVIL in page.locator(".burst-story").inner_text()


def test_without_scripts_a_sentence_says_what_is_missing(html: Path) -> None:
    """And the tables are all there."""
    with opened(html, scripts=False) as page:
        assert not page.locator(".burst").is_visible()
        assert "With scripts this page has a picture" in page.locator("body").inner_text()
        assert page.locator("table").first.is_visible()
