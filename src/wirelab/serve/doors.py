"""Doors: the pages by which students and the teacher come in, come back and leave."""

import hmac
from dataclasses import dataclass

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from wirelab.errors import InputError
from wirelab.serve.answers import Answers, go, message, page, require
from wirelab.serve.code import read_code
from wirelab.serve.forms import Form
from wirelab.serve.limits import Deed
from wirelab.serve.visitor import CSRF, Refusal, Visitor


@dataclass(frozen=True, slots=True)
class Doors:
    """Joining by a course's code, coming back by one's own, and the teacher's password."""

    answers: Answers

    def routes(self) -> list[BaseRoute]:
        """The pages."""
        get, post = self.answers.get, self.answers.post
        return [
            Route("/", get(self.front)),
            Route("/join/{code}", get(self.invited)),
            Route("/join", post(self.join, again=self.joined), methods=["POST"]),
            Route("/resume/{code}", get(self.returning)),
            Route("/resume", post(self.resume), methods=["POST"]),
            Route("/me", get(self.me)),
            Route("/leave", post(self.leave), methods=["POST"]),
            Route("/set-up/{key}", get(self.set_up)),
            Route("/set-up", post(self.set_password), methods=["POST"]),
            Route("/teacher/sign-in", get(self.sign_in)),
            Route("/teacher/sign-in", post(self.signed_in), methods=["POST"]),
        ]

    def front(self, visitor: Visitor) -> Response:
        """The first page: for who is known, their own."""
        if visitor.student is not None:
            return go(visitor, "/exercises")
        if visitor.is_teacher:
            return go(visitor, "/teacher")
        return self._front(visitor)

    def invited(self, visitor: Visitor) -> Response:
        """The page that an invitation leads to: who has joined already need not do so again, but may."""
        code, student = read_code(visitor.request.path_params["code"]), visitor.student
        course = visitor.room.courses.of_code(code)
        is_other = visitor.request.query_params.get("new") == "1"
        if student is None or course is None or student.course != course.id or is_other:
            return self._front(visitor, code=code)
        return page(visitor, "invited.html.j2", student=student, course=course, code=code)

    def join(self, visitor: Visitor, form: Form) -> Response:
        """A name and a course's code make a student; sent twice by one browser, the same one."""
        room = visitor.room
        name, code = form.text("name"), read_code(form.text("code"))
        self._require_chance(visitor, Deed.WRONG_CODE)
        course = room.courses.of_code(code)
        if course is None:
            room.limits.take(Deed.WRONG_CODE, visitor.address)
            visitor.log("refused", "no course has this code")
            return self._front(visitor, 422, name=name, code=code, problem=visitor.words("join.no-course"))
        require(visitor, Deed.JOIN, visitor.address)
        try:
            student = room.students.join(course, name, form.text(CSRF))
        except InputError as error:
            return self._front(visitor, 422, name=name, code=code, problem=message(visitor, error))
        visitor.sign_in(student)
        return go(visitor, "/me?new=1")

    def joined(self, visitor: Visitor, form: Form) -> Response | None:
        """The form that has signed this student in, once more: as of a button that is pressed twice."""
        student, room = visitor.student, visitor.room
        course = room.courses.of_code(read_code(form.text("code")))
        if student is None or course is None:
            return None
        same = room.students.joined(course, form.text("name"), form.text(CSRF))
        return go(visitor, "/me?new=1") if same is not None and same.id == student.id else None

    def returning(self, visitor: Visitor) -> Response:
        """The page that a personal link leads to. It changes nothing yet: programs follow links, too."""
        student = visitor.room.students.of_code(read_code(visitor.request.path_params["code"]))
        if student is None:
            raise self._wrong_code(visitor)
        return page(visitor, "resume.html.j2", student=student)

    def resume(self, visitor: Visitor, form: Form) -> Response:
        """A student is back, with their own code."""
        self._require_chance(visitor, Deed.WRONG_CODE)
        student = visitor.room.students.of_code(read_code(form.text("code")))
        if student is None:
            refusal = self._wrong_code(visitor)
            return self._front(visitor, 422, resume_problem=visitor.words(refusal.text))
        visitor.sign_in(student)
        return go(visitor, "/exercises")

    def me(self, visitor: Visitor) -> Response:
        """A student's own code, to be written down."""
        student = visitor.require_student()
        course = visitor.room.courses.get(student.course)
        is_new = visitor.request.query_params.get("new") == "1"
        return page(
            visitor,
            "me.html.j2",
            student=student,
            course=course,
            is_new=is_new,
            link=absolute(visitor, f"/resume/{student.code}"),
        )

    def leave(self, visitor: Visitor, _form: Form) -> Response:
        """Sign out."""
        visitor.sign_out()
        return go(visitor, "/")

    def set_up(self, visitor: Visitor) -> Response:
        """The page that the link of the first start leads to."""
        self._require_key(visitor, visitor.request.path_params["key"])
        return page(visitor, "set_up.html.j2", key=visitor.request.path_params["key"], problem="")

    def set_password(self, visitor: Visitor, form: Form) -> Response:
        """The teacher's password, for the first time."""
        key, password = form.text("key"), form.fields.get("password", "")
        self._require_key(visitor, key)
        problem = "" if password == form.fields.get("again") else visitor.words("teacher.differ")
        if not problem:
            try:
                visitor.room.set_password(password)
            except InputError as error:
                problem = message(visitor, error)
        if problem:
            return page(visitor, "set_up.html.j2", 422, key=key, problem=problem)
        visitor.sign_in_as_teacher()
        return go(visitor, "/teacher")

    def sign_in(self, visitor: Visitor) -> Response:
        """The teacher's door."""
        return page(visitor, "sign_in.html.j2", problem="", is_set=visitor.room.set_up_key is None)

    def signed_in(self, visitor: Visitor, form: Form) -> Response:
        """The teacher's password."""
        # Before it is looked at, which takes its time: many at once are as many guesses.
        if wait_s := visitor.room.limits.take(Deed.WRONG_PASSWORD, visitor.address):
            raise _too_often(visitor, Deed.WRONG_PASSWORD, wait_s)
        if not visitor.room.is_teacher(form.fields.get("password", "")):
            visitor.log("refused", "a wrong password")
            problem = visitor.words("teacher.wrong")
            return page(
                visitor, "sign_in.html.j2", 403, problem=problem, is_set=visitor.room.set_up_key is None
            )
        visitor.room.limits.give_back(Deed.WRONG_PASSWORD, visitor.address)
        visitor.sign_in_as_teacher()
        return go(visitor, "/teacher")

    def _front(self, visitor: Visitor, status: int = 200, **said: str) -> Response:
        known = {"name": "", "code": "", "problem": "", "resume_problem": ""}
        course = visitor.room.courses.of_code(said.get("code", ""))
        return page(visitor, "front.html.j2", status, course=course, **{**known, **said})

    def _wrong_code(self, visitor: Visitor) -> Refusal:
        visitor.room.limits.take(Deed.WRONG_CODE, visitor.address)
        visitor.log("refused", "nobody has this code")
        return Refusal(404, "join.no-student")

    def _require_key(self, visitor: Visitor, key: str) -> None:
        right = visitor.room.set_up_key
        if right is None or not hmac.compare_digest(key.encode(), right.encode()):
            visitor.log("refused", "a wrong link for the first start")
            raise Refusal(403, "teacher.no-set-up")

    def _require_chance(self, visitor: Visitor, deed: Deed) -> None:
        """Whoever has guessed wrong too often waits, be the next guess right or not."""
        if wait_s := visitor.room.limits.wait_s(deed, visitor.address):
            raise _too_often(visitor, deed, wait_s)


def _too_often(visitor: Visitor, deed: Deed, wait_s: float) -> Refusal:
    visitor.log("slowed down", deed.name)
    return Refusal(429, "refused.often", seconds=int(wait_s) + 1)


def absolute(visitor: Visitor, path: str) -> str:
    """A page of ours as a link for others, by the name that this visitor has for the server."""
    url = visitor.request.url
    return f"{url.scheme}://{url.netloc}{visitor.room.root}{path}"
