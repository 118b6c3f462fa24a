"""Many scenarios at once, and what is said about them."""

from __future__ import annotations

import resource
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from recorded import recording
from standin import results_in
from test_run import LOSSY, Listener, Playback, run_matrix, trial

from wirelab.cli.names import load_all, read_seeds, usable_cpus
from wirelab.errors import InputError, LabError
from wirelab.fleet.matrix import jobs_of
from wirelab.report.junit import junit
from wirelab.report.summary import claim, count_line, markdown, result_line
from wirelab.runner.job import Job
from wirelab.runner.matrix import Matrix
from wirelab.runner.store import Store
from wirelab.runner.trial import Runner
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan
    from wirelab.runner.job import FinishedJob
    from wirelab.runner.run_result import RunResult

PATIENCE_S = 5.0


def jobs(*names: str) -> list[Job]:
    """A scenario for each name, with one variant called the same."""
    return [Job(name, 1, (trial(name),)) for name in names]


def three(results: Path) -> list[FinishedJob]:
    """One that passes, one that fails, one whose lab breaks."""
    testbed = Playback(
        {"good": recording(), "bad": recording(dropped=300), "broken": LabError("no <carrier> | \x1b[0m")}
    )
    return run_matrix(jobs("good", "bad", "broken"), testbed, results)


def runs_of(finished_jobs: list[FinishedJob]) -> list[RunResult]:
    """What is kept of them."""
    return [job.run for job in finished_jobs]


def test_finished_jobs_are_in_the_order_they_were_given(tmp_path: Path) -> None:
    """Whichever ends first; each has its own result folder, and what breaks costs only itself."""
    finished_jobs = three(tmp_path)
    assert [job.run.scenario for job in finished_jobs] == ["good", "bad", "broken"]
    assert [job.run.verdict for job in finished_jobs] == [Verdict.PASS, Verdict.FAIL, Verdict.ERROR]
    assert len({job.folder for job in finished_jobs}) == 3
    assert all((job.folder / "result.json").is_file() for job in finished_jobs if job.folder)


def test_the_longest_begins_first(tmp_path: Path) -> None:
    """So that the end of a matrix is not one CPU at work and the others idle."""
    short, long = trial("short"), trial("long")
    flows = tuple(replace(flow, duration_ns=flow.duration_ns * 9) for flow in long.plan.flows)
    long = replace(long, plan=replace(long.plan, traffic=flows))
    listener = Listener()
    testbed = Playback({"short": recording(), "long": LabError("as good as any")})
    run_matrix([Job("a", 1, (short,)), Job("b", 1, (long,))], testbed, tmp_path, (0,), listener)
    assert [line for line in listener.told if line.endswith("begins")] == ["long begins", "short begins"]


def test_a_screen_that_takes_nothing_does_not_stop_the_others(tmp_path: Path) -> None:
    """`wirelab run | less`: while the line of one job is not taken, another goes on from trial to trial."""
    is_told, is_begun = threading.Event(), threading.Event()

    def wait_for_the_screen() -> None:
        assert is_told.wait(PATIENCE_S)

    testbed = Playback({"quick": recording(), "first": wait_for_the_screen, "second": is_begun.set})
    went_on: list[bool] = []

    def print_line(_: FinishedJob) -> None:
        is_told.set()
        went_on.append(is_begun.wait(PATIENCE_S))

    long = Job("long", 1, (trial("first"), trial("second", LOSSY.name)))
    matrix = Matrix(Runner(testbed), Store(tmp_path), (0, 1), Listener(), on_finished=print_line)
    matrix.run([*jobs("quick"), long])
    assert went_on == [True, True]


def test_a_job_without_a_result_is_said(tmp_path: Path) -> None:
    """It is never passed over: what asks for two verdicts does not get one."""
    nothing = Job("nothing-to-do", 3, ())
    with pytest.raises(LabError, match="nothing-to-do, seed 3: it ended without a result"):
        run_matrix([*jobs("good"), nothing], Playback({"good": recording()}), tmp_path)
    assert (tmp_path / "latest" / "good" / "result.json").is_file()


