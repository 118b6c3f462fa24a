"""A run as one HTML page that needs nothing else: the verdict, and every figure that it rests on."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from wirelab.report.chart import COLOURS, svg
from wirelab.report.summary import claim
from wirelab.report.tables import flow_table, ping_table, port_table, setting_table
from wirelab.report.timeline import RULE, timeline
from wirelab.units import NS_PER_S, TIME, rounded
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from jinja2 import Template

    from wirelab.report.chart import Chart
    from wirelab.report.tables import Table
    from wirelab.runner.matrix import Outcome
    from wirelab.runner.record import VariantRecord
    from wirelab.verdict.checks import Check

_PACKAGE: Final = "wirelab"
_FOLDER: Final = "report"
_TEMPLATE: Final = "report.html.j2"

_CONTROLS: Final = {
    code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), 127) if chr(code) not in "\t\n"
}
"""What a lab's last words may hold and a page may not."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What one variant or control measured, as the template shows it.

    ``drawing`` is its wiring where that is not the scenario's. ``charts`` are each with their SVG.
    """

    record: VariantRecord
    anchor: str
    drawing: str = ""
    charts: tuple[tuple[Chart, str], ...] = ()
    absent: tuple[str, ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()
    settings: Table | None = None


def html_report(outcome: Outcome) -> str:
    """The text of ``report.html``: the same for the same measurements, whether made or recalled.

    It says nothing of the host or of when it was written, and names the files of the run relative to
    its folder. Pictures, styles and figures are in it; it loads nothing and runs nothing.
    """
    text = _template().render(_context(outcome))
    # JSON may hold a lone surrogate, a file cannot.
    return text.translate(_CONTROLS).encode("utf-8", "backslashreplace").decode("utf-8")


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


def _context(outcome: Outcome) -> dict[str, Any]:
    job, record = outcome.job, outcome.record
    drawing = next((each.plan.drawing.rstrip() for each in record.variants), "")
    proofs = [_proof(each, f"v{number}", drawing) for number, each in enumerate(record.variants, 1)]
    variants = [each for each in proofs if each.record.breaks is None]
    return {
        "job": job,
        "record": record,
        "drawing": drawing,
        "flows": flow_table([each.record for each in variants]),
        "bad": [(each, check) for each in proofs for check in _bad(each.record)],
        "proofs": proofs,
        "drawn": any(each.charts for each in proofs),
        "variants": variants,
        "controls": [each for each in proofs if each.record.breaks is not None],
        "tools": next((each.result.status.tools for each in record.variants if each.result), {}),
        "virtual": rounded(record.virtual_s * NS_PER_S, TIME),
        "claim": claim(job.measured, job.fitted),
        "again": shlex.join(job.again),
        "rule": RULE,
        "colours": COLOURS,
        "Verdict": Verdict,
    }


def _bad(variant: VariantRecord) -> list[Check]:
    """What does not hold, a broken lab or law first."""
    found = [check for check in variant.checks if check.verdict is not Verdict.PASS]
    return sorted(found, key=lambda check: check.verdict is not Verdict.ERROR)


def _proof(variant: VariantRecord, anchor: str, drawing: str) -> Proof:
    plan, result = variant.plan, variant.result
    own = plan.drawing.rstrip()
    own = "" if own == drawing else own
    if result is None:
        return Proof(variant, anchor, own)
    drawn = timeline(plan, result)
    tables = {"Flows": flow_table([variant])} if variant.breaks is not None else {}
    if result.pings:
        tables["Pings"] = ping_table(result)
    tables["Ports"] = port_table(plan, result)
    return Proof(
        record=variant,
        anchor=anchor,
        drawing=own,
        charts=tuple((chart, svg(chart)) for chart in drawn.charts),
        absent=drawn.absent,
        tables=tuple(tables.items()),
        settings=setting_table(plan, result),
    )
