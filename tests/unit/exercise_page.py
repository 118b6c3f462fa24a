"""The page of an exercise in a browser, and what a student does there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from students import HERE, ready

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser import Chromium
    from served import Served

WHY = "It is so."
REFUSED = "Failed to load resource: the server responded with a status of 422 (Unprocessable Entity)"
"""A browser's own line for an answer that says that something was wrong with the form."""


@dataclass
class ExercisePage:
    """A student's page of an exercise: whatever is done there waits until the server has answered."""

    page: Any

    def predict(self, values: Mapping[str, str]) -> None:
        """Type predictions, each with a reason where one is asked for, and wait until they are kept."""
        for name, value in values.items():
            self.page.fill(f"#value-{name}", value)
            if (why := self.page.locator(f"#why-{name}")).count():
                why.fill(WHY)
        self.page.get_by_text("Saved.", exact=True).first.wait_for()

    def seal(self) -> None:
        """Seal them."""
        self.page.get_by_role("button", name="Seal the predictions").click()

    def run(self, name: str) -> None:
        """Ask for a run of the exercise."""
        self.page.locator(f"#runs form:has(input[name='name'][value='{name}']) button").click()

    def wait(self, part: str, name: str) -> None:
        """Wait until a run, an experiment or a repair is done and shown."""
        self._tries(part, name).locator("summary").first.wait_for()

    def experiment(self, settings: Mapping[str, str]) -> None:
        """Ask for an experiment."""
        self._change("experiments", settings)
        self.page.get_by_role("button", name="Run the experiment").click()

    def answer(self, answers: Mapping[str, str]) -> None:
        """Answer questions, by whatever they are answered with, and keep the answers."""
        for name, text in answers.items():
            field = self.page.locator(f"#questions [name='answer.{name}']")
            kind = field.first.evaluate("element => element.type")
            if kind == "radio":
                self.page.locator(f"#questions [name='answer.{name}'][value='{text}']").check()
            elif kind == "select-one":
                field.select_option(text)
            else:
                field.fill(text)
        self.page.get_by_role("button", name="Save the answers").click()

    def try_repair(self, settings: Mapping[str, str]) -> None:
        """Ask what a repair would do."""
        self._change("repair", settings)
        self.page.get_by_role("button", name="Try it").click()

    def repair(self, settings: Mapping[str, str]) -> None:
        """Say that this is the repair."""
        self._change("repair", settings)
        self.page.get_by_role("button", name="This is my repair").click()

    def hand_in(self, *, anyway: bool = False) -> None:
        """Hand the work in, ``anyway`` if it lacks something, and wait for the marks."""
        self.page.get_by_role("button", name="Hand it in").click()
        if anyway:
            self.page.locator("#unfinished, #marks").first.wait_for()
            if self.page.locator("#unfinished").count():
                self.page.get_by_role("button", name="Hand it in anyway").click()
        self.page.locator("#marks .big").wait_for()

    @property
    def points(self) -> str:
        """What the marks say at the top."""
        return str(self.page.locator("#marks .big").inner_text())

    def _change(self, part: str, settings: Mapping[str, str]) -> None:
        for key, value in settings.items():
            field = self.page.locator(f"#{part} [name='set.{key}']")
            if field.evaluate("element => element.type") == "select-one":
                field.select_option(value)
            else:
                field.fill(value)

    def _tries(self, part: str, name: str) -> Any:  # noqa: ANN401 - Playwright's locator
        return self.page.locator(f"#{part} .try", has=self.page.locator("h3", has_text=name))


def at_work(browser: Chromium, served: Served) -> Any:  # noqa: ANN401 - Playwright's page
    """The page of a student who has predicted and run the network of an exercise."""
    ready(served)
    [course] = served.room.courses.all()
    [student] = served.room.students.of_course(course.id)
    page = browser.person()
    page.get_by_label("Your own code").fill(student.code)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Yes, continue").or_(
        page.get_by_role("link", name="My code")
    ).first.wait_for()
    page.goto(f"{served.url}{HERE}")
    return page
