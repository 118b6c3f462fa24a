"""Steps by hand: targets of make, without a runner of GitHub's or GitLab's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.ci.conftest import make
from tests.ci.runner import HERE, environment

if TYPE_CHECKING:
    from pathlib import Path

_LOOKS = 1200
_LOOK_S = 0.1


def test_every_scenario_is_dealt_once() -> None:
    """To as many machines as are asked for; the same deal wherever it is made."""
    first, second = (make("ci-shards", SHARDS="5").stdout for _ in range(2))
    assert first == second
    matrix = json.loads(first)
    assert [(row["shard"], row["of"]) for row in matrix] == [(number, 5) for number in range(1, 6)]
    names = sorted(name for row in matrix for name in row["scenarios"].split())
    assert names == sorted(path.stem for path in (HERE / "scenarios").glob("*.yaml"))


def test_a_machine_too_many_has_nothing_to_do(tmp_path: Path) -> None:
    """And says so; its job is none that failed."""
    done = make("ci-run", SCENARIOS="clean-10g", SHARD="2/2", OUT=str(tmp_path / "results"))
    assert (done.returncode, done.stdout) == (0, "nothing to do: there are fewer scenarios than machines\n")
    assert not (tmp_path / "results").exists()


def test_reports_of_an_earlier_run_are_gone(repository: Path) -> None:
    """Bad input leaves none that could be taken for its own."""
    out = repository / "wirelab-results"
    out.mkdir()
    for name in ("junit.xml", "results.json", "summary.md"):
        (out / name).write_text("of yesterday", encoding="utf-8")
    done = make("ci-run", SCENARIOS="quick", JOBS="1", SEEDS="1,1e3", FOLDER=str(repository))
    assert done.returncode == 2
    done = make("ci-run", SCENARIOS="quik", FOLDER=str(repository))
    assert done.returncode == 2
    assert [path.name for path in out.iterdir()] == []


def test_an_output_folder_that_cannot_be_one_is_named(repository: Path) -> None:
    """With what to do."""
    (repository / "file").touch()
    done = make("ci-run", SCENARIOS="quick", OUT="file", FOLDER=str(repository))
    assert f"error: OUT={repository}/file: File exists\nhint: name a folder that is yours\n" in done.stderr


def test_a_lab_file_of_no_use_is_replaced(lab_file: Path, tmp_path: Path) -> None:
    """Damaged, as a cache may have it: it is told, and the lab that is here is written in its place."""
    file = tmp_path / "lab"
    file.write_bytes(lab_file.read_bytes()[:-5000])
    done = make("ci-lab", LAB=str(file))
    assert done.returncode == 0, done.stderr
    assert f"{file} is of no use: the lab is built instead\n" in done.stdout
    assert "cut short" in done.stderr
    assert file.read_bytes() == lab_file.read_bytes()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_step_that_is_ended_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    """A runner ends the step's own process, Ctrl-C all of them: no lab goes on, no half result stays."""
    argv = ["make", "--no-print-directory", "ci-run", "SCENARIOS=sfp-mismatch", f"OUT={tmp_path}/results"]
    step = subprocess.Popen(
        argv,
        cwd=HERE,
        env={**environment(), "PYTHONPATH": str(HERE / "src")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    for _ in range(_LOOKS):
        if any(path.stat().st_size for path in tmp_path.glob("results/.partial-*/*/.lab/results/progress")):
            break
        time.sleep(_LOOK_S)
    if number == signal.SIGINT:
        os.killpg(step.pid, number)
    else:
        step.send_signal(number)
    said, _ = step.communicate(timeout=120)
    assert step.returncode != 0
    assert b"interrupted" in said, said
    assert [path.name for path in (tmp_path / "results").iterdir()] == []
