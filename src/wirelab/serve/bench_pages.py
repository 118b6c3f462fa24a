"""The pages of the free bench: all scenarios, one with its knobs, and what somebody asked for."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from wirelab.errors import InputError
from wirelab.report.drawing import drawing
from wirelab.serve.answers import Answers, go, message, page, require
from wirelab.serve.bench import Bench, scenario_called, scenarios
from wirelab.serve.forms import MOST_FIELDS, Form, parse_form
from wirelab.serve.knobs import Element, elements
from wirelab.serve.limits import Deed
from wirelab.serve.visitor import Refusal, Visitor

_WITH: Final = "with"
_VARIANT: Final = "variant"
_FEW: Final = 12
_MOST_UNFOLDED: Final = 24
"""Nodes and cables whose knobs a page shows at once: with more of them it is folded."""


@dataclass(frozen=True, slots=True)
class BenchPages:
    """Pick a scenario, turn its knobs, run it."""

    answers: Answers

    def routes(self) -> list[BaseRoute]:
        """The pages."""
        return [
            Route("/bench", self.answers.get(self.all)),
            Route("/bench/{scenario}", self.answers.get(self.one)),
            Route("/bench/{scenario}", self.answers.post(self.run, fields=fields_of), methods=["POST"]),
        ]

    def all(self, visitor: Visitor) -> Response:
        """Every scenario, and what this visitor ran last."""
        listed = [(name, scenario_called(name)) for name in scenarios()]
        person = visitor.person
        runs = visitor.room.runs.of_person(person, _FEW) if person else []
        mine = [(run, Bench.of(run.spec)) for run in runs if run.spec["kind"] == "bench"]
        return page(visitor, "bench_all.html.j2", listed=listed, mine=mine)

    def one(self, visitor: Visitor) -> Response:
        """A scenario with its knobs, as a link has turned them."""
        asked = parse_form(visitor.request.url.query)
        scenario = scenario_of(visitor)
        problem, settings = "", asked.below(_WITH)
        try:
            bench = Bench.read(scenario, asked.text(_VARIANT), settings)
        except InputError as error:
            # What of a link does not fit is said beside the knobs.
            experiment = scenario_called(scenario)
            names = [case.name for case in experiment.cases]
            variant = asked.text(_VARIANT)
            bench = Bench(scenario, variant if variant in names else names[0], {})
            problem = message(visitor, error)
        return self._page(visitor, bench, problem)

    def run(self, visitor: Visitor, form: Form) -> Response:
        """Run it as the knobs are."""
        person = visitor.require_person()
        scenario = scenario_of(visitor)
        try:
            bench = turned(visitor, form)
        except InputError as error:
            variant = scenario_called(scenario).cases[0].name
            settings = {key: text for key, text in form.below(_WITH).items() if text}
            return self._page(visitor, Bench(scenario, variant, settings), message(visitor, error), 422)
        require(visitor, Deed.RUN, person)
        run = visitor.room.queue.ask(bench.spec, person)
        return go(visitor, f"/runs/{run.id}")

    def _page(self, visitor: Visitor, bench: Bench, problem: str, status: int = 200) -> Response:
        experiment, original = bench.experiment, bench.original
        known = elements(original.wiring)
        try:
            wiring = bench.case().wiring
        except InputError:
            wiring = original.wiring
        return page(
            visitor,
            "bench.html.j2",
            status,
            bench=bench,
            experiment=experiment,
            variants=[(case.name, case.is_control) for case in experiment.cases],
            is_long=len(known) > _MOST_UNFOLDED,
            elements=[_turned(element, bench.settings) for element in known],
            others=_others(bench, known),
            drawing=drawing(wiring, visitor.words("drawing.title")),
            problem=problem,
            has_shells=visitor.room.shells.most > 0 and visitor.person is not None,
        )


def fields_of(request: Request) -> int:
    """How many fields the form of a scenario's knobs may have: each knob is one, turned or not."""
    try:
        return MOST_FIELDS + _knob_count(request.path_params["scenario"])
    except InputError:
        return MOST_FIELDS


@functools.lru_cache(maxsize=64)
def _knob_count(scenario: str) -> int:
    """Of the variant that has most of them."""
    cases = scenario_called(scenario).cases
    return max(sum(len(element.knobs) for element in elements(case.wiring)) for case in cases)


def scenario_of(visitor: Visitor) -> str:
    """The name of a page's scenario. Raises Refusal where there is none."""
    name = visitor.request.path_params["scenario"]
    if name not in scenarios():
        raise Refusal(404, "refused.nothing")
    return str(name)


def asked_for(visitor: Visitor) -> Bench:
    """What the query of a request has turned. Raises InputError for what does not fit."""
    return turned(visitor, parse_form(visitor.request.url.query))


def turned(visitor: Visitor, form: Form) -> Bench:
    """The same of the knobs of a form."""
    return Bench.read(scenario_of(visitor), form.text(_VARIANT), form.below(_WITH))


def link(bench: Bench, page: str = "") -> str:
    """The path of the page that has the knobs turned so, or of another ``page`` of the same."""
    fields = {_VARIANT: bench.variant}
    fields |= {f"{_WITH}.{key}": text for key, text in sorted(bench.settings.items())}
    return f"/bench/{bench.scenario}{page}?{urlencode(fields, quote_via=quote)}"


def _turned(element: Element, settings: Mapping[str, str]) -> Element:
    knobs = tuple(knob.with_position(settings.get(knob.key, "")) for knob in element.knobs)
    return Element(element.name, element.kind, knobs)


def _others(bench: Bench, known: tuple[Element, ...]) -> dict[str, str]:
    """What a link has turned that has no knob."""
    keys = {knob.key for element in known for knob in element.knobs}
    return {key: text for key, text in bench.settings.items() if key not in keys}
