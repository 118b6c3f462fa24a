"""The report as text."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import Recording, plan, recording
from rich.console import Console

from wirelab.errors import LabError
from wirelab.lab.machine import Progress
from wirelab.model.expect import Expectation
from wirelab.report.live import LiveReport
from wirelab.report.text import print_header, print_report, print_table, verdict_line
from wirelab.runner.job import Job
from wirelab.runner.run_result import RunResult, VariantResult
from wirelab.runner.trial import Trial, judge
from wirelab.verdict.checks import broken_lab

GOODPUT = Expectation("download", "goodput", 1_000_000_000, 1_300_000_000)
LOSSY = Expectation(
    "download", "retransmits", 100, 200, why="the module drops what the switch sends too fast"
)
FEW = replace(LOSSY, low=None, high=50, why="a healthy path loses nothing")
DROPS = Expectation("module.line", "drops", 1, None)


def judged(
    folder: Path, *expectations: Expectation, recorded: Recording | None = None, breaks: str | None = None
) -> VariantResult:
    """A judged variant (or control)."""
    trial = Trial(plan("control" if breaks else "main"), expectations, breaks)
    return judge(trial, (recorded or recording()).write(folder))


def record(*variants: VariantResult) -> RunResult:
    """A run of these variants."""
    return Job("sfp-mismatch", 1, ()).result(variants, 12.3)


def printed(
    run: RunResult, *, width: int = 100, terminal: bool = False, folder: Path | None = Path("r/1")
) -> str:
    """The report as it comes out of a console."""
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, no_color=not terminal)
    print_report(console, run, folder)
    return out.getvalue()


def test_a_pass_shows_figures_and_proof(tmp_path: Path) -> None:
    """Each flow with what was expected of it, each subject with the line that proves it."""
    run = record(judged(tmp_path, GOODPUT, LOSSY, DROPS))
    assert run.digest is not None
    why = "the module drops what the switch sends too fast"
    dropped = "159 frames were dropped at module.line (FIFO 16 KiB full)"
    wall = "7.2 virtual s in 12.3 s (1.71 s each)"
    lines = [re.split(" {3,}", line) for line in printed(run, width=120).splitlines()]
    assert lines == [
        ["flow", "direction", "goodput", "retransmits", "expected", "verdict"],
        ["upload", "client -> server", "1.16 Gbit/s", "0", "-", "-"],
        ["download", "server -> client", "1.16 Gbit/s", "161", "1..1.3 Gbit/s, 100..200 retransmits", "pass"],
        ["check", "measured", "expected", "verdict"],
        ["module.line.drops", "159", "1..", "pass"],
        [f"  download: {why}; {dropped}; the path carries at most 2.35 Gbit/s"],
        [f"  module.line: {dropped}"],
        [f"sfp-mismatch: pass  {wall}  digest {run.digest[:12]}  r/1"],
    ]


def test_a_fail_explains_itself(tmp_path: Path) -> None:
    """The sentence with the numbers, on one line where a program reads it, and the scenario's reason."""
    lines = printed(record(judged(tmp_path, FEW)), width=60).splitlines()
    assert (
        "  fail download.retransmits: expected at most 50 retransmits, measured 161; "
        "159 frames were dropped at module.line (FIFO 16 KiB full)"
    ) in lines
    assert "  a healthy path loses nothing" in lines
    assert lines[-1].startswith("sfp-mismatch: fail  ")


def test_a_control_says_what_it_broke(tmp_path: Path) -> None:
    """It is shown with the sentence of the expectation that it failed, as it must."""
    control = judged(tmp_path, FEW, breaks=FEW.name)
    assert printed(record(control)).splitlines()[0] == (
        "control control: pass  breaks download.retransmits, as it must: expected at most 50 retransmits, "
        "measured 161; 159 frames were dropped at module.line (FIFO 16 KiB full)"
    )


def test_a_control_that_breaks_nothing_is_shown(tmp_path: Path) -> None:
    """The scenario fails, and this line says why."""
    control = judged(tmp_path, LOSSY, breaks=LOSSY.name)
    text = printed(record(control))
    assert "control control: fail  control breaks nothing: download.retransmits still holds" in text


def test_a_broken_lab_shows_its_message_and_hint() -> None:
    """An error is no table, but what broke and what helps."""
    error = broken_lab(LabError("the lab ended without a status", hint="the last words:\nKernel panic"))
    lines = printed(record(VariantResult.of(plan(), None, (error,))), folder=None).splitlines()
    assert lines[:3] == ["  error lab: the lab ended without a status", "  the last words:", "Kernel panic"]
    assert lines[-1] == "sfp-mismatch: error  0.0 virtual s in 12.3 s"


def test_a_broken_law_comes_first(tmp_path: Path) -> None:
    """What makes every figure doubtful stands above them all."""
    recorded = recording()
    recorded.stats("end", "client-eth0")["rx_frames"] -= 1
    lines = printed(record(judged(tmp_path, FEW, recorded=recorded))).splitlines()
    explained = [line for line in lines if line.startswith(("  error", "  fail"))]
    assert explained[0].startswith(
        "  error law.receive: client: 219 841 frames arrived, 219 840 were handed on"
    )
    assert explained[1].startswith("  fail download.retransmits")


