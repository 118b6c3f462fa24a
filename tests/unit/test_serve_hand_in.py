"""Handing in: what the page calls kept counts, and what is missing is said before it is too late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from browser import chromium
from exercise_page import REFUSED, ExercisePage, at_work
from students import HERE, PREDICTED, kept, ready

if TYPE_CHECKING:
    from served import Served, Visitor

REPAIR = {"set__module": "aqr113c", "set__module__fifo": "64 KiB"}
ANSWERS = {
    "where": "module.line",
    "mechanism": "FIFO",
    "dropped": "159",
    "helps": "2",
    "upload-why": "From slow to fast nothing waits.",
}


def keep(visitor: Visitor, **typed: str) -> None:
    """Type answers, which the page keeps by itself."""
    sent = {f"answer__{name}": text for name, text in typed.items()}
    assert visitor.post(f"{HERE}/keep", **sent).status == 204


def answers(served: Served) -> dict[str, str]:
    """What is answered by now."""
    return {name: said.value for name, said in kept(served).work.answers.items()}


def drafts(served: Served) -> set[str]:
    """The fields of answers that are typed and are none by now."""
    return {name for name in kept(served).draft if name.startswith("answer.")}


def test_what_was_typed_and_kept_is_handed_in(served: Served) -> None:
    """Nobody has to say that it is an answer."""
    ada = ready(served)
    keep(ada, **ANSWERS)
    ada.post(f"{HERE}/repair", doing="hand-in", **REPAIR)
    assert answers(served) == {}
    ada.post(f"{HERE}/hand-in")
    assert kept(served).work.submitted
    assert answers(served) == ANSWERS
    assert drafts(served) == set()


def test_the_last_that_was_typed_is_handed_in_though_it_was_an_answer_before(served: Served) -> None:
    """Who goes back to what the page began with has changed their mind; nothing typed leaves the answer."""
    ada = ready(served)
    ada.post(f"{HERE}/answer", answer__where="module.line", answer__dropped="159")
    keep(ada, where="switch.p1", dropped="160")
    keep(ada, where="module.line", dropped="")
    assert drafts(served) == set()
    ada.post(f"{HERE}/hand-in", anyway="1")
    assert answers(served) == {"where": "module.line", "dropped": "159"}


def test_what_a_page_began_with_overwrites_nothing(served: Served) -> None:
    """A second page of the same student, opened before, hands in what was typed in the first."""
    ada = ready(served)
    keep(ada, dropped="159")
    ada.post(f"{HERE}/hand-in", anyway="1", was__answer__dropped="", answer__dropped="")
    assert answers(served) == {"dropped": "159"}


def test_what_is_missing_is_named_and_asked_once(served: Served) -> None:
    """A run, a question, the repair; all the same it can be handed in."""
    ada = served.student()
    ada.post(f"{HERE}/seal", **PREDICTED)
    asked = ada.post(f"{HERE}/hand-in")
    assert asked.status == 422
    for words in (">The run network<", ">Which port drops the frames?<", ">The repair<"):
        assert words in asked.text
    assert kept(served).work.submitted is None
    ada.post(f"{HERE}/hand-in", anyway="1")
    assert kept(served).work.submitted


def test_what_cannot_be_an_answer_is_said_before_it_is_handed_in(served: Served) -> None:
    """It is named with the reason, once; handed in all the same, the others count."""
    ada = ready(served)
    keep(ada, **{**ANSWERS, "dropped": "a lot"})
    asked = ada.post(f"{HERE}/hand-in")
    assert asked.status == 422
    assert asked.text.count('href="#question-dropped"') == 1
    assert 'href="#question-where"' not in asked.text
    ada.post(f"{HERE}/hand-in", anyway="1")
    assert set(answers(served)) == ANSWERS.keys() - {"dropped"}


def test_nothing_is_handed_in_before_the_predictions_are_sealed(served: Served) -> None:
    """Not anyway, either."""
    ada = served.student()
    ada.get(HERE)
    assert "nothing is predicted yet" in ada.post(f"{HERE}/hand-in", anyway="1").text


@pytest.mark.parametrize(("fifo", "is_taken"), [("64 KiB", True), ("", False)])
def test_a_repair_that_holds_when_it_is_tried_is_taken_over(
    fifo: str, served: Served, *, is_taken: bool
) -> None:
    """As in a terminal; one that does not hold is not."""
    ada = ready(served)
    settings = REPAIR if fifo else {"set__module__fifo": "16 KiB"}
    ada.post(f"{HERE}/repair", doing="try", **settings)
    served.wait_for_runs()
    assert ("Your repair: module aqr113c" in ada.get(HERE).text) == is_taken
    assert (kept(served).work.repair is not None) == is_taken


def test_the_page_takes_along_what_is_typed_and_asks_where_the_rest_is(served: Served) -> None:
    """Typed until the last moment, at no pause: it is handed in; the page stands where it asks."""
    with chromium(served.url) as browser:
        browser.allowed.append(REFUSED)
        page = at_work(browser, served)
        ExercisePage(page).answer({"dropped": "159"})
        page.evaluate("window.setTimeout = () => 1")
        page.fill("[name='answer.dropped']", "160")
        page.fill("[name='answer.dropped']", "159")
        page.get_by_label("Why does the upload").fill("Nothing waits.")
        page.get_by_role("button", name="Hand it in").click()
        page.get_by_role("alert").get_by_text("This is not handed in yet.").wait_for()
        assert page.evaluate("scrollY > 0")
        browser.look(page, "exercise-unfinished")
        page.get_by_role("link", name="Which port drops the frames?", exact=True).click()
        assert page.locator("#question-where").evaluate("one => one.getBoundingClientRect().top < 900")
        page.get_by_role("button", name="Hand it in anyway").click()
        page.locator("#marks .big").wait_for()
    assert answers(served) == {"dropped": "159", "upload-why": "Nothing waits."}


def test_enter_in_an_answer_hands_nothing_in(served: Served) -> None:
    """It keeps the answers, as the button beside them does."""
    with chromium(served.url) as browser:
        page = at_work(browser, served)
        page.fill("[name='answer.dropped']", "159")
        page.press("[name='answer.dropped']", "Enter")
        page.locator("#question-dropped").get_by_text("saved", exact=True).wait_for()
    assert kept(served).work.submitted is None


def test_it_is_handed_in_without_scripts(served: Served) -> None:
    """With what is typed."""
    with chromium(served.url) as browser:
        browser.allowed.append(REFUSED)
        page = at_work(browser, served)
        plain = browser.person(java_script_enabled=False, storage_state=page.context.storage_state())
        plain.goto(page.url)
        plain.fill("[name='answer.dropped']", "159")
        plain.get_by_role("button", name="Hand it in").click()
        plain.get_by_role("button", name="Hand it in anyway").click()
        plain.locator("#marks").wait_for()
    assert answers(served) == {"dropped": "159"}
