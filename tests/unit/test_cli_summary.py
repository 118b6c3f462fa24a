"""Results of several machines, summed up."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from standin import SCENARIO, Wirelab, results_in

from wirelab.runner.store import RESULT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Wirelab:
    """A folder with the results of two scenarios, from two machines; each test has a copy of it."""
    made = Wirelab.make(tmp_path_factory.mktemp("measured"))
    (made.folder / "other.yaml").write_text(SCENARIO.replace("lossy", "other"), encoding="utf-8")
    assert made.run("lossy.yaml", "--out", "one")[0] == 0
    assert made.run("other.yaml", "--out", "two")[0] == 0
    return made


@pytest.fixture
def wirelab(measured: Wirelab, tmp_path: Path) -> Wirelab:
    """The same results for each test, to do with as it likes."""
    shutil.copytree(measured.folder, tmp_path / "work", symlinks=True)
    return Wirelab(tmp_path / "work", measured.lab)


def test_one_table_and_one_exit_code(wirelab: Wirelab) -> None:
    """As if one machine had run them all."""
    code, out, _ = wirelab("summary", "one", "two", "--require", "lossy,other")
    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()[1:3]] == [["lossy", "pass"], ["other", "pass"]]
    assert out.splitlines()[-1] == "2 pass"


def test_reports_are_those_of_a_run(wirelab: Wirelab) -> None:
    """The same bytes, wherever the scenarios ran."""
    files = ("--junit", "run.xml", "--markdown", "run.md", "--json-file", "run.json")
    assert wirelab.run("lossy.yaml", "other.yaml", *files)[0] == 0
    again = [name.replace("run", "sum") for name in files]
    assert wirelab("summary", "results", *again)[0] == 0
    for name in ("run.xml", "run.md", "run.json"):
        texts = [(wirelab.folder / file).read_text() for file in (name, name.replace("run", "sum"))]
        assert texts[0] == texts[1]


def test_what_is_required_and_missing_is_an_error(wirelab: Wirelab) -> None:
    """Exit code 4, and a case of its own in the reports."""
    argv = ("summary", "one", "--require", "lossy", "--require", "other,third", "--junit", "j.xml")
    code, out, _ = wirelab(*argv)
    assert code == 4
    assert "error other: run: result: no result of it came" in out
    assert out.splitlines()[-1] == "1 pass, 2 error"
    root = ET.fromstring((wirelab.folder / "j.xml").read_text())  # noqa: S314 - our own
    assert [suite.get("errors") for suite in root] == ["0", "1", "1"]


def test_each_seed_that_is_required(wirelab: Wirelab) -> None:
    """Results of some seeds do not stand for the others."""
    assert wirelab.run("lossy.yaml", "--seeds", "1,3", "--out", "seeds")[0] == 0
    code, out, _ = wirelab("summary", "seeds", "--require", "lossy", "--seeds", "3")
    assert code == 4
    assert "error lossy (seed 2): run: result: no result of it came" in out


def test_the_newest_counts(wirelab: Wirelab) -> None:
    """A scenario that was mended and run again is not failed for ever."""
    (old,) = results_in(wirelab.folder / "one")
    document = json.loads((old / RESULT).read_text())
    failed = old.with_name("20000101T000000Z-lossy")
    shutil.copytree(old, failed)
    (failed / RESULT).write_text(json.dumps(document | {"verdict": "fail"}), encoding="utf-8")
    assert wirelab("summary", "one")[0] == 0
    assert wirelab("summary", str(failed))[0] == 1


@pytest.mark.parametrize("half", ["", "{", '{"schema": 1, "scenario": "lossy"}', "[]"])
def test_half_a_result_is_none(half: str, wirelab: Wirelab) -> None:
    """Exit code 4 with the file and what to do: it is never passed over in silence."""
    (result,) = results_in(wirelab.folder / "two")
    (result / RESULT).write_text(half, encoding="utf-8")
    code, out, err = wirelab("summary", "one", "two")
    assert (code, out) == (4, "")
    assert err.startswith(f"error: {result / RESULT}: not a whole result: ")
    assert f"hint: remove {result}, and run the scenario again" in err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("nowhere",), "error: nowhere: no such folder"),
        (("empty",), "error: no result.json below empty"),
        (("one", "--seeds", "3"), "error: --seeds says which results are required"),
        (("one", "--require", ""), "error: --require names nothing"),
        (("one", "--require", "spf-*"), "error: unknown scenario `spf-*`"),
    ],
)
def test_bad_input(argv: tuple[str, ...], message: str, wirelab: Wirelab) -> None:
    """Exit code 2 and a message that names it."""
    (wirelab.folder / "empty").mkdir()
    code, out, err = wirelab("summary", *argv)
    assert (code, out) == (2, "")
    assert err.startswith(message)


def test_a_run_under_way_is_no_result(wirelab: Wirelab) -> None:
    """Nor is what a killed one left."""
    (result,) = results_in(wirelab.folder / "one")
    result.rename(result.with_name(f".partial-{result.name}-0"))
    code, out, _ = wirelab("summary", "one", "two")
    assert code == 0
    assert out.splitlines()[-1] == "1 pass"


def test_wall_times_come_from_what_was_measured(wirelab: Wirelab) -> None:
    """`list` tells how long a scenario took last; shards are dealt by it."""
    _, out, _ = wirelab("list", "lossy.yaml", "other.yaml", "--json", "--out", "one")
    lossy, other = json.loads(out)
    assert lossy["wall_s"] > 0
    assert other["wall_s"] is None
    code, out, _ = wirelab("list", "lossy.yaml", "other.yaml", "--shards", "5", "--out", "one")
    assert code == 0
    assert sorted(shard["scenarios"] for shard in json.loads(out)) == ["lossy.yaml", "other.yaml"]
    assert all((shard["of"], len(shard["names"])) == (2, 1) for shard in json.loads(out))


def test_the_newest_results_are_a_folder_too(wirelab: Wirelab) -> None:
    """``latest`` has links, which are followed; a result.json is taken as its folder is."""
    for name in ("one/latest", "one/latest/lossy", "one/latest/lossy/result.json"):
        code, out, _ = wirelab("summary", name)
        assert (code, out.splitlines()[-1]) == (0, "1 pass"), name


def test_a_file_that_is_no_result_is_no_folder_either(wirelab: Wirelab) -> None:
    """It is there, and that is not what is wrong."""
    code, _, err = wirelab("summary", "lossy.yaml")
    assert (code, err) == (
        2,
        "error: lossy.yaml: is no result\nhint: name a result.json, or a folder\n",
    )
