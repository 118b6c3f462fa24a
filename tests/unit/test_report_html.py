"""The page of a run: every verdict with its proof, in one file."""

from __future__ import annotations

import itertools
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pages import DROPS, FEW, GOODPUT, JOB, LOSSY, Page, judged, outcome, page
from recorded import plan, recording, with_ports
from standin import HOLDS, Wirelab, results_in
from test_run import Listener, Playback

from wirelab.errors import LabError, SkipError
from wirelab.plan.types import Plan
from wirelab.report.html import html_report
from wirelab.report.script import Script
from wirelab.results.result import read_result
from wirelab.runner.matrix import Matrix
from wirelab.runner.run_result import Evidence, Happening, RunResult, VariantResult, read_run
from wirelab.runner.store import Store
from wirelab.runner.trial import Runner, Trial
from wirelab.verdict.checks import broken_lab
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.runner.job import FinishedJob

EVIL = "<script>alert(\"1\")</script>&<b title='x'>"


def test_a_pass_shows_its_proof(tmp_path: Path) -> None:
    """The verdict, the story and the wiring; every figure; and all that it takes to have it again."""
    variant = judged(tmp_path, GOODPUT, LOSSY, DROPS)
    report = page(variant)
    assert report.text.startswith(
        "sfp-mismatch pass Upload is perfect; download loses more than half. "
        "server --10G-- switch --10G-- [module] --2.5G-- client Flows"
    )
    assert "download server → client 1.16 Gbit/s" in report.text
    assert "1..1.3 Gbit/s, 100..200 retransmits pass" in report.text
    assert "the module drops what comes too fast: 159 frames were dropped at module.line" in report.text
    assert variant.digest is not None
    for fact in (
        "SFP+ and 2.5GbE, 2022-07-30",
        "prediction of sfp.link_up; fitted to sfp.asf-10g-t",
        "seed 7",
        "kernel 7.2.12",
        "iperf3 3.18-2+deb13u1, mininet 2.3.0, openvswitch-switch 3.5.0",
        "7.20 s of virtual time",
        f"digest {outcome(variant).run.digest}",
        f"digest {variant.digest}",
        "wirelab run sfp-mismatch --seed 7",
    ):
        assert fact in report.text
    assert {"result.json", "main/plan.json", "main/raw/"} <= set(report.links)


def test_a_story_has_paragraphs_and_names_of_settings(tmp_path: Path) -> None:
    """As its comment has: an empty line, backquotes; a single one stays what it is."""
    told = "It waits for `miimon`.\n\nThen it <b>goes</b> on; a ` is none."
    run = replace(outcome(judged(tmp_path, GOODPUT)).run, story=told)
    text = html_report(run)
    assert '<p class="story">It waits for <code>miimon</code>.</p>' in text
    assert '<p class="story">Then it &lt;b&gt;goes&lt;/b&gt; on; a ` is none.</p>' in text


def test_the_order_of_the_page(tmp_path: Path) -> None:
    """First what came out, then the proof, then what it is made of."""
    report = page(judged(tmp_path / "a", GOODPUT), judged(tmp_path / "b", FEW, breaks=FEW.name))
    assert report.texts("h2") == ["Flows", "The proof", "Controls", "Where this comes from"]
    at = [report.text.index(word) for word in ("Goodput", "Congestion window", "Round-trip time", "Held at")]
    at += [
        report.text.index(word)
        for word in ("Drops dropped frames module.line", "Ports port", "settings as they were")
    ]
    assert at == sorted(at)


def test_a_fail_explains_itself_on_top(tmp_path: Path) -> None:
    """Above all tables stands the sentence with the numbers, and the scenario's reason."""
    report = page(judged(tmp_path, FEW, GOODPUT))
    assert report.texts("title")[0] == "sfp-mismatch: fail"
    sentence = (
        "fail main: download.retransmits: expected at most 50 retransmits, measured 161; "
        "159 frames were dropped at module.line (FIFO 16 KiB full) a healthy path loses nothing"
    )
    assert report.text.index(sentence) < report.text.index("Flows")
    assert "#v1" in report.links
    assert "v1" in report.ids


