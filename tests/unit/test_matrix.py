"""Many scenarios at once, and what is said about them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from recorded import recording
from test_run import LOSSY, Listener, Playback, run_matrix, trial

from wirelab.cli.names import load_all, read_seeds, usable_cpus
from wirelab.errors import InputError, LabError
from wirelab.report.junit import junit
from wirelab.report.markdown import markdown
from wirelab.report.summary import claim, count_line, result_line
from wirelab.runner.matrix import Job
from wirelab.runner.measurement_cache import Recall
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.runner.matrix import Outcome
    from wirelab.runner.run_result import RunResult


def jobs(*names: str) -> list[Job]:
    """A scenario for each name, with one variant called the same."""
    return [Job(name, 1, (trial(name),)) for name in names]


def three(results: Path) -> list[Outcome]:
    """One that passes, one that fails, one whose lab breaks."""
    bench = Playback(
        {"good": recording(), "bad": recording(dropped=300), "broken": LabError("no <carrier> | \x1b[0m")}
    )
    return run_matrix(jobs("good", "bad", "broken"), bench, results)


def runs_of(outcomes: list[Outcome]) -> list[RunResult]:
    """What is kept of them."""
    return [outcome.run for outcome in outcomes]


def test_outcomes_are_in_the_order_of_the_jobs(tmp_path: Path) -> None:
    """Whichever ends first; each has its own result folder, and what breaks costs only itself."""
    outcomes = three(tmp_path)
    assert [each.run.scenario for each in outcomes] == ["good", "bad", "broken"]
    assert [each.run.verdict for each in outcomes] == [Verdict.PASS, Verdict.FAIL, Verdict.ERROR]
    assert len({each.folder for each in outcomes}) == 3
    assert all((each.folder / "result.json").is_file() for each in outcomes if each.folder)


def test_the_longest_begins_first(tmp_path: Path) -> None:
    """So that the end of a matrix is not one CPU at work and the others idle."""
    short, long = trial("short"), trial("long")
    flows = tuple(replace(flow, duration_ns=flow.duration_ns * 9) for flow in long.plan.flows)
    long = replace(long, plan=replace(long.plan, traffic=flows))
    listener = Listener()
    bench = Playback({"short": recording(), "long": LabError("as good as any")})
    run_matrix([Job("a", 1, (short,)), Job("b", 1, (long,))], bench, tmp_path, (0,), listener)
    assert [each for each in listener.told if each.endswith("begins")] == ["b long begins", "a short begins"]


def test_an_interrupt_keeps_what_was_finished(tmp_path: Path) -> None:
    """Ctrl-C in a long matrix does not lose the results that are there."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    bench = Playback({"first": recording(), "second": interrupt})
    with pytest.raises(KeyboardInterrupt):
        run_matrix(jobs("first", "second"), bench, tmp_path, (0,))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".partial")] == []
    assert (tmp_path / "latest" / "first" / "result.json").is_file()


def test_junit_counts_and_explains(tmp_path: Path) -> None:
    """A suite for each scenario; a failure's message is the sentence that explains it."""
    root = ET.fromstring(junit(runs_of(three(tmp_path))))  # noqa: S314 - our own
    suites = {suite.get("name"): suite for suite in root}
    assert [suites["bad"].get(key) for key in ("tests", "failures", "errors")] == ["1", "1", "0"]
    failure = suites["bad"].find("testcase/failure")
    assert failure is not None
    assert "measured 302" in str(failure.get("message"))
    error = suites["broken"].find("testcase/error")
    assert error is not None
    assert error.get("message") == "lab: no <carrier> | \N{REPLACEMENT CHARACTER}[0m"
    assert suites["good"].find("testcase/failure") is None


def test_markdown_is_a_table_that_nothing_breaks_out_of(tmp_path: Path) -> None:
    """A row for each scenario; no text of a lab ends a cell or begins a tag."""
    lines = markdown(runs_of(three(tmp_path))).splitlines()
    rows = [line for line in lines if line.startswith("| ") and "scenario" not in line]
    assert [row.split("|")[2].strip() for row in rows] == ["good", "bad", "broken"]
    assert "1 pass, 1 fail, 1 error" in lines
    assert any("no &lt;carrier> \\|" in line for line in lines)


def test_a_line_for_each_scenario(tmp_path: Path) -> None:
    """The verdict comes first, then what it is about; all counts stand in one line."""
    runs = runs_of(three(tmp_path))
    assert result_line(runs[1]).plain.startswith("fail   bad  7.2 virtual s in ")
    assert count_line(runs).plain == "1 pass, 1 fail, 1 error"