def test_an_interrupt_keeps_what_was_finished(tmp_path: Path) -> None:
    """Ctrl-C in a long matrix does not lose the results that are there."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    testbed = Playback({"first": recording(), "second": interrupt})
    with pytest.raises(KeyboardInterrupt):
        run_matrix(jobs("first", "second"), testbed, tmp_path, (0,))
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


def test_each_seed_is_a_case_of_its_own(tmp_path: Path) -> None:
    """CI servers know a case by its names: of two with the same, one would be lost."""
    run = runs_of(three(tmp_path))[0]
    root = ET.fromstring(junit([run, replace(run, seed=2)]))  # noqa: S314 - our own
    assert [suite.get("name") for suite in root] == [f"{run.scenario} (seed {seed})" for seed in (1, 2)]
    cases = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(cases) == len(set(cases))


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


@pytest.mark.parametrize(
    "text", ["", "x", "1-", "-3", "5-2", "0", "1..5", "4294967296-4294967297", "\u0663", "9" * 5000]
)
def test_seeds_that_are_none(text: str) -> None:
    """The message says what would be."""
    with pytest.raises(InputError, match="--seeds"):
        read_seeds(text)


@pytest.mark.parametrize("text", ["10001", "99999999999", "1-99999999999", "0-4294967295", "1-9999,1-9999"])
def test_more_seeds_than_anybody_can_wait_for(text: str) -> None:
    """They are refused with the limit, and no list of them is made first."""
    with pytest.raises(InputError, match="expected 1 to 10000 seeds, each from 0 to 4294967295"):
        read_seeds(text)


def test_a_fleet_is_not_asked_for_more_than_one_machine(tmp_path: Path) -> None:
    """As many runs as `wirelab run` does, and no queue of millions: with the same words."""
    assert len(jobs_of(["clean-10g"], range(10_000), tmp_path)) == 10_000
    for names, seeds in ((["clean-10g"], 10_001), (["clean-10g", "sfp-mismatch"], 5001)):
        with pytest.raises(InputError, match="runs are too many for one command, at most 10000"):
            jobs_of(names, range(seeds), tmp_path)


def test_names_patterns_and_all() -> None:
    """A pattern is matched with the names of the catalogue; nothing at all is everything, each once."""
    names = list(load_all(["sfp-flow*", "sfp-flow-control", "clean-10g"]))
    assert names[-1] == "clean-10g"
    assert names[:2] == ["sfp-flow-control", "sfp-flow-control-off"]
    assert {"sfp-mismatch", "clean-10g"} <= load_all([]).keys()
    with pytest.raises(InputError, match=r"no scenario is called `spf-\*`|spf-\*"):
        load_all(["spf-*"])


def test_the_control_that_the_matrix_is_about(tmp_path: Path) -> None:
    """Controls are trials like any other; the scenario's verdict is the worst of all."""
    trials = (trial("main"), trial("deep", LOSSY.name))
    testbed = Playback({"main": recording(), "deep": recording()})
    (finished,) = run_matrix([Job("lossy", 1, trials)], testbed, tmp_path)
    assert finished.run.verdict is Verdict.FAIL


def test_cpus_that_are_usable() -> None:
    """-j takes the first so many, --cpu the ones it names; what this machine has not is said."""
    usable = usable_cpus(None, None)
    assert usable_cpus(None, 1) == usable[:1]
    assert usable_cpus(None, 10**30) == usable
    assert usable_cpus([usable[-1], usable[-1]], None) == [usable[-1]]
    with pytest.raises(InputError, match="--cpu 999999: not a CPU that this process may use: "):
        usable_cpus([999_999], None)


def test_two_workers_share_out_the_cpus(tmp_path: Path) -> None:
    """Both CPUs are used, none by two trials at once, and what came of the jobs is in their order."""
    guard, busy, used = threading.Lock(), set[int](), set[int]()
    both = threading.Barrier(2, timeout=30)

    class Watched(Playback):
        def run(self, plan: Plan, folder: Path, *, cpu: int, **options: Any) -> None:  # noqa: ANN401 - a testbed's
            with guard:
                assert cpu not in busy
                busy.add(cpu)
                used.add(cpu)
            # Nobody ends before another one is at work on the other CPU.
            both.wait()
            super().run(plan, folder, cpu=cpu, **options)
            with guard:
                busy.remove(cpu)

    names = [f"job-{number}" for number in range(20)]
    finished_jobs = run_matrix(jobs(*names), Watched(dict.fromkeys(names, recording())), tmp_path, (3, 5))
    assert used == {3, 5}
    assert [job.run.scenario for job in finished_jobs] == names
    assert {job.run.verdict for job in finished_jobs} == {Verdict.PASS}


def test_a_matrix_of_many_needs_few_descriptors(tmp_path: Path) -> None:
    """A folder is opened when its run begins and let go when it ends: 300 runs with a limit of 64."""
    names = [f"job-{number}" for number in range(150)]
    trials = {name: (trial(name), trial(f"{name}-control", LOSSY.name)) for name in names}
    testbed = Playback(
        {member.plan.variant: LabError("as good as any") for pair in trials.values() for member in pair}
    )
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    try:
        finished_jobs = run_matrix([Job(name, 1, pair) for name, pair in trials.items()], testbed, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len(results_in(tmp_path)) == len(finished_jobs) == 150
