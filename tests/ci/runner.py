"""Enough of GitHub's runner to carry out action.yml and scenarios.yml in folders of its own.

A ``run`` is run, for real, by the shell it names. What ``actions/*`` do to files is done here: a checkout is
a copy, caches and artifacts are folders. Of what GitHub's own do differently, the tests can tell nothing.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from tests.ci.expressions import as_text, filled, holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HERE: Final = Path(__file__).resolve().parents[2]
ACTION: Final = HERE / "action.yml"
SCENARIOS: Final = HERE / ".github" / "workflows" / "scenarios.yml"

_STAYS: Final = ("bench", "dist", "results", "tests")
_OURS: Final = ("GITHUB_", "RUNNER_", "MAKE", "MFLAGS", "PYTEST_", "CI_")
_COMMAND: Final = re.compile(r"^\s*::(?P<name>[\w-]+)(?: (?P<properties>[^:]*))?::(?P<text>.*)$")


def load(path: Path) -> Any:  # noqa: ANN401 - whatever is in it
    """A YAML file; the word ``on`` is for YAML 1.1, and so for PyYAML, the key True."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def environment() -> dict[str, str]:
    """The variables of this process, without those of a runner, a make or a pytest around it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    # What `make` makes first in the checkout of a job is there already: the Python that runs the tests.
    return {**kept, "MAKEFLAGS": f" -- READY= VENV={sys.prefix}"}


def lay_out_wirelab(folder: Path) -> None:
    """A copy of this checkout, of what a job uses of it."""
    folder.mkdir()
    for path in HERE.iterdir():
        if path.is_file():
            shutil.copy2(path, folder)
        elif path.name not in _STAYS and not path.name.startswith((".", "wirelab-")):
            shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("__pycache__"))


@dataclass
class Job:
    """What came of a job, or of one use of the action."""

    failed: bool = False
    outputs: dict[str, str] = field(default_factory=dict)
    log: str = ""
    page: str = ""
    ran: list[str] = field(default_factory=list)
    """The names of the steps that were carried out."""

    @property
    def commands(self) -> list[tuple[str, str, str]]:
        """The workflow commands in its log that the runner would obey: name, properties, text."""
        obeyed: list[tuple[str, str, str]] = []
        token = None
        for line in self.log.splitlines():
            match = _COMMAND.match(line)
            if match is None or (token is not None and match["name"] != token):
                continue
            if match["name"] == token:
                token = None
            elif match["name"] == "stop-commands":
                token = match["text"]
            else:
                obeyed.append((match["name"], match["properties"] or "", match["text"]))
        return obeyed


@dataclass
class GitHub:
    """A repository with its caches, and the artifacts of one workflow run."""

    folder: Path
    repository: Path
    environ: dict[str, str] = field(default_factory=dict)
    """What the machines of the jobs have besides."""
    dying: frozenset[str] = frozenset()
    """Names of the jobs whose machine is lost."""
    machines: int = 0

    @property
    def caches(self) -> Path:
        """A folder for each key."""
        return self.folder / "caches"

    @property
    def artifacts(self) -> Path:
        """A folder for each name."""
        return self.folder / "artifacts"

    def call(self, **inputs: Any) -> dict[str, Job]:  # noqa: ANN401 - a workflow has inputs of several types
        """Carry out scenarios.yml. Returns its jobs by name; one that was skipped is not among them."""
        workflow = load(SCENARIOS)
        declared = workflow[True]["workflow_call"]["inputs"]
        assert set(inputs) <= set(declared)
        contexts: dict[str, Any] = {
            "inputs": {name: declaration["default"] for name, declaration in declared.items()} | inputs,
            "github": {"workflow": "network", "ref": "refs/heads/main", "event_name": "push"},
            "job": {"workflow_repository": "owner/wirelab", "workflow_sha": "1" * 40},
            "needs": {},
        }
        done: dict[str, Job] = {}
        for key, job in workflow["jobs"].items():
            needs = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
            lacking = any(contexts["needs"][needed]["result"] != "success" for needed in needs)
            result: list[Job] = []
            if holds(job.get("if"), contexts, failed=lacking):
                rows = job.get("strategy", {}).get("matrix", {}).get("include", "${{ fromJSON('[{}]') }}")
                for row in filled(rows, contexts):
                    here = {**contexts, "matrix": row}
                    name = as_text(filled(job["name"], here))
                    done[name] = self._job(job, here, dies=name in self.dying)
                    result.append(done[name])
            state = "failure" if any(finished.failed for finished in result) else "success"
            outputs = result[0].outputs if result else {}
            contexts["needs"][key] = {"result": state if result else "skipped", "outputs": outputs}
        return done

    def _job(self, job: Mapping[str, Any], contexts: Mapping[str, Any], *, dies: bool) -> Job:
        whole = Job(failed=dies)
        if dies:
            return whole
        machine = self.machine()
        steps: dict[str, Any] = {}
        for step in job["steps"]:
            here = {**contexts, "steps": steps}
            if not holds(step.get("if"), here, failed=whole.failed):
                continue
            given = {name: filled(value, here) for name, value in step.get("with", {}).items()}
            if step["uses"].startswith("actions/checkout@"):
                machine.check_out(given)
                continue
            assert step["uses"] == "./.wirelab"
            used = machine.use(machine.workspace / ".wirelab", given)
            whole.failed |= used.failed
            whole.log += used.log
            whole.page += used.page
            whole.ran += used.ran
            steps[step.get("id", "")] = {"outputs": used.outputs}
        whole.outputs = {
            name: as_text(filled(value, {**contexts, "steps": steps}))
            for name, value in job.get("outputs", {}).items()
        }
        return whole

    def machine(self) -> Machine:
        """A fresh machine."""
        self.machines += 1
        home = self.folder / f"machine-{self.machines}"
        (home / "temp").mkdir(parents=True)
        (home / "workspace").mkdir()
        return Machine(self, home)


@dataclass
class Machine:
    """One that carries out a job."""

    server: GitHub
    home: Path

    @property
    def workspace(self) -> Path:
        """Where repositories are checked out."""
        return self.home / "workspace"

    def check_out(self, given: Mapping[str, Any]) -> None:
        """The caller's repository, or wirelab's if one is named."""
        assert given["persist-credentials"] is False
        if "repository" not in given:
            shutil.copytree(self.server.repository, self.workspace, dirs_exist_ok=True)
            return
        assert (given["repository"], given["ref"]) == ("owner/wirelab", "1" * 40)
        lay_out_wirelab(self.workspace / given["path"])

    def use(self, action: Path, given: Mapping[str, Any]) -> Job:
        """Carry out the action in the folder ``action``."""
        text = load(action / "action.yml")
        assert set(given) <= set(text["inputs"])
        inputs = {name: declaration.get("default", "") for name, declaration in text["inputs"].items()}
        inputs |= {name: as_text(value) for name, value in given.items()}
        steps: dict[str, Any] = {}
        contexts = {
            "inputs": inputs,
            "steps": steps,
            "github": {"workspace": str(self.workspace)},
            "runner": {"temp": str(self.home / "temp")},
        }
        job = Job()
        for step in text["runs"]["steps"]:
            if not holds(step.get("if"), contexts, failed=job.failed):
                continue
            job.ran.append(step["name"])
            ok = True
            outputs: dict[str, str] = {}
            if "run" in step:
                ok, outputs = self._run(step, contexts, action, job)
            else:
                asked = {name: as_text(filled(value, contexts)) for name, value in step["with"].items()}
                outputs = self._use(step["uses"].partition("@")[0], asked)
            steps[step.get("id", "")] = {"outputs": outputs, "outcome": "success" if ok else "failure"}
            job.failed |= not ok
        job.outputs = {
            name: as_text(filled(output["value"], contexts)) for name, output in text["outputs"].items()
        }
        return job

    def _run(
        self, step: Mapping[str, Any], contexts: Mapping[str, Any], action: Path, job: Job
    ) -> tuple[bool, dict[str, str]]:
        output, page = self.home / "temp" / "output", self.home / "temp" / "page"
        output.write_text("", encoding="utf-8")
        page.write_text("", encoding="utf-8")
        environ = {name: as_text(filled(value, contexts)) for name, value in step.get("env", {}).items()}
        script = self.home / "temp" / "script.sh"
        script.write_text(step["run"], encoding="utf-8")
        done = subprocess.run(
            [step["shell"], "-e", str(script)],
            cwd=self.workspace,
            env={
                **environment(),
                **environ,
                "PYTHONPATH": str(action / "src"),
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(action),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(page),
                "GITHUB_WORKSPACE": str(self.workspace),
                **self.server.environ,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        job.log += done.stdout
        job.page += page.read_text(encoding="utf-8")
        lines = output.read_text(encoding="utf-8").splitlines()
        return done.returncode == 0, dict(line.split("=", 1) for line in lines)

    def _use(self, action: str, given: Mapping[str, str]) -> dict[str, str]:
        does = {
            "actions/cache/restore": self._restore,
            "actions/cache/save": self._save,
            "actions/upload-artifact": self._upload,
            "actions/download-artifact": self._download,
        }
        return does[action](given) or {}

    def _restore(self, given: Mapping[str, str]) -> dict[str, str]:
        kept = self.server.caches / given["key"]
        if kept.is_file():
            # Not copied: it is large, and whoever writes one gives a new file its name.
            os.link(kept, given["path"])
        return {"cache-hit": "true" if kept.is_file() else ""}

    def _save(self, given: Mapping[str, str]) -> None:
        self.server.caches.mkdir(exist_ok=True)
        target = self.server.caches / given["key"]
        assert not target.exists(), "a key that is there cannot be saved again"
        os.link(given["path"], target)

    def _upload(self, given: Mapping[str, str]) -> None:
        lines = [line.strip() for line in given["path"].splitlines() if line.strip()]
        # It takes no pattern with these in it.
        assert not any(part in (".", "..") for line in lines for part in line.split("/"))
        (root,) = (Path(line) for line in lines if line[0] != "!")
        without = [line[1:] for line in lines if line[0] == "!"]
        target = self.server.artifacts / given["name"]
        kept = list(_followed(root, without))
        if not kept:
            return
        assert not target.exists(), f"two jobs upload {given['name']}"
        for path in kept:
            (target / path.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target / path.relative_to(root))

    def _download(self, given: Mapping[str, str]) -> None:
        known = sorted(self.server.artifacts.iterdir()) if self.server.artifacts.is_dir() else []
        for artifact in known:
            if fnmatch.fnmatchcase(artifact.name, given["pattern"]):
                shutil.copytree(artifact, Path(given["path"]) / artifact.name)


def _followed(root: Path, without: Iterable[str]) -> Iterable[Path]:
    """The files below ``root`` as an upload finds them: through links, without hidden ones."""
    for folder, folders, names in os.walk(root, followlinks=True):
        folders[:] = [name for name in folders if name[0] != "."]
        for path in (Path(folder, name) for name in names if name[0] != "."):
            if not any(fnmatch.fnmatchcase(str(path), pattern.replace("**", "*")) for pattern in without):
                yield path
