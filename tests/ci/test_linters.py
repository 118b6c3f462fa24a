"""What those say whose business it is: actionlint, zizmor, and the schemas that GitHub and GitLab publish."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.ci.runner import ACTION, HERE, load

if TYPE_CHECKING:
    from collections.abc import Mapping

WORKFLOWS = sorted((HERE / ".github" / "workflows").glob("*.yml"))
GITLAB = HERE / "ci" / "gitlab.yml"
WHERE = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))


def complaints(*argv: str) -> str:
    """What a tool complains about."""
    done = subprocess.run(argv, cwd=HERE, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def tool(name: str) -> str:
    """The program of that name, in the environment of the tests or wherever it is."""
    program = shutil.which(name, path=WHERE)
    assert program is not None, f"{name} is not installed: pip install --group ci"
    return program


@pytest.fixture(scope="module")
def actionlint() -> str:
    """The path of actionlint."""
    program = shutil.which("actionlint", path=WHERE)
    if program is None:
        pytest.skip("there is no actionlint, and no Go to build it with")
    # It asks about `run`; without it, nobody would.
    assert shutil.which("shellcheck") is not None
    return program


def test_actionlint_has_no_complaint(actionlint: str) -> None:
    """About any workflow: syntax, expressions, what actions take, and by shellcheck what shells are given."""
    problems = complaints(actionlint, "-no-color", *map(str, WORKFLOWS))
    assert not problems, problems


def as_workflow(action: Mapping[str, Any]) -> dict[str, Any]:
    """A workflow with the steps and the inputs of an action, for a linter that reads no actions."""
    inputs = {
        name: {"type": "string", "description": declaration["description"], "default": declaration["default"]}
        for name, declaration in action["inputs"].items()
    }
    steps = action["runs"]["steps"]
    return {
        "name": "action",
        "on": {"workflow_call": {"inputs": inputs}},
        "jobs": {"action": {"runs-on": "ubuntu-24.04", "steps": steps}},
    }


def test_actionlint_has_no_complaint_about_the_action(actionlint: str, tmp_path: Path) -> None:
    """Its steps and its outputs, read as those of a workflow."""
    workflow = as_workflow(load(ACTION))
    job = workflow["jobs"]["action"]
    job["outputs"] = {name: output["value"] for name, output in load(ACTION)["outputs"].items()}
    file = tmp_path / "action.yml"
    file.write_text(yaml.safe_dump(workflow, sort_keys=False, width=1000), encoding="utf-8")
    problems = complaints(actionlint, "-no-color", str(file))
    assert not problems, problems


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("echo $NAME", "SC2086"),
        ("echo ${{ github.event.pull_request.title }}", "potentially untrusted"),
        ("echo ${{ steps.none.outputs.name }}", 'property "none" is not defined'),
    ],
)
def test_actionlint_would_complain(actionlint: str, line: str, words: str, tmp_path: Path) -> None:
    """About what must not be there: else the tests above would prove nothing."""
    workflow = as_workflow(load(ACTION))
    workflow["on"]["pull_request"] = None
    workflow["jobs"]["action"]["steps"].append({"run": line})
    file = tmp_path / "action.yml"
    file.write_text(yaml.safe_dump(workflow, sort_keys=False, width=1000), encoding="utf-8")
    assert words in complaints(actionlint, "-no-color", str(file))


def test_zizmor_has_no_complaint() -> None:
    """About permissions, tokens, poisoned caches, templates; .github/zizmor.yml says what is not asked."""
    config = HERE / ".github" / "zizmor.yml"
    files = map(str, (*WORKFLOWS, ACTION))
    problems = complaints(
        tool("zizmor"), "--offline", "--quiet", "--no-progress", "--pedantic", "--config", str(config), *files
    )
    assert not problems, problems


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        *(("github-workflows", path) for path in WORKFLOWS),
        ("github-actions", ACTION),
        ("gitlab-ci", GITLAB),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_file_is_of_its_schema(schema: str, path: Path) -> None:
    """As GitHub's and GitLab's editors check it; the schemas come with the tool."""
    problems = complaints(tool("check-jsonschema"), "--builtin-schema", f"vendor.{schema}", str(path))
    assert not problems, problems


def test_the_example_for_gitlab_is_of_its_schema(tmp_path: Path) -> None:
    """With and without the template that it includes."""
    text = GITLAB.read_text(encoding="utf-8")
    (block,) = re.findall(r"^#   include:\n(?:#   .*\n|#\n)+", text, re.MULTILINE)
    shown = re.sub(r"^#   ", "", block, flags=re.MULTILINE).replace("\n#\n", "\n\n").rstrip("#\n") + "\n"
    template = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    for number, content in enumerate((shown, shown + template)):
        file = tmp_path / f"{number}.yml"
        file.write_text(content, encoding="utf-8")
        problems = complaints(tool("check-jsonschema"), "--builtin-schema", "vendor.gitlab-ci", str(file))
        assert not problems, problems
