"""The pictures of a report from a real lab: what was recorded, in the browser, and from the cache."""

from __future__ import annotations

import json
import re
import sys
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from docs.commands import EXAMPLES
from wirelab.cli.app import app
from wirelab.results.record import Dropped, Sent, read_record
from wirelab.runner.kept_evidence import with_evidence
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.recorded import Recorder
from wirelab.runner.run_result import Evidence, read_run
from wirelab.runner.trial import LabTestbed
from wirelab.units import PS_PER_NS

sys.path.append(str(Path(__file__).parents[1] / "unit"))
from browser import opened

if TYPE_CHECKING:
    from wirelab.lab.select import Lab

SLOW_LINK = EXAMPLES / "notebooks" / "slow-link.yaml"
WITH_PAUSE = """
controls:
  - name: paused
    with: {module: aqr113c, switch.flow_control: on}
    breaks: download.retransmits
"""
LIMIT_BYTES = 256 << 20
LATE_NS = 1000

Json = dict[str, Any]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory, lab: Lab) -> MeasurementCache:
    """Where nothing was measured before."""
    return MeasurementCache.of(tmp_path_factory.mktemp("cache"), lab, lambda _: None)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, lab_options: list[str]) -> Path:
    """The folder of a run that drops, and of a control that is paused; nothing of it was kept before."""
    folder = tmp_path_factory.mktemp("results")
    scenario = folder / "slow-link.yaml"
    text = SLOW_LINK.read_text(encoding="utf-8").replace(
        "2.30..2.38 Gbit/s", "1..2.38 Gbit/s, retransmits: 1.."
    )
    scenario.write_text(text + WITH_PAUSE, encoding="utf-8")
    argv = ["run", str(scenario), "--out", str(folder), "--no-cache", "-q", *lab_options]
    done = CliRunner().invoke(app, argv)
    assert done.exit_code in {0, 1}, done.output
    return (folder / "latest" / "slow-link").resolve()


def pictures(result: Path) -> dict[str, Json]:
    """Those of the page, by their variants."""
    page = (result / "report.html").read_text(encoding="utf-8")
    found = re.findall(r'<script type="application/json">({"variant".*?)</script>', page)
    return {one["variant"]: one for one in map(json.loads, found)}


def evidence(result: Path, variant: str) -> Evidence:
    """What a variant of the result was told, and measured."""
    run = with_evidence(read_run(result / "result.json"), result)
    return next(one.evidence for one in run.variants if one.name == variant and one.evidence)


def test_every_variant_that_dropped_or_paused_has_its_picture(result: Path) -> None:
    """At the first drop and at the most; of a pause the first one, as the counters prove."""
    found = pictures(result)
    assert [moment["title"] for moment in found["main"]["moments"]] == ["first drop", "most drops"]
    assert found["paused"]["moments"][0]["title"] == "first pause"
    at_ns = found["main"]["moments"][0]["at_ns"]
    samples = evidence(result, "main").result.samples
    before = [one.at_ns for one in samples if not sum(port.dropped_frames for port in one.ports.values())]
    assert before[-1] <= at_ns


def test_a_picture_has_the_frames_of_the_record(
    result: Path, tmp_path: Path, cache: MeasurementCache, lab: Lab
) -> None:
    """Each that a port of the way sent or dropped around the moment, at its nanosecond, and no other."""
    known = evidence(result, "main")
    with lab.in_use():
        recorder = Recorder(LabTestbed(lab), cache, tmp_path, 0, LIMIT_BYTES, lambda _: None)
        for moment in pictures(result)["main"]["moments"]:
            ready_ns = known.result.status.ready_ns
            from_ns, until_ns = moment["from_ns"], moment["until_ns"]
            # What happens at the end is told when the lab gets to it, a read of the clock later perhaps.
            recorded = recorder.record_between(known.plan, known.result, from_ns, until_ns + LATE_NS)
            events: list[Any] = list(read_record(recorded.record))
            labels = {port.label: port.name for port in known.plan.ports}
            for lane in moment["lanes"]:
                here = [one for one in events if getattr(one, "port", None) == labels[lane["label"]]]

                def instants(kind: type[Sent | Dropped], of: list[Any]) -> list[int]:
                    ends = (one.at_ps // PS_PER_NS - ready_ns - from_ns for one in of if type(one) is kind)  # noqa: B023
                    return [at for at in ends if 0 <= at <= until_ns - from_ns]  # noqa: B023

                starts = accumulate(lane["sent"]["start_ns"])
                sent = [at + long for at, long in zip(starts, lane["sent"]["length_ns"], strict=True)]
                assert sent == instants(Sent, here)
                assert list(accumulate(lane["drops"]["at_ns"])) == instants(Dropped, here)
            assert sum(len(lane["sent"]["frame"]) for lane in moment["lanes"]) > 100


def test_the_browser_shows_what_was_recorded(result: Path) -> None:
    """Without a complaint, and without asking for anything else; the control's picture in its section."""
    found = pictures(result)
    with opened(result / "report.html", 390, 844) as page:
        shown = page.locator(".burst canvas").evaluate_all("all => all.map(one => one.dataset.frames)")
        assert shown == [str(len(one["moments"][0]["number"])) for one in found.values()]
        page.locator(".burst canvas").first.press("n")
        assert page.locator(".burst-story").first.inner_text().startswith("Frame ")
        assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_the_page_is_small(result: Path) -> None:
    """So that it can be sent, whatever was recorded."""
    assert (result / "report.html").stat().st_size < 1_500_000
