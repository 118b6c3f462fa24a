"""The table of truth: what others have measured of real equipment, each figure beside the lab's.

What is predicted and what is fitted are told apart in every sum. ``to_json`` and ``parse_table`` keep it.
"""

import functools
import json
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pydantic import TypeAdapter, ValidationError

from wirelab.model.expect import Expectation
from wirelab.model.experiment import Experiment
from wirelab.model.published import Published
from wirelab.model.scenario import Grade
from wirelab.runner.run_result import RunResult, VariantResult
from wirelab.verdict.comparison import error, is_miss, median_off

NOT_KNOWN: Final = "not known"
"""The honest cause of many a miss; no name of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure(Expectation):
    """One published figure and the lab's, in base units; of a range that was published both ends.

    ``measured`` is None where the lab broke or nothing tells it. ``fitted`` says what was chosen so that it
    comes about, and is None for a prediction. ``why`` is the known cause of a miss.
    """

    scenario: str
    variant: str
    measured: float | None
    fitted: str | None = None

    @property
    def error(self) -> float:
        """How far the lab's is off; infinite where there is none."""
        return math.inf if self.measured is None else error(self.of, self.low, self.high, self.measured)

    @property
    def is_miss(self) -> bool:
        """Whether it is further off than what needs a cause."""
        return is_miss(self.error)

    @property
    def is_explained(self) -> bool:
        """Whether it is no miss, or one whose cause has a name."""
        return not self.is_miss or (self.why is not None and not self.why.startswith(NOT_KNOWN))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of measurements: where it is from, how well it is known, and its figures."""

    name: str
    title: str
    grade: Grade
    differs: str | None = None
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class Sum:
    """The median of how far figures of a metric are off; ``nonzero`` of those that are not 0 in both."""

    metric: str
    count: int
    median: float
    nonzero_count: int
    nonzero: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """All rows, in the order of their names. ``kernel`` is the lab's, None if no lab told it."""

    schema: Literal[1] = 1
    kernel: str | None = None
    rows: tuple[Row, ...] = ()

    @property
    def sources(self) -> int:
        """How many sources its rows are from."""
        return len({row.name.partition(".")[0] for row in self.rows})

    def figures(self, *, fitted: bool) -> tuple[Figure, ...]:
        """The fitted ones, or the predicted ones; those of which only the shape is known count nowhere."""
        rows = (row for row in self.rows if row.grade != "shape")
        return tuple(
            figure for row in rows for figure in row.figures if (figure.fitted is not None) == fitted
        )

    def sums(self, *, fitted: bool) -> Iterator[Sum]:
        """The medians of goodput and of retransmits."""
        for metric in ("goodput", "retransmits"):
            of_metric = [figure for figure in self.figures(fitted=fitted) if figure.metric == metric]
            telling = [figure.error for figure in of_metric if figure.high != 0 or figure.measured != 0]
            median = median_off(figure.error for figure in of_metric)
            if median is not None:
                yield Sum(metric, len(of_metric), median, len(telling), median_off(telling))

    @property
    def unexplained(self) -> tuple[tuple[Row, Figure], ...]:
        """What is further off than it may be without a cause that has a name."""
        return tuple((row, figure) for row in self.rows for figure in row.figures if not figure.is_explained)

    @property
    def untold(self) -> bool:
        """Whether something is off of which its scenario does not even say that the cause is not known."""
        return any(figure.why is None for _, figure in self.unexplained)

    def to_json(self) -> str:
        """The table as text that ``parse_table`` reads; how far each figure is off is said besides."""
        document = _adapter().dump_python(self, mode="json")
        for row, written in zip(self.rows, document["rows"], strict=True):
            for figure, entry in zip(row.figures, written["figures"], strict=True):
                # All of what is published is of all of the time.
                del entry["window"]
                entry["published"] = figure.expected
                entry["error"] = round(figure.error, 4) if math.isfinite(figure.error) else None
        document["sums"] = {
            word: {one.metric: _shown(one) for one in self.sums(fitted=word == "fitted")}
            for word in ("predicted", "fitted")
        }
        return json.dumps(document, indent=1) + "\n"


def _shown(one: Sum) -> dict[str, float | int | None]:
    rounded = {"median_error": one.median, "median_error_without_zeros": one.nonzero}
    return {
        "figures": one.count,
        "figures_without_zeros": one.nonzero_count,
        **{
            name: round(value, 4) if value is not None and math.isfinite(value) else None
            for name, value in rounded.items()
        },
    }


def parse_table(text: str) -> Table:
    """The table that ``to_json`` wrote. Raises ValueError for another text."""
    try:
        return _adapter().validate_json(text)
    except ValidationError as wrong:
        raise ValueError(str(wrong)) from None


def tabulate(asked: Iterable[tuple[Experiment, Sequence[Published]]], runs: Sequence[RunResult]) -> Table:
    """The table of what was published, by the runs of the same scenarios in the same order."""
    rows: dict[str, Row] = {}
    for (experiment, cells), run in zip(asked, runs, strict=True):
        variants = {variant.name: variant for variant in run.variants}
        source = experiment.scenario.source
        title = ", ".join(filter(None, (source.title, source.date)))
        for cell in cells:
            row = rows.setdefault(cell.row, Row(name=cell.row, title=title, grade=cell.grade))
            figures = tuple(_figure(run.scenario, cell, one, variants) for one in cell.figures)
            differs = row.differs or cell.differs
            rows[cell.row] = replace(row, differs=differs, figures=(*row.figures, *figures))
    kernel = next((run.kernel for run in runs if run.kernel), None)
    return Table(kernel=kernel, rows=tuple(sorted(rows.values(), key=lambda row: row.name)))


def _figure(
    scenario: str, cell: Published, one: Expectation, variants: Mapping[str, VariantResult]
) -> Figure:
    return Figure(
        scenario=scenario,
        variant=cell.variant,
        subject=one.subject,
        metric=one.metric,
        low=one.low,
        high=one.high,
        measured=_measured(one, variants[cell.variant], cell.last_s),
        fitted=cell.fitted,
        why=one.why,
    )


def _measured(one: Expectation, variant: VariantResult, last_s: int | None) -> float | None:
    """What the lab gives, of goodput in the last so many seconds if that is asked for."""
    if not variant.digest:
        # The lab broke: there is nothing.
        return None
    flow = next((flow for flow in variant.flows if flow.name == one.subject), None)
    if last_s and flow and one.metric == "goodput" and flow.goodput_bps is not None:
        last_bps = flow.intervals_bps[-last_s:]
        return statistics.fmean(last_bps) if last_bps else None
    return variant.figure(one.subject, one.metric)


@functools.cache
def _adapter() -> TypeAdapter[Table]:
    return TypeAdapter(Table)