def test_an_error_shows_its_message_and_hint(tmp_path: Path) -> None:
    """Where nothing was measured there are no figures, but what broke; the other variant has its own."""
    error = broken_lab(LabError("the lab ended without a status", hint="the last words:\nKernel panic"))
    broken = VariantResult.of(plan(), None, (error,))
    report = page(broken)
    assert report.text.startswith("sfp-mismatch error")
    assert "error main: lab: the lab ended without a status the last words: Kernel panic" in report.text
    assert "figure" not in report.tags
    assert "kernel unknown" in report.text
    assert "digest none" in report.text
    both = page(broken, judged(tmp_path, GOODPUT, of=plan("other")))
    assert "figure" in both.tags
    assert "kernel 7.2.12" in both.text
    assert "digest none" in both.text


def test_a_skip_says_why() -> None:
    """What cannot be tested here is no fault, and the page says what is in the way."""
    report = page(VariantResult.of(plan(), None, (broken_lab(SkipError("needs AMX")),)))
    assert report.text.startswith("sfp-mismatch skip")
    assert "skip main: lab: needs AMX" in report.text


def test_a_broken_law_comes_first(tmp_path: Path) -> None:
    """What makes every figure doubtful stands above what they say."""
    recorded = recording()
    recorded.stats("end", "client-eth0")["rx_frames"] -= 1
    text = page(judged(tmp_path, FEW, recorded=recorded)).text
    assert text.index("error main: law.receive") < text.index("fail main: download.retransmits")


def test_many_events_are_folded_away(tmp_path: Path) -> None:
    """A link that flaps makes a table as high as a hundred screens: it opens for who wants it."""
    variant = judged(tmp_path, GOODPUT)
    events = tuple(Happening(number / 1000, "patch.link down") for number in range(41))
    report = page(replace(variant, events=events))
    assert "Events 41 of them instant what happened" in report.text
    assert report.tags.count("details") == 2
    assert "of them" not in page(replace(variant, events=events[:40])).text


def test_a_page_tears_no_number(tmp_path: Path) -> None:
    """Neither from its unit nor at its thousands; what may be copied from it has plain spaces."""
    job = replace(JOB, rerun_argv=("wirelab", "run", "sfp-mismatch", "--set", "client.mtu=9 kB"))
    html = html_report(outcome(judged(tmp_path, LOSSY), job=job).run)
    assert "(FIFO 16\N{NO-BREAK SPACE}KiB full)" in html
    assert "200\N{NO-BREAK SPACE}000" in html
    assert "client.mtu=9 kB" in html


def test_a_control_says_what_it_broke(tmp_path: Path) -> None:
    """With the sentence of the expectation that it failed; what it measured is there, too."""
    report = page(judged(tmp_path / "a", LOSSY), judged(tmp_path / "b", FEW, breaks=FEW.name))
    assert (
        "deep pass breaks download.retransmits, as it must: expected at most 50 retransmits, measured 161"
    ) in report.text
    assert report.texts("summary")[-2:] == [
        "What it measured",
        "6 settings as they were asked for and as they were read back: all the same",
    ]
    assert report.ids == ["v1", "v2"]


def test_a_control_that_breaks_nothing_is_shown_on_top(tmp_path: Path) -> None:
    """It fails the scenario, so it is told before everything else, and what it measured lies open."""
    html = html_report(
        outcome(judged(tmp_path / "a", LOSSY), judged(tmp_path / "b", LOSSY, breaks=LOSSY.name)).run
    )
    text = Page(html).text
    assert text.index("fail deep: breaks download.retransmits: control breaks nothing") < text.index("Flows")
    assert "<details open><summary>What it measured" in html


