"""The table of truth as text: what is predicted and what is fitted have tables of their own."""

import itertools
import math
from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.text import Text

from wirelab.model.cases import MAIN
from wirelab.model.metric import METRICS, Metric
from wirelab.report.tables import NOTHING, shown
from wirelab.report.text import print_table
from wirelab.runner.truth import NOT_KNOWN, Figure, Sum, Table
from wirelab.units import PPM, RATIO, rounded
from wirelab.verdict.comparison import MOST_OFF, is_counted

_WORDS: Final = {"predicted": False, "fitted": True}


def print_truth(console: Console, table: Table) -> None:
    """Print the rows, the cause of each miss, what cannot be imitated, and the medians."""
    for word, fitted in _WORDS.items():
        rows = list(lines(table, fitted=fitted))
        if rows:
            numbers = ("published", word, "error")
            titles = ("row", "figure", *numbers)
            print_table(console, titles, rows, numbers=numbers, whole={*numbers, "row"})
            console.print()
    for title, notes in (("misses", misses(table)), ("what the lab cannot imitate", differences(table))):
        told = [Text(f"  {name}: {words}") for name, words in notes]
        for text in (Text(title), *told, Text()) if told else ():
            console.print(text, soft_wrap=True)
    for line in summary(table):
        console.print(Text(line), soft_wrap=True)


def lines(table: Table, *, fitted: bool) -> Iterator[tuple[str, ...]]:
    """A line for each figure that is predicted, or fitted; the name of a row stands in its first line."""
    for row in table.rows:
        figures = [figure for figure in row.figures if (figure.fitted is not None) == fitted]
        for number, figure in enumerate(figures):
            lab = (shown(figure.of, figure.measured), off(figure.of, figure.error))
            yield ("" if number else row.name, what(figure), published(figure), *lab)


def what(figure: Figure) -> str:
    """The variant, if there are several, the subject and the metric: ``10m-5ms: upload goodput``."""
    variant = "" if figure.variant == MAIN else f"{figure.variant}: "
    return f"{variant}{figure.subject} {figure.metric.replace('_', ' ')}"


def published(figure: Figure) -> str:
    """What was published, digits in groups as the lab's are."""
    if figure.low == figure.high and figure.high is not None:
        return figure.of.shown(figure.high)
    return figure.expected


def off(metric: Metric, error: float | None) -> str:
    """How far a figure is off: ``-3.1 %``, or for a count by how many times it is too large: ``x0.61``."""
    if error is None or not math.isfinite(error):
        return NOTHING
    if is_counted(metric):
        return f"x{1 + error if error >= 0 else 1 / (1 - error):.2f}"
    size = rounded(abs(error) * PPM, RATIO, 2)
    sign = "" if not size.strip("0. %") else "+" if error > 0 else "-"
    return f"{sign}{size}"


def misses(table: Table) -> Iterator[tuple[str, str]]:
    """What is further off than it may be, with its cause as far as it is known."""
    for row in table.rows:
        for figure in row.figures:
            if figure.is_miss:
                lab = shown(figure.of, figure.measured)
                yield (
                    f"{row.name}, {what(figure)}",
                    f"{lab} for {published(figure)}: {figure.why or NOT_KNOWN}",
                )


def differences(table: Table) -> Iterator[tuple[str, str]]:
    """For each row what of its set-up is otherwise in the lab, and what was fitted."""
    for row in table.rows:
        if row.differs:
            yield row.name, row.differs
        for words, figures in itertools.groupby(row.figures, key=lambda figure: figure.fitted):
            if words:
                named = (figure.variant for figure in figures if figure.variant != MAIN)
                yield row.name, " ".join([", ".join(dict.fromkeys(named)), f"fitted: {words}"]).strip()


def summary(table: Table) -> Iterator[str]:
    """How many rows there are, the medians, and what has no cause."""
    count = sum(len(row.figures) for row in table.rows)
    predicted = {row.name for row in table.rows if any(figure.fitted is None for figure in row.figures)}
    yield (
        f"rows: {len(table.rows)} of {table.sources} sources, {len(predicted)} of them with predictions; "
        f"figures: {count}"
    )
    for word, fitted in _WORDS.items():
        sums = "; ".join(map(_median, table.sums(fitted=fitted)))
        if sums:
            yield f"{word}, median error: {sums}"
    unexplained = "; ".join(dict.fromkeys(f"{row.name}, {what(figure)}" for row, figure in table.unexplained))
    yield f"off by more than {MOST_OFF * 100:.0f} % without a known cause: {unexplained or 'none'}"


def _median(one: Sum) -> str:
    """``goodput 1.2 % of 20 figures``; of counts also without those that both have as 0."""
    metric = METRICS[one.metric]
    words = f"{one.metric} {off(metric, one.median).lstrip('+')} of {one.count}"
    if is_counted(metric) and one.nonzero_count < one.count:
        words += f" ({off(metric, one.nonzero)} of the {one.nonzero_count} where there were any)"
    return words
