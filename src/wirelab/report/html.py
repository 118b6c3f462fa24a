"""A run as one HTML page that needs nothing else: the verdict, and every figure that it rests on."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, Self

from wirelab.report.chart import Plots, as_data
from wirelab.report.coded import coded
from wirelab.report.explanation import bottleneck_table, chain_table, remedy_table
from wirelab.report.picture import Picture, parse_picture
from wirelab.report.script import Script
from wirelab.report.sliders import Panel
from wirelab.report.summary import claim
from wirelab.report.tables import Table, event_table, flow_table, ping_table, port_table, setting_table
from wirelab.report.timeline import RULE, Timeline
from wirelab.results.values import printable
from wirelab.runner.explanation import ExplainedVariant, Explanation
from wirelab.runner.run_result import RunResult, VariantResult
from wirelab.units import NS_PER_S, TIME, held, rounded
from wirelab.verdict.bottleneck import bottlenecks
from wirelab.verdict.checks import not_passed
from wirelab.verdict.verdict import Verdict

_PICTURE: Final = re.compile(
    r'<section class="burst".*?<script type="application/json">(.*?)</script>', re.DOTALL
)
_PARTS: Final = re.compile(r"(?s)(<(?:script|style|pre|code)\b.*?</(?:script|style|pre|code)>|<[^>]*>)")
"""A tag, or an element whose text is not wrapped."""
_MOST_EVENTS: Final = 40
"""A longer table of them is folded away."""
_VERDICT_COLOURS: Final = {"pass": "#18794e", "fail": "#c62a2f", "skip": "#8a6100", "error": "#9d34b5"}
"""On a light ground; white words are readable on each of them, for nobody knows the ground of a notebook."""


@dataclass(frozen=True, slots=True)
class Burst:
    """The burst picture as the page has it: ``data`` is no markup."""

    picture: Picture
    data: str

    @classmethod
    def of(cls, picture: Picture) -> Self:
        """Of one variant."""
        return cls(picture, as_data(picture.to_json().decode()))


@dataclass(frozen=True, slots=True)
class Proof:
    """What one variant or control measured, as the template shows it.

    ``drawing`` is its wiring where that is not the scenario's.
    """

    variant: VariantResult
    anchor: str
    drawing: str
    tables: Mapping[str, Table]
    plots: Plots | None = None
    burst: Burst | None = None
    absent: tuple[str, ...] = ()
    settings: Table | None = None


Place = Literal["result", "point", "alone"]
"""Where a page lies: in a result's folder, in that of a sweep's point, or without other files of the run."""


def pictures_in(page: str) -> Iterator[Picture]:
    """The pictures of single frames that a report has, but for what is none: somebody may have changed it."""
    for data in _PICTURE.findall(page):
        with suppress(ValueError):
            yield parse_picture(data.encode())


def html_report(
    run: RunResult,
    pictures: Iterable[Picture] = (),
    explanation: Explanation | None = None,
    *,
    place: Place = "result",
    panel: Panel | None = None,
) -> str:
    """The text of ``report.html``: the same for the same measurements, whether made or recalled.

    Its charts are drawn from the variants' evidence. It says nothing of the host or of when it was written,
    and names the files of the run relative to its ``place``. It loads nothing, and runs a script of its own
    that draws the charts and the ``pictures`` of the run's variants, and no other. What was found to help is
    in the ``explanation``. With a ``panel`` it is one of many pages, to which sliders lead.
    """
    bursts = {picture.variant: Burst.of(picture) for picture in pictures}
    drawing = next((variant.drawing for variant in run.variants), "")
    known = {of.name: of for of in explanation.variants} if explanation else {}
    proofs = [
        _proof(variant, f"v{number}", drawing, bursts.get(variant.name), known.get(variant.name))
        for number, variant in enumerate(run.variants, 1)
    ]
    # The page's first picture; those of other variants stand with what else they measured.
    first = next((proof for proof in proofs if proof.burst), None)
    variants = [proof for proof in proofs if proof.variant.breaks is None]
    return filled_in(
        "report.html.j2",
        run=run,
        script=Script.load(),
        first=first,
        place=place,
        panel=panel,
        drawing=drawing,
        flows=flow_table([proof.variant for proof in variants]),
        bad=[(proof, check) for proof in proofs for check in not_passed(proof.variant.checks)],
        proofs=proofs,
        has_plots=any(proof.plots for proof in proofs),
        variants=variants,
        controls=[proof for proof in proofs if proof.variant.breaks is not None],
        tools=next((variant.tools for variant in run.variants if variant.tools), {}),
        virtual=rounded(run.virtual_s * NS_PER_S, TIME),
        claim=claim(run.measured, run.fitted),
        rerun=shlex.join(run.rerun_argv),
        rule=RULE,
        most_events=_MOST_EVENTS,
        verdict_colours=_VERDICT_COLOURS,
        Verdict=Verdict,
    )


def run_panel(scenario: str, seed: int, settings: Mapping[str, str], variant: VariantResult) -> str:
    """A run in a notebook: its verdict, flows and checks, as a piece of a page."""
    return filled_in(
        "panel.html.j2",
        scenario=scenario,
        seed=seed,
        settings=settings,
        variant=variant,
        flows=flow_table([variant]),
        virtual=rounded(variant.elapsed_ns, TIME),
        verdict_colours=_VERDICT_COLOURS,
    )


def filled_in(name: str, **figures: Any) -> str:  # noqa: ANN401 - whatever a page shows
    """The page that a template of this folder makes of ``figures``; their text is escaped.

    Where its text is broken into lines no number is torn; what is copied from it (``pre``, ``code``) stays.
    """
    page = printable(_template(name)(figures))
    return "".join(part if part.startswith("<") else held(part) for part in _PARTS.split(page) if part)


@cache
def _template(name: str) -> Callable[[Mapping[str, Any]], str]:
    """What fills a page in, compiled once: that takes as long as all the rest."""
    # Only runs have a report: no other command shall wait for this.
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        loader=PackageLoader("wirelab", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["coded"] = coded
    return environment.get_template(name).render


def _proof(
    variant: VariantResult, anchor: str, drawing: str, burst: Burst | None, known: ExplainedVariant | None
) -> Proof:
    own = "" if variant.drawing == drawing else variant.drawing
    tables = {}
    if variant.digest is not None:
        if variant.breaks is not None:
            tables["Flows"] = flow_table([variant])
        if variant.pings:
            tables["Pings"] = ping_table(variant.pings)
        tables["Ports"] = port_table(variant)
        if variant.events:
            tables["Events"] = event_table(variant)
    if variant.evidence is None:
        return Proof(variant, anchor, own, tables, burst=burst)
    drawn = Timeline(variant.evidence, variant.checks)
    if found := bottlenecks(variant.evidence.plan, variant.evidence.result):
        told = {
            "Bottlenecks": bottleneck_table(variant.flows, found),
            "How they come about": chain_table(found, known),
        }
        if known and known.remedies:
            told["What would help"] = remedy_table(known)
        tables = {**{title: table for title, table in told.items() if table.rows}, **tables}
    plots = Plots.of(drawn.charts())
    return Proof(
        variant,
        anchor,
        own,
        tables,
        plots if plots.charts else None,
        burst,
        drawn.absent(),
        setting_table(variant.evidence),
    )