def test_variants_are_told_apart(tmp_path: Path) -> None:
    """With more than one each table stands below its variant's name."""
    one = judged(tmp_path / "a", LOSSY)
    two = replace(one, name="buffered")
    lines = printed(record(one, two)).splitlines()
    assert "main" in lines
    assert "buffered" in lines


def test_no_colour_where_nobody_sees_it(tmp_path: Path) -> None:
    """A file or a pipe gets plain text."""
    run = record(judged(tmp_path, FEW, DROPS))
    assert "\x1b" not in printed(run)
    assert "\x1b[" in printed(run, terminal=True)


@given(width=st.integers(20, 200))
def test_nothing_is_wider_than_the_screen(width: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """On a terminal of any width no line is cut or spills over."""
    run = record(judged(tmp_path_factory.mktemp("raw"), GOODPUT, FEW, DROPS))
    out = io.StringIO()
    print_report(
        Console(file=out, width=width, force_terminal=True, color_system=None), run, Path("results/1")
    )
    assert max(map(len, out.getvalue().splitlines())) <= width


def test_names_are_not_taken_for_markup(tmp_path: Path) -> None:
    """Square brackets in a drawing or a message are what they are."""
    out = io.StringIO()
    console = Console(file=out, width=100)
    print_header(console, plan())
    assert out.getvalue().splitlines() == [
        "sfp-mismatch  seed 1",
        "  server --10G-- switch --10G-- [module] --2.5G-- client",
    ]
    error = broken_lab(LabError("[red]x[/red]"))
    assert "[red]x[/red]" in printed(record(VariantResult.of(plan(), None, (error,))))
    assert judged(tmp_path).name == "main"


def test_the_line_that_quiet_leaves(tmp_path: Path) -> None:
    """Scenario and verdict, nothing else."""
    assert verdict_line(record(judged(tmp_path, LOSSY))).plain == "sfp-mismatch: pass"


def test_progress_is_in_virtual_seconds(tmp_path: Path) -> None:
    """A bar for each lab, with how long a virtual second takes, and at last its verdict."""
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system=None)
    trial = Trial(plan(), ())
    with LiveReport(console, [trial]) as live:
        live.begun(trial)
        live.progress(trial, Progress(done_s=5.0, whole_s=20.0, wall_s=2.5))
        live.refresh()
        live.done(trial, judged(tmp_path, LOSSY))
        live.refresh()
    assert "main" in out.getvalue()
    assert "5.0 of 20.0 virtual s, 0.50 s each" in out.getvalue()
    assert "pass" in out.getvalue()


def test_progress_of_many_counts_those_that_are_done() -> None:
    """Beside the bar of all: how many of how many."""
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system=None)
    with LiveReport(console, [], 6, "points") as live:
        live.refresh()
        assert "0 of 6 points" in out.getvalue()
        for _ in range(4):
            live.finished()
        live.refresh()
    assert "4 of 6 points" in out.getvalue()


def test_progress_is_not_for_files(tmp_path: Path) -> None:
    """Where nobody looks nothing is drawn."""
    out = io.StringIO()
    trial = Trial(plan(), ())
    with LiveReport(Console(file=out), [trial]) as live:
        live.begun(trial)
        live.progress(trial, Progress(done_s=5.0, whole_s=20.0, wall_s=2.5))
        live.done(trial, judged(tmp_path, LOSSY))
    assert out.getvalue() == ""


def on_a_screen(columns: int, titles: tuple[str, ...], *rows: tuple[str, ...]) -> str:
    """A table of texts as a terminal of so many columns shows it."""
    out = io.StringIO()
    print_table(Console(file=out, width=columns, force_terminal=True, color_system=None), titles, rows)
    return out.getvalue()


def test_no_number_is_torn_where_a_screen_ends() -> None:
    """Neither from its unit nor at its thousands, at whatever width; what is printed are plain spaces."""
    words = "server was paused for 2.37 s, by 213 774 PAUSE frames"
    drawn = replace(plan(), drawing=words)
    for columns in range(24, 60):
        out = io.StringIO()
        console = Console(file=out, width=columns, force_terminal=True, color_system=None)
        print_header(console, drawn)
        for shown in (out.getvalue().partition("\n")[2], on_a_screen(columns, ("because",), (words,))):
            lines = [line.strip() for line in shown.splitlines()]
            assert " ".join(lines).removeprefix("because ") == words
            assert not any(re.search(r"\d$", line) or line.startswith("774") for line in lines), lines


def test_a_long_name_is_broken_at_its_hyphens() -> None:
    """And within a word only if that is as long as the column."""
    name = "upload-of-the-engineering-department"
    rows = ((name, "goodput of what it was expected to have"),)
    lines = [line[:20].split("  ")[0].strip() for line in on_a_screen(40, ("flow", ""), *rows).splitlines()]
    assert "".join(lines).removeprefix("flow") == name
    assert len(lines) > 2
    assert all(line.endswith("-") for line in lines[1:] if line and not name.endswith(line)), lines


@pytest.mark.parametrize("row", [("one",), ("one", "two", "three")])
def test_a_row_has_a_cell_for_each_title(row: tuple[str, ...]) -> None:
    """One too few or too many is a mistake of the program, and none that a reader should find."""
    with pytest.raises(ValueError, match="zip"):
        print_table(Console(file=io.StringIO()), ("a", "b"), [row])
