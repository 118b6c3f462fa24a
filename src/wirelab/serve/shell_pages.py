"""The pages of shells: a network with its clock stopped, and the socket through which it is told lines."""

import asyncio
import hmac
import logging
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from wirelab.errors import InputError, WirelabError
from wirelab.model.exercise_reader import scenario_file
from wirelab.model.yamlfile import read
from wirelab.report.drawing import drawing
from wirelab.runner.job import DEFAULT_SEED
from wirelab.serve.answers import Answers, go, message, page, require
from wirelab.serve.bench import Bench, file_of
from wirelab.serve.bench_pages import asked_for, fields_of, link, turned
from wirelab.serve.desk import settle
from wirelab.serve.exercise_pages import desk_of
from wirelab.serve.exercise_view import drawing_of
from wirelab.serve.forms import Form
from wirelab.serve.limits import Deed
from wirelab.serve.shell import IDLE_S, Shell, ShellSetup
from wirelab.serve.talk import REFUSED, BadMessageError, Talk, heard, is_ours
from wirelab.serve.visitor import CSRF, Refusal, Visitor

_SHELL: Final = "/shell"
_RUN: Final = "run"
_OPENS_S: Final = 20.0
_LOG: Final = logging.getLogger(__name__)

SetupOf = Callable[[Visitor], ShellSetup]


@dataclass(frozen=True, slots=True)
class ShellPages:
    """Stop the clock of a network of an exercise, or of the bench."""

    answers: Answers

    def routes(self) -> list[BaseRoute]:
        """The pages and their sockets."""
        get = self.answers.get
        exercise, scenario = "/exercises/{exercise}/shell", "/bench/{scenario}/shell"
        return [
            Route(exercise, get(self.of_exercise)),
            WebSocketRoute(f"{exercise}/socket", self.exercise_socket),
            Route(scenario, get(self.of_bench)),
            Route(scenario, self.answers.post(self.turned, fields=fields_of), methods=["POST"]),
            WebSocketRoute(f"{scenario}/socket", self.bench_socket),
        ]

    def of_exercise(self, visitor: Visitor) -> Response:
        """The page of a network of a student's."""
        desk = desk_of(visitor)
        settle(visitor.room)
        name = visitor.request.query_params.get(_RUN, "")
        problem = ""
        try:
            desk.looked_at(name)
        except InputError as error:
            problem = message(visitor, error)
        here = f"/exercises/{desk.exercise.name}"
        said = desk.exercise.said.experiments
        used = len(desk.counted("experiment"))
        return self._page(
            visitor,
            title=desk.exercise.said.title,
            back=here,
            problem=problem,
            socket=f"{here}{_SHELL}/socket?{urlencode({_RUN: name})}",
            drawing=drawing_of(
                desk.exercise.name, tuple(desk.figures.values.items()), visitor.words("drawing.title")
            ),
            costs=not desk.is_look_counted,
            left=max(0, said.most - used) if said else 0,
            is_fixed=True,
            command="",
        )

    def of_bench(self, visitor: Visitor) -> Response:
        """The page of a scenario, as a link has turned it."""
        bench = asked_for(visitor)
        command = ["wirelab", "shell", bench.scenario, f"--variant={bench.variant}"]
        command += [f"--set={key}={text}" for key, text in sorted(bench.settings.items())]
        return self._page(
            visitor,
            title=bench.scenario,
            back=link(bench),
            problem="" if visitor.person else visitor.words("refused.person"),
            socket=link(bench, f"{_SHELL}/socket"),
            drawing=drawing(bench.case().wiring, visitor.words("drawing.title")),
            costs=False,
            left=0,
            is_fixed=False,
            command=shlex.join(command),
        )

    def turned(self, visitor: Visitor, form: Form) -> Response:
        """From the knobs as they are to the page of that."""
        return go(visitor, link(turned(visitor, form), _SHELL))

    async def exercise_socket(self, socket: WebSocket) -> None:
        """The shell of a student."""
        await self._serve(socket, _exercise_setup)

    async def bench_socket(self, socket: WebSocket) -> None:
        """The shell of whoever may run something."""
        await self._serve(socket, _bench_setup)

    def _page(self, visitor: Visitor, **figures: Any) -> Response:  # noqa: ANN401 - whatever it shows
        shells = visitor.room.shells
        return page(
            visitor, "shell.html.j2", minutes=f"{IDLE_S / 60:.0f}", has_shells=shells.most > 0, **figures
        )

    async def _serve(self, socket: WebSocket, setup_of: SetupOf) -> None:
        visitor = Visitor(self.answers.room, socket)
        if not is_ours(socket) or await run_in_threadpool(lambda: visitor.person) is None:
            visitor.log("refused", "a socket from elsewhere, or of nobody that is known")
            # Before it is accepted: the answer is 403.
            await socket.close(REFUSED)
            return
        await socket.accept()
        talk = Talk(asyncio.get_running_loop(), visitor.words)
        try:
            async with asyncio.timeout(_OPENS_S):
                opening = await heard(socket)
            shell = await run_in_threadpool(self._opened, visitor, opening, setup_of, talk)
        except WebSocketDisconnect:
            return
        except (Refusal, WirelabError, BadMessageError, TimeoutError) as error:
            await _refuse(socket, _words(visitor, error))
            return
        await _converse(socket, shell, talk)

    def _opened(self, visitor: Visitor, opening: dict[str, Any], setup_of: SetupOf, talk: Talk) -> Shell:
        """The shell. Raises Refusal and InputError where there is none for this visitor, or not now."""
        person = visitor.require_person()
        token = str(visitor.session.get(CSRF, ""))
        if not token or not hmac.compare_digest(opening.get("open", "").encode(), token.encode()):
            visitor.log("refused", "a socket without the token of its session")
            raise Refusal(403, "refused.form")
        require(visitor, Deed.SHELL, person)
        shells = visitor.room.shells
        shells.require_room(person)
        shell = shells.open(person, setup_of(visitor), talk.tell)
        if "columns" in opening:
            shell.hear({"columns": opening["columns"]})
        return shell


