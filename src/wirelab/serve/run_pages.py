"""The pages of a run: how far it is, and what came of it."""

import asyncio
import json
import re
import shlex
from collections.abc import AsyncIterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from wirelab.report.drawing import drawing
from wirelab.runner.run_result import read_run
from wirelab.runner.store import PLAN, REPORT, RESULT
from wirelab.serve import bench, exercises, pictures
from wirelab.serve.answers import Answers, go, page, require
from wirelab.serve.bench import Bench
from wirelab.serve.bench_pages import link
from wirelab.serve.carrier import PANEL
from wirelab.serve.doors import absolute
from wirelab.serve.exercises import exercise_called
from wirelab.serve.forms import Form
from wirelab.serve.limits import Deed
from wirelab.serve.queue import Status
from wirelab.serve.room import Room
from wirelab.serve.runs import Run, State
from wirelab.serve.visitor import Refusal, Visitor
from wirelab.serve.words import Words

_LOOK_S: Final = 0.4
_MOST_LOOKS: Final = 9_000
"""An hour: a browser asks again by itself."""
_MOST_WATCHED: Final = 50
"""Runs that a page waits for; a student may ask for fewer."""
_POLICY: Final = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')
_HEAD_LETTERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class RunPages:
    """A run, from the queue to its report."""

    answers: Answers

    def routes(self) -> list[BaseRoute]:
        """The pages."""
        get, post = self.answers.get, self.answers.post
        return [
            # Before the page of a run: no run is called so.
            Route("/runs/events", self.events),
            Route("/runs/{run}", get(self.one)),
            Route("/runs/{run}/again", post(self.again), methods=["POST"]),
            Route("/runs/{run}/report", get(self.report)),
            Route(f"/runs/{{run}}/{RESULT}", get(self.result)),
            Route(f"/runs/{{run}}/{{variant}}/{PLAN}", get(self.plan)),
            Route("/runs/{run}/{variant}/raw/", get(self.raw)),
        ]

    def one(self, visitor: Visitor) -> Response:
        """How far it is, and when it is done, what was measured."""
        run = seen(visitor)
        if run.spec["kind"] != bench.KIND:
            of = run.spec.get("of", run.spec)
            if of["kind"] == bench.KIND:
                return go(visitor, f"/runs/{visitor.room.queue.id_of(of)}")
            return go(visitor, f"/exercises/{of['exercise']}")
        asked = Bench.of(run.spec)
        if run.is_trimmed:
            # A link to it may be years old.
            visitor.room.queue.again(run, visitor.person or visitor.address)
        status = visitor.room.queue.status(run.id) or Status(run.state)
        # In this order: what is done has its files.
        run = seen(visitor)
        return page(
            visitor,
            "run.html.j2",
            run=run,
            bench=asked,
            progress=progress(visitor.words, status),
            panel=panel_of(visitor, run),
            pictures=pictures_of(visitor.room, run),
            told=lambda status: progress(visitor.words, status),
            turn=link(asked),
            shell=link(asked, "/shell"),
            has_shells=visitor.room.shells.most > 0 and visitor.person is not None,
            share=absolute(visitor, f"/runs/{run.id}"),
            drawing=drawing(asked.case().wiring, visitor.words("drawing.title")),
            command=shlex.join(asked.argv()),
        )

    def again(self, visitor: Visitor, _form: Form) -> Response:
        """Run it again: its lab broke."""
        run, person = seen(visitor), visitor.require_person()
        require(visitor, Deed.RUN, person)
        visitor.room.queue.ask(run.spec, person)
        return go(visitor, f"/runs/{run.id}")

    async def events(self, request: Request) -> Response:
        """How far the runs of a page are, told again and again in one stream (server-sent events).

        One, because a browser has few connections to a server, for all of its pages.
        """
        visitor = Visitor(self.answers.room, request)
        asked = list(dict.fromkeys(request.query_params.getlist("run")))[:_MOST_WATCHED]

        def allowed() -> list[Run]:
            try:
                require(visitor, Deed.WATCH, visitor.person or visitor.address)
                return [_seen(visitor, run) for run in asked]
            except Refusal:
                return []

        if not (runs := await run_in_threadpool(allowed)):
            return Response(status_code=403)
        return StreamingResponse(self._told(visitor, runs), media_type="text/event-stream")

    async def _told(self, visitor: Visitor, runs: list[Run]) -> AsyncIterator[str]:
        queue, before = self.answers.room.queue, dict[str, str]()

        def looked() -> dict[str, Status]:
            return {run.id: queue.status(run.id) or Status(run.state) for run in runs}

        for _ in range(_MOST_LOOKS):
            found = await run_in_threadpool(looked)
            now = {run: json.dumps({"run": run} | progress(visitor.words, one)) for run, one in found.items()}
            new = [f"data: {told}\n\n" for run, told in now.items() if before.get(run) != told]
            # A line now and then tells a proxy, and us, that the other end is there.
            yield "".join(new) or ":\n\n"
            before = now
            runs = [run for run in runs if not found[run.id].state.has_ended]
            if not runs:
                return
            await asyncio.sleep(_LOOK_S)

    def report(self, visitor: Visitor) -> Response:
        """The report as `wirelab run` makes it; it may run the one script whose hash it has, and no other."""
        text = _report_of(visitor).read_text(encoding="utf-8")
        found = _POLICY.search(text[:_HEAD_LETTERS])
        # As it stands in the page it is an attribute, in which quotes are written out.
        own = unescape(found[1]) if found else "default-src 'none'"
        policy = f"{own}; base-uri 'none'; frame-ancestors 'none'"
        return HTMLResponse(text, headers={"Content-Security-Policy": policy})

    def result(self, visitor: Visitor) -> Response:
        """The figures."""
        return FileResponse(file_of(visitor, RESULT), media_type="application/json")

    def plan(self, visitor: Visitor) -> Response:
        """The Plan of a variant."""
        folder = file_of(visitor, RESULT).parent
        names = [variant.name for variant in read_run(folder / RESULT).variants]
        variant = visitor.request.path_params["variant"]
        if variant not in names:
            raise Refusal(404, "refused.nothing")
        return FileResponse(folder / variant / PLAN, media_type="application/json")

    def raw(self, visitor: Visitor) -> Response:
        """Raw files are not kept on a server: the page says how to have them."""
        spec = seen(visitor).spec
        if spec["kind"] != bench.KIND:
            raise Refusal(404, "refused.nothing")
        return page(visitor, "raw.html.j2", 404, command=shlex.join(Bench.of(spec).argv()))


