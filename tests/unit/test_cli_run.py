"""``wirelab run`` as its users have it: scenarios in, verdicts, result folders and exit codes out."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest
from standin import HOLDS, PINGS, SCENARIO, Wirelab, results_in

from wirelab.plan.types import Plan
from wirelab.runner.store import Store


@pytest.fixture
def wirelab(tmp_path: Path) -> Wirelab:
    """The command line in a folder with ``lossy.yaml``."""
    return Wirelab.make(tmp_path)


def test_a_run_that_passes(wirelab: Wirelab) -> None:
    """Exit code 0, a table, the proof, the control, and a result folder that latest points to."""
    code, out, err = wirelab.run("lossy.yaml")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "lossy  seed 1"
    assert "159 frames were dropped at module.line (FIFO 16 KiB full)" in out
    assert "control deep: pass  breaks download.retransmits, as it must" in out
    (folder,) = results_in(wirelab.results)
    assert out.splitlines()[-1].endswith(f"results/{folder.name}")
    assert wirelab.document()["verdict"] == "pass"
    assert sorted(path.name for path in folder.iterdir()) == ["deep", "main", "report.html", "result.json"]
    assert sorted(path.name for path in (folder / "main").iterdir()) == ["plan.json", "raw"]


def test_a_limit_of_no_record_is_refused(wirelab: Wirelab) -> None:
    """Who says how much to keep wants something kept."""
    code, out, err = wirelab.run("lossy.yaml", "--limit", "500 MB")
    assert (code, out) == (2, "")
    assert "--limit is of a record: say what of, --record WINDOW" in err


def test_one_seed_beside_many_is_refused(wirelab: Wirelab) -> None:
    """It would not be run."""
    code, out, err = wirelab.run("lossy.yaml", "--seed", "7", "--seeds", "2")
    assert (code, out) == (2, "")
    assert "--seed is of a run without --seeds" in err


def test_a_run_that_fails(wirelab: Wirelab) -> None:
    """Exit code 1, and the sentence that explains it."""
    wirelab.lab.order({**HOLDS, "main": {"dropped": 300}})
    code, out, _ = wirelab.run("lossy.yaml")
    assert code == 1
    assert (
        "fail download.retransmits: expected 100..200 retransmits, measured 302; "
        "300 frames were dropped at module.line (FIFO 16 KiB full)"
    ) in out
    assert wirelab.document()["verdict"] == "fail"


def test_a_control_that_breaks_nothing(wirelab: Wirelab) -> None:
    """The scenario fails although its own expectations hold."""
    wirelab.lab.order({**HOLDS, "deep": {"dropped": 150}})
    code, out, _ = wirelab.run("lossy.yaml")
    assert code == 1
    assert "control breaks nothing: download.retransmits still holds, measured 152" in out


def test_a_broken_law(wirelab: Wirelab) -> None:
    """A lab that lost count is an error, exit code 4, whatever the expectations say."""
    wirelab.lab.order({**HOLDS, "main": {"dropped": 159, "frames": -1}})
    code, out, _ = wirelab.run("lossy.yaml")
    assert code == 4
    assert "error law.receive: client: " in out


def test_a_lab_that_says_what_broke(wirelab: Wirelab) -> None:
    """The guest's message reaches the user, and the result keeps it beside the raw files."""
    wirelab.lab.order({**HOLDS, "main": {"message": "server: no carrier"}})
    code, out, _ = wirelab.run("lossy.yaml")
    assert code == 4
    assert "error lab: server: no carrier" in out
    assert "server: no carrier" in json.dumps(wirelab.document())
    assert (wirelab.results / "latest" / "lossy" / "main" / "raw" / "console.log").is_file()


def test_a_lab_that_dies(wirelab: Wirelab) -> None:
    """Without a status its last words are told."""
    wirelab.lab.order({**HOLDS, "main": {}})
    code, out, _ = wirelab.run("lossy.yaml")
    assert code == 4
    assert "Kernel panic - not syncing: no init found" in out


def test_json_is_the_file(wirelab: Wirelab) -> None:
    """Standard output is result.json and nothing else."""
    code, out, err = wirelab.run("lossy.yaml", "--json")
    assert (code, err) == (0, "")
    assert out == (wirelab.results / "latest" / "lossy" / "result.json").read_text(encoding="utf-8")


def test_quiet_is_the_verdict(wirelab: Wirelab) -> None:
    """One line."""
    assert wirelab.run("lossy.yaml", "--quiet") == (0, "lossy: pass\n", "")


def test_seed_and_cpu_reach_the_lab(wirelab: Wirelab) -> None:
    """The seed is in the plan and in the result; a CPU that is not ours is refused."""
    cpu = str(max(os.sched_getaffinity(0)))
    code, _, _ = wirelab.run("lossy.yaml", "--seed", "7", "--cpu", cpu, "--out", "elsewhere")
    assert code == 0
    folder = wirelab.folder / "elsewhere" / "latest" / "lossy"
    assert json.loads((folder / "result.json").read_text(encoding="utf-8"))["seed"] == 7
    assert Plan.from_json((folder / "main" / "plan.json").read_text(encoding="utf-8")).seed == 7
    code, _, err = wirelab.run("lossy.yaml", "--cpu", "9999")
    assert code == 2
    assert err.startswith("error: --cpu 9999: not a CPU that this process may use: ")


