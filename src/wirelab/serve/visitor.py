"""Who asks for a page: a student, the teacher, or nobody that is known."""

import hmac
import logging
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import HTTPConnection

from wirelab.results.values import printable
from wirelab.serve.forms import Form
from wirelab.serve.once import Once
from wirelab.serve.room import Room
from wirelab.serve.students import Student
from wirelab.serve.words import Words

COOKIE: Final = "wirelab"
TEACHER: Final = "teacher"
CSRF: Final = "csrf"

_STUDENT: Final = "student"
_LOG: Final = logging.getLogger(__name__)
_SECRET: Final = re.compile(r"(/(?:resume|join|set-up)/).+", re.DOTALL)
"""A path that lets in whoever has it."""
_TITLES: Final[Mapping[str, str]] = {
    "refused.nothing": "refused.no-page",
    "refused.method": "refused.no-method",
    "refused.often": "refused.wait",
    "refused.broken": "refused.mistake",
}


def logged(path: str) -> str:
    """A path as a log may have it: a code that lets somebody in is left out."""
    return printable(_SECRET.sub(r"\1...", path))[:200]


class Refusal(Exception):  # noqa: N818 - it is no error of anybody's code
    """Something that somebody may not do, or not now; ``text`` is the name of the words that say so."""

    def __init__(self, status: int, text: str, **figures: object) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.figures = figures

    @property
    def title(self) -> str:
        """The name of the words above it."""
        return _TITLES.get(self.text, "refused.title")


@dataclass(frozen=True)
class Visitor:
    """Whoever sent a request, as far as the session tells."""

    room: Room
    request: HTTPConnection

    @property
    def session(self) -> dict[str, Any]:
        """What the signed cookie holds."""
        return self.request.session

    @Once
    def words(self) -> Words:
        """The language of the browser."""
        return self.room.words.for_reader(self.request.headers.get("accept-language", ""))

    @Once
    def student(self) -> Student | None:
        """The student that this is."""
        return self.room.students.of_code(str(self.session.get(_STUDENT, "")))

    @Once
    def is_teacher(self) -> bool:
        """Whether it is the teacher."""
        claimed, right = str(self.session.get(TEACHER, "")), self.room.generation
        return bool(right) and hmac.compare_digest(claimed.encode(), right.encode())

    @property
    def person(self) -> str | None:
        """Whose runs these are, in the queue; None for nobody that is known."""
        if self.student is not None:
            return f"{_STUDENT}:{self.student.id}"
        return TEACHER if self.is_teacher else None

    @property
    def address(self) -> str:
        """Where the request came from."""
        return self.request.client.host if self.request.client else "?"

    @property
    def csrf(self) -> str:
        """What a form of ours has, and nobody else's."""
        token = self.session.setdefault(CSRF, secrets.token_urlsafe(24))
        return str(token)

    def require_csrf(self, form: Form) -> None:
        """Raise Refusal for a form that we did not give to this browser."""
        token = str(self.session.get(CSRF, ""))
        if not token or not hmac.compare_digest(form.text(CSRF).encode(), token.encode()):
            self.log("refused", "a form without the token of its session")
            raise Refusal(403, "refused.form")

    def require_teacher(self) -> None:
        """Raise Refusal for everybody else."""
        if not self.is_teacher:
            self.log("refused", "not the teacher")
            raise Refusal(403, "refused.teacher")

    def require_student(self) -> Student:
        """The student. Raises Refusal for everybody else."""
        if self.student is None:
            self.log("refused", "not a student")
            raise Refusal(403, "refused.student")
        return self.student

    def require_person(self) -> str:
        """Whose runs these are. Raises Refusal for somebody who has not joined."""
        if self.person is None:
            self.log("refused", "nobody that is known")
            raise Refusal(403, "refused.person")
        return self.person

    def sign_in(self, student: Student) -> None:
        """From now on this browser is that student's, and nobody else's."""
        self._begin_anew()
        self.session[_STUDENT] = student.code

    def sign_in_as_teacher(self) -> None:
        """From now on this browser is the teacher's."""
        self._begin_anew()
        self.session[TEACHER] = self.room.generation

    def sign_out(self) -> None:
        """From now on this browser is nobody's."""
        self.session.clear()

    def log(self, what: str, why: str) -> None:
        """Tell the server's log of something that somebody tried."""
        who = self.person or "somebody"
        path = logged(self.request.url.path)
        _LOG.warning("%s: %s at %s asked for %s: %s", what, who, self.address, path, why)

    def _begin_anew(self) -> None:
        self.session.clear()
        # Before the cached answers: who it was is no more.
        for name in ("student", "is_teacher"):
            self.__dict__.pop(name, None)
