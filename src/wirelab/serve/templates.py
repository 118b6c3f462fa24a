"""Templates of pages: compiled once, and all text in them escaped."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from wirelab.report.coded import coded
from wirelab.results.values import printable


def filled_in(template: str, /, **figures: Any) -> str:  # noqa: ANN401 - whatever a page shows
    """The page that a template makes of ``figures``."""
    return printable(_template(template)(figures))


@cache
def _template(name: str) -> Callable[[Mapping[str, Any]], str]:
    return _environment().get_template(name).render


@cache
def _environment() -> Environment:
    environment = Environment(
        # Charts are those of reports.
        loader=ChoiceLoader([PackageLoader("wirelab.serve", "pages"), PackageLoader("wirelab", "report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["coded"] = coded
    return environment
