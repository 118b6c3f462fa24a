"""What changed between two sides, as a table on a screen and as a page."""

import statistics
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from wirelab.model.metric import Choice
from wirelab.report.chart import Axis, Chart, Line, Plots
from wirelab.report.html import filled_in
from wirelab.report.script import Script
from wirelab.report.tables import NOTHING, Table
from wirelab.report.text import print_table
from wirelab.runner.compare import FALSE_SHARE, Change, Comparison, Outcome, VariantChange
from wirelab.verdict.ranks import least_p_value

RULE: Final = (
    "A run is a function of its plan: equal digests are the same run, byte for byte. Where they differ, what"
    " is chaotic in a run goes another way whatever was changed, so one seed on each side can be told to be"
    " unequal and no more. With several, a figure is beyond the spread by the exact two-sided test of Mann"
    f" and Whitney over its seeds; of all figures so named at most {FALSE_SHARE:.0%} are by chance"
    " (Benjamini and Hochberg)."
)
"""How it is decided, for whoever reads a comparison."""

_STYLES: Final = {
    Outcome.SAME: "green",
    Outcome.WITHIN: "green",
    Outcome.UNDECIDED: "bold yellow",
    Outcome.BROKEN: "bold magenta",
}
_MOST_ROWS: Final = 12
"""Of one variant, on a screen."""
_MOST_CHARTS: Final = 6
"""Of one variant, on a page."""
_SEVERAL: Final = 2
_TITLES: Final = ("figure", "before", "after", "p", "spread")
_FEWEST: Final = next(seeds for seeds in range(1, 100) if least_p_value(seeds, seeds) <= FALSE_SHARE)


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print a line for each variant, and below it what changed there."""
    for variant in comparison.variants:
        head = Text(f"{variant.scenario} {variant.variant}: ")
        head.append(str(variant.outcome), style=_STYLES.get(variant.outcome, "bold red"))
        console.print(head.append(f"  {why(variant)}", style="dim"), soft_wrap=True)
        for line in settings(variant, _MOST_ROWS):
            console.print(Text(f"  {line}"), soft_wrap=True)
        table = change_table(variant)
        rows = table.rows[:_MOST_ROWS]
        if rows:
            print_table(console, table.titles, rows, numbers=table.numbers, whole=table.titles)
        if more := len(table.rows) - len(rows):
            console.print(Text(f"  and {more} more figures; --json and --html have all of them", style="dim"))
    console.print(sum_line(comparison), soft_wrap=True)


def comparison_page(comparison: Comparison, before: str, after: str, parting: str = "") -> str:
    """The same as an HTML page; ``before`` and ``after`` are what the sides are called."""
    return filled_in(
        "compare.html.j2",
        before=before,
        after=after,
        rule=RULE,
        script=Script.load(),
        parting=parting,
        sum=sum_line(comparison).plain,
        variants=[
            (
                variant,
                why(variant),
                list(settings(variant, None)),
                change_table(variant),
                Plots.of(_charts(variant)),
            )
            for variant in comparison.variants
        ],
    )


def why(variant: VariantChange) -> str:
    """Why this is a variant's outcome."""
    seeds = f"{_seeds(variant.before)} and {_seeds(variant.after)}"
    same = f"{variant.same_seeds} of {_seeds(range(variant.common_seeds))} in common"
    if variant.outcome in {Outcome.ONLY_BEFORE, Outcome.ONLY_AFTER}:
        return "the other side has no such variant"
    if variant.outcome is Outcome.BROKEN:
        return "a lab broke there: that says nothing about the network"
    if variant.common_seeds and variant.same_seeds == variant.common_seeds:
        what = "; other settings, and all that they change is told below" if variant.settings else ""
        return f"equal digests: the same run for {_seeds(range(variant.common_seeds))}{what}"
    if variant.outcome is Outcome.UNDECIDED:
        return (
            f"{seeds}: they are not equal, and whether that is beyond the spread needs {_FEWEST} seeds a side"
        )
    return f"{seeds}; the same run for {same}"


def settings(variant: VariantChange, most: int | None) -> Iterator[str]:
    """What the Plans say otherwise, a line each."""
    for where, before, after in variant.settings[:most]:
        yield f"set: {where}  {before or NOTHING} -> {after or NOTHING}"
    if most is not None and (more := len(variant.settings) - most) > 0:
        yield f"and {more} more settings"


def change_table(variant: VariantChange) -> Table:
    """A row for each figure that is not the same, what is beyond the spread first."""
    rows = tuple(
        (
            f"{change.subject}.{change.metric}".lstrip("."),
            _range(change, change.before),
            _range(change, change.after),
            NOTHING if change.p is None else f"{change.p:.2g}",
            _words(variant, change),
        )
        for change in variant.changes
    )
    odd = frozenset(number for number, change in enumerate(variant.changes) if change.is_real)
    return Table(_TITLES, rows, frozenset(_TITLES[1:4]), odd)


def _charts(variant: VariantChange) -> Iterator[Chart]:
    """The figures of each seed on both sides, where there are several: first what is beyond the spread."""
    seeds = variant.before if len(variant.before) >= len(variant.after) else variant.after
    # By the place of a seed: the sides may have others.
    same = variant.before[: len(variant.after)] == variant.after[: len(variant.before)]
    axis = Axis.of_names(
        "seed" if same else "run, by its seed",
        (str(seed) if same else str(place) for place, seed in enumerate(seeds, 1)),
    )
    changes = sorted(variant.changes, key=lambda change: not change.is_real)
    for change in changes[:_MOST_CHARTS]:
        metric = change.of
        if metric is None or isinstance(metric.quantity, Choice) or len(seeds) < _SEVERAL:
            continue
        lines = tuple(
            Line(name, tuple(enumerate(values)), colour, dashed=not colour)
            for colour, (name, values) in enumerate((("before", change.before), ("after", change.after)))
        )
        high = max((*change.before, *change.after), default=0)
        title = f"{change.subject} {metric.title}".strip()
        yield Chart(title, axis, Axis.of(metric.title, metric.quantity, high), lines)


def sum_line(comparison: Comparison) -> Text:
    """How many variants came to what: ``2 same, 1 changed``."""
    counts = {
        outcome: sum(variant.outcome is outcome for variant in comparison.variants) for outcome in Outcome
    }
    words = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    tested = f"; {comparison.tested} figures tested" if comparison.tested else ""
    return Text(words + tested)


def _words(variant: VariantChange, change: Change) -> str:
    if change.is_real:
        return "beyond" if change.p is not None else "same run"
    return "within" if variant.is_decidable else ""


def _range(change: Change, values: Sequence[float]) -> str:
    """The median of a side's figures and their range; of verdicts how many pass."""
    metric = change.of
    if metric is None:
        return f"{sum(map(int, values))} of {len(values)} pass"
    figures = (statistics.median_low(values), min(values), max(values))
    middle, low, high = words = [metric.shown(figure) for figure in figures]
    if len(set(words)) == 1:
        return middle
    units = {word.rpartition(" ")[2] for word in words}
    if len(units) > 1 or (unit := units.pop()).isdigit():
        return f"{middle} ({low}..{high})"
    middle, low, high = (word.removesuffix(f" {unit}") for word in words)
    return f"{middle} ({low}..{high}) {unit}"


def _seeds(seeds: Sequence[int]) -> str:
    return f"{len(seeds)} seed" + ("s" if len(seeds) != 1 else "")
