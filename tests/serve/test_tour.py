"""Every exercise in a browser, from the story to the marks, on a real lab: `make test-tour`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from browser import Chromium, chromium
from exercise_page import REFUSED, ExercisePage
from program import PASSWORD, started

from tests.exercises.bench import bench
from tests.exercises.marking import results_of
from tests.exercises.solutions import Solution, solutions
from tests.exercises.student import COURSE, NOW, begun, figures_of, finished, having_run
from wirelab.exercise.answers import choices
from wirelab.exercise.marks import marked
from wirelab.exercise.steps import answered, submitted
from wirelab.lab.select import Lab, select
from wirelab.model.catalogue import shipped_root
from wirelab.model.exercise_reader import load_exercise

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wirelab.exercise.marks import Marks
    from wirelab.exercise.measure import Results
    from wirelab.exercise.work import Work
    from wirelab.model.assignment import Assignment

GOOD, BAD = "Ada", "Cai"
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WAIT_MS = 900_000
"""For a run, on a machine that has none of them cached."""
SHALLOW = Solution(
    predictions={
        "burst": "fifo / (1 - line / 10 Gbit/s)",
        "upload": "line * 1448 / 1538",
        "download": "line / 2",
        "retransmits": "2000 / 1",
    },
    naive={"burst": "fifo", "upload": "line", "download": "line", "retransmits": "0 / 1"},
    answers={"where": "module.line", "mechanism": "FIFO", "helps": "2"},
    repair={"module": "aqr113c", "module.fifo": "64 KiB"},
)
"""What TCP makes of its losses no formula says: that exercise has no solution with full marks."""
SOLUTIONS = {**solutions(), "shallow-buffer": SHALLOW}


@dataclass(frozen=True)
class Class:
    """A class that is served: its code, and those of its students. ``browser`` is everybody's."""

    browser: Chromium
    lab: Lab
    code: str
    own: dict[str, str]

    def join(self, name: str) -> None:
        """A student joins, and writes the own code down."""
        page = self.browser.person()
        page.goto(f"{self.browser.base}/join/{self.code}")
        page.get_by_label("Your name").fill(name)
        page.get_by_role("button", name="Join").click()
        self.own[name] = page.locator(".big.code").inner_text()
        page.context.close()

    def desk(self, name: str, title: str, **device: Any) -> ExercisePage:  # noqa: ANN401 - Playwright's options
        """A student at an exercise, on whatever device."""
        page = self.browser.person(**device)
        page.get_by_label("Your own code").fill(self.own[name].lower())
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("link", name=title, exact=True).click()
        return ExercisePage(page)

    def teacher(self) -> Any:  # noqa: ANN401 - Playwright's page
        """The teacher, at the courses."""
        page = self.browser.person()
        page.goto(f"{self.browser.base}/teacher/sign-in")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        return page


@pytest.fixture(scope="module")
def room(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Class]:
    """One server, one browser and two students for all exercises."""
    lab = select(request.config.getoption("--kernel"), request.config.getoption("--root"))
    process, url = started(tmp_path_factory.mktemp("tour") / "class")
    try:
        with chromium(url) as browser:
            browser.allowed.append(REFUSED)
            browser.patience_ms = WAIT_MS
            teacher = Class(browser, lab, "", {}).teacher()
            teacher.get_by_label("Title").fill(COURSE)
            teacher.get_by_role("button", name="Add").click()
            opened = Class(browser, lab, teacher.locator(".big.code").inner_text(), {})
            teacher.context.close()
            for name in (GOOD, BAD):
                opened.join(name)
            yield opened
    finally:
        process.terminate()
        process.wait()


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", SOLUTIONS)
def test_one_who_understands_and_one_who_guesses(name: str, room: Class, tmp_path: Path) -> None:
    """Both do the exercise at once; one leaves while it runs, comes back on a phone, and loses nothing.

    Each has the marks that the same work has in a terminal.
    """
    exercise = load_exercise(name, shipped_root())
    (good, full), (bad, less) = _works(exercise, SOLUTIONS[name], room.lab, tmp_path)
    title, networks, look = exercise.said.title, exercise.said.networks, room.browser.look
    one, other = room.desk(GOOD, title), room.desk(BAD, title)
    look(one.page, f"{name}-1-story")
    if exercise.said.predictions:
        _predict_in_furlongs(one, exercise)
        for desk, work in ((one, good), (other, bad)):
            desk.predict({key: said.value for key, said in work.predictions.items()})
            desk.seal()
    one.run(networks[0].name)
    one.page.context.close()
    for run in networks:
        other.run(run.name)
    for run in networks:
        other.wait("runs", run.name)
    look(other.page, f"{name}-2-runs")

    one = room.desk(GOOD, title, **PHONE)
    for run in networks[1:]:
        one.run(run.name)
    for run in networks:
        one.wait("runs", run.name)
    _experiment(one, exercise)
    _answer_a_number_in_words(one, exercise)
    one.answer({key: said.value for key, said in good.answers.items()})
    if good.repair:
        one.try_repair(good.repair.settings)
        one.wait("repair", "repair-1")
        one.repair(good.repair.settings)
    look(one.page, f"{name}-3-done")
    other.answer({key: said.value for key, said in bad.answers.items()})
    for desk, marks in ((one, full), (other, less)):
        desk.hand_in(anyway=True)
        assert desk.points == f"{marks.points:g} of {marks.most} points"
    assert full.points > less.points
    look(one.page, f"{name}-4-marks")
    look(other.page, f"{name}-5-marks-of-a-guess")
    _teacher_looks(room, exercise)
    for desk in (one, other):
        desk.page.context.close()
    assert room.browser.unheard() == []