def test_variants_are_told_apart(tmp_path: Path) -> None:
    """With more than one the flows say whose they are, and each has a proof of its own."""
    one = judged(tmp_path, LOSSY)
    buffered = replace(one, name="buffered", drawing="server == [deep] == client")
    report = page(one, buffered)
    assert "variant flow direction" in report.text
    assert "buffered download server → client" in report.text
    assert "variant flow" not in page(one).text
    assert report.text.count("server == [deep] == client") == 1


def test_what_a_scenario_says_is_text(tmp_path: Path) -> None:
    """No story, name, reason, drawing, setting or message of a lab becomes a part of the page."""
    recorded = recording()
    recorded.settings[0]["setting"] = EVIL
    recorded.status["kernel"] = EVIL
    recorded.status["tools"][EVIL] = EVIL
    variant = judged(
        tmp_path, replace(FEW, why=EVIL), recorded=recorded, of=replace(with_ports(plan()), drawing=EVIL)
    )
    error = VariantResult.of(plan(EVIL), EVIL, (broken_lab(LabError(EVIL, hint=EVIL)),))
    job = replace(JOB, scenario=EVIL, story=EVIL, source=EVIL, measured=(EVIL,), rerun_argv=("wirelab", EVIL))
    html = html_report(outcome(variant, error, job=job).run)
    report = Page(html)
    # The data of the charts, and the script that draws them.
    assert report.tags.count("script") == html.count("<script") == 2
    assert report.text.count(EVIL) >= 12


def test_a_page_loads_nothing(tmp_path: Path) -> None:
    """It can be sent to a colleague: nothing is fetched or run but its own script, a browser is told so."""
    html = html_report(outcome(judged(tmp_path, LOSSY)).run)
    report = Page(html)
    assert not {"link", "img", "iframe", "object", "embed"} & set(report.tags)
    assert all(re.fullmatch(r"#v\d+|result\.json|main/plan\.json|main/raw/", link) for link in report.links)
    assert not re.search(r"https?:|url\(|@import", html)
    script = Script.load()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src '{script.hash}'"
    assert f'content="{policy}"'.replace("'", "&#39;") in html
    assert report.texts("script")[-1] == script.text.strip()


def test_the_same_measurements_are_the_same_page(tmp_path: Path) -> None:
    """To the byte, however long it took and whether it was measured now or before."""
    one = outcome(judged(tmp_path / "a", LOSSY, FEW)).run
    other = outcome(replace(judged(tmp_path / "b", LOSSY, FEW), cached=True)).run
    assert html_report(one) == html_report(replace(other, wall_s=99.9))


def test_last_words_of_any_kind_can_be_written(tmp_path: Path) -> None:
    """A dying lab writes control characters, and JSON can hold half a character: neither costs the page."""
    error = broken_lab(LabError("\x1b[31mpanic\x00 \ud800 \u2028 ende\N{SNOWMAN}"))
    html = html_report(outcome(VariantResult.of(plan(), None, (error,))).run)
    (tmp_path / "report.html").write_text(html, encoding="utf-8")
    assert "\N{REPLACEMENT CHARACTER}[31mpanic\N{REPLACEMENT CHARACTER} \N{REPLACEMENT CHARACTER}" in html
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", html)


def kept(folder: Path, report: object = html_report) -> FinishedJob:
    """The finished job on a testbed that plays a recording back."""
    ticks = itertools.count(100.0, 2.5)
    matrix = Matrix(
        Runner(Playback({"main": recording()})),
        Store(folder),
        (0,),
        Listener(),
        clock=lambda: next(ticks),
        now=lambda: datetime(2026, 7, 22, 10, 15, 30, tzinfo=UTC),
        report=report,  # type: ignore[arg-type]
    )
    (finished,) = matrix.run([replace(JOB, trials=(Trial(plan(), (LOSSY,)),))])
    return finished


def test_every_run_leaves_its_page(tmp_path: Path) -> None:
    """It lies beside result.json; the evidence it was drawn from is let go, that of many fills a memory."""
    pages = []

    def report(run: RunResult) -> str:
        pages.append(html_report(run))
        return pages[-1]

    finished = kept(tmp_path, report)
    assert finished.folder is not None
    assert (finished.folder / "report.html").read_text(encoding="utf-8") == pages[0]
    assert (finished.folder / "result.json").is_file()
    assert [variant.evidence for variant in finished.run.variants] == [None]


