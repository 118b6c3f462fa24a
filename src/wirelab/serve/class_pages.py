"""The teacher's pages of a class: who is where, what they said, and their marks for other programs."""

import io
import re
import zipfile
from dataclasses import dataclass, replace
from typing import Final

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from wirelab.errors import InputError
from wirelab.exercise.gradebook import canvas_csv, csv_of, moodle_csv
from wirelab.exercise.grading import Graded
from wirelab.exercise.roster import read_roster
from wirelab.exercise.steps import next_step
from wirelab.exercise.submission import Submission
from wirelab.exercise.work import WORK
from wirelab.model.assignment import Assignment
from wirelab.model.exercise import TextQuestion
from wirelab.runner.run_result import VariantResult
from wirelab.serve.answers import Answers, go, page
from wirelab.serve.courses import Course
from wirelab.serve.desk import Desk, measured, settle
from wirelab.serve.doors import absolute
from wirelab.serve.exercise_pages import exercise_of
from wirelab.serve.exercise_view import progress_of, view_of
from wirelab.serve.exercises import exercise_called, exercise_names
from wirelab.serve.forms import LONG_LETTERS, Form
from wirelab.serve.histogram import histogram, spread
from wirelab.serve.room import Room
from wirelab.serve.runs import State
from wirelab.serve.students import Student
from wirelab.serve.teacher_pages import course_of, student_of
from wirelab.serve.visitor import TEACHER, Refusal, Visitor
from wirelab.serve.works import Kept

_POINTS: Final = re.compile(r"[0-9]{1,3}(?:[.,][0-9])?")
_STUCK_S: Final = 600.0
"""Who has done nothing for so long is stuck, or away."""


@dataclass(frozen=True, slots=True)
class Cell:
    """How far a student is with an exercise; ``idle_min`` is None where they are not stuck.

    ``doing`` is a step, or what the run does that is the next one: wait in the queue at ``place``, or run.
    """

    doing: str
    name: str
    done: int
    parts: int
    points: str
    idle_min: int | None
    place: int = 0


