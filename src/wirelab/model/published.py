"""What was published about a row of measurements, and which variant of a scenario imitates it."""

from collections.abc import Sequence
from dataclasses import dataclass

from wirelab.errors import unknown
from wirelab.model.expect import Expectation
from wirelab.model.expect_reader import ExpectReader
from wirelab.model.scenario import Cell, Grade, Scenario
from wirelab.model.yamlfile import Loc, Report
from wirelab.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class Published:
    """The figures of a ``row`` that ``variant`` imitates.

    ``fitted`` says what was chosen so that they come about, None where they are predicted. The ``why`` of a
    figure is the known cause of what the lab gives instead, ``differs`` what of the set-up it cannot imitate.
    ``last_s`` is how much of the end of each flow goodput is about, None for all of it.
    """

    row: str
    grade: Grade
    variant: str
    figures: tuple[Expectation, ...]
    fitted: str | None = None
    differs: str | None = None
    last_s: int | None = None


def read_published(
    scenario: Scenario, variants: Sequence[str], reader: ExpectReader, report: Report
) -> tuple[Published, ...]:
    """The sound cells of all rows that a scenario imitates."""
    cells: list[Published] = []
    seen: set[tuple[str, str, str]] = set()
    for row, content in scenario.published.items():
        for index, cell in enumerate(content.cells):
            loc: Loc = ("published", row, "cells", index)
            variant = cell.variant or next(iter(variants), "")
            if variants and variant not in variants:
                report((*loc, "variant"), unknown("variant", variant, variants))
            if not cell.figures:
                report((*loc, "figures"), "publishes nothing: give a subject, a metric and its value")
            figures = reader.read(cell.figures, (*loc, "figures"))
            for figure in figures:
                if figure.window is not None:
                    report((*loc, "figures"), f"`{figure.name}`: a published figure is of all of the time")
            for name in (figure.name for figure in figures):
                if (row, variant, name) in seen:
                    report((*loc, "figures"), f"duplicate figure: {row} has {name} of {variant} already")
                seen.add((row, variant, name))
            fitted = _fitted(scenario, row, cell)
            last_s = cell.last_ns and cell.last_ns // NS_PER_S
            cells.append(Published(row, content.grade, variant, figures, fitted, content.differs, last_s))
    return tuple(cells)


def _fitted(scenario: Scenario, row: str, cell: Cell) -> str | None:
    """What was fitted to the cell; a row that the scenario says is fitted is so in all of its cells."""
    return cell.fitted or ("a part, to this row" if row in scenario.fitted else None)
