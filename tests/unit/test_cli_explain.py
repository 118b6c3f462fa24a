"""``wirelab explain`` from a result in a folder to what it prints."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from standin import Wirelab, results_in

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
    assert page.count("Bottlenecks") == 2
    assert "<td>the FIFO of module.line</td>" in page
    explained = json.loads(wirelab("explain", "lossy", "--json")[1])
    for flow in (flow for variant in explained["variants"] for flow in variant["flows"]):
        assert "; ".join(flow["evidence"]) in page
