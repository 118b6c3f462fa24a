"""A shell in the page on a real lab: it answers as the one in a terminal, and nothing is left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browser import Chromium, chromium
from program import HERE, PASSWORD, started

if TYPE_CHECKING:
    from collections.abc import Iterator

LINES = ("start download", "run until module.line drops", "show module.line", "server ping -c 1 client")
WAIT_S = 120


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """Where the server has its files for the moment."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def server(tmp_path: Path, scratch: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of its own, which is ended."""
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("TMPDIR", str(scratch))
        process, address = started(tmp_path / "class")
    try:
        yield process, address
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(WAIT_S)


def switched_on(browser: Chromium) -> Any:  # noqa: ANN401 - Playwright's page
    """The teacher at the prompt of a network of the bench."""
    page = browser.person(viewport={"width": 1280, "height": 900})
    page.goto(f"{browser.base}/teacher/sign-in")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.goto(f"{browser.base}/bench/sfp-mismatch")
    page.get_by_role("button", name="Stop the clock").click()
    page.get_by_role("button", name="Start the lab").click()
    page.get_by_text("The network is up").wait_for()
    return page


def say(page: Any, line: str) -> None:  # noqa: ANN401 - Playwright's page
    """Type a line, and wait until the next prompt."""
    page.keyboard.type(line)
    page.keyboard.press("Enter")
    done = re.compile(rf"> {re.escape(line)}\n[\s\S]*^\S+ \w+>\s*\Z", re.MULTILINE)
    wait_until(lambda: done.search(text(page)))


def text(page: Any) -> str:  # noqa: ANN401 - Playwright's page
    """What stands on the screen, without the blanks that browsers cannot break."""
    return str(page.locator(".xterm-rows").inner_text()).replace("\xa0", " ")


def wait_until(comes_true: Any) -> None:  # noqa: ANN401 - a function
    """Wait until something is so."""
    deadline_s = time.monotonic() + WAIT_S
    while not comes_true():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


def labs(process: int) -> list[int]:
    """The labs of a server."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,comm=", "--ppid", str(process)], capture_output=True, text=True, check=False
    )
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if "linux" in line]


def niceness(process: int) -> set[int]:
    """That of the threads of a process."""
    threads = [int(task.name) for task in Path(f"/proc/{process}/task").iterdir()]
    return {os.getpriority(os.PRIO_PROCESS, thread) for thread in threads}


def test_a_page_has_the_prompt_of_a_terminal(
    server: tuple[subprocess.Popen[str], str], scratch: Path
) -> None:
    """By keyboard: lines, completion, history; answers as of `wirelab shell`. Then nothing is left."""
    process, address = server
    argv = [sys.executable, "-m", "wirelab", "shell", "sfp-mismatch"]
    environ = {**os.environ, "PYTHONPATH": str(HERE / "src")}
    script = "\n".join(LINES)
    done = subprocess.run(argv, input=script, capture_output=True, text=True, check=True, env=environ)
    with chromium(address) as browser:
        page = switched_on(browser)
        assert list(scratch.glob("wirelab-shell-*"))
        [lab] = labs(process.pid)
        # The lab gives way, the server's threads do not: each may hold the interpreter's lock.
        assert niceness(lab) == {10}
        assert niceness(process.pid) == {0}
        for line in LINES:
            say(page, line)
        shown = text(page)
        for line in done.stdout.splitlines():
            assert line in shown, shown
        page.keyboard.type("clie")
        page.keyboard.press("Tab")
        wait_until(lambda: text(page).rstrip().endswith("> client"))
        page.keyboard.press("Control+u")
        page.keyboard.press("ArrowUp")
        wait_until(lambda: text(page).rstrip().endswith("ping -c 1 client"))
        page.keyboard.press("Control+c")
        say(page, "clinet")
        assert "did you mean `client`" in text(page)
        browser.look(page, "shell")
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.textContent") == "Shut the lab down"
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Start the lab again").wait_for()
        wait_until(lambda: not labs(process.pid))
        page.get_by_role("button", name="Start the lab again").click()
        page.get_by_text("The network is up").wait_for()
        page.close()
        wait_until(lambda: not labs(process.pid) and not list(scratch.glob("wirelab-shell-*")))


def test_nothing_is_left_of_a_server_that_ends(
    server: tuple[subprocess.Popen[str], str], scratch: Path
) -> None:
    """Ended with a shell open: its lab is gone, and its folder."""
    process, address = server
    with chromium(address) as browser:
        page = switched_on(browser)
        [lab] = labs(process.pid)
        process.send_signal(signal.SIGTERM)
        process.wait(WAIT_S)
        page.get_by_role("button", name="Start the lab again").wait_for()
    assert not Path(f"/proc/{lab}").exists()
    assert not list(scratch.glob("wirelab-shell-*"))
