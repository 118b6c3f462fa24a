"""Pages of runs of the recorded network, read as a browser reads them."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from recorded import Recording, plan, recording

from wirelab.model.expect import Expectation
from wirelab.report.html import html_report
from wirelab.runner.job import FinishedJob, Job
from wirelab.runner.trial import Trial, judge
from wirelab.units import NO_BREAK_SPACE

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan
    from wirelab.runner.run_result import VariantResult

GOODPUT = Expectation("download", "goodput", 1_000_000_000, 1_300_000_000)
LOSSY = Expectation("download", "retransmits", 100, 200, why="the module drops what comes too fast")
FEW = replace(LOSSY, low=None, high=50, why="a healthy path loses nothing")
DROPS = Expectation("module.line", "drops", 1, None)

JOB = Job(
    "sfp-mismatch",
    7,
    (),
    measured=("sfp.asf-10g-t", "sfp.link_up"),
    fitted=("sfp.asf-10g-t",),
    story="Upload is perfect; download loses more than half.",
    source="SFP+ and 2.5GbE, 2022-07-30",
    rerun_argv=("wirelab", "run", "sfp-mismatch", "--seed", "7"),
)
BLOCKS = {"td", "th", "dt", "dd", "p", "h1", "h2", "h3", "h4", "summary"}
VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """A page as a browser takes it: ``text`` by element, ``links``, and an error where tags do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self._open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.parts: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember what has to be closed."""
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href", "data")]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element of SVG that is closed at once."""
        self.handle_starttag(tag, attrs)
        assert self._open.pop() == tag

    def handle_endtag(self, tag: str) -> None:
        """It closes what was opened last."""
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag
        if tag in BLOCKS:
            self.parts.append(("", " "))

    def handle_data(self, data: str) -> None:
        """Text and where it stands."""
        self.parts.append((self._open[-1] if self._open else "", data))

    @property
    def charts(self) -> list[dict[str, Any]]:
        """What the page's script draws."""
        data = (json.loads(text) for text in self.texts("script") if text.startswith('{"columns"'))
        return [chart for group in data for chart in group["charts"]]

    @property
    def text(self) -> str:
        """All that is to be read, in one line."""
        words = "".join(data for tag, data in self.parts if tag not in ("style", "title", "script"))
        return " ".join(words.split())

    def texts(self, tag: str) -> list[str]:
        """What stands in the elements of a kind."""
        return [data.strip().replace(NO_BREAK_SPACE, " ") for where, data in self.parts if where == tag]


def judged(
    folder: Path,
    *expectations: Expectation,
    recorded: Recording | None = None,
    breaks: str | None = None,
    of: Plan | None = None,
) -> VariantResult:
    """A judged variant (or control)."""
    trial = Trial(of or plan("deep" if breaks else "main"), expectations, breaks)
    return judge(trial, (recorded or recording(of)).write(folder))


def outcome(*variants: VariantResult, job: Job = JOB) -> FinishedJob:
    """A run of these variants."""
    return FinishedJob(job.result(variants, 12.3), None)


def page(*variants: VariantResult, job: Job = JOB) -> Page:
    """The page of such a run, which is sound HTML."""
    return Page(html_report(outcome(*variants, job=job).run))