def test_several_scenarios_end_with_the_worst(wirelab: Wirelab) -> None:
    """Each is run and kept; the exit code is the worst of them."""
    other = SCENARIO.replace("name: lossy", "name: few").replace("100..200", "..50")
    (wirelab.folder / "few.yaml").write_text(other, encoding="utf-8")
    code, out, _ = wirelab.run("few.yaml", "lossy.yaml", "--quiet")
    assert (code, out) == (1, "few: fail\nlossy: pass\n")
    assert len(results_in(wirelab.results)) == 2


def test_same_run_same_digest(wirelab: Wirelab) -> None:
    """Twice the same measurements: twice the same digest, in two folders."""
    wirelab.run("lossy.yaml")
    first = wirelab.document()
    wirelab.run("lossy.yaml")
    assert wirelab.document()["digest"] == first["digest"]
    assert len(results_in(wirelab.results)) == 2


def wait_for(path: Path) -> int:
    """The number in a file that a process is about to write."""
    for _ in range(600):
        if path.exists() and path.read_text(encoding="utf-8"):
            return int(path.read_text(encoding="utf-8"))
        time.sleep(0.05)
    raise AssertionError(path)


def gone(pid: int) -> bool:
    """Whether a process has ended."""
    for _ in range(600):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_cleans_up(number: signal.Signals, wirelab: Wirelab) -> None:
    """Exit code 130; no lab goes on, and no half result is left."""
    wirelab.lab.order({"main": {"hang": 300}, "deep": {"hang": 300}})
    process = wirelab.start("run", "lossy.yaml", *wirelab.lab.options)
    pid = wait_for(wirelab.lab.pid_file("main"))
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "interrupted\n")
    assert gone(pid)
    assert list(wirelab.results.iterdir()) == []


def test_killed_half_way(wirelab: Wirelab) -> None:
    """After SIGKILL: the lab dies too, earlier results are whole, and the next run works."""
    assert wirelab.run("lossy.yaml")[0] == 0
    (earlier,) = results_in(wirelab.results)
    before = (earlier / "result.json").read_bytes()
    wirelab.lab.pid_file("main").unlink()
    wirelab.lab.order({"main": {"hang": 300}})
    process = wirelab.start("run", "lossy.yaml", *wirelab.lab.options)
    pid = wait_for(wirelab.lab.pid_file("main"))
    process.kill()
    process.communicate(timeout=60)
    assert gone(pid)
    assert results_in(wirelab.results) == [earlier]
    wirelab.lab.order(HOLDS)
    assert wirelab.run("lossy.yaml")[0] == 0
    assert (earlier / "result.json").read_bytes() == before
    assert len(results_in(wirelab.results)) == 2
    assert list(Store(wirelab.results).leftovers()) == []


def test_an_unchanged_scenario_is_answered_from_the_cache(wirelab: Wirelab) -> None:
    """The second run measures nothing, says so, and leaves the same result with all its files."""
    wirelab.run("lossy.yaml", cache=True)
    first = wirelab.document()
    wirelab.lab.order({"main": {"message": "this lab must not be started"}})
    code, out, _ = wirelab.run("lossy.yaml", cache=True)
    assert code == 0
    assert "virtual s, cached: measured before" in out.splitlines()[-1]
    second = wirelab.document()
    assert second["digest"] == first["digest"]
    assert [variant["cached"] for variant in second["variants"]] == [True, True]
    assert (wirelab.results / "latest" / "lossy" / "main" / "raw" / "console.log").is_file()


def test_a_changed_expectation_is_judged_on_what_was_measured(wirelab: Wirelab) -> None:
    """Only what changes the network is measured anew."""
    wirelab.run("lossy.yaml", cache=True)
    path = wirelab.folder / "lossy.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("100..200", "..50"), encoding="utf-8")
    code, out, _ = wirelab.run("lossy.yaml", cache=True)
    assert code == 1
    assert "expected at most 50 retransmits, measured 161" in out


def test_an_error_is_not_remembered(wirelab: Wirelab) -> None:
    """A lab that broke is tried again."""
    wirelab.lab.order({**HOLDS, "main": {"message": "server: no carrier"}})
    assert wirelab.run("lossy.yaml", cache=True)[0] == 4
    wirelab.lab.order(HOLDS)
    assert wirelab.run("lossy.yaml", cache=True)[0] == 0


