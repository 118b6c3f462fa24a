"""What the page of an exercise shows: the exercise with a student's figures, and what they have done."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from wirelab import units
from wirelab.exercise.answers import Choice, choices, shown_of
from wirelab.exercise.marks import Mark, compared
from wirelab.exercise.prose import prose
from wirelab.exercise.sketch import network_drawing
from wirelab.exercise.steps import Doing, Step, next_step
from wirelab.exercise.work import Work
from wirelab.model.assignment import Assignment, quantity_asked
from wirelab.model.exercise import Allowed, Prediction, Question, TextQuestion
from wirelab.model.fill import filled_text
from wirelab.model.scale import Scale
from wirelab.serve.carrier import PANEL
from wirelab.serve.desk import Desk, measured, settle
from wirelab.serve.exercises import exercise_called
from wirelab.serve.queue import Status
from wirelab.serve.run_pages import Pictures, pictures_of
from wirelab.serve.runs import State
from wirelab.serve.works import Attempt, Kept

_PLACES: Final[Mapping[Doing, str]] = {
    "predict": "predict",
    "run": "runs",
    "answer": "questions",
    "repair": "repair",
    "submit": "hand-in",
    "done": "marks",
}
_MOST_LISTED: Final = 40
"""Values to choose from; more are written."""


@dataclass(frozen=True, slots=True)
class AskedPrediction:
    """A prediction to be made, or that was: ``mark`` has what was measured."""

    name: str
    text: str
    units: tuple[str, ...]
    unit: str
    example: str
    asks_why: bool
    points: int
    value: str
    why: str
    mark: Mark | None


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with the answer so far; ``choices`` are empty where it is written."""

    name: str
    text: str
    choices: tuple[Choice, ...]
    is_prose: bool
    example: str
    points: int
    run: str
    is_ready: bool
    value: str
    is_kept: bool

    @property
    def said(self) -> str:
        """The answer in words: of a choice, what was chosen."""
        return next((choice.text for choice in self.choices if choice.value == self.value), self.value)


@dataclass(frozen=True, slots=True)
class Change:
    """A setting that may be changed: from a list, or written within limits."""

    key: str
    text: str
    listed: tuple[str, ...]
    words: str
    example: str


@dataclass(frozen=True, slots=True)
class Done:
    """Something that was asked to be run, and how far it is; what came of it where that is shown."""

    attempt: Attempt
    title: str
    status: Status
    panel: str
    pictures: Pictures | None
    is_open: bool


