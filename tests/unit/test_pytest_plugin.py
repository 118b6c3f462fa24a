"""YAML files as tests: those that are asked for, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from standin import HOLDS, SCENARIO, SOURCE, UNCONFINED, StandIn

if TYPE_CHECKING:
    from pathlib import Path


PLUGINS = ("-p", "wirelab.pytest_plugin", "-p", "no:cacheprovider")


class Project:
    """A folder with one scenario, tested by a pytest of its own on the stand-in for the lab."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "scenarios").mkdir()
        (folder / "lab").mkdir()
        self.lab = StandIn.make(folder / "lab")
        self.lab.order(HOLDS)
        (folder / "conftest.py").write_text(UNCONFINED, encoding="utf-8")
        self.write(SCENARIO)

    def write(self, text: str) -> None:
        """Change the scenario."""
        (self.folder / "scenarios" / "lossy.yaml").write_text(text, encoding="utf-8")

    def pytest(self, *argv: str, targets: tuple[str, ...] = ("scenarios",)) -> tuple[int, str]:
        """Run pytest there: exit code and output."""
        options = [option.replace("--", "--wirelab-", 1) for option in self.lab.options]
        done = subprocess.run(  # noqa: S603 - argv lists only
            [sys.executable, "-m", "pytest", *PLUGINS, "-v", *argv, *options, *targets],
            cwd=self.folder,
            env={
                **{key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")},
                "PYTHONPATH": str(SOURCE),
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "WIRELAB_CACHE": str(self.folder / "cache"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A folder with scenarios/lossy.yaml."""
    return Project(tmp_path)


def test_variants_and_controls_are_tests(project: Project) -> None:
    """Each has its own line."""
    code, out = project.pytest()
    assert code == 0
    assert "scenarios/lossy.yaml::main PASSED" in out
    assert "scenarios/lossy.yaml::control deep PASSED" in out
    assert "2 passed" in out


def test_a_failure_is_its_explanation(project: Project) -> None:
    """No traceback: the sentence, and the scenario's reason."""
    project.lab.order({**HOLDS, "main": {"dropped": 300}})
    code, out = project.pytest()
    assert code == 1
    assert (
        "fail download.retransmits: expected 100..200 retransmits, measured 302; "
        "300 frames were dropped at module.line (FIFO 16 KiB full)\n"
        "  the module drops frames\n"
    ) in out
    assert "Traceback" not in out
    assert "ScenarioFailed" not in out.partition("short test summary")[0]


def test_a_broken_lab_is_told_too(project: Project) -> None:
    """The message of the lab, and a failed test."""
    project.lab.order({**HOLDS, "main": {"message": "server: no carrier"}})
    code, out = project.pytest()
    assert code == 1
    assert "error lab: server: no carrier" in out


def test_a_bad_file_is_an_error_of_collection(project: Project) -> None:
    """File, line and field; nothing is run."""
    project.write(SCENARIO.replace("congestion: cubic", "congestoin: cubic"))
    code, out = project.pytest()
    assert code == 2
    assert "lossy.yaml:7: traffic" in out
    assert "did you mean `congestion`?" in out
    assert "Traceback" not in out


INI = "[pytest]\nwirelab_scenarios = scenarios/*.yaml\n"


def test_a_project_says_which_files_are_scenarios(project: Project) -> None:
    """By patterns in its settings: then nothing need be named on the command line."""
    (project.folder / "pytest.ini").write_text(INI, encoding="utf-8")
    (project.folder / "notes.yaml").write_text("a: 1", encoding="utf-8")
    code, out = project.pytest(targets=())
    assert code == 0
    assert "2 passed" in out
    project.write("name: lossy\n")
    code, out = project.pytest(targets=())
    assert code == 2
    assert "lossy.yaml:1: topology: is missing" in out


def test_a_pattern_that_cannot_be_is_a_wrong_usage(project: Project) -> None:
    """And not a traceback of pytest."""
    (project.folder / "pytest.ini").write_text(INI.replace("scenarios/", "/scenarios/"), encoding="utf-8")
    code, out = project.pytest()
    assert code == 4
    assert "ERROR: wirelab_scenarios: `/scenarios/*.yaml`: " in out
    assert "Traceback" not in out


@pytest.mark.parametrize(
    "target", ["mine/one.yaml", "./mine/../mine/", "{folder}/mine", "mine/one.yaml::main"]
)
def test_what_is_named_on_the_command_line_is_run(project: Project, target: str) -> None:
    """A file, a folder that has it, or one test of it."""
    (project.folder / "mine").mkdir()
    (project.folder / "mine" / "one.yaml").write_text(SCENARIO, encoding="utf-8")
    (project.folder / "mine" / "notes.yaml").write_text("topology: of Europe\n", encoding="utf-8")
    code, out = project.pytest(targets=(target.format(folder=project.folder),))
    assert code == 0
    assert "mine/one.yaml::main PASSED" in out
    assert f"{1 if '::' in target else 2} passed" in out


FOREIGN = {
    "chart.yaml": "a: {{ .Values.a }}\n",
    "tabs.yaml": "a:\n\t- b\n",
    "binary.yaml": "\x00\xff",
    "empty.yml": "",
    "playbook.yml": "- hosts: all\n  traffic: none\n",
    "network.yaml": "topology: ring\nnodes: 3\n",
}


XDIST = ("-p", "xdist.plugin", "-n", "1")


@pytest.mark.parametrize(
    ("workers", "targets"),
    [((), ()), ((), (".",)), ((), ("scenarios",)), ((), ("scenarios", "tests")), (XDIST, ())],
    ids=lambda words: " ".join(words) or "none",
)
def test_somebody_elses_files_are_left_alone(
    project: Project, targets: tuple[str, ...], workers: tuple[str, ...]
) -> None:
    """A project that knows nothing of wirelab has its own tests collected and run, whatever its YAML says."""
    (project.folder / "scenarios" / "lossy.yaml").unlink()
    for name, text in FOREIGN.items():
        (project.folder / "scenarios" / name).write_text(text, encoding="latin-1")
    test = "def test_{}() -> None:\n    pass\n"
    (project.folder / "scenarios" / "test_one.py").write_text(test.format("one"), encoding="utf-8")
    (project.folder / "tests").mkdir()
    (project.folder / "tests" / "test_two.py").write_text(test.format("two"), encoding="utf-8")
    code, out = project.pytest(*workers, targets=targets)
    assert code == 0
    assert f"{1 if targets == ('scenarios',) else 2} passed in" in out
    assert "error" not in out


@pytest.mark.parametrize("workers", [(), XDIST], ids=["alone", "xdist"])
def test_a_scenario_that_nobody_asked_for_is_left_alone(project: Project, workers: tuple[str, ...]) -> None:
    """Another project may keep scenarios for the command line and test something else."""
    (project.folder / "test_one.py").write_text("def test_one() -> None:\n    pass\n", encoding="utf-8")
    code, out = project.pytest(*workers, targets=())
    assert code == 0
    assert "1 passed in" in out


def test_workers_run_what_was_named(project: Project) -> None:
    """With xdist, too: a worker is told what stood on the command line."""
    code, out = project.pytest("-p", "xdist.plugin", "-n", "2")
    assert code == 0
    assert "2 passed" in out


@pytest.mark.parametrize("seed", ["-1", str(1 << 32)])
def test_a_seed_that_no_lab_has_is_a_wrong_usage(project: Project, seed: str) -> None:
    """As on the command line."""
    code, out = project.pytest("--wirelab-seed", seed)
    assert code == 4
    assert f"ERROR: --wirelab-seed {seed}: expected 0 to 4294967295" in out


SKIPS = """
from wirelab.errors import SkipError
from wirelab.runner.trial import Runner
def measured(*_):
    raise SkipError("its kernel is too old for this")
Runner._measured = measured
"""


def test_what_cannot_be_tested_here_is_skipped(project: Project) -> None:
    """A test that passed would say that it holds."""
    with (project.folder / "conftest.py").open("a", encoding="utf-8") as file:
        file.write(SKIPS)
    code, out = project.pytest("-rs", "--wirelab-no-cache")
    assert code == 0
    assert "2 skipped" in out
    assert "its kernel is too old for this" in out
