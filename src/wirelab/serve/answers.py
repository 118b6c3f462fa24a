"""Answers: how a request comes to the function that answers it, and what becomes of a refusal."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlsplit, urlunsplit

from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from wirelab import __version__
from wirelab.errors import InputError, WirelabError
from wirelab.results.values import printable
from wirelab.serve.forms import MOST_FIELDS, MOST_LETTERS, Form, read_form
from wirelab.serve.limits import Deed
from wirelab.serve.room import Room
from wirelab.serve.templates import filled_in
from wirelab.serve.visitor import COOKIE, Refusal, Visitor, logged

Endpoint = Callable[[Request], Awaitable[Response]]
Shown = Callable[[Visitor], Response]
Posted = Callable[[Visitor, Form], Response]
Taken = Callable[[Visitor, Form], Response | None]
FieldCount = Callable[[Request], int]

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answers:
    """Makes endpoints of functions, which run in threads of their own and may take their time."""

    room: Room

    def get(self, show: Shown) -> Endpoint:
        """An endpoint that shows something."""

        async def endpoint(request: Request) -> Response:
            return await run_in_threadpool(self._answer, Visitor(self.room, request), show)

        return endpoint

    def post(
        self,
        take: Posted,
        letters: int = MOST_LETTERS,
        again: Taken | None = None,
        fields: FieldCount = lambda _: MOST_FIELDS,
    ) -> Endpoint:
        """An endpoint that takes a form, whose fields may be so long, and so many for that request.

        ``again`` answers one that was taken already, and whose token is therefore an old one.
        """

        async def endpoint(request: Request) -> Response:
            visitor = Visitor(self.room, request)
            try:
                most = await run_in_threadpool(fields, request)
                form = await read_form(request, letters, most)
            except InputError as error:
                return await run_in_threadpool(self.problem, visitor, error)
            return await run_in_threadpool(self._take, visitor, form, take, again)

        return endpoint

    def problem(self, visitor: Visitor, error: InputError, status: int = 422) -> Response:
        """The page for something that cannot be read: what is wrong is said, and nothing was changed."""
        back = came_from(visitor)
        return page(visitor, "problem.html.j2", status, message=message(visitor, error), back=back)

    def _take(self, visitor: Visitor, form: Form, take: Posted, again: Taken | None) -> Response:
        def taken(visitor: Visitor) -> Response:
            require(visitor, Deed.POST, visitor.person or visitor.address)
            if again is not None and (answer := again(visitor, form)) is not None:
                return answer
            visitor.require_csrf(form)
            return take(visitor, form)

        return self._answer(visitor, taken)

    def _answer(self, visitor: Visitor, answer: Shown) -> Response:
        if COOKIE in visitor.request.cookies and not visitor.session:
            visitor.log("ignored", "a session that this server did not sign, or an old one")
        try:
            return answer(visitor)
        except Refusal as refusal:
            return page(visitor, "refused.html.j2", refusal.status, refusal=refusal)
        except InputError as error:
            return self.problem(visitor, error)
        except WirelabError as error:
            _LOG.error("%s: %s", logged(visitor.request.url.path), error.message)
            return page(visitor, "problem.html.j2", 500, message=error.message, back=came_from(visitor))


def page(visitor: Visitor, template: str, status: int = 200, /, **figures: Any) -> HTMLResponse:  # noqa: ANN401 - whatever it shows
    """A page for a visitor."""
    text = filled_in(
        template,
        t=visitor.words,
        visitor=visitor,
        url=lambda path: visitor.room.root + path,
        version=__version__,
        timed=lambda text, at: _timed(visitor, text, at),
        **figures,
    )
    return HTMLResponse(text, status)


def _timed(visitor: Visitor, text: str, at: str) -> Markup:
    """A text with an instant ``at`` as RFC 3339 has it: in UTC, until a script makes it the viewer's time."""
    shown = at.replace("T", " ").replace("Z", " UTC")
    element = Markup('<time datetime="{}">{}</time>').format(at, shown)
    return Markup(escape(visitor.words.texts[text])).format_map({"at": element})  # noqa: S704 - it is escaped


def came_from(visitor: Visitor) -> str:
    """The page of ours that a request came from, as a path; empty where the browser does not say, or lies."""
    url = visitor.request.url
    try:
        before = urlsplit(visitor.request.headers.get("referer", ""))
    except ValueError:
        return ""
    # A path of two slashes would be another server's.
    if before.netloc != url.netloc or before.path.startswith("//") or before.path == url.path:
        return ""
    return urlunsplit(("", "", before.path, before.query, ""))


def go(visitor: Visitor, path: str) -> RedirectResponse:
    """Send a browser to a page of ours, after a form."""
    return RedirectResponse(visitor.room.root + quote(path, safe="/?=&%#"), 303)


def message(visitor: Visitor, error: InputError) -> str:
    """What is wrong, in the visitor's language where we have the words, else in the model's."""
    said = [problem.message for problem in error.problems]
    return "\n".join(visitor.words(text) if text in visitor.words else printable(text) for text in said)


def require(visitor: Visitor, deed: Deed, who: str) -> None:
    """Raise Refusal where somebody does something too often."""
    if wait_s := visitor.room.limits.take(deed, who):
        visitor.log("slowed down", deed.name)
        raise Refusal(429, "refused.often", seconds=int(wait_s) + 1)
