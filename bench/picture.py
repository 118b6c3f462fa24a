"""How long the burst picture of 20 ms at 10 Gbit/s takes a browser."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timed_labs import NS_PER_S

from wirelab.lab.recording import RECORD, Recording
from wirelab.plan.path import flow_path
from wirelab.report.html import html_report
from wirelab.report.picture import Picture, moment
from wirelab.results.record import read_record
from wirelab.results.result import read_result
from wirelab.runner.kept_evidence import with_evidence
from wirelab.runner.run_result import read_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from figure import Figures
    from timed_labs import Labs

# One flow that fills 10 Gbit/s through two switches, six ports in all.
SCENARIO, VARIANT = "slow-bus-5g", "a-10g-card-with-four-lanes"
AT_NS, AROUND_NS = 3 * NS_PER_S, 10_000_000
LIMIT_BYTES = 1_000_000_000
PICTURES = 60
PAINTED = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
# Two steps to the right and two back, each of a fifth of what is seen and painted before the next.
PAN = """async (pictures) => {
  const canvas = document.querySelector(".burst canvas");
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  await painted();
  const begun = performance.now();
  for (let picture = 0; picture < pictures; picture++) {
    const key = picture % 4 < 2 ? "ArrowRight" : "ArrowLeft";
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await painted();
  }
  return (performance.now() - begun) / pictures;
}"""


def measure(figures: Figures, labs: Labs) -> None:
    """Both figures, where there is a browser."""
    opening, pan = (f"picture of 20 ms at 10G, {what}" for what in ("until it is there", "a step of a pan"))
    if not (figures.wants(opening) or figures.wants(pan)):
        return
    if (chromium := shutil.which("chromium")) is None:
        print("burst picture: no browser: apt-get install chromium")
        return
    with tempfile.TemporaryDirectory() as folder:
        page = report(labs, Path(folder))
        figures.take(opening, "s", lambda: opening_s(chromium, page), 1)
        figures.take(pan, "ms", lambda: pan_ms(chromium, page), 1000 / 30)


def report(labs: Labs, folder: Path) -> Path:
    """The report of a run, with a picture of 20 ms of it."""
    argv = [sys.executable, "-m", "wirelab", "run", SCENARIO, "--no-pictures", "--quiet"]
    subprocess.run([*argv, "--out", folder], check=True, stdout=subprocess.DEVNULL)
    kept = folder / "latest" / SCENARIO
    run = with_evidence(read_run(kept / "result.json"), kept)
    [evidence] = [one.evidence for one in run.variants if one.name == VARIANT and one.evidence]
    plan, ready_ns = evidence.plan, evidence.result.status.ready_ns
    window_ns = (ready_ns + AT_NS - AROUND_NS, ready_ns + AT_NS + AROUND_NS)
    labs.wall_s(plan, recording=Recording((window_ns,), LIMIT_BYTES))
    if read_result(plan, labs.raw).digest != evidence.result.digest:
        sys.exit(f"{SCENARIO}: another run with a recorder")
    [flow] = plan.flows
    record = read_record(labs.raw / RECORD)
    shown = moment("20 ms", AT_NS, record, flow_path(plan, flow), ready_ns, AROUND_NS)
    bars = sum(len(lane.sent.start_ns) + len(lane.received.start_ns) for lane in shown.lanes)
    print(f"burst picture: {len(shown.lanes)} ports, {len(shown.number)} frames, {bars} bars")
    page = folder / "report.html"
    page.write_text(html_report(run, [Picture(VARIANT, evidence.result.digest, flow.name, (shown,))]))
    return page


def opening_s(chromium: str, page: Path) -> float:
    """From the address to a picture that does what a key says."""
    with opened(chromium) as tab:
        begun_s = time.monotonic()
        tab.goto(page.as_uri())
        tab.locator(".burst canvas").press("-")
        tab.evaluate(PAINTED)
        return time.monotonic() - begun_s


def pan_ms(chromium: str, page: Path) -> float:
    """What one picture of a pan takes that shows half of the 20 ms."""
    with opened(chromium) as tab:
        tab.goto(page.as_uri())
        canvas = tab.locator(".burst canvas")
        canvas.press("Home")
        canvas.press("+")
        took_ms: float = tab.evaluate(PAN, PICTURES)
        return took_ms


@contextmanager
def opened(chromium: str) -> Iterator[Any]:
    """An empty page of a browser of its own."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - all else is measured without it

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            yield browser.new_page(viewport={"width": 1280, "height": 1000})
        finally:
            browser.close()
