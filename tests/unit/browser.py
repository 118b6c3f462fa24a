"""Chromium for the tests: Debian's, with no way to the network."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHROMIUM = shutil.which("chromium")
SHOTS = os.environ.get("WIRELAB_SHOTS")
"""A folder for pictures of the pages, for who wants to look at them."""
WIDTHS = (1280, 390)
TOO_WIDE = """[...document.querySelectorAll("main *")]
  .filter(one => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".wide, .drawn, pre"))
  .map(one => one.outerHTML.slice(0, 80))"""


@contextmanager
def opened(path: Path, width: int = 1280, height: int = 1000, *, scripts: bool = True) -> Iterator[Any]:
    """A page in a browser. Afterwards: it asked for nothing else and complained of nothing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed")
    if CHROMIUM is None:
        pytest.skip("no browser: apt-get install chromium")
    complaints: list[str] = []
    requests: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            page = browser.new_page(viewport={"width": width, "height": height}, java_script_enabled=scripts)
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("request", lambda request: requests.append(request.url))
            page.goto(path.as_uri())
            yield page
        finally:
            browser.close()
    assert not complaints
    assert requests == [path.as_uri()]


def look(page: Any, name: str) -> None:  # noqa: ANN401 - Playwright's page
    """At both widths, in light and dark: nothing is wider than the window, axe finds nothing serious."""
    page.wait_for_load_state()
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            if SHOTS:
                page.screenshot(path=f"{SHOTS}/{name}-{width}-{scheme}.png", full_page=True)
            wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wider <= 0, f"{name} at {width} is {wider} px too wide: {page.evaluate(TOO_WIDE)}"
        found = axe.run(page).response["violations"]
        bad = [(one["id"], one["nodes"]) for one in found if one["impact"] in ("serious", "critical")]
        assert not bad, f"{name} in {scheme}: {bad}"
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})


@dataclass
class Chromium:
    """A browser, and what it complained of."""

    driver: Any
    base: str
    complaints: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    patience_ms: int = 60_000

    def person(self, **options: Any) -> Any:  # noqa: ANN401 - Playwright's page
        """A page in a window of its own, with no cookie of another one."""
        page = self.driver.new_context(**options).new_page()
        page.set_default_timeout(self.patience_ms)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self._asked(request.url))
        page.goto(f"{self.base}/")
        return page

    def look(self, page: Any, name: str) -> None:  # noqa: ANN401 - Playwright's page
        """See `look`."""
        look(page, name)

    def unheard(self) -> list[str]:
        """What it complained of, but for what is allowed."""
        return [words for words in self.complaints if words not in self.allowed]

    def _asked(self, url: str) -> None:
        if not url.startswith(self.base):
            self.strangers.append(url)


@contextmanager
def chromium(base: str) -> Iterator[Chromium]:
    """Debian's browser. Afterwards: it asked nobody else for anything and complained of nothing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed")
    if CHROMIUM is None:
        pytest.skip("no browser: apt-get install chromium")
    with playwright.sync_playwright() as started:
        driver = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = Chromium(driver, base)
        try:
            yield opened
        finally:
            driver.close()
    assert opened.unheard() == []
    assert opened.strangers == []
