"""A student's pages: the exercises, and one of them from the story to the marks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from wirelab.errors import InputError
from wirelab.exercise.work import LONGEST_TEXT, Predicted
from wirelab.model.assignment import Assignment
from wirelab.results.values import printable
from wirelab.serve.answers import Answers, Posted, Shown, go, message, page, require
from wirelab.serve.desk import Desk, Unfinished, settle
from wirelab.serve.exercise_view import progress_of, view_of
from wirelab.serve.exercises import exercise_called, exercise_names
from wirelab.serve.forms import Form, with_point
from wirelab.serve.limits import Deed
from wirelab.serve.run_pages import progress
from wirelab.serve.visitor import Refusal, Visitor

_DRAFTS: Final = ("value", "unit", "why", "answer")
"""The fields that are kept as they are typed: ``value.burst``."""
_WAS: Final = "was"
_CHANGES: Final = ("experiment", "repair")
"""The steps whose forms change settings."""
_PLACES: Final[Mapping[str, str]] = {
    "keep": "",
    "seal": "#predict",
    "run": "#runs",
    "experiment": "#experiments",
    "answer": "#questions",
    "repair": "#repair",
    "hand-in": "#hand-in",
    "marks": "#marks",
}
"""Where on the page each step is."""


@dataclass(frozen=True, slots=True)
class Unfit:
    """Settings that were asked for and cannot be: what was typed, and what is wrong.

    ``wrong`` says so of single settings, ``problem`` of all of them together, empty where they are named.
    """

    step: str
    typed: Mapping[str, str]
    wrong: Mapping[str, str]
    problem: str

    @classmethod
    def of(cls, visitor: Visitor, step: str, form: Form, error: InputError) -> Self:
        """What a form asked for."""
        typed = form.below("set")
        wrong = {one.field: printable(one.message) for one in error.problems if one.field in typed}
        named = {field: words for field, words in wrong.items() if field is not None}
        return cls(step, typed, named, "" if named else message(visitor, error))


@dataclass(frozen=True, slots=True)
class ExercisePages:
    """What a student does."""

    answers: Answers

    def routes(self) -> list[BaseRoute]:
        """The pages."""
        get, post = self.answers.get, self.answers.post
        steps: dict[str, Posted] = {
            "keep": self.keep,
            "seal": self.seal,
            "run": self.run,
            "experiment": self.experiment,
            "answer": self.answer,
            "repair": self.repair,
            "hand-in": self.hand_in,
            "marks": self.marks,
        }
        return [
            Route("/exercises", get(self.all)),
            Route("/exercises/{exercise}", get(self.one)),
            *(
                Route(f"/exercises/{{exercise}}/{name}", post(self._kept_page(name, step)), methods=["POST"])
                for name, step in steps.items()
            ),
            # Whoever goes to the address that a refused form left behind.
            *(
                Route(f"/exercises/{{exercise}}/{name}", get(self._leading_back(name)), methods=["GET"])
                for name in steps
            ),
        ]

    def all(self, visitor: Visitor) -> Response:
        """Every exercise, and how far one is."""
        student = visitor.require_student()
        settle(visitor.room)
        closed = visitor.room.courses.closed(student.course)
        listed = []
        for name in exercise_names():
            exercise = exercise_called(name)
            kept = visitor.room.works.get(student.id, name)
            done, parts = progress_of(kept.work if kept else None, exercise)
            listed.append((exercise, kept, done, parts, name in closed))
        return page(visitor, "exercises.html.j2", listed=listed)

    def one(self, visitor: Visitor) -> Response:
        """One of them."""
        return self._page(visitor)

    def keep(self, visitor: Visitor, form: Form) -> Response:
        """Keep what is typed, while it is."""
        if typed := _typed(form):
            desk_of(visitor).draft(typed)
        return Response(status_code=204)

    def seal(self, visitor: Visitor, form: Form) -> Response:
        """Seal the predictions."""
        desk = desk_of(visitor)
        # Kept before anything can be wrong with it.
        desk.draft(_typed(form))
        predictions = {}
        for said in desk.exercise.said.predictions:
            value = with_point(form.text(f"value.{said.name}", LONGEST_TEXT))
            unit = form.text(f"unit.{said.name}")
            # Who writes the unit is taken by their word.
            has_unit = not value or any(letter.isalpha() or letter == "%" for letter in value)
            written = value if has_unit else f"{value} {unit}".strip()
            predictions[said.name] = Predicted(written, form.text(f"why.{said.name}", LONGEST_TEXT))
        desk.seal(predictions)
        return self._back(visitor, "run")

    def run(self, visitor: Visitor, form: Form) -> Response:
        """Run a network of the exercise."""
        desk = desk_of(visitor)
        require(visitor, Deed.RUN, desk.person)
        desk.run(form.text("name"))
        return self._back(visitor, "run")

    def experiment(self, visitor: Visitor, form: Form) -> Response:
        """Run an experiment."""
        desk = desk_of(visitor)
        require(visitor, Deed.RUN, desk.person)
        desk.experiment(_changed(form))
        return self._back(visitor, "experiment")

    def answer(self, visitor: Visitor, form: Form) -> Response:
        """Keep answers."""
        if wrong := desk_of(visitor).answer(_typed(form)):
            return self._page(visitor, 422, wrong=wrong)
        return self._back(visitor, "answer")

    def repair(self, visitor: Visitor, form: Form) -> Response:
        """Try a repair, or hand it in."""
        desk = desk_of(visitor)
        if form.text("doing") == "hand-in":
            desk.repair(_changed(form))
        else:
            require(visitor, Deed.RUN, desk.person)
            desk.try_repair(_changed(form))
        return self._back(visitor, "repair")

    def hand_in(self, visitor: Visitor, form: Form) -> Response:
        """Hand the work in; if it lacks something, ask once."""
        desk = desk_of(visitor)
        if unfinished := desk.hand_in(_typed(form), anyway=bool(form.text("anyway"))):
            return self._page(visitor, 422, wrong=unfinished.wrong, unfinished=unfinished)
        return self._back(visitor, "marks")

    def marks(self, visitor: Visitor, _form: Form) -> Response:
        """Ask for the marks again: the lab broke."""
        desk = desk_of(visitor)
        work = desk.kept().work
        if work.submitted is not None:
            desk.ask_marks(work)
        return self._back(visitor, "marks")

    def _leading_back(self, name: str) -> Shown:
        """From the address of a step to its place on the page."""
        return lambda visitor: self._back(visitor, name)

    def _kept_page(self, name: str, step: Posted) -> Posted:
        """A step that, where it cannot be done, gives the page again with what is wrong."""

        def taken(visitor: Visitor, form: Form) -> Response:
            try:
                return step(visitor, form)
            except InputError as error:
                unfit = Unfit.of(visitor, name, form, error) if name in _CHANGES else None
                return self._page(visitor, 422, problem=message(visitor, error), unfit=unfit)

        return taken

    def _page(  # noqa: PLR0913 - all by name but the visitor and the status
        self,
        visitor: Visitor,
        status: int = 200,
        *,
        problem: str = "",
        wrong: Mapping[str, str] | None = None,
        unfinished: Unfinished | None = None,
        unfit: Unfit | None = None,
    ) -> Response:
        desk = desk_of(visitor)
        opened = visitor.request.query_params.get("open", "")
        view = view_of(desk, visitor.words("drawing.title"), opened)
        if unfit and not view.takes(unfit.step):
            unfit = None
        return page(
            visitor,
            "exercise.html.j2",
            status,
            view=view,
            problem="" if unfit else problem,
            unfit=unfit,
            wrong=wrong or {},
            unfinished=unfinished,
            progress=lambda status: progress(visitor.words, status),
        )

    def _back(self, visitor: Visitor, step: str) -> Response:
        return go(visitor, f"/exercises/{visitor.request.path_params['exercise']}{_PLACES[step]}")


def desk_of(visitor: Visitor) -> Desk:
    """Where the visitor sits. Raises Refusal for who is no student, and for an exercise that is not there."""
    student = visitor.require_student()
    course = visitor.room.courses.get(student.course)
    if course is None:
        raise InputError("exercise.gone")
    return Desk(visitor.room, course, student, exercise_of(visitor))


def exercise_of(visitor: Visitor) -> Assignment:
    """The exercise of a page. Raises Refusal where there is none."""
    name = visitor.request.path_params["exercise"]
    if name not in exercise_names():
        raise Refusal(404, "refused.nothing")
    return exercise_called(name)


def _typed(form: Form) -> dict[str, str]:
    """What somebody has typed: what a page began with, untouched, overwrites nothing."""
    return {
        name: text
        for name, text in form.fields.items()
        if name.partition(".")[0] in _DRAFTS and text != form.fields.get(f"{_WAS}.{name}")
    }


def _changed(form: Form) -> dict[str, str]:
    """The settings of a form that are filled in."""
    return {key: text.strip() for key, text in form.below("set").items() if text.strip()}