def test_a_result_from_disk_makes_the_same_page(tmp_path: Path) -> None:
    """result.json, plan.json and the raw files are all that a page is made of."""
    folder = kept(tmp_path).folder
    assert folder is not None
    run = read_run(folder / "result.json")
    the_plan = Plan.from_json((folder / "main" / "plan.json").read_text(encoding="utf-8"))
    evidence = Evidence(the_plan, read_result(the_plan, folder / "main" / "raw"))
    whole = replace(run, variants=(replace(run.variants[0], evidence=evidence),))
    assert html_report(whole) == (folder / "report.html").read_text(encoding="utf-8")


def test_a_page_that_cannot_be_made_costs_no_result(tmp_path: Path) -> None:
    """What was measured is kept and judged, and the outcome says what went wrong with the page."""

    def broken(_: RunResult) -> str:
        raise ZeroDivisionError("division by zero")

    finished = kept(tmp_path, broken)
    assert finished.run.verdict is Verdict.PASS
    assert finished.folder is not None
    assert sorted(path.name for path in finished.folder.iterdir()) == ["main", "result.json"]
    assert finished.error is not None
    assert "report.html could not be made: ZeroDivisionError: division by zero" in finished.error.message


def test_the_command_line_leaves_the_same_page_from_the_cache(tmp_path: Path) -> None:
    """Measured and recalled, its bytes are the same; runs that fail or break have one, too."""
    wirelab = Wirelab.make(tmp_path)
    scenario = wirelab.folder / "lossy.yaml"
    scenario.write_text(
        f"# A story & more.\n{scenario.read_text(encoding='utf-8').lstrip()}", encoding="utf-8"
    )

    def report() -> str:
        return (wirelab.results / "latest" / "lossy" / "report.html").read_text(encoding="utf-8")

    wirelab.run("lossy.yaml", cache=True)
    first = report()
    assert "wirelab run lossy.yaml --seed 1" in Page(first).text
    assert "lossy pass A story & more. server" in Page(first).text
    _, out, _ = wirelab.run("lossy.yaml", cache=True)
    assert "cached" in out
    assert report() == first
    wirelab.lab.order({**HOLDS, "main": {"dropped": 300}})
    wirelab.run("lossy.yaml")
    assert "measured 302; 300 frames were dropped at module.line" in Page(report()).text
    wirelab.lab.order({**HOLDS, "main": {"message": "server: no <carrier>"}})
    wirelab.run("lossy.yaml")
    assert "error main: lab: server: no <carrier>" in Page(report()).text


def test_a_point_of_a_sweep_says_how_to_have_it_again(tmp_path: Path) -> None:
    """The line sweeps over that point alone, and leads to the same measurements."""
    wirelab = Wirelab.make(tmp_path)
    wirelab("sweep", "lossy.yaml", "--vary", "module.fifo=8KiB,64KiB", "--keep-points", *wirelab.lab.options)
    (sweep,) = results_in(wirelab.results / "sweeps")
    pages = [Page(path.read_text("utf-8")).text for path in sweep.glob("point-*/report.html")]
    lines = sorted(text.rpartition("To run it again: ")[2] for text in pages)
    assert lines == [
        f"wirelab sweep lossy.yaml '--vary=module.fifo={size} KiB' --variant=main --seed=1"
        for size in (64, 8)
    ]
    code, out, _ = wirelab(*shlex.split(lines[0])[1:], *wirelab.lab.options)
    assert code == 0
    assert out.splitlines()[1].split()[:3] == ["64", "KiB", "upload"]


def test_only_a_page_waits_for_its_templates() -> None:
    """What fills them in takes as long to import as a short command takes."""
    code = "import sys, wirelab.cli.app; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603
