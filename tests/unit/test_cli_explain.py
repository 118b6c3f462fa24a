"""``wirelab explain`` from a result in a folder to what it prints."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from standin import PINGS, Wirelab, results_in

from wirelab.units import held

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def wirelab(tmp_path: Path) -> Wirelab:
    """A result of a scenario with a control."""
    made = Wirelab.make(tmp_path)
    assert made.run("lossy.yaml")[0] == 0
    return made


def test_each_flow_of_each_variant_has_its_bottleneck(wirelab: Wirelab) -> None:
    """By the scenario's name, or by the folder of the result; with the counters that prove it."""
    (result,) = results_in(wirelab.results)
    code, out, _ = wirelab("explain", "lossy")
    assert code == 0
    assert out == wirelab("explain", str(result))[1] == wirelab("explain", str(result / "result.json"))[1]
    assert "lossy main, seed 1" in out
    assert "lossy deep, seed 1" in out
    assert ": bound by the FIFO of module.line" in out
    assert "    159 frames were dropped at module.line (FIFO 16 KiB full)" in out


def test_json_has_the_same(wirelab: Wirelab) -> None:
    """With the mechanism as one word, and of one variant where one is named."""
    code, out, _ = wirelab("explain", "lossy", "--json", "--variant", "main")
    assert code == 0
    (variant,) = json.loads(out)["variants"]
    assert variant["name"] == "main"
    flows = {flow["flow"]: flow for flow in variant["flows"]}
    assert flows["download"]["mechanism"] == "FIFO"
    assert flows["download"]["where"] == "the FIFO of module.line"
    assert flows["download"]["evidence"]


def test_an_unknown_variant_is_bad_input(wirelab: Wirelab) -> None:
    """With the nearest right word."""
    code, _, err = wirelab("explain", "lossy", "--variant", "mian")
    assert code == 2
    assert "main" in err


def test_what_is_no_result_is_bad_input(wirelab: Wirelab) -> None:
    """And what is several is asked to be one."""
    assert wirelab("explain", "nothing")[0] == 2
    code, _, err = wirelab("explain", "lossy.yaml")
    assert (code, err.splitlines()[0]) == (2, "error: lossy.yaml: is no result")
    assert wirelab.run("lossy.yaml", "--seed", "2")[0] == 0
    code, _, err = wirelab("explain", "results")
    assert code == 2
    assert "2 results are there" in err


def test_a_result_without_its_raw_files_is_told(wirelab: Wirelab) -> None:
    """Nothing is proved from a result.json alone."""
    (result,) = results_in(wirelab.results)
    shutil.rmtree(result / "main" / "raw")
    code, _, err = wirelab("explain", str(result))
    assert code == 4
    assert "keep the whole folder" in err


def test_raw_files_of_another_run_are_refused(wirelab: Wirelab) -> None:
    """Their digest is not that of the result."""
    (result,) = results_in(wirelab.results)
    shutil.rmtree(result / "main" / "raw")
    shutil.copytree(result / "deep" / "raw", result / "main" / "raw")
    code, _, err = wirelab("explain", str(result), "--variant", "main")
    assert code == 4
    assert "its digest is another one" in err


def test_a_variant_whose_lab_broke_is_told(wirelab: Wirelab) -> None:
    """It measured nothing; of the others the bottlenecks are told all the same."""
    wirelab.lab.order({"main": {"dropped": 159}, "deep": {"message": "out of paper"}})
    assert wirelab.run("lossy.yaml")[0] == 4
    assert wirelab("explain", "lossy")[0] == 0
    code, _, err = wirelab("explain", "lossy", "--variant", "deep")
    assert code == 4
    assert "nothing was measured" in err


def test_the_report_has_the_same(wirelab: Wirelab) -> None:
    """A table of each variant that measured something: what bounds a flow, and all that proves it."""
    (result,) = results_in(wirelab.results)
    page = (result / "report.html").read_text(encoding="utf-8")
    assert page.count("<h4>Bottlenecks</h4>") == 2
    assert ">the FIFO of module.line</td>" in page
    explained = json.loads(wirelab("explain", "lossy", "--json")[1])
    for flow in (flow for variant in explained["variants"] for flow in variant["flows"]):
        assert held("; ".join(flow["evidence"])) in page


def test_what_helps_is_found_by_running_it_and_kept(wirelab: Wirelab) -> None:
    """It says before what it is going to run; afterwards it is told without, and stands in the page."""
    wirelab.lab.order({"main": {"dropped": 60_000}})
    assert wirelab.run("lossy.yaml", "--no-cache")[0] == 1
    result = results_in(wirelab.results)[-1]
    wirelab.lab.order({"main": {"dropped": 60_000}})
    searched = ("--remedies", "--most", "3", "--no-cache", *wirelab.lab.options)
    code, out, err = wirelab("explain", str(result), *searched)
    assert code == 0, err
    assert "3 changes of main for " in err
    assert "what helps download.retransmits, 60 002 (3 of 3 changes help, by running each in a lab):" in out
    assert "because download.retransmits: expected 100..200 retransmits, measured 60 002" in out
    assert "= is a tie: " in out
    assert "1=. " in out
    assert wirelab("explain", str(result), "--variant", "main")[1] == out
    assert "What would help" in (result / "report.html").read_text(encoding="utf-8")
    kept = json.loads((result / "explanation.json").read_text(encoding="utf-8"))
    assert json.loads(wirelab("explain", str(result), "--variant", "main", "--json")[1]) == kept
    (remedies,) = [of for of in kept["variants"][0]["remedies"] if of["flow"] == "download"]
    assert remedies["helped"] | {"value": 0, "why": ""} == {
        "subject": "download",
        "metric": "retransmits",
        "value": 0,
        "why": "",
    }
    assert remedies["remedies"][0]["after"] < 0.98 * remedies["remedies"][0]["before"]