@dataclass(frozen=True, slots=True)
class View:
    """All of it."""

    exercise: Assignment
    kept: Kept
    step: Step
    story: str
    drawing: str
    figures: Mapping[str, str]
    predictions: tuple[AskedPrediction, ...]
    asked: tuple[Done, ...]
    networks: tuple[tuple[str, str, bool], ...]
    experiments: tuple[Change, ...]
    experiments_left: int
    questions: tuple[AskedQuestion, ...]
    repairs: tuple[Change, ...]
    repair_text: str
    after: str
    marks: Status | None
    is_closed: bool
    has_shells: bool

    @property
    def is_sealed(self) -> bool:
        """Whether runs are allowed."""
        return not self.exercise.said.predictions or self.kept.work.seal is not None

    @property
    def is_done(self) -> bool:
        """Whether it was handed in."""
        return self.kept.work.submitted is not None

    @property
    def marks_runs(self) -> tuple[str, ...]:
        """The run that the marks come from."""
        return tuple(one.attempt.run for one in self.asked if one.attempt.kind == "marks")[-1:]

    @property
    def runs(self) -> tuple[Done, ...]:
        """What was asked to be run, but for the marks."""
        return tuple(one for one in self.asked if one.attempt.kind != "marks")

    @property
    def repair_said(self) -> str:
        """The repair that was handed in."""
        repair = self.kept.work.repair
        return ", ".join(f"{key} {value}" for key, value in repair.settings.items()) if repair else ""

    @property
    def time(self) -> str:
        """How long it takes."""
        time_ns = self.exercise.said.time_ns
        return f"{time_ns / units.NS_PER_S / 60:.0f} min" if time_ns else ""

    @property
    def places(self) -> Mapping[Doing, str]:
        """Where on the page each step is."""
        return _PLACES

    @property
    def step_name(self) -> str:
        """What the next step is about: the question, or a name."""
        return self.texts.get(self.step.name or "", self.step.name or "")

    @property
    def texts(self) -> dict[str, str]:
        """What was asked, by name."""
        return {one.name: one.text for one in self.predictions} | {
            one.name: one.text for one in self.questions
        }

    def is_asked(self, name: str) -> bool:
        """Whether a network of the exercise was asked for already."""
        return any(one.attempt.kind == "run" and one.attempt.name == name for one in self.asked)

    def has_tried(self, kind: str) -> bool:
        """Whether anything of that kind was asked to be run."""
        return any(one.attempt.kind == kind for one in self.runs)

    def takes(self, step: str) -> bool:
        """Whether the page has the form by which settings are changed in that step."""
        has_form = {"experiment": self.experiments_left > 0, "repair": self.exercise.said.repair is not None}
        return self.can_change and self.is_sealed and has_form[step]

    @property
    def can_look(self) -> bool:
        """Whether the clock of a network that was run may be stopped: not where a fault is hidden in it."""
        return self.has_shells and self.can_change and self.exercise.said.sees == "all"

    @property
    def can_change(self) -> bool:
        """Whether the student may still do something."""
        return not (self.is_done or self.is_closed)


def view_of(desk: Desk, title: str, opened: str = "") -> View:
    """What the page shows; ``title`` is for the drawing.

    Of all runs it shows the result of one: of the attempt with the number ``opened``, else of the last one.
    """
    # How far they are comes first: what is done by now is in the work that is read after it.
    runs = _asked(desk, opened)
    settle(desk.room)
    exercise, kept, figures = desk.exercise, desk.kept(), desk.figures
    said, values = exercise.said, figures.values
    marks = next((one.status for one in reversed(runs) if one.attempt.kind == "marks"), None)
    measured = _measured(desk, runs)
    beside = {mark.name: mark for mark in compared(exercise, kept.work, figures, measured)}
    experiments = said.experiments
    tried = len(desk.counted("experiment"))
    return View(
        exercise=exercise,
        kept=kept,
        step=next_step(exercise, kept.work),
        story=prose(said.story, values),
        drawing=drawing_of(exercise.name, tuple(values.items()), title),
        figures=values,
        predictions=tuple(_prediction(one, kept, values, beside.get(one.name)) for one in said.predictions),
        asked=runs,
        networks=tuple(
            (run.name, filled_text(run.text or "", values), kept.work.has_run(run.name))
            for run in said.networks
        ),
        experiments=_changes(experiments.settings if experiments else {}, exercise.experiments),
        experiments_left=max(0, experiments.most - tried) if experiments else 0,
        questions=tuple(_question(desk, question, kept) for question in said.questions),
        repairs=_changes(said.repair.settings if said.repair else {}, exercise.repairs),
        repair_text=filled_text(said.repair.text, values) if said.repair else "",
        after=prose(said.after or "", values),
        marks=marks,
        is_closed=desk.is_closed,
        has_shells=desk.room.shells.most > 0,
    )


def _measured(desk: Desk, runs: Sequence[Done]) -> dict[str, Any]:
    """What the exercise's own runs measured, by name."""
    found = {}
    for one in runs:
        is_done = one.attempt.kind == "run" and one.status.state is State.DONE
        if is_done and (variant := measured(desk.room, desk.room.runs.get(one.attempt.run))):
            found[one.attempt.name] = variant
    return found


