"""A class in Chromium: students and the teacher, on a wide screen and on a phone, in light and dark."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browser import Chromium, chromium
from exercise_page import REFUSED, WHY, ExercisePage
from served import PASSWORD, PretendTestbed, Served, made_room, serving

from wirelab import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parents[2] / "page"
STATIC = Path(serve.__file__).parent / "static"
EXERCISE = "The shallow buffer"
REPAIR = {"module": "aqr113c", "module.fifo": "64 KiB"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A classroom with a course and nobody in it."""
    testbed = PretendTestbed()
    room = made_room(tmp_path / "class", testbed)
    room.courses.add("Networks 1")
    with serving(room, testbed) as answers:
        yield answers


def join(browser: Chromium, served: Served, name: str) -> Any:  # noqa: ANN401 - Playwright's page
    """A student joins by the link of the invitation."""
    page = browser.person()
    page.goto(f"{served.url}/join/{served.room.courses.all()[0].code}")
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Join").click()
    page.get_by_role("link", name="To the exercises").click()
    return page


PREDICTED = {"burst": "30", "upload": "2.3", "download": "1.1", "retransmits": "400"}
"""In the units that the page offers first."""


def test_two_students_do_an_exercise_and_one_leaves_in_the_middle(served: Served) -> None:
    """She closes the laptop with half of it typed, comes back on a phone by her code, and loses nothing."""
    with chromium(served.url) as browser:
        ada, cai = join(browser, served, "Ada"), join(browser, served, "Cai")
        for page in (ada, cai):
            page.get_by_role("link", name=EXERCISE).click()
        browser.look(ada, "exercise")
        ExercisePage(ada).predict(PREDICTED)
        ada.get_by_role("link", name="My code").click()
        code = ada.locator(".big.code").inner_text()
        browser.look(ada, "my-code")
        ada.context.close()

        ExercisePage(cai).predict(PREDICTED)
        served.testbed.go.clear()
        cai.get_by_role("button", name="Seal the predictions").click()
        cai.get_by_role("button", name="Run", exact=True).click()
        cai.get_by_text("Running: 1.0 of").wait_for()
        browser.look(cai, "exercise-runs")
        served.testbed.go.set()
        cai.get_by_text("Over virtual time").first.wait_for()

        phone = browser.person(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
        phone.get_by_label("Your own code").fill(code.lower())
        phone.get_by_role("button", name="Continue").click()
        phone.get_by_role("link", name=EXERCISE).click()
        assert phone.input_value("#value-upload") == "2.3"
        assert phone.input_value("#why-burst") == WHY
        desk = ExercisePage(phone)
        desk.seal()
        phone.get_by_role("button", name="Run", exact=True).click()
        phone.get_by_text("Over virtual time").first.wait_for()

        desk.answer({"where": "module.line", "dropped": "159"})
        desk.try_repair(REPAIR)
        desk.wait("repair", "repair-1")
        desk.repair(REPAIR)
        browser.look(phone, "exercise-repaired")
        browser.allowed.append(REFUSED)
        desk.hand_in(anyway=True)
        phone.get_by_text("of 25 points").wait_for()
        browser.look(phone, "exercise-marks")
        cai.reload()
        assert "of 25 points" not in cai.content()


def test_a_wrong_unit_is_told_and_what_was_typed_is_still_there(served: Served) -> None:
    """The page says which prediction, and what a unit would be; a million digits are cut short."""
    with chromium(served.url) as browser:
        browser.allowed.append(REFUSED)
        ada = join(browser, served, "Ada")
        ada.get_by_role("link", name=EXERCISE).click()
        ExercisePage(ada).predict(PREDICTED)
        ada.fill("#value-burst", "30 furlongs")
        ada.get_by_role("button", name="Seal the predictions").click()
        assert "unknown unit furlongs" in ada.get_by_role("alert").inner_text()
        assert ada.input_value("#value-upload") == "2.3"
        ada.fill("#value-burst", "9" * 1_000_000)
        assert len(ada.input_value("#value-burst")) <= 200


def typing(browser: Chromium, served: Served) -> Any:  # noqa: ANN401 - as above
    """A student's page, in the middle of a figure: the pause after which it is kept never ends."""
    page = join(browser, served, "Ada")
    page.get_by_role("link", name=EXERCISE).click()
    page.wait_for_load_state()
    page.evaluate("window.setTimeout = () => 1")
    page.locator("#value-upload").press_sequentially("2.3")
    return page


HIDE = """() => {
  Object.defineProperty(document, "visibilityState", {value: "hidden"});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_who_leaves_at_once_loses_nothing_that_was_typed(served: Served) -> None:
    """Another program or tab in front: what waits for a pause of the typing is kept on the way out."""
    with chromium(served.url) as browser:
        ada = typing(browser, served)
        address = ada.url
        with ada.expect_response(lambda answer: answer.request.method == "POST") as kept:
            ada.evaluate(HIDE)
        assert kept.value.ok
        ada.goto(address)
        assert ada.input_value("#value-upload") == "2.3"


def test_what_was_typed_before_the_script_was_there_is_kept(served: Served) -> None:
    """On a slow line a student is faster than the page."""
    with chromium(served.url) as browser:
        ada = join(browser, served, "Ada")
        held: list[Any] = []

        def hold(route: Any) -> None:  # noqa: ANN401 - Playwright's
            held.append(route)

        ada.route("**/serve.js*", hold)
        ada.get_by_role("link", name=EXERCISE).click(no_wait_after=True)
        ada.locator("#value-upload").press_sequentially("2.3")
        address = ada.url
        with ada.expect_response(lambda answer: answer.request.method == "POST") as kept:
            for one in held:
                one.continue_()
        assert kept.value.ok
        ada.unroute("**/serve.js*")
        ada.goto(address)
        assert ada.input_value("#value-upload") == "2.3"


@pytest.mark.parametrize("way", ["link", "address"])
def test_who_goes_to_another_page_at_once_loses_nothing_that_was_typed(way: str, served: Served) -> None:
    """By a link of the page, or by an address while the field still has the focus."""
    with chromium(served.url) as browser:
        ada = typing(browser, served)
        address = ada.url
        if way == "link":
            ada.get_by_role("link", name="My code").click()
        else:
            ada.goto(served.url)
        ada.goto(address)
        # What was typed is sent beside the request for the next page: on a busy machine that may be first.
        until_s = time.monotonic() + 10
        while not ada.input_value("#value-upload") and time.monotonic() < until_s:
            ada.goto(address)
        assert ada.input_value("#value-upload") == "2.3"


def test_the_bench_by_keyboard_alone(served: Served) -> None:
    """A knob is turned by arrow keys, the address follows, Enter runs it, the result can be shared."""
    with chromium(served.url) as browser:
        ada = join(browser, served, "Ada")
        ada.goto(f"{served.url}/bench")
        browser.look(ada, "bench")
        ada.keyboard.press("Tab")
        assert ada.evaluate("document.activeElement.textContent") == "Skip to content"
        ada.goto(f"{served.url}/bench/sfp-mismatch")
        browser.look(ada, "bench-scenario")
        ada.focus("[id='module.fifo'] + input[type=range]")
        ada.keyboard.press("ArrowRight")
        assert "with.module.fifo=32+KiB" in ada.url
        assert ada.input_value("[id='module.fifo']") == "32 KiB"
        ada.get_by_role("button", name="Run it").focus()
        ada.keyboard.press("Enter")
        ada.get_by_text("What bounds them").wait_for()
        browser.look(ada, "bench-result")
        stranger = browser.person()
        stranger.goto(ada.get_by_label("Link to share").input_value())
        assert "32 KiB" in stranger.locator(".chip").inner_text()


def test_a_button_that_is_pressed_twice_does_it_once(served: Served) -> None:
    """One student, whose code is shown; of four experiments one is used up."""
    with chromium(served.url) as browser:
        page = browser.person()
        page.goto(f"{served.url}/join/{served.room.courses.all()[0].code}")
        page.get_by_label("Your name").fill("Ada")
        page.get_by_role("button", name="Join").dblclick()
        page.locator(".big.code").wait_for()
        page.get_by_role("link", name="To the exercises").click()
        page.get_by_role("link", name=EXERCISE).click()
        ExercisePage(page).predict(PREDICTED)
        page.get_by_role("button", name="Seal the predictions").dblclick()
        page.get_by_role("button", name="Run", exact=True).dblclick()
        page.get_by_text("Over virtual time").first.wait_for()
        page.locator("#experiments [name='set.module.fifo']").fill("64 KiB")
        button = page.get_by_role("button", name="Run the experiment")
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        with served.room.asking:
            # The server takes its time. A click of Playwright's would wait for it, one of the mouse does not.
            for _ in range(2):
                page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
                time.sleep(0.3)
        page.get_by_text("Experiments left: 3").wait_for()
        served.wait_for_runs()
        page.reload()
        assert "Experiments left: 3" in page.inner_text("main")


def test_the_teacher_sees_the_class_while_it_works(served: Served) -> None:
    """The table follows by itself; so does the histogram on the projector."""
    with chromium(served.url) as browser:
        teacher = browser.person()
        teacher.get_by_role("link", name="Teacher").click()
        browser.look(teacher, "sign-in")
        teacher.get_by_label("Password").fill(PASSWORD)
        teacher.get_by_role("button", name="Sign in").click()
        browser.look(teacher, "courses")
        teacher.get_by_role("link", name="Invitation").click()
        browser.look(teacher, "invitation")
        teacher.get_by_role("link", name="Class table").click()
        ada = join(browser, served, "Ada")
        ada.get_by_role("link", name=EXERCISE).click()
        teacher.get_by_role("link", name="predicting").wait_for()
        ExercisePage(ada).predict(PREDICTED)
        ada.get_by_role("button", name="Seal the predictions").click()
        ada.get_by_role("button", name="Run", exact=True).click()
        ada.get_by_text("Over virtual time").first.wait_for()
        browser.look(teacher, "class")
        teacher.get_by_role("link", name=f"Predictions of {EXERCISE}").click()
        teacher.get_by_text("1 has predicted, 1 has run it.").first.wait_for()
        browser.look(teacher, "predictions")
        teacher.go_back()
        teacher.get_by_role("link", name="Ada").click()
        browser.look(teacher, "student")
        teacher.get_by_role("link", name=EXERCISE).click()
        browser.look(teacher, "work")


def test_pages_work_without_scripts(served: Served) -> None:
    """They are made by the server: a run is asked for, and its page looks again by itself."""
    with chromium(served.url) as browser:
        page = browser.person(java_script_enabled=False)
        page.goto(f"{served.url}/join/{served.room.courses.all()[0].code}")
        page.get_by_label("Your name").fill("Ada")
        page.get_by_role("button", name="Join").click()
        page.goto(f"{served.url}/bench/sfp-mismatch")
        page.get_by_label("FIFO").select_option("32 KiB")
        page.get_by_role("button", name="Run it").click()
        page.get_by_text("What bounds them").wait_for()


@pytest.mark.parametrize("name", ["serve.js", "shell.js", "shell.css"])
def test_the_script_is_what_its_source_says(name: str, tmp_path: Path) -> None:
    """What is shipped is what esbuild makes of the folder."""
    if shutil.which("npm") is None or not (PAGE / "node_modules").is_dir():
        pytest.skip("its tools are not here: npm ci --prefix page")
    build = ["npm", "run", "--silent"]
    if name == "serve.js":
        build += ["build:serve", "--", f"--outfile={tmp_path / name}"]
    else:
        build += ["build:shell", "--", f"--outdir={tmp_path}"]
    subprocess.run([*build, "--log-level=warning"], cwd=PAGE, check=True)  # noqa: S603 - the tools of the folder
    assert (tmp_path / name).read_text(encoding="utf-8") == (STATIC / name).read_text(encoding="utf-8")
