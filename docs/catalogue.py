"""The catalogue's pages: each scenario with its drawing, story, figures and charts.

The figures are those of ``docs/build/results``, where ``make docs`` has run every scenario.
"""

from __future__ import annotations

import functools
import json
import re
from typing import TYPE_CHECKING, Final

from docs.commands import DOCS, ROOT
from docs.markdown import code, table, words
from wirelab.model.catalogue import Catalogue
from wirelab.model.experiment import load
from wirelab.report.chart import as_data
from wirelab.report.html import html_report, pictures_in
from wirelab.runner.kept_evidence import with_evidence
from wirelab.runner.run_result import read_run
from wirelab.runner.store import REPORT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from wirelab.runner.run_result import RunResult, VariantResult
    from wirelab.verdict.verdict import Verdict

RESULTS: Final = DOCS / "build" / "results" / "latest"

_INTRODUCTION: Final = """# Catalogue

Scenarios that come with wirelab. `wirelab run NAME` runs one, `wirelab run` all of them. Each page has the
wiring, the story, what was measured and the charts that prove it, as the run that made this site found them.
"""
_FIGURE: Final = re.compile(
    r'<figure class="plot">\n<figcaption><b>(?P<title>[^<]*)</b>.*?</figure>', re.DOTALL
)
_DATA: Final = re.compile(r'<script type="application/json">(?P<data>{"columns".*?)</script>')
_ART: Final = re.compile(r"[+|]|--|==|~~")
_CHARTS: Final = 4
_WANTED: Final = ("Goodput", "Round-trip time", "Held at", "Drops", "Paused")


def pages() -> Iterator[tuple[str, str]]:
    """The index and a page for each scenario, as (address in the site, Markdown)."""
    results = {name: result(name) for name in names()}
    yield "catalogue/index.md", _index(results)
    for name, run in results.items():
        yield f"catalogue/{name}.md", _page(name, run)


def reports() -> Iterator[tuple[str, str]]:
    """Every report page, as (address in the site, text)."""
    for name in names():
        yield f"catalogue/reports/{name}.html", report(RESULTS / name)


def report(folder: Path) -> str:
    """The page of a run without links to the run's other files: the site has none of them.

    Raises LabError where the folder is not whole.
    """
    drawn = pictures_in((folder / REPORT).read_text(encoding="utf-8"))
    return html_report(with_evidence(read_run(folder / "result.json"), folder), drawn, place="alone")


@functools.cache
def names() -> tuple[str, ...]:
    """The scenarios that come with wirelab."""
    return Catalogue.of(ROOT).names("scenarios")


def result(name: str) -> RunResult:
    """What a run of a scenario found. Raises LabError if none was kept: `make docs` runs them."""
    return read_run(RESULTS / name / "result.json")


def _index(results: Mapping[str, RunResult]) -> str:
    rows = [
        (
            f"[{name}]({name}.md)",
            words(_summary(load(name, ROOT).story)),
            f"{run.virtual_s:.0f} s",
            _verdict(run.verdict),
        )
        for name, run in results.items()
    ]
    return f"{_INTRODUCTION}\n{table(('scenario', 'what it shows', 'virtual time', 'verdict'), rows)}"


def _page(name: str, run: RunResult) -> str:
    experiment = load(name, ROOT)
    topology = experiment.scenario.topology
    source = experiment.scenario.source
    origin = ", ".join(filter(None, (source.title, source.date)))
    parts = [
        f"# {name}\n",
        f"```text\n{_drawing(topology)}\n```\n",
        *(f"{words(paragraph)}\n" for paragraph in load(name, ROOT).story.split("\n\n")),
        f"*Source: {words(origin)}.*\n",
        "## Verdict\n",
        _summed_up(name, run),
        *(_variant(variant) for variant in run.variants if variant.breaks is None),
        *_controls([variant for variant in run.variants if variant.breaks is not None]),
        "## Charts\n",
        *_charts(name),
        "## Files\n",
        _file(f"scenarios/{name}.yaml"),
        _file(f"topologies/{topology}.yaml"),
    ]
    return "\n".join(parts)


def _summed_up(name: str, run: RunResult) -> str:
    return (
        f"{_verdict(run.verdict)} seed {run.seed}, {run.virtual_s:.1f} s of virtual "
        f"time, Linux {run.kernel}, digest {code((run.digest or '')[:12])}. "
        f"[The whole report](reports/{name}.html) has all charts, tables and settings.\n"
    )


def _variant(variant: VariantResult) -> str:
    rows = [
        (
            code(check.name),
            words(check.measured),
            words(check.expected),
            _verdict(check.verdict),
            words(check.why or check.explanation or ""),
        )
        for check in variant.checks
    ]
    return f"### {variant.name}\n\n" + table(("check", "measured", "expected", "verdict", "because"), rows)


def _controls(controls: list[VariantResult]) -> Iterator[str]:
    """What each must break, and that it does."""
    if not controls:
        return
    yield "## Controls\n"
    for control in controls:
        said = " ".join(words(check.explanation or "") for check in control.checks)
        yield f"- **{control.name}** {_verdict(control.verdict)} breaks `{control.breaks}`: {said}"
    yield ""


def _charts(name: str) -> Iterator[str]:
    """The first charts of the first variant, as the report has drawn them and by the same script."""
    page = (RESULTS / name / REPORT).read_text(encoding="utf-8")
    first, _, _ = page.partition('<section id="v2">')
    figures = list(_FIGURE.finditer(first))
    data = _DATA.search(first)
    if not figures or data is None:
        yield "Nothing of this happens over time.\n"
        return
    group = json.loads(data["data"])
    kept: list[int] = []
    for title in _WANTED:
        kept += [number for number, match in enumerate(figures) if match["title"].startswith(title)][:1]
    kept = kept[:_CHARTS]
    charts = [group["charts"][number] for number in kept]
    drawn = "\n".join(figures[number][0] for number in kept)
    told = as_data(json.dumps({**group, "charts": charts}, ensure_ascii=False, separators=(",", ":")))
    yield (
        f'<div class="charts plots">\n{drawn}\n<script type="application/json">{told}</script>\n</div>\n'
        '<script src="../assets/page.js"></script>\n'
    )


def _file(path: str) -> str:
    return f'??? note "{path}"\n\n    ```yaml\n    --8<-- "{path}"\n    ```\n'


def _verdict(word: Verdict) -> str:
    return f'<span class="verdict {word}">{word}</span>'


def _summary(story: str) -> str:
    """The first sentence."""
    return re.split(r"(?<=[.!?]) (?=[A-Z0-9\"])", " ".join(story.split()), maxsplit=1)[0]


def _drawing(topology: str) -> str:
    """The picture in the comment that a topology begins with, or its drawing in one line."""
    path = Catalogue.of(ROOT).path("topologies", topology)
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        lines.append(line[1:])
    art = [number for number, line in enumerate(lines) if line.startswith("   ") and _ART.search(line)]
    if not art:
        return next(
            line.partition(":")[2].strip()
            for line in path.read_text(encoding="utf-8").splitlines()
            if line.startswith("drawing:")
        )
    first = art[0] - 1 if art[0] and lines[art[0] - 1].startswith("   ") else art[0]
    picture = lines[first : art[-1] + 1]
    indent = min(len(line) - len(line.lstrip()) for line in picture if line.strip())
    return "\n".join(line[indent:].rstrip() for line in picture)
