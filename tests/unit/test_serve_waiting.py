"""Runs that end while a student works at the page: what is new comes, and what they are at stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser import chromium
from exercise_page import REFUSED, ExercisePage, at_work
from students import HERE, kept

if TYPE_CHECKING:
    from served import Served

WHY = "From a slow line to a fast one nothing has to wait, and so nothing is lost."
LOADED = "window.isTheSame = true"
IS_THE_SAME = "window.isTheSame"
STREAM = "/runs/events?"
OWN_PAGE = """() => fetch("/me", {signal: AbortSignal.timeout(5000)}).then(answer => answer.status)"""
HIDDEN = """is => {
  Object.defineProperty(document, "hidden", {value: is, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def three_wait(served: Served, page: Any) -> None:  # noqa: ANN401 - Playwright's page
    """Ask for three experiments, none of which begins to end."""
    served.testbed.go.clear()
    for number, fifo in enumerate((48, 64, 96), 1):
        ExercisePage(page).experiment({"module.fifo": f"{fifo} KiB"})
        page.locator("#experiments .progress").nth(number - 1).wait_for()


def test_who_types_while_a_run_ends_goes_on_typing(served: Served) -> None:
    """Text, caret, focus and a setting that is chosen stay; the result is shown, and all of it is kept."""
    with chromium(served.url) as browser:
        page = at_work(browser, served)
        served.testbed.go.clear()
        ExercisePage(page).experiment({"module.fifo": "64 KiB"})
        page.get_by_text("Running: 1.0").wait_for()
        page.evaluate(LOADED)
        page.select_option("#repair [name='set.module']", "aqr113c")
        field = page.get_by_label("Why does the upload")
        field.press_sequentially(WHY)
        for _ in range(5):
            field.press("ArrowLeft")
        top = field.bounding_box()["y"]
        served.testbed.go.set()
        field.press_sequentially(" at all", delay=60)
        ExercisePage(page).wait("experiments", "experiment-1")
        page.get_by_text("Experiments left: 3.").wait_for()
        field.press_sequentially(",")
        assert page.evaluate(IS_THE_SAME)
        assert field.input_value() == WHY[:-5] + " at all," + WHY[-5:]
        assert field.evaluate("one => document.activeElement === one")
        assert abs(field.bounding_box()["y"] - top) < 1
        assert page.input_value("#repair [name='set.module']") == "aqr113c"
        page.locator("#questions").get_by_text("Saved.", exact=True).wait_for()
        page.reload()
        assert field.input_value() == WHY[:-5] + " at all," + WHY[-5:]
    assert kept(served).draft["answer.upload-why"] == WHY[:-5] + " at all," + WHY[-5:]


def test_what_a_run_has_opened_can_be_worked_at(served: Served) -> None:
    """Of a part that somebody is in only what waits is replaced; what is typed in a new one is kept."""
    with chromium(served.url) as browser:
        page = at_work(browser, served)
        exercise = ExercisePage(page)
        served.testbed.go.clear()
        exercise.try_repair({"module": "aqr113c", "module.fifo": "64 KiB"})
        page.get_by_text("Running: 1.0").wait_for()
        page.evaluate(LOADED)
        page.fill("#repair [name='set.module.fifo']", "32 KiB")
        served.testbed.go.set()
        exercise.wait("repair", "repair-1")
        page.get_by_text("Your repair: module aqr113c, module.fifo 64 KiB").wait_for()
        assert page.input_value("#repair [name='set.module.fifo']") == "32 KiB"
        page.fill("[name='answer.dropped']", "159")
        page.locator("#questions").get_by_text("Saved.", exact=True).wait_for()
        assert page.evaluate(IS_THE_SAME)
    assert kept(served).draft["answer.dropped"] == "159"


def test_what_is_read_stays_open_when_a_run_ends(served: Served) -> None:
    """A result is not folded away under who looks at it."""
    with chromium(served.url) as browser:
        page = at_work(browser, served)
        served.testbed.go.clear()
        ExercisePage(page).experiment({"module.fifo": "64 KiB"})
        page.get_by_text("Running: 1.0").wait_for()
        assert page.locator("#runs details .panel").is_visible()
        served.testbed.go.set()
        page.locator("#experiments details .panel").wait_for()
        assert page.locator("#runs details .panel").is_visible()


def test_a_page_that_says_what_is_wrong_goes_on_saying_it(served: Served) -> None:
    """It came as the answer to a form, and is not sent again when a run ends."""
    with chromium(served.url) as browser:
        browser.allowed.append(REFUSED)
        page = at_work(browser, served)
        served.testbed.go.clear()
        exercise = ExercisePage(page)
        exercise.experiment({"module.fifo": "64 KiB"})
        exercise.answer({"dropped": "a lot"})
        page.get_by_text("is not a count").wait_for()
        served.testbed.go.set()
        exercise.wait("experiments", "experiment-1")
        assert page.get_by_text("is not a count").is_visible()


def test_work_that_was_handed_in_elsewhere_comes_as_a_whole(served: Served) -> None:
    """The page that waits for a run shows the marks then."""
    with chromium(served.url) as browser:
        browser.allowed.append(REFUSED)
        page = at_work(browser, served)
        served.testbed.go.clear()
        ExercisePage(page).experiment({"module.fifo": "64 KiB"})
        page.get_by_text("Running: 1.0").wait_for()
        other = page.context.new_page()
        other.goto(f"{served.url}{HERE}")
        other.get_by_role("button", name="Hand it in").click()
        other.get_by_role("button", name="Hand it in anyway").click()
        other.locator("#marks").wait_for()
        served.testbed.go.set()
        page.locator("#marks .big").wait_for()


def test_runs_that_wait_in_two_tabs_keep_no_page_of_the_server_away(served: Served) -> None:
    """A browser has six connections to a server: a page takes one for all that it waits for."""
    with chromium(served.url) as browser:
        page = at_work(browser, served)
        three_wait(served, page)
        other = page.context.new_page()
        streams: list[str] = []
        other.on("request", lambda one: streams.append(one.url) if STREAM in one.url else None)
        other.goto(page.url)
        other.get_by_text("Running: 1.0").first.wait_for()
        assert [one.evaluate(OWN_PAGE) for one in (page, other)] == [200, 200]
        assert [one.count("run=") for one in streams] == [3]
        served.testbed.go.set()
        for one in (page, other):
            for name in ("experiment-1", "experiment-2", "experiment-3"):
                ExercisePage(one).wait("experiments", name)


def test_a_tab_that_nobody_sees_listens_to_nothing(served: Served) -> None:
    """When it is seen again it catches up."""
    with chromium(served.url) as browser:
        page = at_work(browser, served)
        three_wait(served, page)
        page.get_by_text("Running: 1.0").first.wait_for()
        with page.expect_event("requestfailed", lambda one: STREAM in one.url):
            page.evaluate(HIDDEN, arg=True)
        served.testbed.go.set()
        served.wait_for_runs()
        assert page.locator("#experiments .progress").count() == 3
        with page.expect_request(lambda one: STREAM in one.url):
            page.evaluate(HIDDEN, arg=False)
        ExercisePage(page).wait("experiments", "experiment-3")
