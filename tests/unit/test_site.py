"""A site: pages with sliders, each of which leads somewhere, each page written whole."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from browser import CHROMIUM, look
from standin import Wirelab

from wirelab.units import NO_BREAK_SPACE

if TYPE_CHECKING:
    from pathlib import Path

LINK = re.compile(r'(?:href|src)="([^"#]+)"')


@pytest.fixture
def wirelab(tmp_path: Path) -> Wirelab:
    """The command line in a folder with ``lossy.yaml``, of which the smaller FIFO drops."""
    wirelab = Wirelab.make(tmp_path)
    wirelab.lab.order({f"point-{number}": {"dropped": number * 100} for number in range(1, 7)})
    return wirelab


def made(wirelab: Wirelab, *options: str) -> tuple[int, str, str]:
    """Make a site without pictures, for which a run would need a recorder."""
    vary = () if "--vary" in options else ("--vary", "module.fifo=8KiB,16KiB,32KiB")
    argv = ("lossy.yaml", *vary, "-o", "site", "--no-pictures", *options)
    return wirelab("site", *argv, *wirelab.lab.options)


def test_each_point_has_a_page_and_each_link_a_file(wirelab: Wirelab) -> None:
    """It opens with the scenario as it stands; nothing leads out of the folder, and nothing nowhere."""
    code, out, _ = made(wirelab)
    assert (code, out) == (0, "site/index.html\n")
    site = wirelab.folder / "site"
    pages = sorted(path.name for path in site.iterdir())
    assert pages == ["index.html", "point-1.html", "point-3.html", "sweep.json"]
    for page in site.glob("*.html"):
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            assert (site / target).is_file(), f"{page.name} leads to {target}"
    index = (site / "index.html").read_text(encoding="utf-8").replace(NO_BREAK_SPACE, " ")
    assert 'aria-current="page">16 KiB</a>' in index
    assert "download 1.16 Gbit/s, 302 retransmits" in index
    assert "module.fifo 16 KiB" in index


def test_a_slider_changes_its_own_setting_alone(wirelab: Wirelab) -> None:
    """Of six points each page leads to the two others of its row and the one other of its column."""
    made(wirelab, "--vary", "module.fifo=8KiB,16KiB,32KiB", "--vary", "client.rx_usecs=0,50")
    site = wirelab.folder / "site"
    sweep = json.loads((site / "sweep.json").read_text(encoding="utf-8"))
    assert not [point["folder"] for point in sweep["points"] if point["folder"]], "none of these is there"
    names = [f"point-{number}.html" for number in range(1, 7)]
    (first,) = [number for number, name in enumerate(names) if not (site / name).exists()]
    names[first] = "index.html"
    values = {name: point["values"] for name, point in zip(names, sweep["points"], strict=True)}
    for name in names:
        targets = {*LINK.findall((site / name).read_text(encoding="utf-8"))} - {name}
        near = {
            other
            for other in names
            if sum(a != b for a, b in zip(values[name], values[other], strict=True)) == 1
        }
        assert targets == near


def test_without_all_points_there_is_no_site(wirelab: Wirelab) -> None:
    """A lab that broke is an error with its own words, and an earlier site stays as it was."""
    made(wirelab)
    before = (wirelab.folder / "site" / "index.html").read_bytes()
    wirelab.lab.order({"point-1": {"message": "no carrier"}, "point-2": {"dropped": 1}})
    code, out, err = made(wirelab, "--vary", "module.fifo=64KiB,128KiB")
    assert (code, out) == (4, "")
    assert "module.fifo 64 KiB: error: no carrier" in err
    assert (wirelab.folder / "site" / "index.html").read_bytes() == before
    assert sorted(path.name for path in wirelab.folder.iterdir() if "site" in path.name) == ["site"]


def test_nobody_elses_files_are_replaced(wirelab: Wirelab) -> None:
    """A folder with anything but an earlier site is refused, before a lab runs; that is replaced."""
    folder = wirelab.folder / "site"
    folder.mkdir()
    (folder / "thesis.txt").touch()
    code, _, err = made(wirelab)
    assert (code, (folder / "thesis.txt").is_file()) == (2, True)
    assert "site: has other files: choose a folder that is new, empty, or an earlier site" in err
    (folder / "thesis.txt").unlink()
    assert made(wirelab)[0] == 0
    # As where pages are kept in a repository: an earlier site, and something else.
    (folder / ".git").mkdir()
    assert made(wirelab)[0] == 2
    (folder / ".git").rmdir()
    assert made(wirelab, "--vary", "module.fifo=16KiB,32KiB")[0] == 0
    assert not (folder / "point-3.html").exists()


def test_a_site_goes_where_one_stands(wirelab: Wirelab) -> None:
    """The folder stays the same one, be it a mount point or the current folder."""
    (wirelab.folder / "site").mkdir()
    before = (wirelab.folder / "site").stat().st_ino
    assert made(wirelab)[0] == made(wirelab)[0] == 0
    assert (wirelab.folder / "site").stat().st_ino == before


def test_options_of_sliders_need_one(wirelab: Wirelab) -> None:
    """An exercise has networks and a seed of its own."""
    code, _, err = wirelab("site", "shallow-buffer", "-o", "site", "--seed", "5", *wirelab.lab.options)
    assert (code, "--seed is of --vary" in err) == (2, True)


def test_too_many_pages_are_refused(wirelab: Wirelab) -> None:
    """Before anything runs."""
    code, _, err = made(wirelab, "--vary", "client.rx_usecs=0..500+1")
    assert code == 2
    assert "501 points are too many pages, at most 500" in err


@pytest.mark.parametrize("width", [1280, 390])
def test_a_slider_opens_the_page_of_its_value(wirelab: Wirelab, width: int) -> None:
    """From a folder, without a server: keys move it, its words follow, and going back goes back."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed")
    if CHROMIUM is None:
        pytest.skip("no browser: apt-get install chromium")
    made(wirelab)
    site = wirelab.folder / "site"
    complaints: list[str] = []
    requests: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto((site / "index.html").as_uri())
        assert page.locator(".slider output").first.inner_text() == "16\N{NO-BREAK SPACE}KiB"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.locator(".slider input").focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_url("**/point-3.html")
        assert page.locator(".slider output").first.inner_text() == "32\N{NO-BREAK SPACE}KiB"
        assert page.locator(".slider input").evaluate("slider => slider === document.activeElement")
        look(page, "site")
        page.set_viewport_size({"width": width, "height": 900})
        page.go_back()
        page.wait_for_url("**/index.html")
        assert page.locator(".slider input").input_value() == "1"
        page.locator(".slider a", has_text="8 KiB").first.click()
        page.wait_for_url("**/point-1.html")
        browser.close()
    assert not complaints
    assert {request.rpartition("/")[0] for request in requests} == {site.as_uri()}
