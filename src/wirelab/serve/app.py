"""The web application of a classroom."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from wirelab.serve import charts
from wirelab.serve.answers import Answers, page
from wirelab.serve.bench_pages import BenchPages
from wirelab.serve.class_pages import ClassPages
from wirelab.serve.doors import Doors
from wirelab.serve.exercise_pages import ExercisePages
from wirelab.serve.headers import BelowPath, SecurityHeaders
from wirelab.serve.room import Room
from wirelab.serve.run_pages import RunPages
from wirelab.serve.shell_pages import ShellPages
from wirelab.serve.teacher_pages import TeacherPages
from wirelab.serve.visitor import COOKIE, Refusal, Visitor, logged

_STATIC: Final = Path(__file__).with_name("static")
_LOG: Final = logging.getLogger(__name__)
_SESSION_S: Final = 200 * 24 * 3600
"""A term: a student's own code is good for longer."""


def application(room: Room) -> ASGIApp:
    """The application of a classroom; its queue runs while it is served."""
    answers = Answers(room)
    pages = (Doors, ExercisePages, BenchPages, ShellPages, RunPages, TeacherPages, ClassPages)
    routes = [route for kind in pages for route in kind(answers).routes()]
    routes += charts.routes()
    routes.append(Mount("/static", StaticFiles(directory=_STATIC)))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        room.queue.start()
        yield
        await run_in_threadpool(room.shells.stop)
        await run_in_threadpool(room.queue.stop)

    async def nothing(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        if not isinstance(error, HTTPException):
            _LOG.error("%s: a mistake of the server", logged(request.url.path), exc_info=error)
        refusal = Refusal(status, _words_of(status))
        visitor = Visitor(room, request)
        return await run_in_threadpool(page, visitor, "refused.html.j2", status, refusal=refusal)

    sessions = Middleware(
        SessionMiddleware,
        secret_key=room.session_key,
        session_cookie=COOKIE,
        max_age=_SESSION_S,
        path=room.root or "/",
        same_site="lax",
    )
    app = Starlette(
        routes=routes,
        middleware=[Middleware(SecurityHeaders), sessions],
        exception_handlers={HTTPException: nothing, Exception: nothing},
        lifespan=lifespan,
    )
    return BelowPath(app, room.root) if room.root else app


def _words_of(status: int) -> str:
    """The name of the words for an answer that is no page of ours."""
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        return "refused.method"
    return "refused.nothing" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "refused.broken"
