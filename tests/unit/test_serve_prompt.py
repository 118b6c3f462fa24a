"""The prompt in a page, in front of a session that only pretends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from browser import chromium
from served import PASSWORD, Served
from test_serve_shell import one_shell, wait_until
from test_shell import PLAN

from wirelab.errors import InputError
from wirelab.shell.command import read_command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WRONG = "run until module.line drips and so on"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A classroom with one shell."""
    with one_shell(tmp_path / "class") as answers:
        yield answers


def rows(page: Any) -> list[str]:  # noqa: ANN401 - Playwright's page
    """What stands on the screen, a text for each row."""
    found = page.locator(".xterm-rows > div").all_inner_texts()
    return [str(row).replace("\xa0", " ").rstrip() for row in found]


def begun(shown: list[str]) -> str:
    """The row with which an error begins."""
    return next(row for row in shown if row.startswith("error: "))


def test_an_error_at_the_prompt_is_broken_between_words(served: Served) -> None:
    """On a phone too no row ends within a word. A lab is switched on *again* only when it was on."""
    with chromium(served.url) as browser:
        page = browser.person(viewport={"width": 390, "height": 800})
        page.goto(f"{browser.base}/teacher/sign-in")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.goto(f"{browser.base}/bench/sfp-mismatch/shell")
        on = page.locator("[data-on]")
        on.click()
        page.get_by_text("The network is up").wait_for()
        assert on.inner_text() == "Start the lab"
        page.keyboard.type(WRONG)
        page.keyboard.press("Enter")
        wait_until(lambda: sum(row.startswith("0 ms>") for row in rows(page)) == 2)
        first, *others = rows(page)[rows(page).index(begun(rows(page))) :]
        with pytest.raises(InputError) as raised:
            read_command(WRONG, PLAN)
        told = f"error: {raised.value.message}".split()
        # Rows joined by blanks have the words only where each row ended between two of them.
        assert " ".join([first, *others]).split()[: len(told)] == told
        assert others[0]
        browser.look(page, "prompt")
        page.get_by_role("button", name="Shut the lab down").click()
        page.get_by_role("button", name="Start the lab again").wait_for()
