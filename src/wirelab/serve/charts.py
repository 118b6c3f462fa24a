"""What draws the charts of pages: script and style of reports, as files, since no page has any inline."""

from functools import cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from wirelab.report.script import Script
from wirelab.serve.templates import filled_in


def routes() -> list[Route]:
    """Where the pages find them."""
    return [Route("/static/charts.js", _script), Route("/static/charts.css", _style)]


def _script(_: Request) -> Response:
    return Response(Script.load().text, media_type="text/javascript")


def _style(_: Request) -> Response:
    return Response(_css(), media_type="text/css")


@cache
def _css() -> str:
    return "".join(map(filled_in, ("plots.css.j2", "burst.css.j2", "network.css.j2")))
