"""Slides of an exercise: what is on them, and how they are gone through."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser import look, opened
from bursts import picture
from classroom import COURSE, measured, sample
from examples import ROOT

from wirelab import report
from wirelab.exercise.draw import drawn
from wirelab.exercise.network import Networks
from wirelab.exercise.slides import slides_page
from wirelab.model.exercise_reader import load_exercise

if TYPE_CHECKING:
    from wirelab.model.assignment import Assignment

PAGE = Path(__file__).resolve().parents[2] / "page"
BUNDLE = Path(report.__file__).parent / "slides.js"


def slides(exercise: Assignment, folder: Path) -> Path:
    """A file of slides whose runs are recorded."""
    figures = drawn(exercise, COURSE, "grace")
    networks = Networks(exercise, figures)
    setups = {run.name: networks.run(run.name) for run in exercise.said.networks}
    results = measured(exercise, setups, folder / "runs")
    path = folder / "slides.html"
    runs = {name: results[setup] for name, setup in setups.items()}
    digests = [digest for one in runs.values() if (digest := one.digest)]
    pictures = [replace(picture(), digest=digest) for digest in digests]
    path.write_text(slides_page(exercise, figures, runs, pictures), encoding="utf-8")
    return path


def test_each_prediction_is_voted_on_before_anything_is_shown_that_was_measured(tmp_path: Path) -> None:
    """One of four figures is the measured one; beside it stands what who knows the line alone would guess."""
    page = slides(sample(), tmp_path).read_text(encoding="utf-8")
    votes, pictures, answers = (page.index(f'class="slide {kind}"') for kind in ("vote", "picture", "answer"))
    assert votes < pictures < answers
    assert page.count('class="slide vote"') == len(sample().said.predictions)
    assert ">measured<" not in page[:pictures]
    assert "guess: the line is full" in page[answers:]
    assert "guess: it does not happen <b>0</b>" in page[answers:]
    assert re.search(r"measured <b>[^<]+</b> \([A-D]\)", page[answers:])


def test_slides_are_gone_through_by_keys_and_by_a_tap(tmp_path: Path) -> None:
    """Each fills the screen; an arrow, a blank or a click leads on, and Home leads back."""
    with opened(slides(sample(), tmp_path), 1280, 720) as page:
        shown = page.locator(".slide")
        assert all(one.bounding_box()["height"] <= 721 for one in shown.all())

        def here() -> int:
            page.wait_for_timeout(100)
            return int(page.evaluate("Math.round(scrollY / innerHeight)"))

        for key, place in (
            ("ArrowRight", 1),
            (" ", 2),
            ("ArrowLeft", 1),
            ("End", shown.count() - 1),
            ("Home", 0),
        ):
            page.keyboard.press(key)
            assert here() == place
        page.mouse.click(640, 360)
        assert here() == 1


def test_slides_are_gone_through_from_a_button_too(tmp_path: Path) -> None:
    """Who has pressed one goes on by the arrows; the blank presses it again, a picture keeps its own keys."""
    with opened(slides(sample(), tmp_path), 1280, 720) as page:
        chart = page.locator(".drawn:has(canvas)").first
        number = int(page.locator(".slide:has(.drawn)").first.get_attribute("id").removeprefix("slide-"))

        def here() -> str:
            page.wait_for_timeout(100)
            return str(page.evaluate("location.hash"))

        page.goto(f"{page.url}#slide-{number}")
        key = page.locator(".slide:has(.drawn) button.key").first
        key.click()
        assert key.get_attribute("aria-pressed") == "false"
        key.press(" ")
        assert key.get_attribute("aria-pressed") == "true"
        assert here() == f"#slide-{number}"
        key.press("ArrowRight")
        assert here() == f"#slide-{number + 1}"
        page.keyboard.press("ArrowLeft")
        assert here() == f"#slide-{number}"
        chart.press("ArrowRight")
        assert here() == f"#slide-{number}"


def test_slides_are_read_from_the_last_row(tmp_path: Path) -> None:
    """Each has its number; the names of ports in a burst picture are 16 px high on 1280 by 720."""
    with opened(slides(sample(), tmp_path), 1280, 720) as page:
        numbers = page.locator(".slide > .number").all_inner_texts()
        assert numbers == [str(number) for number in range(1, page.locator(".slide").count() + 1)]
        canvas = page.locator(".burst canvas").first
        letters = canvas.evaluate("one => parseFloat(getComputedStyle(one).getPropertyValue('--letters'))")
        zoom = canvas.evaluate("one => one.currentCSSZoom")
        assert letters * zoom >= 16
        lane = json.loads(canvas.get_attribute("data-rows"))[0]
        assert lane["sent"] - lane["top"] >= letters


def test_slides_are_as_wide_as_a_phone(tmp_path: Path) -> None:
    """Nothing is wider than the screen but what can be scrolled itself."""
    with opened(slides(sample(), tmp_path), 390, 844) as page:
        look(page, "slides")


def test_slides_are_printed_a_page_each(tmp_path: Path) -> None:
    """So many slides, so many pages, at 16:9."""
    with opened(slides(sample(), tmp_path)) as page:
        count = page.locator(".slide").count()
        printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == count


def test_slides_tell_nothing_of_a_hidden_fault() -> None:
    """The network is drawn as it should be, and nothing of the run is there."""
    exercise = load_exercise("mystery-network", ROOT)
    page = slides_page(exercise, drawn(exercise, COURSE, "grace"), {})
    assert "The mystery network" in page
    assert 'class="slide picture"' not in page
    for figure in exercise.hidden:
        assert f"<span>{figure} " not in page


def test_the_script_of_slides_is_what_its_source_says(tmp_path: Path) -> None:
    """What is shipped is what esbuild makes of the folder."""
    if shutil.which("npm") is None or not (PAGE / "node_modules").is_dir():
        pytest.skip("its tools are not here: npm ci --prefix page")
    bundle = tmp_path / "slides.js"
    build = ["npm", "run", "--silent", "build:slides", "--", f"--outfile={bundle}", "--log-level=warning"]
    subprocess.run(build, cwd=PAGE, check=True)  # noqa: S603 - the tools of the folder
    assert bundle.read_text(encoding="utf-8") == BUNDLE.read_text(encoding="utf-8")
