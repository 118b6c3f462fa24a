"""Settings that a student changes, in an experiment or a repair, and what the page shows of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from browser import chromium
from exercise_page import REFUSED, ExercisePage, at_work
from students import HERE, kept, ready

if TYPE_CHECKING:
    from served import Served


def part(text: str, name: str) -> str:
    """A section of the page of an exercise, empty where it is not there."""
    found = re.search(rf'<section id="{name}".*?</section>', text, re.DOTALL)
    return found[0] if found else ""


@pytest.mark.parametrize(
    ("step", "place", "others"),
    [("experiment", "experiments", {}), ("repair", "repair", {"set__module": "aqr113c"})],
)
def test_a_value_that_cannot_be_stays_typed_and_the_field_says_why(
    step: str, place: str, others: dict[str, str], served: Served
) -> None:
    """In the section of the form, which is where the answer leads; the other fields keep theirs, too."""
    ada = ready(served)
    before = part(ada.get(HERE).text, place)
    assert f'action="{HERE}/{step}#{place}"' in before
    answer = ada.post(f"{HERE}/{step}", doing="try", set__module__fifo="9 MiB", **others)
    assert answer.status == 422
    after = part(answer.text, place)
    assert "data-stays" in after
    field = re.search(r'<input [^>]*name="set.module.fifo"[^>]*>', after)
    assert field
    assert 'value="9 MiB"' in field[0]
    assert 'aria-invalid="true"' in field[0]
    assert f'aria-describedby="{step}-module.fifo-wrong {step}-module.fifo-hint"' in field[0]
    words = re.search(rf'<p class="problem" id="{step}-module.fifo-wrong" role="alert">(.*?)</p>', after)
    assert words
    assert "<code>9 MiB</code> is not in 8.." in words[1]
    assert answer.text.count('role="alert"') == 1
    assert all(f"<option selected>{value}</option>" in after for value in others.values())


def test_what_is_wrong_with_no_field_stands_above_the_form_or_the_page(served: Served) -> None:
    """Above the fields of the step, and where there are none any more at the top of the page."""
    ada = ready(served)
    answer = ada.post(f"{HERE}/experiment", set__switch__buffer="1 MiB")
    assert 'id="experiment-problem"' in part(answer.text, "experiments")
    course = served.room.courses.all()[0]
    served.teacher().post(f"/teacher/courses/{course.id}/open")
    answer = ada.post(f"{HERE}/experiment", set__module__fifo="64 KiB")
    assert "Your teacher has closed this exercise" in answer.text.partition("<section")[0]


@pytest.mark.parametrize(
    ("step", "place"),
    [("experiment", "#experiments"), ("repair", "#repair"), ("answer", "#questions"), ("keep", "")],
)
def test_the_address_of_a_step_leads_to_its_place_on_the_page(step: str, place: str, served: Served) -> None:
    """It is in the bar of a browser after something was refused, and is opened again from there."""
    answer = ready(served).get(f"{HERE}/{step}")
    assert answer.status == 200
    assert answer.url.removeprefix(served.url) == f"{HERE}{place}"


def test_no_heading_is_left_without_anything_below_it(served: Served) -> None:
    """Handed in with nothing tried and nothing repaired, there is neither; what was done is shown."""
    ada, cai = ready(served), ready(served, "Cai")
    ada.post(f"{HERE}/hand-in", answer__where="module.line", anyway="1")
    served.wait_for_runs()
    page = ada.get(HERE).text
    assert not part(page, "experiments")
    assert not part(page, "repair")
    assert 'class="said">module.line' in part(page, "questions")
    assert part(page, "runs")
    cai.post(f"{HERE}/experiment", set__module__fifo="64 KiB")
    cai.post(f"{HERE}/repair", doing="hand-in", set__module__fifo="64 KiB")
    cai.post(f"{HERE}/hand-in", anyway="1")
    served.wait_for_runs()
    page = cai.get(HERE).text
    assert "experiment-1" in part(page, "experiments")
    assert "Your repair: module.fifo 64 KiB" in part(page, "repair")
    assert not part(page, "questions")
    assert kept(served, "Cai").work.answers == {}


def test_the_name_of_a_setting_is_apart_from_its_words(served: Served) -> None:
    """A screen reader says "the module", not "the module module"."""
    page = part(ready(served).get(HERE).text, "repair")
    labels = re.findall(r"<label[^>]*>(.*?)</label>", page)
    assert labels
    assert not any("module.fifo" in label for label in labels)
    assert "<code>module.fifo</code>" in page


def test_a_refused_experiment_is_in_view(served: Served) -> None:
    """The browser stands at the form, wide or narrow, and what was typed is in it."""
    with chromium(served.url) as browser:
        browser.allowed.append(REFUSED)
        page = at_work(browser, served)
        ExercisePage(page).experiment({"module.fifo": "9 MiB"})
        page.locator("#experiments [aria-invalid]").wait_for()
        assert page.input_value("#experiments [name='set.module.fifo']") == "9 MiB"
        top = page.locator("#experiments").evaluate("element => element.getBoundingClientRect().top")
        assert -5 <= top < page.viewport_size["height"]
        browser.look(page, "exercise-refused-experiment")
