"""Inputs of strangers: whatever they hold, they are words for wirelab and text for nobody else."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.ci.conftest import make
from tests.ci.runner import HERE, environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ci.runner import GitHub

# Each would leave a file if anything read it as more than text.
HOSTILE = (
    "$(touch stolen)",
    "`touch stolen`",
    "quick; touch stolen",
    "quick' ; touch stolen '",
    'quick" && touch stolen "',
    "quick\ntouch stolen",
    "$(shell touch stolen)",
    "${IFS}touch${IFS}stolen",
    "--junit=stolen",
)
ALL_AT_ONCE = "$(shell touch stolen)`touch stolen`$(touch stolen);touch stolen\n'\";touch stolen;\"'"
TEXTS = ("scenarios", "seeds", "series", "jobs", "fail-on", "folder", "results", "shard", "shards", "do")


def stolen(folder: Path) -> list[Path]:
    """What a command hidden in an input would have made."""
    return [*folder.rglob("stolen*"), *HERE.glob("stolen*")]


@pytest.mark.parametrize(
    ("name", "word"),
    [*(("scenarios", word) for word in HOSTILE), *((name, ALL_AT_ONCE) for name in TEXTS)],
)
def test_an_input_is_never_carried_out(name: str, word: str, github: GitHub) -> None:
    """It is bad input, and told as that before anything else is done; nor is it taken for an option."""
    machine = github.machine()
    machine.check_out({"persist-credentials": False})
    job = machine.use(HERE, {name: word})
    assert (job.failed, job.ran) == (True, ["Check what is asked for"]), job.log
    assert "error: " in job.log
    assert "Traceback" not in job.log
    assert stolen(github.folder) == []


def test_what_is_asked_for_is_no_command_of_the_runner(github: GitHub) -> None:
    """It is repeated in messages, where the runner would obey a line of it."""
    machine = github.machine()
    job = machine.use(HERE, {"scenarios": "'\n::error::a word of a stranger\n"})
    assert "\n::error::a word of a stranger" in job.log
    assert job.commands == []


def test_a_pattern_is_one_for_scenarios_and_not_for_files(github: GitHub) -> None:
    """Where a file has the name that a shell would make of it."""
    machine = github.machine()
    machine.check_out({"persist-credentials": False})
    (machine.workspace / "sfp-nothing").touch()
    job = machine.use(HERE, {"scenarios": "sfp-m*", "do": "plan", "shards": "1"})
    assert not job.failed, job.log
    assert '"scenarios": "sfp-mismatch"' in job.outputs["matrix"]


def test_a_module_in_the_repository_is_not_run(github: GitHub, repository: Path) -> None:
    """Python looks for modules where it is started, if nobody tells it not to."""
    for name in ("typer.py", "wirelab.py", "json.py"):
        (repository / name).write_text("open('stolen', 'w')\nraise SystemExit(0)\n", encoding="utf-8")
    machine = github.machine()
    machine.check_out({"persist-credentials": False})
    job = machine.use(HERE, {"scenarios": "quik"})
    assert "did you mean `quick`?" in job.log
    assert stolen(github.folder) == []


@pytest.mark.parametrize("word", HOSTILE)
def test_make_expands_nothing(word: str, tmp_path: Path) -> None:
    """Not in what it is given in the environment, and not in what stands on its command line."""
    for argv, variables in (((f"SCENARIOS={word}",), {}), ((), {"SCENARIOS": word})):
        done = make("ci-check", *argv, FOLDER=str(tmp_path), **variables)
        assert done.returncode == 2, done.stderr
        assert "error: " in done.stderr
        assert stolen(tmp_path) == []


def test_make_expands_what_nobody_keeps_from_it(tmp_path: Path) -> None:
    """Of its command line, even where a recipe only hands it on; else the test above would prove nothing."""
    (tmp_path / "Makefile").write_text("export SCENARIOS\nall:\n\t@true\n", encoding="utf-8")
    argv = ["make", "SCENARIOS=$(shell touch stolen)"]
    subprocess.run(argv, cwd=tmp_path, env=environment(), check=True)
    assert stolen(tmp_path) != []