async def _converse(socket: WebSocket, shell: Shell, talk: Talk) -> None:
    """Until one of them has had enough; whatever ends it, the lab ends, too."""

    async def listen() -> None:
        try:
            while True:
                shell.hear(await heard(socket))
        except BadMessageError:
            shell.end("shell.ended.nonsense")
            # What is under way is told to its end.
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(talk.send_to(socket)), asyncio.create_task(listen())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        shell.end("shell.ended.gone")
        talk.close()
        for task in tasks:
            task.cancel()
        for failed in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(failed, Exception) and not isinstance(failed, WebSocketDisconnect):
                _LOG.info("a socket of a shell: %s", failed)
    if (
        socket.client_state is WebSocketState.CONNECTED
        and socket.application_state is WebSocketState.CONNECTED
    ):
        await socket.close()


async def _refuse(socket: WebSocket, words: str) -> None:
    """Say why there is no shell, and close."""
    try:
        await socket.send_json({"ended": words})
        await socket.close(REFUSED)
    except WebSocketDisconnect:
        return


def _words(visitor: Visitor, error: Exception) -> str:
    if isinstance(error, Refusal):
        return visitor.words(error.text, **error.figures)
    if isinstance(error, InputError):
        return message(visitor, error)
    if isinstance(error, WirelabError):
        return error.message
    return visitor.words("shell.ended.nonsense")


def _exercise_setup(visitor: Visitor) -> ShellSetup:
    """A student's own network, which counts as an experiment."""
    desk = desk_of(visitor)
    settle(visitor.room)
    setup = desk.look(visitor.request.query_params.get(_RUN, ""))
    exercise = desk.exercise
    return ShellSetup(
        exercise.experiment,
        exercise.experiment.case(setup.case),
        setup.settings,
        exercise.said.seed,
        read(scenario_file(exercise)).tree,
        is_fixed=True,
    )


def _bench_setup(visitor: Visitor) -> ShellSetup:
    bench: Bench = asked_for(visitor)
    written = read(file_of(bench.scenario)).tree
    return ShellSetup(
        bench.experiment, bench.original, tuple(sorted(bench.settings.items())), DEFAULT_SEED, written
    )
