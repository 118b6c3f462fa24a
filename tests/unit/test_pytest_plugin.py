"""`pytest scenarios/`: YAML files as tests."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from standin import HOLDS, SCENARIO, SOURCE, StandIn

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
        self.write(SCENARIO)

    def write(self, text: str) -> None:
        """Change the scenario."""
        (self.folder / "scenarios" / "lossy.yaml").write_text(text, encoding="utf-8")

    def pytest(self, *argv: str, target: str = "scenarios") -> tuple[int, str]:
        """Run pytest there: exit code and output."""
        options = [option.replace("--", "--wirelab-", 1) for option in self.lab.options]
        done = subprocess.run(  # noqa: S603 - argv lists only
            [sys.executable, "-m", "pytest", *PLUGINS, "-v", *argv, *options, target],
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


def test_other_yaml_files_are_left_alone(project: Project) -> None:
    """Only what is in a folder called scenarios is a test."""
    (project.folder / "notes.yaml").write_text("a: 1", encoding="utf-8")
    code, out = project.pytest(target=".")
    assert code == 0
    assert "2 passed" in out