def _asked(desk: Desk, opened: str) -> tuple[Done, ...]:
    runs = [_done(desk, attempt) for attempt in desk.attempts()]
    done = [one for one in runs if one.attempt.kind != "marks" and one.status.state is State.DONE]
    shown = [one for one in done if str(one.attempt.number) == opened] or done
    return tuple(_opened(desk, one) if one in shown[-1:] else one for one in runs)


def _done(desk: Desk, attempt: Attempt) -> Done:
    before = desk.room.runs.get(attempt.run)
    if before is not None and before.is_trimmed and attempt.kind != "marks":
        desk.room.queue.again(before, desk.person)
    status = desk.room.queue.status(attempt.run) or Status(State.BROKEN)
    title = ", ".join(f"{key} {value}" for key, value in attempt.settings.items())
    return Done(attempt, title, status, "", None, is_open=False)


def _opened(desk: Desk, one: Done) -> Done:
    run = desk.room.runs.get(one.attempt.run)
    if run is None or (folder := desk.room.results_of(run)) is None:
        return one
    panel = (folder / PANEL).read_text(encoding="utf-8")
    return replace(one, panel=panel, pictures=pictures_of(desk.room, run), is_open=True)


def _prediction(
    said: Prediction, kept: Kept, figures: Mapping[str, str], mark: Mark | None
) -> AskedPrediction:
    quantity = quantity_asked(said.unit)
    own = kept.work.predictions.get(said.name)
    draft = kept.draft
    return AskedPrediction(
        said.name,
        filled_text(said.text, figures),
        tuple(quantity.units),
        draft.get(f"unit.{said.name}") or said.unit or "",
        shown_of(quantity, said.unit).partition(" ")[0],
        said.why,
        said.points,
        own.value if own else draft.get(f"value.{said.name}", ""),
        own.why if own else draft.get(f"why.{said.name}", ""),
        mark,
    )


def _question(desk: Desk, question: Question, kept: Kept) -> AskedQuestion:
    asked, figures = question.asked, desk.figures
    run = desk.exercise.run(asked.run).name
    own = kept.work.answers.get(asked.name)
    draft = kept.draft.get(f"answer.{asked.name}")
    unit = getattr(asked, "unit", None)
    is_number = question.kind == "number"
    return AskedQuestion(
        asked.name,
        filled_text(asked.text, figures.values),
        choices(desk.exercise, question, figures),
        isinstance(asked, TextQuestion),
        shown_of(quantity_asked(unit), unit) if is_number else "",
        asked.points,
        run,
        kept.work.has_run(run),
        draft if draft is not None else own.value if own else "",
        own is not None and draft is None,
    )


def _changes(allowed: Mapping[str, Allowed], scales: Mapping[str, Scale]) -> tuple[Change, ...]:
    found = []
    for key, one in allowed.items():
        scale = scales[key]
        values = (
            tuple(scale.value(index) for index in range(scale.count))
            if 0 < scale.count <= _MOST_LISTED
            else ()
        )
        found.append(Change(key, one.text or key, values, scale.words, scale.ends[0]))
    return tuple(found)


@functools.lru_cache(maxsize=256)
def drawing_of(name: str, figures: tuple[tuple[str, str], ...], title: str) -> str:
    """The network with a student's figures beside what they are of. A hidden fault is not drawn."""
    return network_drawing(exercise_called(name), dict(figures), title)


def progress_of(work: Work | None, exercise: Assignment) -> tuple[int, int]:
    """How many of an exercise's parts are done, and of how many."""
    said = exercise.said
    parts = 1 + len(said.networks) + len(said.questions) + (said.repair is not None) + 1
    if work is None:
        return 0, parts
    done = int(work.seal is not None or not said.predictions)
    done += sum(work.has_run(run.name) for run in said.networks)
    done += len(work.answers) + (work.repair is not None) + (work.submitted is not None)
    return done, parts
