"""The teacher's pages: courses, who is in them, and how they get in."""

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from wirelab.errors import InputError
from wirelab.exercise.draw import person
from wirelab.serve.answers import Answers, go, page
from wirelab.serve.courses import Course
from wirelab.serve.doors import absolute
from wirelab.serve.forms import Form
from wirelab.serve.students import Student
from wirelab.serve.visitor import Refusal, Visitor

_TITLE_LETTERS: Final = 80


@dataclass(frozen=True, slots=True)
class TeacherPages:
    """What only the teacher sees."""

    answers: Answers

    def routes(self) -> list[BaseRoute]:
        """The pages."""
        get, post = self.answers.get, self.answers.post
        return [
            Route("/teacher", get(self.courses)),
            Route("/teacher/courses", post(self.add), methods=["POST"]),
            Route("/teacher/courses/{course}/invitation", get(self.invitation)),
            Route("/teacher/courses/{course}/code", get(self.ask_new_code)),
            Route("/teacher/courses/{course}/code", post(self.new_code), methods=["POST"]),
            Route("/teacher/students/{student}/code", post(self.new_student_code), methods=["POST"]),
            Route("/teacher/students/{student}/remove", get(self.ask_removal)),
            Route("/teacher/students/{student}/remove", post(self.remove), methods=["POST"]),
        ]

    def courses(self, visitor: Visitor) -> Response:
        """Every course."""
        visitor.require_teacher()
        room = visitor.room
        courses = [(course, len(room.students.of_course(course.id))) for course in room.courses.all()]
        waiting, running = room.queue.counts()
        return page(visitor, "teacher.html.j2", courses=courses, waiting=waiting, running=running)

    def add(self, visitor: Visitor, form: Form) -> Response:
        """A new course."""
        visitor.require_teacher()
        text = form.text("title", _TITLE_LETTERS)
        if not text.split():
            raise InputError("teacher.no-title")
        course = visitor.room.courses.add(person(text, "course"))
        return go(visitor, f"/teacher/courses/{course.id}/invitation")

    def invitation(self, visitor: Visitor) -> Response:
        """The code of a course, for a projector."""
        visitor.require_teacher()
        course = course_of(visitor)
        return page(
            visitor,
            "invitation.html.j2",
            course=course,
            link=absolute(visitor, f"/join/{course.code}"),
            front=absolute(visitor, "/"),
            is_loopback=_is_loopback(visitor.request.url.hostname or ""),
        )

    def ask_new_code(self, visitor: Visitor) -> Response:
        """Whether the old invitation shall let nobody in any more: it may be on a projector."""
        visitor.require_teacher()
        return page(visitor, "new_code.html.j2", course=course_of(visitor))

    def new_code(self, visitor: Visitor, _form: Form) -> Response:
        """Another invitation: the old one lets nobody in any more."""
        visitor.require_teacher()
        course = course_of(visitor)
        visitor.room.courses.new_code(course.id)
        return go(visitor, f"/teacher/courses/{course.id}/invitation")

    def new_student_code(self, visitor: Visitor, _form: Form) -> Response:
        """Another code for a student: whoever came with the old one is out."""
        visitor.require_teacher()
        student = student_of(visitor)
        visitor.room.students.new_code(student.id)
        return go(visitor, f"/teacher/students/{student.id}")

    def ask_removal(self, visitor: Visitor) -> Response:
        """Whether a student shall go, with all that they have done."""
        visitor.require_teacher()
        student = student_of(visitor)
        return page(
            visitor, "removal.html.j2", student=student, course=visitor.room.courses.get(student.course)
        )

    def remove(self, visitor: Visitor, _form: Form) -> Response:
        """Remove a student: one who joined twice, or by a name that is not theirs."""
        visitor.require_teacher()
        student = student_of(visitor)
        visitor.room.students.remove(student.id)
        return go(visitor, f"/teacher/courses/{student.course}")


def course_of(visitor: Visitor) -> Course:
    """The course of a page. Raises Refusal where there is none."""
    course = visitor.room.courses.get(visitor.request.path_params["course"])
    if course is None:
        raise Refusal(404, "refused.nothing")
    return course


def _is_loopback(host: str) -> bool:
    """Whether a host's name is one that only the machine itself can reach."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def student_of(visitor: Visitor) -> Student:
    """The student of a page. Raises Refusal where there is none."""
    student = visitor.room.students.get(visitor.request.path_params["student"])
    if student is None:
        raise Refusal(404, "refused.nothing")
    return student
