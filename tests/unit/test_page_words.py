"""What pages say: instants in the reader's own time, and code as code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from browser import chromium
from students import HERE, PREDICTED, kept, ready

from wirelab.report.coded import coded

if TYPE_CHECKING:
    from served import Served


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("no `a.b`; it is `a-b`?", "no <code>a.b</code>; it is <code>a-b</code>?"),
        ("`<script>` & 'x'", "<code>&lt;script&gt;</code> &amp; &#39;x&#39;"),
        ("one ` alone", "one ` alone"),
        ("`over\ntwo lines`", "`over\ntwo lines`"),
    ],
)
def test_what_is_between_backticks_is_code(text: str, html: str) -> None:
    """Whatever it is it is escaped first: what a student has typed stays text."""
    assert str(coded(text)) == html


def test_a_message_in_a_page_has_no_backticks(served: Served) -> None:
    """Of an answer that is none, and of a mark whose reason quotes what was answered."""
    ada = ready(served)
    refused = ada.post(f"{HERE}/answer", answer__dropped="many")
    assert re.search(r'class="problem"[^>]*>[^<]*<code>many</code>', refused.text)
    ada.post(f"{HERE}/answer", answer__where="server")
    ada.post(f"{HERE}/hand-in", anyway="1")
    served.wait_for_runs()
    page = ada.get(HERE).text
    assert "the run does not show <code>server</code>" in page


def test_an_instant_is_in_the_readers_time(served: Served) -> None:
    """In UTC as the server says it, and where there is a script in the time of who looks."""
    ada = served.student("Grace")
    page = ada.post(f"{HERE}/seal", **PREDICTED).text
    seal = kept(served, "Grace").work.seal
    assert seal is not None
    shown = seal.at.replace("T", " ").replace("Z", " UTC")
    assert f'Sealed at <time datetime="{seal.at}">{shown}</time>.' in page
    with chromium(served.url) as browser:
        tokyo = browser.person(timezone_id="Asia/Tokyo", locale="en-GB")
        cookies = [{"name": one.name, "value": one.value, "url": served.url} for one in ada.jar]
        tokyo.context.add_cookies(cookies)
        tokyo.goto(f"{served.url}{HERE}")
        element = tokyo.locator("time").first
        assert element.get_attribute("title") == shown
        assert element.inner_text().endswith("GMT+9")
        assert f"{(int(seal.at[11:13]) + 9) % 24:02}:{seal.at[14:19]}" in element.inner_text()
        browser.look(tokyo, "sealed")