@dataclass(frozen=True, slots=True)
class ClassPages:
    """A class, for the teacher."""

    answers: Answers

    def routes(self) -> list[BaseRoute]:
        """The pages."""
        get, post = self.answers.get, self.answers.post
        course = "/teacher/courses/{course}"
        return [
            Route(course, get(self.table)),
            Route(f"{course}/open", post(self.open), methods=["POST"]),
            Route(f"{course}/roster", post(self.keep_roster, LONG_LETTERS), methods=["POST"]),
            Route(f"{course}/exercises/{{exercise}}/predictions", get(self.predictions)),
            Route(f"{course}/exercises/{{exercise}}/marks-{{form}}.csv", get(self.marks)),
            Route(f"{course}/exercises/{{exercise}}/works.zip", get(self.works)),
            Route("/teacher/students/{student}", get(self.student)),
            Route("/teacher/students/{student}/exercises/{exercise}", get(self.work)),
            Route(
                "/teacher/students/{student}/exercises/{exercise}/points", post(self.give), methods=["POST"]
            ),
            Route(
                "/teacher/students/{student}/exercises/{exercise}/reset", post(self.reset), methods=["POST"]
            ),
        ]

    def table(self, visitor: Visitor) -> Response:
        """Who is where, who is stuck on what."""
        visitor.require_teacher()
        course, room = course_of(visitor), visitor.room
        settle(room)
        works = room.works.of_course(course.id)
        closed = room.courses.closed(course.id)
        exercises = [exercise_called(name) for name in exercise_names()]
        begun = {name for _, name in works}
        shown = [each for each in exercises if each.name not in closed or each.name in begun]
        rows = [
            (student, [_cell(room, student, each, works.get((student.id, each.name))) for each in shown])
            for student in room.students.of_course(course.id)
        ]
        waiting, running = room.queue.counts()
        return page(
            visitor,
            "class.html.j2",
            course=course,
            exercises=exercises,
            shown=shown,
            rows=rows,
            closed=closed,
            strangers=_strangers(course, [student.name for student, _ in rows]),
            waiting=waiting,
            running=running,
        )

    def open(self, visitor: Visitor, form: Form) -> Response:
        """Open these exercises, and close the others."""
        visitor.require_teacher()
        course = course_of(visitor)
        opened = form.below("open")
        visitor.room.courses.close(course.id, [name for name in exercise_names() if name not in opened])
        return go(visitor, f"/teacher/courses/{course.id}")

    def keep_roster(self, visitor: Visitor, form: Form) -> Response:
        """Keep whose marks they are, as Moodle or Canvas exports it; an empty text forgets it."""
        visitor.require_teacher()
        course, text = course_of(visitor), form.text("roster", LONG_LETTERS)
        if text:
            read_roster(text)
        visitor.room.courses.keep_roster(course.id, text)
        return go(visitor, f"/teacher/courses/{course.id}")

    def predictions(self, visitor: Visitor) -> Response:
        """What the class predicted, against what was measured: for a projector."""
        visitor.require_teacher()
        course, exercise, room = course_of(visitor), exercise_of(visitor), visitor.room
        settle(room)
        works = [
            (kept.work, _runs(room, student, exercise))
            for (student, name), kept in room.works.of_course(course.id).items()
            if name == exercise.name
        ]
        spreads = [spread(exercise, prediction, works) for prediction in exercise.said.predictions]
        words = visitor.words("projector.title")
        drawn = [(one, histogram(one, words)) for one in spreads]
        return page(visitor, "predictions.html.j2", course=course, exercise=exercise, drawn=drawn)

    def marks(self, visitor: Visitor) -> Response:
        """The marks, as a spreadsheet, Moodle or Canvas takes them."""
        visitor.require_teacher()
        course, exercise, form = course_of(visitor), exercise_of(visitor), visitor.request.path_params["form"]
        settle(visitor.room)
        graded = [
            Graded(Submission("", kept.work), kept.marks)
            for kept in _of_exercise(visitor.room, course, exercise)
            if kept.marks is not None
        ]
        roster = read_roster(course.roster) if course.roster else None
        if form == "canvas":
            text = canvas_csv(graded, exercise.said.title, roster)
        elif form == "moodle":
            text = moodle_csv(graded, roster)
        elif form == "all":
            text = csv_of(graded)
        else:
            raise Refusal(404, "refused.nothing")
        return _file(f"{exercise.name}-{form}.csv", "text/csv; charset=utf-8", text.encode())

    def works(self, visitor: Visitor) -> Response:
        """The works themselves: `wirelab exercise grade` takes the archive."""
        visitor.require_teacher()
        course, exercise = course_of(visitor), exercise_of(visitor)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for number, kept in enumerate(_of_exercise(visitor.room, course, exercise), 1):
                # A number: a student's name is in the work, and no part of a path.
                archive.writestr(f"{number:03d}/{WORK}", kept.work.to_json())
        return _file(f"{exercise.name}-works.zip", "application/zip", packed.getvalue())

    def student(self, visitor: Visitor) -> Response:
        """A student: the link that they have lost, and their exercises."""
        visitor.require_teacher()
        student, room = student_of(visitor), visitor.room
        settle(room)
        listed = []
        for name in exercise_names():
            exercise = exercise_called(name)
            listed.append((exercise, _cell(room, student, exercise, room.works.get(student.id, name))))
        return page(
            visitor,
            "student.html.j2",
            student=student,
            course=room.courses.get(student.course),
            link=absolute(visitor, f"/resume/{student.code}"),
            listed=listed,
        )

    def work(self, visitor: Visitor) -> Response:
        """What a student did in an exercise."""
        visitor.require_teacher()
        student, exercise = student_of(visitor), exercise_of(visitor)
        course = visitor.room.courses.get(student.course)
        if course is None or visitor.room.works.get(student.id, exercise.name) is None:
            raise Refusal(404, "refused.nothing")
        view = view_of(Desk(visitor.room, course, student, exercise), visitor.words("drawing.title"))
        return page(visitor, "work.html.j2", student=student, course=course, view=view)

    def give(self, visitor: Visitor, form: Form) -> Response:
        """Give points for what a student wrote in words."""
        visitor.require_teacher()
        student, exercise = student_of(visitor), exercise_of(visitor)
        if visitor.room.works.get(student.id, exercise.name) is None:
            raise Refusal(404, "refused.nothing")
        most = {asked.name: asked.points for asked in exercise.said.asked if isinstance(asked, TextQuestion)}
        given = {
            name: _points(text, most.get(name, 0))
            for name, text in form.below("points").items()
            if text.strip()
        }
        visitor.room.works.give(student.id, exercise.name, given)
        return go(visitor, f"/teacher/students/{student.id}/exercises/{exercise.name}")

    def reset(self, visitor: Visitor, _form: Form) -> Response:
        """Let a student begin an exercise anew."""
        visitor.require_teacher()
        student, exercise = student_of(visitor), exercise_of(visitor)
        visitor.room.works.lay_aside(student.id, exercise.name)
        return go(visitor, f"/teacher/students/{student.id}")


