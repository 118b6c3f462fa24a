"""``wirelab compare`` from results in folders to its exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from standin import Wirelab, results_in

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def wirelab(tmp_path: Path) -> Wirelab:
    """Results of the same scenario in three folders: ``three`` measured something else."""
    made = Wirelab.make(tmp_path)
    for out, dropped in (("one", 159), ("two", 159), ("three", 160)):
        made.lab.order({"main": {"dropped": dropped}, "deep": {"dropped": 0}})
        assert made.run("lossy.yaml", "--out", out)[0] == 0
    return made


def test_nothing_changed_between_two_equal_runs(wirelab: Wirelab) -> None:
    """Exit code 0, by folders, by a result, and by its file."""
    (result,) = results_in(wirelab.folder / "two")
    for after in ("two", str(result), str(result / "result.json"), "two/latest", "two/latest/lossy"):
        code, out, _ = wirelab("compare", "one", after)
        assert code == 0
        assert out.splitlines()[-1] == "2 same"
    assert wirelab("compare", "lossy", "lossy", "--out", "one")[0] == 0


def test_a_change_is_exit_code_1(wirelab: Wirelab) -> None:
    """The variant that differs is named with its figures; its control does not."""
    code, out, _ = wirelab("compare", "one", "three", "--html", "page.html")
    assert code == 1
    assert out.splitlines()[-1] == "1 same, 1 differs"
    assert "needs 4 seeds a side" in out
    assert "module.line.drops" in out
    assert "module.line.drops" in (wirelab.folder / "page.html").read_text()
    code, out, _ = wirelab("compare", "one", "three", "--json")
    assert (code, json.loads(out)["changed"]) == (1, True)


def test_a_lab_that_broke_is_exit_code_4(wirelab: Wirelab) -> None:
    """It says nothing about the network, so that nothing is said to have changed."""
    wirelab.lab.order({"main": {"message": "no carrier"}, "deep": {"dropped": 0}})
    assert wirelab.run("lossy.yaml", "--out", "four")[0] == 4
    code, out, _ = wirelab("compare", "one", "four")
    assert (code, "a lab broke there" in out) == (4, True)


def test_bad_input_is_told(wirelab: Wirelab) -> None:
    """What is no result, a limit that makes no sense, frames of other seeds, a variant that is not there."""
    (wirelab.folder / "empty").mkdir()
    for argv, words in (
        (("one", "no/where"), "no/where: no such result\nhint: name a result, its folder, or one of many\n"),
        (("one", "nowhere"), "one of many; if that is a scenario, `wirelab run nowhere` makes one"),
        (("one", "empty"), "no result.json below empty"),
        (("one", "two", "--frames", "--limit", "10 GB"), "--limit 10 GB: a record has 1 MB to 4 GB"),
        (("one", "two", "--frames", "--limit", "much"), "--limit much:"),
        (("one", "two", "--frames", "--variant", "dep"), "did you mean `deep`?"),
        (("one", "two", "--variant", "deep", "--limit", "1 GB"), "--variant and --limit are of --frames"),
        (("one", "two", "--kernel", "nosuch"), "--kernel is of --frames"),
    ):
        code, _, err = wirelab("compare", *argv, *(wirelab.lab.options if "--frames" in argv else ()))
        assert (code, words in err) == (2, True), err
    wirelab.run("lossy.yaml", "--out", "five", "--seed", "5")
    assert "needs a seed that both sides have" in wirelab("compare", "one", "five", "--frames")[2]


@pytest.mark.parametrize("content", ["", "[]", '{"schema": 1}', "[" * 100_000])
def test_what_is_read_back_is_checked(wirelab: Wirelab, content: str) -> None:
    """A damaged result or Plan is a message and exit code 4."""
    (result,) = results_in(wirelab.folder / "three")
    if content != '{"schema": 1}':
        (result / "main" / "plan.json").write_text(content)
        assert wirelab("compare", "one", "three")[0] == 4
    (result / "result.json").write_text(content)
    code, _, err = wirelab("compare", "one", "three")
    assert (code, "not a whole result" in err) == (4, True)


def test_a_plan_that_sets_no_figures_is_not_run(wirelab: Wirelab) -> None:
    """Words in the place of numbers never reach a lab."""
    (result,) = results_in(wirelab.folder / "three")
    path = result / "main" / "plan.json"
    path.write_text(path.read_text().replace('"mtu_bytes": 1500', '"mtu_bytes": "x"', 1))
    code, _, err = wirelab("compare", "one", "three", "--frames", "--variant", "main", *wirelab.lab.options)
    assert (code, "not a whole Plan: ports.0.mtu_bytes" in err) == (4, True), err
