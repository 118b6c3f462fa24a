"""ci/gitlab.yml, its jobs carried out as GitLab's runner does: one shell, all lines, what fails ends it."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from tests.ci.runner import HERE, environment, lay_out_wirelab, load
from wirelab.lab.scratch import discard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def job_of(name: str) -> dict[str, Any]:
    """A job of the template with what it extends, merged as GitLab merges: mappings by key."""
    template = load(HERE / "ci" / "gitlab.yml")

    def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
        both = [key for key in base.keys() & over.keys() if isinstance(base[key], dict)]
        return {**base, **over, **{key: merged(base[key], over[key]) for key in both}}

    job: dict[str, Any] = template[name]
    while "extends" in job:
        job = merged(template[job.pop("extends")], job)
    return job


@dataclass
class Project:
    """A project that includes the template, in its checkout; the same for all jobs, as are its artifacts."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    def run(self, name: str, **given: str) -> subprocess.CompletedProcess[str]:
        """Carry out a job. The line that installs Debian packages is left out: this machine has them."""
        job = job_of(name)
        tools, *before = job["before_script"]
        assert tools.startswith("apt-get update && apt-get install ")
        environ = {**environment(), **self.variables, "CI_PROJECT_DIR": str(self.folder), **given}
        for variable, value in job["variables"].items():
            environ.setdefault(variable, self._expanded(value, environ))
        return subprocess.run(
            ["sh", "-e", "-c", "\n".join([*before, *job["script"]])],
            cwd=self.folder,
            env={**environ, "PYTHONPATH": f"{environ['WIRELAB_HOME']}/src"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    @staticmethod
    def _expanded(value: str, environ: dict[str, str]) -> str:
        """Variables in variables are replaced once, before any shell; one that is not set is empty."""
        words = value.split("/")
        return "/".join(environ.get(word[1:], "") if word.startswith("$") else word for word in words)


@pytest.fixture
def project(repository: Path, lab_file: Path, tmp_path: Path) -> Iterator[Project]:
    """The stranger's repository on GitLab, whose cache has a lab, and wirelab in a repository beside it."""
    wirelab = tmp_path / "wirelab"
    lay_out_wirelab(wirelab)
    for argv in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "."),
        ("commit", "--quiet", "--message=all"),
        ("tag", "v1"),
    ):
        settings = ("user.name=test", "user.email=test@wirelab.example", "commit.gpgsign=false")
        options = [word for setting in settings for word in ("-c", setting)]
        subprocess.run(["git", *options, *argv], cwd=wirelab, check=True)
    (repository / ".wirelab").mkdir()
    os.link(lab_file, repository / ".wirelab" / "lab")
    variables = {"WIRELAB_URL": f"file://{wirelab}", "WIRELAB_REF": "v1"}
    yield Project(repository, variables)
    discard(repository / ".wirelab")


def test_scenarios_run_on_several_machines_and_are_judged_as_one(project: Project) -> None:
    """Each once; wirelab is fetched at the tag that is asked for, the lab is taken from the cache."""
    project.variables["SCENARIOS"] = "scenarios/quick.yaml autoneg-*"
    for number in (1, 2):
        done = project.run(
            ".wirelab",
            CI_NODE_INDEX=str(number),
            CI_NODE_TOTAL="2",
            CI_JOB_NAME_SLUG=f"scenarios-{number}-2",
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "compil" not in done.stderr
    junit = sorted(project.folder.glob("wirelab-results/*/junit.xml"))
    suites = [[str(suite.get("name")) for suite in ET.parse(path).getroot()] for path in junit]  # noqa: S314 - our own
    assert sorted(suites) == [["autoneg-matrix"], ["quick"]]
    done = project.run(".wirelab-summary")
    assert done.returncode == 0, done.stdout + done.stderr
    documents = json.loads((project.folder / "wirelab-summary" / "results.json").read_text(encoding="utf-8"))
    assert [document["scenario"] for document in documents] == ["autoneg-matrix", "quick"]


def test_a_job_that_is_alone_runs_everything_and_fails(project: Project) -> None:
    """Without `parallel`; its results are there, and the last job has the same verdict."""
    project.variables["SCENARIOS"] = "scenarios/*.yaml"
    done = project.run(".wirelab", CI_NODE_TOTAL="1", CI_JOB_NAME_SLUG="scenarios")
    assert done.returncode == 2, "make's exit code for a recipe that failed"
    assert "1 pass, 1 fail" in done.stdout
    done = project.run(".wirelab-summary")
    assert done.returncode == 2
    assert "1 pass, 1 fail" in done.stdout


def test_a_machine_that_died_is_an_error(project: Project) -> None:
    """And what is no scenario's name is never a command."""
    project.variables["SCENARIOS"] = "quick"
    done = project.run(".wirelab-summary")
    assert done.returncode == 2
    assert "error quick: run: result: no result of it came" in done.stdout
    project.variables["SCENARIOS"] = "$(touch stolen) `touch stolen`; touch stolen"
    done = project.run(".wirelab-summary")
    assert "error: unknown scenario" in done.stderr
    assert list(project.folder.rglob("stolen*")) == []