def seen(visitor: Visitor) -> Run:
    """The run of a page, which this visitor may see. Raises Refusal."""
    return _seen(visitor, visitor.request.path_params["run"])


def _seen(visitor: Visitor, run_id: str) -> Run:
    run = visitor.room.runs.get(run_id)
    if run is None:
        raise Refusal(404, "refused.nothing")
    if run.spec["kind"] == pictures.KIND:
        # Who may see a run may see its pictures.
        _require_seen(visitor, visitor.room.queue.id_of(run.spec["of"]), run.spec["of"]["kind"])
        return run
    _require_seen(visitor, run.id, run.spec["kind"])
    return run


def _require_seen(visitor: Visitor, run_id: str, kind: str) -> None:
    # On the bench there is nothing of anybody's; what somebody did in an exercise is theirs.
    if kind != bench.KIND and not visitor.is_teacher:
        person = visitor.person
        if person is None or not visitor.room.runs.has_asked(run_id, person):
            visitor.log("refused", "somebody else's run")
            raise Refusal(403, "refused.others")


@dataclass(frozen=True, slots=True)
class Pictures:
    """The pictures of a run as its page shows them: ``html`` when they are there, else how far they are."""

    run: str
    html: str
    status: Status


def pictures_of(room: Room, run: Run) -> Pictures | None:
    """Those of a run, None where there is nothing to be seen."""
    found = room.pictures_of(run)
    if found is None:
        return None
    of, status = found
    folder = room.results_of(of) if status.state is State.DONE else None
    html = (folder / PANEL).read_text(encoding="utf-8") if folder else ""
    return Pictures(of.id, html, status)


def panel_of(visitor: Visitor, run: Run) -> str:
    """What is shown of a run, empty until it is done."""
    folder = visitor.room.results_of(run) if run.state is State.DONE else None
    return (folder / PANEL).read_text(encoding="utf-8") if folder else ""


def _report_of(visitor: Visitor) -> Path:
    """The report with pictures of single frames, where those are there."""
    path = file_of(visitor, REPORT)
    of, status = visitor.room.pictures_of(seen(visitor)) or (None, None)
    folder = visitor.room.results_of(of) if of and status and status.state is State.DONE else None
    if folder is None:
        return path
    drawn = folder / REPORT
    return drawn if drawn.is_file() else path


def file_of(visitor: Visitor, name: str) -> Path:
    """A file of the run of a page. Raises Refusal where there is none."""
    run = seen(visitor)
    folder = visitor.room.results_of(run)
    if folder is None or not _is_shown(visitor, run):
        raise Refusal(404, "refused.nothing")
    return folder / name


def _is_shown(visitor: Visitor, run: Run) -> bool:
    """Whether the whole report may be seen: that of an exercise has answers in it until it is handed in."""
    if run.spec["kind"] == bench.KIND:
        return True
    if run.spec["kind"] != exercises.KIND or exercise_called(run.spec["exercise"]).said.sees != "all":
        return False
    student = visitor.student
    kept = visitor.room.works.get(student.id, run.spec["exercise"]) if student else None
    return visitor.is_teacher or (kept is not None and kept.work.submitted is not None)


def progress(words: Words, status: Status) -> dict[str, Any]:
    """How far a run is, for the page: a sentence, and a share of 1 where there is one."""
    share = status.done_s / status.whole_s if status.whole_s else 0.0
    if status.state is State.WAITING:
        name = "run.next" if status.ahead == 0 else "run.waiting"
        said = words(name, ahead=status.ahead, wait=_seconds(status.wait_s))
    elif status.state is State.RUNNING:
        said = words("run.running", done=f"{status.done_s:.1f}", whole=f"{status.whole_s:.1f}")
    else:
        said = words(f"run.{status.state}", message=status.message)
    return {"state": status.state.value, "words": said, "share": round(share, 4)}


def _seconds(wait_s: float) -> str:
    """A wait as people say it."""
    if wait_s < 90:  # noqa: PLR2004 - a minute and a half
        return f"{max(5, round(wait_s / 5) * 5)} s"
    return f"{round(wait_s / 60)} min"