def test_a_matrix_and_its_files(wirelab: Wirelab) -> None:
    """A line for each scenario, a table, and the same for machines: JUnit, JSON and Markdown."""
    other = SCENARIO.replace("name: lossy", "name: few").replace("100..200", "..50")
    (wirelab.folder / "few.yaml").write_text(other, encoding="utf-8")
    files = ("--junit", "out/junit.xml", "--json-file", "out/all.json", "--markdown", "out/summary.md")
    code, out, _ = wirelab.run("few.yaml", "lossy.yaml", "-j", "1", *files)
    assert code == 1
    assert "fail few: main: download.retransmits: expected at most 50 retransmits" in out
    assert out.splitlines()[-1] == "1 pass, 1 fail"
    written = wirelab.folder / "out"
    assert "<testsuite " in (written / "junit.xml").read_text(encoding="utf-8")
    assert [
        document["scenario"] for document in json.loads((written / "all.json").read_text(encoding="utf-8"))
    ] == [
        "few",
        "lossy",
    ]
    assert (written / "summary.md").read_text(encoding="utf-8").startswith("## wirelab\n")


def test_no_seeds_are_not_one(wirelab: Wirelab) -> None:
    """A variable of a script that is empty would have it run once, and pass."""
    code, _, err = wirelab.run("lossy.yaml", "--seeds", "")
    assert code == 2
    assert "--seeds : expected how many (20), a range (1-5) or a list (1,3,7)" in err


def test_seeds_are_a_distribution(wirelab: Wirelab) -> None:
    """Every seed is a run of its own; the figures stand with their median, least and most."""
    code, out, _ = wirelab.run("lossy.yaml", "--seeds", "3")
    assert code == 0
    assert len(results_in(wirelab.results)) == 3
    (line,) = [line for line in out.splitlines() if "download  " in line and "retransmits" in line]
    assert line.split()[-4:] == ["161", "161", "161", "3"]


def _rows(out: str, subject: str) -> list[list[str]]:
    """The cells of the rows of a subject in the table of seeds."""
    rows = [re.split("  +", line) for line in out.splitlines()]
    return [row for row in rows if len(row) == 7 and row[1] == subject]


def test_seeds_of_pings_are_a_distribution(wirelab: Wirelab) -> None:
    """Pings have rows of their own."""
    (wirelab.folder / "pings.yaml").write_text(PINGS, encoding="utf-8")
    code, out, _ = wirelab.run("pings.yaml", "--seeds", "2")
    assert code == 0
    assert _rows(out, "echo") == [
        ["pings", "echo", "lost", "99.0 %", "99.0 %", "99.0 %", "2"],
        ["pings", "echo", "rtt", "500 us", "500 us", "500 us", "2"],
    ]


def test_seeds_show_every_figure_that_is_expected(wirelab: Wirelab) -> None:
    """Those of ports and of the network, too, beside those that every flow has."""
    text = SCENARIO.replace("expect:", "expect:\n  module.line: {drops: 100..200, link: up, why: a FIFO}")
    (wirelab.folder / "lossy.yaml").write_text(text, encoding="utf-8")
    _, out, _ = wirelab.run("lossy.yaml", "--seeds", "2")
    assert _rows(out, "module.line") == [
        ["lossy", "module.line", "drops", "159", "159", "159", "2"],
        ["lossy", "module.line", "link", "up", "up", "up", "2"],
    ]


def test_seeds_of_broken_labs_leave_no_empty_table(wirelab: Wirelab) -> None:
    """A head with nothing below it tells nothing."""
    wirelab.lab.order({"main": {"message": "no carrier"}, "deep": {"message": "no carrier"}})
    code, out, _ = wirelab.run("lossy.yaml", "--seeds", "2")
    assert code == 4
    assert "median" not in out


def test_a_file_is_run_once(wirelab: Wirelab) -> None:
    """Whatever it is called by, and however often."""
    argv = ("lossy.yaml", "./lossy.yaml", "../work/lossy.yaml")
    code, _, _ = wirelab.run(*argv)
    assert code == 0
    assert len(results_in(wirelab.results)) == 1


def test_two_scenarios_of_one_name_are_refused(wirelab: Wirelab) -> None:
    """Nobody could tell their results apart."""
    (wirelab.folder / "copy.yaml").write_text(SCENARIO, encoding="utf-8")
    code, _, err = wirelab.run("lossy.yaml", "copy.yaml")
    assert (code, err) == (
        2,
        "error: lossy.yaml and copy.yaml are two scenarios called lossy: rename one\n",
    )
    assert not wirelab.results.exists()


def test_a_report_that_cannot_be_written_costs_no_other(wirelab: Wirelab) -> None:
    """Each is tried; the first that failed is the error, the others are said."""
    (wirelab.folder / "file").touch()
    bad = ("--junit", "file/j.xml", "--json-file", "file/j.json")
    code, _, err = wirelab.run("lossy.yaml", *bad, "--markdown", "m.md")
    assert code == 4
    assert "warning: file/j.json: cannot be written" in err
    assert "error: file/j.xml: cannot be written" in err
    assert (wirelab.folder / "m.md").read_text(encoding="utf-8").startswith("## wirelab")
