"""A run of an exercise as a piece of a page: what the student may see of it, and no answer to a question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wirelab.exercise.seen import Line, seen
from wirelab.model.assignment import Assignment
from wirelab.report.chart import Plots
from wirelab.report.tables import Table
from wirelab.report.timeline import RULE, Timeline
from wirelab.runner.run_result import RunResult, VariantResult
from wirelab.serve.templates import filled_in
from wirelab.units import TIME, rounded


@dataclass(frozen=True, slots=True)
class _Shown:
    variant: VariantResult
    tables: dict[str, Table]
    plots: Plots | None
    more: dict[str, Table]
    virtual: str
    has_checks: bool


def exercise_panel(exercise: Assignment, run: RunResult) -> str:
    """The piece, made where the evidence is at hand. A technician sees no inside of a device."""
    # What a repair must do is no business of another run.
    has_checks = len(run.variants) > 1
    shown = [_shown(exercise, variant, has_checks=has_checks) for variant in run.variants]
    return filled_in("panel.html.j2", run=run, shown=shown, rule=RULE, expects="What must hold")


def _shown(exercise: Assignment, variant: VariantResult, *, has_checks: bool) -> _Shown:
    told = seen(exercise, variant)
    tables = dict(
        _tables({"flow": told.flows, "ping": told.pings, "port": told.ports, "counter": told.counters})
    )
    plots = None
    if variant.evidence is not None and exercise.said.sees == "all":
        plots = Plots.of(Timeline(variant.evidence, ()).charts())
    return _Shown(variant, tables, plots, {}, rounded(variant.elapsed_ns, TIME), has_checks)


def _tables(lines: dict[str, Sequence[Line]]) -> Iterator[tuple[str, Table]]:
    titles = {"flow": "Flows", "ping": "Pings", "port": "Ports", "counter": "Counters"}
    for noun, of in lines.items():
        names = tuple(dict.fromkeys(name for line in of for name in line.figures))
        if names:
            rows = tuple((line.subject, *(line.figures.get(name, "") for name in names)) for line in of)
            heads = (noun, *(name.replace("_", " ") for name in names))
            yield titles[noun], Table(heads, rows, frozenset(heads[1:]))