def test_a_fitted_figure_is_no_prediction(tmp_path: Path) -> None:
    """The summary says which rows a scenario reproduces, and whether it was fitted to them."""
    row = "sfp.asf-10g-t"
    assert claim((), ()) == ""
    assert claim((row,), ()) == f"prediction of {row}"
    assert claim((row, "pcie.x1"), (row,)) == f"prediction of pcie.x1; fitted to {row}"
    (job,) = jobs("good")
    job = replace(job, measured=(row, "pcie.x1"), fitted=(row,))
    (run,) = runs_of(run_matrix([job], Playback({"good": recording()}), tmp_path))
    assert (run.measured, run.fitted) == ((row, "pcie.x1"), (row,))


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("3", [1, 2, 3]), ("5-7", [5, 6, 7]), ("1,9,4", [1, 9, 4]), ("1-2,8", [1, 2, 8]), ("0-1", [0, 1])],
)
def test_seeds(text: str, seeds: list[int]) -> None:
    """How many, a range, or a list."""
    assert read_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "x", "1-", "-3", "5-2", "0", "1..5", "4294967296-4294967297"])
def test_seeds_that_are_none(text: str) -> None:
    """The message says what would be."""
    with pytest.raises(InputError, match="--seeds"):
        read_seeds(text)


def test_names_patterns_and_all() -> None:
    """A pattern is matched with the names of the catalogue; nothing at all is everything, each once."""
    names = list(load_all(["sfp-flow*", "sfp-flow-control", "clean-10g"]))
    assert names[-1] == "clean-10g"
    assert names[:2] == ["sfp-flow-control", "sfp-flow-control-off"]
    assert {"sfp-mismatch", "clean-10g"} <= load_all([]).keys()
    with pytest.raises(InputError, match=r"no scenario is called `spf-\*`|spf-\*"):
        load_all(["spf-*"])


def test_cpus() -> None:
    """-j takes the first so many."""
    assert len(usable_cpus(None, 1)) == 1


def known(folder: Path, told: list[str], lab_id: str = "lab") -> Recall:
    """What was measured before."""
    return Recall(folder, lab_id, told.append)


def measured(folder: Path) -> Path:
    """A folder of raw files."""
    raw = folder / "raw"
    recording().write(raw)
    return raw


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_was_measured_is_restored(tmp_path: Path) -> None:
    """Every raw file, for the same plan and lab; for another plan or lab nothing."""
    told: list[str] = []
    recall, plan = known(tmp_path / "runs", told), trial().plan
    raw = measured(tmp_path)
    recall.keep(plan.to_json(), raw)
    assert recall.restore(plan.to_json(), tmp_path / "again")
    assert contents(tmp_path / "again") == contents(raw)
    assert not recall.restore(replace(plan, seed=plan.seed + 1).to_json(), tmp_path / "other")
    assert not known(tmp_path / "runs", told, "another kernel").restore(plan.to_json(), tmp_path / "other")
    assert told == []


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 500])
def test_a_damaged_entry_is_dropped_with_a_warning(damage: bytes, tmp_path: Path) -> None:
    """It is never trusted: cut short, empty or overwritten, it is gone and the scenario is run."""
    told: list[str] = []
    recall, plan = known(tmp_path / "runs", told), trial().plan
    recall.keep(plan.to_json(), measured(tmp_path))
    path = recall.path(plan.to_json())
    path.write_bytes(path.read_bytes()[:200] + damage)
    assert not recall.restore(plan.to_json(), tmp_path / "again")
    assert not path.exists()
    assert told == [f"{path} is damaged; it is removed, and what it held is measured again"]


def test_no_room_is_nobodys_trouble(tmp_path: Path) -> None:
    """A cache that cannot be written keeps nothing and says nothing."""
    (tmp_path / "file").touch()
    told: list[str] = []
    recall = known(tmp_path / "file" / "runs", told)
    recall.keep(trial().plan.to_json(), measured(tmp_path))
    assert not recall.restore(trial().plan.to_json(), tmp_path / "again")
    assert told == []


def test_the_control_that_the_matrix_is_about(tmp_path: Path) -> None:
    """Controls are trials like any other; the scenario's verdict is the worst of all."""
    trials = (trial("main"), trial("deep", LOSSY.name))
    bench = Playback({"main": recording(), "deep": recording()})
    (outcome,) = run_matrix([Job("lossy", 1, trials)], bench, tmp_path)
    assert outcome.run.verdict is Verdict.FAIL
