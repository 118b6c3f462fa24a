"""A run as one HTML page that needs nothing else: the verdict, and every figure that it rests on."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from wirelab.report.chart import COLOURS, svg
from wirelab.report.occupancy import RULE
from wirelab.report.summary import claim
from wirelab.report.tables import flow_table, ping_table, port_table, setting_table
from wirelab.report.timeline import timeline
from wirelab.results.values import printable
from wirelab.units import NS_PER_S, TIME, rounded
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from jinja2 import Template

    from wirelab.report.chart import Chart
    from wirelab.report.tables import Table
    from wirelab.runner.run_result import RunResult, VariantResult
    from wirelab.verdict.checks import Check

_PACKAGE: Final = "wirelab"
_FOLDER: Final = "report"
_TEMPLATE: Final = "report.html.j2"


@dataclass(frozen=True, slots=True)
class Proof:
    """What one variant or control measured, as the template shows it.

    ``drawing`` is its wiring where that is not the scenario's. ``charts`` are each with their SVG.
    """

    variant: VariantResult
    anchor: str
    drawing: str = ""
    charts: tuple[tuple[Chart, str], ...] = ()
    absent: tuple[str, ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()
    settings: Table | None = None


def html_report(run: RunResult) -> str:
    """The text of ``report.html``: the same for the same measurements, whether made or recalled.

    Its charts are drawn from the variants' evidence.

    It says nothing of the host or of when it was written, and names the files of the run relative to
    its folder. Pictures, styles and figures are in it; it loads nothing and runs nothing.
    """
    return printable(_template().render(_context(run)))


@cache
def _template() -> Template:
    """The page without its figures, compiled once: that takes as long as all the rest."""
    # Only runs have a report: no other command shall wait for this.
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        loader=PackageLoader(_PACKAGE, _FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(_TEMPLATE)


def _context(run: RunResult) -> dict[str, Any]:
    drawing = next((variant.drawing for variant in run.variants), "")
    proofs = [_proof(variant, f"v{number}", drawing) for number, variant in enumerate(run.variants, 1)]
    variants = [proof for proof in proofs if proof.variant.breaks is None]
    return {
        "run": run,
        "drawing": drawing,
        "flows": flow_table([proof.variant for proof in variants]),
        "bad": [(proof, check) for proof in proofs for check in _bad(proof.variant)],
        "proofs": proofs,
        "drawn": any(proof.charts for proof in proofs),
        "variants": variants,
        "controls": [proof for proof in proofs if proof.variant.breaks is not None],
        "tools": next((variant.tools for variant in run.variants if variant.tools), {}),
        "virtual": rounded(run.virtual_s * NS_PER_S, TIME),
        "claim": claim(run.measured, run.fitted),
        "rerun": shlex.join(run.rerun_argv),
        "rule": RULE,
        "colours": COLOURS,
        "Verdict": Verdict,
    }


def _bad(variant: VariantResult) -> list[Check]:
    """What does not hold, a broken lab or law first."""
    bad = [check for check in variant.checks if check.verdict is not Verdict.PASS]
    return sorted(bad, key=lambda check: check.verdict is not Verdict.ERROR)


def _proof(variant: VariantResult, anchor: str, drawing: str) -> Proof:
    own = "" if variant.drawing == drawing else variant.drawing
    if variant.digest is None:
        return Proof(variant, anchor, own)
    tables = {"Flows": flow_table([variant])} if variant.breaks is not None else {}
    if variant.pings:
        tables["Pings"] = ping_table(variant.pings)
    tables["Ports"] = port_table(variant)
    proof = Proof(variant, anchor, own, tables=tuple(tables.items()))
    if variant.evidence is None:
        return proof
    drawn = timeline(variant.evidence)
    return replace(
        proof,
        charts=tuple((chart, svg(chart)) for chart in drawn.charts),
        absent=drawn.absent,
        settings=setting_table(variant.evidence),
    )
