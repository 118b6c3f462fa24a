"""What bounds the flows of a run and what would help, as text on a screen and as tables of a page."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from wirelab.report.tables import Table
from wirelab.results.flow import FlowResult
from wirelab.runner.explanation import ExplainedVariant, Explanation, FlowRemedies
from wirelab.runner.run_result import RunResult
from wirelab.units import NO_BREAK_SPACE, PPM, RATE, RATIO, held, rounded
from wirelab.verdict.bottleneck import NO_FLOW
from wirelab.verdict.explanation import Bottleneck
from wirelab.verdict.remedy import Effort, Remedy, Tried

MOST_SHOWN: Final = 6
"""Remedies of a flow; the others are in the JSON."""
_TAKES: Final = {
    Effort.SETTING: "a setting",
    Effort.HARDWARE: "other hardware",
    Effort.PART: "another device",
}
_LEAST_COLUMNS: Final = 40


def print_explanation(console: Console, run: RunResult, explanation: Explanation) -> None:
    """Print the bottleneck of every flow, how it comes about, what proves it, and what would help."""
    variants = {variant.name: variant for variant in run.variants}
    for variant in explanation.variants:
        head = f"{run.scenario} {variant.name}, seed {run.seed}"
        console.print(Text(head, style="bold"), soft_wrap=True)
        flows = {flow.name: flow for flow in variants[variant.name].flows}
        if not variant.flows:
            _print(console, NO_FLOW, 2)
        for one in variant.flows:
            bound = f"{one.flow}, {_goodput(flows[one.flow])}: bound by {one.where}"
            _print(console, bound, 2, style="bold")
            for title, told in (("counted", one.evidence), ("how it comes about", _chain(variant, one))):
                _print_list(console, title, told)
            for remedies in variant.remedies:
                if remedies.flow == one.flow:
                    _print_remedies(console, remedies)


def bottleneck_table(flows: Sequence[FlowResult], found: Sequence[Bottleneck]) -> Table:
    """What bounds each flow of a variant, and what proves it."""
    named = {flow.name: flow for flow in flows}
    rows = tuple((one.flow, _goodput(named[one.flow]), one.where, "; ".join(one.evidence)) for one in found)
    return Table(("flow", "goodput", "bound by", "because"), rows, frozenset({"goodput"}))


def chain_table(found: Sequence[Bottleneck], variant: ExplainedVariant | None) -> Table:
    """How the bottleneck of each flow comes about, a sentence in each row."""
    rows = tuple(
        ("" if number else one.flow, words)
        for one in found
        for number, words in enumerate(_chain(variant, one))
    )
    return Table(("flow", "how it comes about"), rows)


def remedy_table(variant: ExplainedVariant) -> Table:
    """What helps each flow of a variant, the best first."""
    rows = tuple(
        (
            of.helped.name(of.flow),
            _place(remedy),
            _change(remedy),
            of.helped.of.shown(remedy.after),
            _gain(remedy),
            _TAKES[remedy.effort],
            remedy.then,
            "; ".join(remedy.costs) or "nothing",
        )
        for of in variant.remedies
        for remedy in of.remedies[:MOST_SHOWN]
    )
    titles = ("to help", "rank", "what would help", "then", "gain", "takes", "then bound by", "costs")
    return Table(titles, rows, frozenset({"then", "gain"}))


def _print_remedies(console: Console, of: FlowRemedies) -> None:
    tried = len(of.remedies) + len(of.useless)
    if not tried:
        _print(console, "nothing was found that could help: by its ceiling no change can", 4)
        return
    helped = of.helped
    what = f"{len(of.remedies)} of {tried} changes help"
    whose = (
        f" {helped.name(of.flow)}, {helped.of.shown(helped.value)}" if helped.name(of.flow) != of.flow else ""
    )
    _print(console, f"what helps{whose} ({what}, by running each in a lab):", 4, style="dim")
    if whose:
        _print(console, f"because {helped.why}", 6)
    for remedy in of.remedies[:MOST_SHOWN]:
        better = f"{helped.of.shown(remedy.after)} ({_gain(remedy)})"
        _print(console, f"{_place(remedy)}. {better}: {_change(remedy)}", 6, 3)
        _print(console, f"takes {_TAKES[remedy.effort]}, and is then bound by {remedy.then}", 9)
        costs = f"costs: {'; '.join(remedy.costs)}" if remedy.costs else "costs nobody anything"
        _print(console, costs, 9)
    if (more := len(of.remedies) - MOST_SHOWN) > 0:
        _print(console, f"{more} more help less, or take more: --json has them", 6)
    if any(one.tied for one in of.remedies[:MOST_SHOWN]):
        _print(console, "= is a tie: no further apart than 1 %, or than chance", 6)
    useless = [one for one in of.useless if one.after is not None]
    if useless:
        told = (f"{_settings(one.settings)} ({_untold(of, one)})" for one in useless)
        _print(console, f"no help: {'; '.join(told)}", 6)
    for one in of.useless:
        if one.after is None:
            _print(console, f"could not be run: {_settings(one.settings)}: {one.why}", 6)
    if of.left_out:
        _print(console, f"{of.left_out} more were not tried: --most", 6)


def _chain(variant: ExplainedVariant | None, one: Bottleneck) -> tuple[str, ...]:
    """What counters tell of its cause, and what single frames do."""
    seen = variant.bursts.get(one.flow) if variant else None
    return (*one.chain, *(seen.sentences(one.flow) if seen else ()))


def _print_list(console: Console, title: str, sentences: Sequence[str]) -> None:
    if sentences:
        _print(console, f"{title}:", 4, style="dim")
    for words in sentences:
        _print(console, words, 6)


def _change(remedy: Remedy) -> str:
    """``a faster CPU (left.rx_frame 250 us, left.tx_frame 850 us)``."""
    settings = _settings(remedy.settings)
    return f"{remedy.what} ({settings})" if remedy.what else settings


def _settings(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {text}" for key, text in settings.items())


def _untold(of: FlowRemedies, one: Tried) -> str:
    """What the figure is with a change that does not help, and why it is none where that would be one."""
    shown = of.helped.of.shown(one.after or 0)
    return f"{shown}, but {one.why}" if one.why else shown


def _place(remedy: Remedy) -> str:
    """``1``, or ``2=`` where another one is as good."""
    return f"{remedy.rank}{'=' if remedy.tied else ''}"


def _gain(remedy: Remedy) -> str:
    if remedy.gain is None:
        return "from nothing"
    sign = "-" if remedy.gain < 0 else "+"
    return f"{sign}{rounded(abs(remedy.gain) * PPM, RATIO, 2)}"


def _print(console: Console, words: str, indent: int, hanging: int = 2, *, style: str = "") -> None:
    """Words as wide as the screen, further lines of them indented some more."""
    lines = textwrap.wrap(
        held(words),
        max(console.width, _LEAST_COLUMNS),
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + hanging),
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines:
        console.print(Text(line.replace(NO_BREAK_SPACE, " "), style=style), soft_wrap=True)


def _goodput(flow: FlowResult) -> str:
    return flow.untold or rounded(flow.goodput_bps or 0, RATE)