def test_what_does_not_help_is_told_too(wirelab: Wirelab) -> None:
    """With what the flow has then; what could not be run says why."""
    wirelab.lab.order({"change-0-0": {"message": "out of paper"}})
    code, out, _ = wirelab(
        "explain", "lossy", "--remedies", "--most", "2", "--flow", "download", *_new(wirelab)
    )
    assert code == 0
    assert "what helps (0 of 2 changes help" in out
    assert "no help: " in out
    assert "could not be run: " in out
    assert "out of paper" in out


def test_an_unknown_flow_is_bad_input(wirelab: Wirelab) -> None:
    """Whether anything is to be run or not."""
    for more in ((), ("--remedies", *_new(wirelab))):
        code, _, err = wirelab("explain", "lossy", "--flow", "downlod", *more)
        assert code == 2
        assert "download" in err


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (("--most", "3"), "--most is of --remedies"),
        (("--frames", "--no-cache"), "--no-cache is of --remedies"),
        (("-j", "1", "--kernel", "nosuch"), "--jobs and --kernel are of --remedies or --frames"),
    ],
)
def test_what_is_of_labs_is_refused_where_none_runs(
    said: tuple[str, ...], words: str, wirelab: Wirelab
) -> None:
    """It would do nothing."""
    code, _, err = wirelab("explain", "lossy", *said)
    assert (code, words in err) == (2, True), err


def test_a_scenario_that_is_another_one_by_now_is_bad_input(wirelab: Wirelab) -> None:
    """What is tried are changes of what was measured, and of nothing else."""
    scenario = wirelab.folder / "lossy.yaml"
    scenario.write_text(scenario.read_text(encoding="utf-8").replace("cubic", "reno"), encoding="utf-8")
    code, _, err = wirelab("explain", "lossy", "--remedies", *_new(wirelab))
    assert code == 2
    assert "is not the scenario any more" in err
    scenario.unlink()
    assert wirelab("explain", "lossy", "--remedies", *_new(wirelab))[0] == 2


@pytest.mark.parametrize("content", ["", "{", '{"schema": 2}', '{"schema": 1, "variants": 3}', "[" * 5000])
def test_a_damaged_explanation_is_bad_input(wirelab: Wirelab, content: str) -> None:
    """It names the file, and what to do."""
    (result,) = results_in(wirelab.results)
    (result / "explanation.json").write_text(content, encoding="utf-8")
    code, _, err = wirelab("explain", str(result))
    assert code == 2
    assert "explanation.json" in err
    assert "remove it" in err


def test_what_was_found_of_another_run_is_not_shown(wirelab: Wirelab) -> None:
    """Its digest is another one."""
    assert wirelab("explain", "lossy", "--remedies", "--most", "1", *_new(wirelab))[0] == 0
    result = next(path for path in results_in(wirelab.results))
    path = result / "explanation.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    kept["variants"][0]["digest"] = "0" * 64
    path.write_text(json.dumps(kept), encoding="utf-8")
    assert "what helps" not in wirelab("explain", str(result))[1]


def _new(wirelab: Wirelab) -> tuple[str, ...]:
    """A lab that is asked, whatever is known."""
    return ("--no-cache", *wirelab.lab.options)


def test_what_has_no_flow_has_no_bottleneck(wirelab: Wirelab) -> None:
    """That is said in a sentence; what needs a flow is refused before any lab runs."""
    (wirelab.folder / "pings.yaml").write_text(PINGS, encoding="utf-8")
    assert wirelab.run("pings.yaml")[0] == 0
    code, out, _ = wirelab("explain", "pings")
    assert (code, out) == (0, "pings main, seed 1\n  no flow: nothing has a bottleneck\n")
    for options in (("--remedies",), ("--frames",), ("--flow", "x")):
        lab = () if options[0] == "--flow" else ("--kernel", "no", "--root", "no")
        code, _, err = wirelab("explain", "pings", *options, *lab)
        assert (code, err) == (2, "error: pings main has no flow: nothing has a bottleneck\n")


def test_what_is_measured_again_is_not_said_to_be_known(wirelab: Wirelab) -> None:
    """Without the cache every change is run."""
    argv = ("explain", "lossy", "--remedies", "--most", "1", *wirelab.lab.options)
    assert "; what was measured before is not measured again" in wirelab(*argv)[2]
    assert "measured again" not in wirelab(*argv, "--no-cache")[2]