def test_the_class_is_a_table(room: Class) -> None:
    """All that the two have done is there, and as CSV; an exercise that is closed says so to who opens it."""
    teacher = room.teacher()
    teacher.get_by_role("link", name="Class table").click()
    room.browser.look(teacher, "class")
    with teacher.expect_download() as download:
        done = teacher.get_by_role("listitem").filter(has_text="The mystery network")
        done.get_by_role("link", name="Marks as CSV").click()
    with download.value.path().open(encoding="utf-8", newline="") as file:
        points = {row["student"]: float(row["points"]) for row in csv.DictReader(file)}
    assert points[GOOD] > points[BAD]
    mystery = teacher.get_by_role("checkbox", name="The mystery network")
    mystery.uncheck()
    teacher.locator("form").filter(has=mystery).get_by_role("button", name="Save").click()
    room.join("Dee")
    late = room.desk("Dee", "The mystery network").page
    late.get_by_text("Your teacher has closed this exercise").wait_for()
    assert late.get_by_role("button", name="Run").count() == 0
    assert room.browser.unheard() == []


def _works(
    exercise: Assignment, solution: Solution, lab: Lab, folder: Path
) -> tuple[tuple[Work, Marks], tuple[Work, Marks]]:
    """What each of the two does, and the marks that are due for it."""
    found = []
    here = bench(lab, folder)
    for student, work_of in ((GOOD, finished), (BAD, _guessed)):
        results = results_of(exercise, student, solution, here)
        work = work_of(exercise, student, solution, results)
        found.append((work, marked(exercise, work, results)))
    return found[0], found[1]


def _guessed(exercise: Assignment, student: str, solution: Solution, results: Results) -> Work:
    """Predictions by a naive rule, and an answer to every question that is none of the right ones."""
    right = finished(exercise, student, solution, results).answers
    figures = figures_of(exercise, student)
    work = having_run(exercise, begun(exercise, student, solution.naive), results)
    for question in exercise.said.questions:
        name, unit = question.asked.name, getattr(question.asked, "unit", None)
        offered = [one.value for one in choices(exercise, question, figures)]
        wrong = next((one for one in offered if one != right[name].value), f"7 {unit or ''}".strip())
        if question.kind == "fault" and not offered:
            wrong = "7 kB"
        work = answered(exercise, work, name, wrong, NOW)
    return submitted(exercise, work, NOW)


def _predict_in_furlongs(desk: ExercisePage, exercise: Assignment) -> None:
    """The page says what is wrong with it, and what was typed is still there."""
    predictions = {one.name: "30 furlongs" for one in exercise.said.predictions}
    desk.predict(predictions)
    desk.seal()
    assert "furlongs" in desk.page.get_by_role("alert").inner_text()
    for name, value in predictions.items():
        assert desk.page.input_value(f"#value-{name}") == value


def _experiment(desk: ExercisePage, exercise: Assignment) -> None:
    """One that nobody may make is told so; then one that they may."""
    for key, scale in tuple(exercise.experiments.items())[:1]:
        if desk.page.locator(f"#experiments input[name='set.{key}']").count():
            desk.experiment({key: "9 furlongs"})
            assert "furlongs" in desk.page.get_by_role("alert").inner_text()
        desk.experiment({key: scale.ends[-1]})
        desk.wait("experiments", "experiment-1")


def _answer_a_number_in_words(desk: ExercisePage, exercise: Assignment) -> None:
    """It is told beside the question, and the answer can be given again."""
    numbers = [one.number.name for one in exercise.said.questions if one.number is not None]
    if numbers:
        desk.answer({numbers[0]: "a lot"})
        assert numbers[0] in desk.page.get_by_role("alert").inner_text()


def _teacher_looks(room: Class, exercise: Assignment) -> None:
    """At the predictions of all, and at a work."""
    teacher = room.teacher()
    teacher.get_by_role("link", name="Class table").click()
    if exercise.said.predictions:
        teacher.get_by_role("link", name=f"Predictions of {exercise.said.title}", exact=True).click()
        teacher.get_by_text("Students who have predicted: 2; who have run it: 2.").first.wait_for()
        room.browser.look(teacher, f"{exercise.name}-6-predictions")
        teacher.go_back()
    teacher.get_by_role("link", name=GOOD, exact=True).click()
    teacher.get_by_role("link", name=exercise.said.title, exact=True).click()
    room.browser.look(teacher, f"{exercise.name}-7-work")
    teacher.context.close()
