"""Many runs at a glance, on a screen and on the page of a CI job: a line for each scenario."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from wirelab.model.metric import METRICS, Choice
from wirelab.report.tables import BRIEF, BRIEF_PING
from wirelab.report.text import STYLES, print_table, word
from wirelab.runner.run_result import RunResult, VariantResult
from wirelab.verdict.verdict import Verdict, worst

_COLUMNS: Final = ("scenario", "verdict", "virtual s", "wall s", "reproduces", "")
_SIGNS: Final = {Verdict.PASS: "✅", Verdict.SKIP: "⏭️", Verdict.FAIL: "❌", Verdict.ERROR: "💥"}


def claim(measured: Sequence[str], fitted: Sequence[str]) -> str:
    """What a scenario says about the measurements: ``prediction of nbase.qnap-5g-usb3``."""
    predicted = [row for row in measured if row not in fitted]
    claims = (("prediction of", predicted), ("fitted to", fitted))
    return "; ".join(f"{words} {', '.join(rows)}" for words, rows in claims if rows)


def result_line(run: RunResult) -> Text:
    """One scenario that is done: ``pass  sfp-mismatch  48.4 virtual s in 17.3 s``."""
    time = "cached" if run.cached else f"{run.virtual_s:.1f} virtual s in {run.wall_s:.1f} s"
    return Text.assemble(word(run.verdict, width=5), f"  {_name(run)}  ", (time, "dim"))


def print_summary(console: Console, runs: Sequence[RunResult]) -> None:
    """Print what failed and why, a table of all scenarios, their count, and what several seeds came to."""
    for run in runs:
        for line in failures(run):
            console.print(Text(line), soft_wrap=True)
    rows = [
        (
            *(_name(run), str(run.verdict), f"{run.virtual_s:.1f}", f"{run.wall_s:.1f}"),
            *(claim(run.measured, run.fitted), "cached" if run.cached else ""),
        )
        for run in runs
    ]
    print_table(console, _COLUMNS, rows, numbers=("virtual s", "wall s"))
    console.print(count_line(runs))
    if len({run.seed for run in runs}) > 1:
        _print_seeds(console, runs)


def markdown(runs: Sequence[RunResult]) -> str:
    """A page of a CI job: a table of the scenarios, and below it the sentence for each check that fails."""
    lines = [
        "## wirelab",
        "",
        count_line(runs).plain,
        "",
        "| | scenario | seed | virtual s | wall s | reproduces |",
        "|---|---|---:|---:|---:|---|",
    ]
    for run in runs:
        wall = "cached" if run.cached else f"{run.wall_s:.1f}"
        lines.append(
            f"| {_SIGNS[run.verdict]} {run.verdict} | {_cell(run.scenario)} | {run.seed} "
            f"| {run.virtual_s:.1f} | {wall} | {_cell(claim(run.measured, run.fitted))} |"
        )
    proofs = [line for run in runs for line in failures(run)]
    if proofs:
        lines += ["", *(f"- {_cell(line)}" for line in proofs)]
    return "\n".join(lines) + "\n"


def count_line(runs: Sequence[RunResult]) -> Text:
    """``12 pass, 1 fail, 13 of 13 cached``."""
    counts = Counter(run.verdict for run in runs)
    parts = [f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict]]
    cached = sum(run.cached for run in runs)
    if cached:
        parts.append(f"{cached} of {len(runs)} cached")
    return Text(", ".join(parts), style=STYLES[worst(run.verdict for run in runs)])


def failures(run: RunResult) -> list[str]:
    """The sentences of all checks of a scenario that do not hold."""
    return [
        f"{check.verdict} {_name(run)}: {variant.name}: {check.name}: {check.explanation}"
        for variant in run.variants
        for check in variant.checks
        if check.verdict in (Verdict.FAIL, Verdict.ERROR)
    ]


def _print_seeds(console: Console, runs: Sequence[RunResult]) -> None:
    """Print, for each scenario that ran with several seeds, how its figures are distributed."""
    seeds: dict[str, dict[str, list[VariantResult]]] = {}
    for run in runs:
        variants = seeds.setdefault(run.scenario, {})
        for variant in run.variants:
            if variant.breaks is None:
                variants.setdefault(variant.name, []).append(variant)
    rows = [
        (scenario if len(variants) == 1 else f"{scenario} {name}", *row)
        for scenario, variants in seeds.items()
        for name, of_seeds in variants.items()
        for row in _distributions(of_seeds)
    ]
    if not rows:
        return
    numbers = ("median", "least", "most", "seeds")
    titles = ("scenario", "subject", "metric", *numbers)
    print_table(console, titles, rows, numbers=numbers, overflow="ellipsis")


def _distributions(variants: Sequence[VariantResult]) -> Iterable[tuple[str, ...]]:
    """For each subject and metric the median, least and most over the runs of one variant."""
    found: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for variant in variants:
        for key, value in _figures(variant).items():
            found[key].append(value)
    for (subject, name, metric), values in found.items():
        of = METRICS[metric]
        # Between two words there is none.
        median = statistics.median_low if isinstance(of.quantity, Choice) else statistics.median
        spread = (median(values), min(values), max(values))
        yield (subject, name, *map(of.shown, spread), str(len(values)))


def _figures(variant: VariantResult) -> dict[tuple[str, str, str], float]:
    """Those of each flow and ping, and each that is expected: by subject, name and the metric that it is.

    The name says of which window it is, too.
    """
    subjects = [(flow.name, metric) for flow in variant.flows for metric in BRIEF]
    subjects += [(ping.name, metric) for ping in variant.pings for metric in BRIEF_PING]
    told: dict[tuple[str, str, str], float | None] = {
        (subject, metric, metric): variant.figure(subject, metric) for subject, metric in subjects
    }
    for check in variant.checks:
        if check.subject is not None and check.metric is not None and check.metric in METRICS:
            name = check.name.removeprefix(f"{check.subject}.")
            told.setdefault((check.subject, name, check.metric), check.value)
    return {key: value for key, value in told.items() if value is not None}


def _name(run: RunResult) -> str:
    return run.scenario if run.seed == 1 else f"{run.scenario} (seed {run.seed})"


def _cell(text: str) -> str:
    """Text that cannot end a cell, make a line or begin a tag."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