def _strangers(course: Course, names: list[str]) -> list[str]:
    """Who is not in the roster, if there is one."""
    if not course.roster:
        return []
    find = read_roster(course.roster).finder()
    return [name for name in names if find(name) is None]


def _points(text: str, most: int) -> float:
    """So many points. Raises InputError for what is none, or more than there are."""
    points = float(text.replace(",", ".")) if _POINTS.fullmatch(text.strip()) else -1.0
    if not 0 <= points <= most:
        raise InputError("teacher.points")
    return points


def _cell(room: Room, student: Student, exercise: Assignment, kept: Kept | None) -> Cell:
    done, parts = progress_of(kept.work if kept else None, exercise)
    if kept is None:
        return Cell("none", "", done, parts, "", None)
    step = next_step(exercise, kept.work)
    idle_s = room.works.clock() - kept.changed_s
    is_stuck = step.doing != "done" and idle_s > _STUCK_S
    points = f"{kept.marks.points:g} / {kept.marks.most}" if kept.marks else ""
    cell = Cell(step.doing, step.name or "", done, parts, points, int(idle_s / 60) if is_stuck else None)
    return _queued(room, student, exercise, cell) if step.doing == "run" else cell


def _queued(room: Room, student: Student, exercise: Assignment, cell: Cell) -> Cell:
    """The same, with how far its run is; who waits for the server is not stuck."""
    for attempt in reversed(room.works.attempts(student.id, exercise.name)):
        if attempt.kind == "run" and attempt.name == cell.name and (of := room.queue.status(attempt.run)):
            if of.state is State.WAITING:
                return replace(cell, doing="waiting", place=of.ahead + 1, idle_min=None)
            if of.state is State.RUNNING:
                return replace(cell, doing="running", idle_min=None)
            break
    return cell


def _of_exercise(room: Room, course: Course, exercise: Assignment) -> list[Kept]:
    works = room.works.of_course(course.id)
    students = room.students.of_course(course.id)
    return [works[key] for key in ((student.id, exercise.name) for student in students) if key in works]


def _runs(room: Room, student: str, exercise: Assignment) -> dict[str, VariantResult]:
    """What the exercise's own runs of a student measured."""
    found = {}
    for attempt in room.works.attempts(student, exercise.name):
        run = room.runs.get(attempt.run) if attempt.kind == "run" else None
        if run is not None and run.is_trimmed:
            room.queue.again(run, TEACHER)
        if variant := measured(room, run):
            found[attempt.name] = variant
    return found


def _file(name: str, kind: str, content: bytes) -> Response:
    return Response(
        content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
