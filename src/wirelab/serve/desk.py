"""A desk: one student at one exercise. Each thing that they do is kept before it is acknowledged."""

import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from wirelab.errors import InputError, LabError, WirelabError
from wirelab.exercise.draw import Figures, drawn
from wirelab.exercise.network import Setup
from wirelab.exercise.steps import (
    Step,
    answered,
    experiment_asked,
    missing,
    ran,
    repair_asked,
    repaired,
    run_asked,
    sealed,
    started,
    submitted,
)
from wirelab.exercise.work import Predicted, Work
from wirelab.model.assignment import Assignment
from wirelab.runner.run_result import RunResult, VariantResult, read_run
from wirelab.runner.store import RESULT
from wirelab.serve.carrier import PANEL
from wirelab.serve.courses import Course
from wirelab.serve.exercises import CONTROL, NETWORK, exercise_called, marks_spec, network_spec
from wirelab.serve.forms import with_point
from wirelab.serve.room import Room
from wirelab.serve.runs import Run, State
from wirelab.serve.students import Student
from wirelab.serve.works import Attempt, AttemptKind, Kept
from wirelab.verdict.verdict import Verdict

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Desk:
    """A student of ``course`` at an exercise; ``person`` is who asks the queue for their runs."""

    room: Room
    course: Course
    student: Student
    exercise: Assignment

    @property
    def person(self) -> str:
        """Whose turn it is in the queue."""
        return f"student:{self.student.id}"

    @property
    def is_closed(self) -> bool:
        """Whether the teacher has closed the exercise."""
        return self.exercise.name in self.room.courses.closed(self.course.id)

    @property
    def figures(self) -> Figures:
        """The student's own figures."""
        return drawn(self.exercise, self.course.title, self.student.name)

    def kept(self) -> Kept:
        """The work as it is now, begun if it is not."""
        key = self.student.id, self.exercise.name
        if (kept := self.room.works.get(*key)) is None:
            new = started(self.exercise, self.course.title, self.student.name, self.room.works.now)
            self.room.works.begin(*key, new)
            kept = self.room.works.get(*key)
        if kept is None:
            raise InputError("exercise.gone")
        return kept

    def attempts(self) -> list[Attempt]:
        """What was asked to be run."""
        return self.room.works.attempts(self.student.id, self.exercise.name)

    def counted(self, kind: AttemptKind) -> list[Attempt]:
        """What was asked to be run of a kind, but for what broke: that costs nothing."""
        return [one for one in self.attempts() if one.kind == kind and not self._is_broken(one)]

    def draft(self, fields: Mapping[str, str]) -> None:
        """Keep what is typed."""
        self._require_open()
        self.kept()
        self.room.works.draft(self.student.id, self.exercise.name, fields)

    def seal(self, predictions: Mapping[str, Predicted]) -> None:
        """Seal the predictions: they do not change any more, and runs are allowed."""
        self._require_open()
        now = self.room.works.now
        self._change(lambda work: sealed(self.exercise, work, predictions, now))

    def run(self, name: str) -> None:
        """Ask for a network of the exercise."""
        self._require_open()
        name, setup = run_asked(self.exercise, self.kept().work, name or None)
        run = self.room.queue.ask(network_spec(self.exercise, {NETWORK: setup}), self.person)
        self._attempt("run", name, {}, run.id)

    def experiment(self, settings: Mapping[str, str]) -> None:
        """Ask for an experiment, if there is one left: what waits counts as well."""
        self._require_open()
        with self.room.asking:
            self._experiment(settings)

    def _experiment(self, settings: Mapping[str, str]) -> None:
        with self.room.database.transaction():
            # At one instant: what is run is in the one or in the other.
            work, called = self.kept().work, self._name("experiment", settings)
            waiting = [one for one in self.counted("experiment") if not one.is_settled]
        for attempt in waiting:
            # As if they were done, so that no more are asked for than are allowed.
            work = ran(
                self.exercise,
                work,
                "experiment",
                attempt.name,
                "0" * 64,
                now=self.room.works.now,
                settings=attempt.settings,
            )
        _, setup = experiment_asked(self.exercise, work, settings)
        run = self.room.queue.ask(network_spec(self.exercise, {NETWORK: setup}), self.person)
        self._attempt("experiment", called, settings, run.id)

    def looked_at(self, name: str) -> Setup:
        """The network of a run, to be looked at with its clock stopped: as soon as it was run.

        Raises InputError for another one, and where a fault is hidden in it.
        """
        self._require_open()
        if self.exercise.said.sees == "technician":
            raise InputError("shell.technician")
        work = self.kept().work
        name, setup = run_asked(self.exercise, work, name or self.exercise.run(None).name)
        if not work.has_run(name):
            raise InputError("shell.not-run")
        return setup

    @property
    def is_look_counted(self) -> bool:
        """Whether looking costs no experiment any more: it is the same network, however often one looks."""
        said = self.exercise.said.experiments
        return said is None or any(not one.settings for one in self.counted("experiment"))

    def look(self, name: str) -> Setup:
        """The same, and it counts as an experiment in which nothing was changed, once."""
        setup = self.looked_at(name)
        with self.room.asking:
            if not self.is_look_counted:
                self.experiment({})
        return setup

    def try_repair(self, settings: Mapping[str, str]) -> None:
        """Ask for a repair with its control."""
        self._require_open()
        _, setups = repair_asked(self.exercise, self.kept().work, settings)
        one, control = setups.values()
        spec = network_spec(self.exercise, {"repair": one, CONTROL: control})
        with self.room.asking:
            name = self._name("repair", settings)
            run = self.room.queue.ask(spec, self.person)
            self._attempt("repair", name, settings, run.id)

    def answer(self, typed: Mapping[str, str]) -> dict[str, str]:
        """Make answers of what is typed, now or before; what cannot be one stays a draft.

        Returns what is wrong with those, by question.
        """
        self.draft(typed)
        wrong: dict[str, str] = {}
        now, draft = self.room.works.now, self.kept().draft
        for asked in self.exercise.said.asked:
            if text := draft.get(f"answer.{asked.name}", "").strip():
                try:
                    self._change(
                        partial(self._answered, asked.name, text, now), {f"answer.{asked.name}": text}
                    )
                except InputError as error:
                    wrong[asked.name] = error.message
        return wrong

    def repair(self, settings: Mapping[str, str]) -> None:
        """Hand in a repair."""
        self._require_open()
        now = self.room.works.now
        self._change(lambda work: repaired(self.exercise, work, settings, now))

    def hand_in(self, typed: Mapping[str, str], *, anyway: bool = False) -> "Unfinished | None":
        """Hand the work in, with all that was typed and run until now, and ask for its marks.

        Returns what it lacks, if that is anything and nobody has said that it is handed in ``anyway``.
        """
        self._require_open()
        settle(self.room)
        now = self.room.works.now
        # Refused before anything else is changed.
        submitted(self.exercise, self.kept().work, now)
        wrong = self.answer(typed)
        steps = missing(self.exercise, self.kept().work)
        if (steps or wrong) and not anyway:
            return Unfinished(steps, wrong)
        work = self._change(lambda work: submitted(self.exercise, work, now))
        self.ask_marks(work)
        return None

    def ask_marks(self, work: Work) -> None:
        """Ask for the marks of a work that was handed in."""
        run = self.room.queue.ask(marks_spec(self.exercise, work), self.person, is_needed=True)
        self._attempt("marks", "marks", {}, run.id)

    def _answered(self, name: str, text: str, now: datetime, work: Work) -> Work:
        is_number = self.exercise.question(name).kind in ("number", "fault")
        return answered(self.exercise, work, name, with_point(text) if is_number else text, now)

    def _change(self, step: Callable[[Work], Work], done: Mapping[str, str] | None = None) -> Work:
        return self.room.works.change(self.student.id, self.exercise.name, step, done)

    def _attempt(self, kind: AttemptKind, name: str, settings: Mapping[str, str], run: str) -> None:
        asked = Attempt(self.student.id, self.exercise.name, kind, name, settings, run)
        self.room.works.attempt(asked)
        settle(self.room)

    def _name(self, kind: AttemptKind, settings: Mapping[str, str]) -> str:
        """What is asked for is called so: as the last that broke with these settings, or as a new one."""
        asked = [one for one in self.attempts() if one.kind == kind]
        broken = [one.name for one in asked if one.settings == settings and self._is_broken(one)]
        return broken[-1] if broken else f"{kind}-{len(asked) + 1}"

    def _is_broken(self, attempt: Attempt) -> bool:
        """Whether its lab broke before it measured anything."""
        run = None if attempt.is_settled else self.room.runs.get(attempt.run)
        return run is not None and run.state is State.BROKEN

    def _require_open(self) -> None:
        if self.is_closed:
            raise InputError("exercise.closed")


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What a work lacks that is to be handed in; ``wrong`` says why what was typed is no answer."""

    steps: tuple[Step, ...]
    wrong: Mapping[str, str]


def settle(room: Room) -> None:
    """Write what has been run since the last time into the works: once each, whatever ends the server."""
    for attempt in room.works.unsettled():
        run = room.runs.get(attempt.run)
        if run is not None and (folder := room.results_of(run)):
            try:
                _settle_once(room, attempt, folder)
            except (WirelabError, OSError, ValueError) as error:
                # One that is damaged keeps nobody else from their page, and is made anew.
                _LOG.error("%s of %s: %s", attempt.name, attempt.student, error)
                room.runs.trimmed(run.id)


def _settle_once(room: Room, attempt: Attempt, folder: Path) -> None:
    with contextlib.suppress(InputError):
        # Read before the transaction, for which everybody waits who writes; from now on it is known.
        result_of(folder)
    with room.database.transaction():
        if room.works.is_settled(attempt):
            # Another page was quicker.
            return
        try:
            _settle(room, attempt, folder)
        except InputError as error:
            # Handed in, or begun anew, meanwhile.
            _LOG.info("%s of %s: %s", attempt.name, attempt.student, error.message)
        room.works.settle(attempt)


def _settle(room: Room, attempt: Attempt, folder: Path) -> None:
    if attempt.kind == "marks":
        room.works.mark(attempt.student, attempt.exercise, (folder / PANEL).read_text(encoding="utf-8"))
        return
    kind = attempt.kind
    exercise = exercise_called(attempt.exercise)
    result = result_of(folder)
    digest, settings, now = result.variants[0].digest or "", attempt.settings, room.works.now

    def done(work: Work) -> Work:
        if kind == "experiment":
            # One that broke is run after all where somebody else asks for the same: then there may be others.
            experiment_asked(exercise, work, settings)
        work = ran(exercise, work, kind, attempt.name, digest, now=now, settings=settings)
        # As in a terminal: what holds is what is handed in, unless the student says another.
        if kind == "repair" and _holds(result):
            return repaired(exercise, work, settings, now)
        return work

    room.works.change(attempt.student, attempt.exercise, done)


def _holds(result: RunResult) -> bool:
    """Whether a repair does what it must, and its control fails."""
    verdicts = {variant.name == CONTROL: variant.verdict for variant in result.variants}
    return verdicts == {False: Verdict.PASS, True: Verdict.FAIL}


@lru_cache(maxsize=128)
def result_of(folder: Path) -> RunResult:
    """The figures of a run: a folder of results never changes. Raises LabError where it is damaged."""
    return read_run(folder / RESULT)


def measured(room: Room, run: Run | None) -> VariantResult | None:
    """What a run of one network measured; None where that is not there, or damaged.

    Then it is as if it was trimmed: it is run again when somebody looks.
    """
    folder = room.results_of(run) if run else None
    if run is None or folder is None:
        return None
    try:
        return result_of(folder).variants[0]
    except LabError as error:
        _LOG.warning("%s", error)
        room.runs.trimmed(run.id)
        return None
