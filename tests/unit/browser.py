"""Chromium for the tests: Debian's, with no way to the network."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHROMIUM = shutil.which("chromium")


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
