"""The workflows, the action and the GitLab template, as they are written."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

HERE = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((HERE / ".github" / "workflows").glob("*.yml"))
SCENARIOS = HERE / ".github" / "workflows" / "scenarios.yml"
RELEASE = HERE / ".github" / "workflows" / "release.yml"
ACTION = HERE / "action.yml"
GITLAB = HERE / "ci" / "gitlab.yml"

# GitHub's own and no others; the major version is that whose inputs actionlint knows.
ACTIONS = {
    "actions/attest-build-provenance@v3",
    "actions/attest-sbom@v3",
    "actions/cache/restore@v5",
    "actions/cache/save@v5",
    "actions/checkout@v6",
    "actions/deploy-pages@v4",
    "actions/download-artifact@v8",
    "actions/upload-artifact@v7",
    "actions/upload-pages-artifact@v4",
}
LOCAL = {"./", "./.wirelab", "./.github/workflows/ci.yml", "./.github/workflows/scenarios.yml"}
READS = {"contents": "read"}
# What makes a release or publishes pages has to write; each job what it is for, and no other.
MAY = {
    ("release.yml", "attest"): {**READS, "id-token": "write", "attestations": "write"},
    ("release.yml", "github"): {"contents": "write"},
    ("release.yml", "pypi"): {**READS, "id-token": "write"},
    ("pages.yml", "publish"): {"pages": "write", "id-token": "write"},
}
MAKE = re.compile(
    r'(?:sudo --preserve-env=HOME )?make (?:-C "\$(?:GITHUB_ACTION_PATH|WIRELAB_HOME)" )?([\w-]+)'
)
HOLE = re.compile(r"\$\{\{(.*?)\}\}")


def load(path: Path) -> Any:  # noqa: ANN401 - whatever is in it
    """A YAML file; the word ``on`` is for YAML 1.1, and so for PyYAML, the key True."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(path: Path) -> list[dict[str, Any]]:
    """All steps of a workflow or an action."""
    document = load(path)
    if "runs" in document:
        return list(document["runs"]["steps"])
    return [step for job in document["jobs"].values() for step in job.get("steps", ())]


def lines(path: Path) -> list[str]:
    """Every line that a workflow, an action or a template hands to a shell."""
    if path == GITLAB:
        return [line for job in load(path).values() for line in job.get("script", ())]
    return [step["run"] for step in steps(path) if "run" in step]


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION, GITLAB], ids=lambda path: path.name)
def test_a_shell_is_given_a_target_of_make_and_nothing_else(path: Path) -> None:
    """So each step can be taken by hand; and nothing that a stranger may choose is part of its text."""
    assert lines(path) or path == SCENARIOS
    for line in lines(path):
        match = MAKE.fullmatch(line)
        assert match, line
        argv = ["make", "--dry-run", "--silent", match[1]]
        done = subprocess.run(argv, cwd=HERE, capture_output=True, text=True, check=False)  # noqa: S603 - a target
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_and_no_more(path: Path) -> None:
    """No job asks for more, but those that publish; no checkout leaves a token, and there is no secret."""
    document = load(path)
    assert document["permissions"] == READS
    for name, job in document["jobs"].items():
        assert job.get("permissions", READS) == MAY.get((path.name, name), READS)
    for step in steps(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
    assert "secrets" not in path.read_text(encoding="utf-8")
    assert "pull_request_target" not in document[True]


def test_a_release_is_made_by_a_tag_or_by_hand() -> None:
    """Never by a pull request; and the jobs that write run for a tag that was pushed, and not by hand."""
    document = load(RELEASE)
    assert set(document[True]) == {"push", "workflow_dispatch"}
    assert set(document[True]["push"]) == {"tags"}
    for name in ("github", "pypi"):
        assert document["jobs"][name]["if"] == "github.event_name == 'push' && github.ref_type == 'tag'"
    for step in steps(RELEASE):
        if "run" in step:
            for value in step.get("env", {}).values():
                assert re.fullmatch(r"1|\$\{\{ github\.(?:ref_name|token) \}\}", value), value


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_ends(path: Path) -> None:
    """Every job of its own has a timeout; a newer push to a pull request ends the run of the older one."""
    document = load(path)
    assert document["concurrency"]["cancel-in-progress"] == "${{ github.event_name == 'pull_request' }}"
    for job in document["jobs"].values():
        assert ("timeout-minutes" in job) is ("uses" not in job)


def test_workflows_do_not_wait_for_each_other() -> None:
    """One that is called has the caller's name and ref: in one group it would wait for itself."""
    groups = [load(path)["concurrency"]["group"] for path in WORKFLOWS]
    assert len({HOLE.sub("", group) for group in groups}) == len(WORKFLOWS)


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION], ids=lambda path: path.name)
def test_only_githubs_own_actions_are_used(path: Path) -> None:
    """And this one."""
    used = {step["uses"] for step in steps(path) if "uses" in step}
    used |= {job["uses"] for job in load(path).get("jobs", {}).values() if "uses" in job}
    assert used <= ACTIONS | LOCAL


@pytest.mark.parametrize("path", [SCENARIOS, ACTION], ids=lambda path: path.name)
def test_every_input_is_told_and_used(path: Path) -> None:
    """Each has a description and a default; none that is used is missing, none is there for nothing."""
    document = load(path)
    inputs = document["inputs"] if path == ACTION else document[True]["workflow_call"]["inputs"]
    for name, declaration in inputs.items():
        assert declaration["description"], name
        assert "default" in declaration, name
        assert path == ACTION or declaration["type"] in ("string", "number"), name
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"\binputs\.([\w-]+)", text)) == set(inputs)


def test_the_workflow_passes_on_what_it_is_given() -> None:
    """What it and the action have in common reaches every step of the action that knows it."""
    known = set(load(ACTION)["inputs"])
    given = set(load(SCENARIOS)[True]["workflow_call"]["inputs"])
    own = {"name", "runs-on", "timeout-minutes"}
    assert given - known == own
    uses = {
        step["with"].get("do", "run"): step["with"]
        for step in steps(SCENARIOS)
        if step["uses"] == "./.wirelab"
    }
    assert set(uses) == {"plan", "run", "summary"}
    for inputs in uses.values():
        assert {"scenarios", "seeds", "fail-on", "folder"} <= set(inputs)
    assert given - own == set().union(*uses.values()) - {"do", "artifact", "collect"}


def test_an_input_of_the_action_reaches_a_program_by_its_environment() -> None:
    """Under a name that ci.mk hands on as it is; the whole value is the input, but for the folder's."""
    recipes = (HERE / "ci" / "ci.mk").read_text(encoding="utf-8")
    (variables,) = re.findall(r"^CI_VARIABLES := (.*)$", recipes, re.MULTILINE)
    for step in steps(ACTION):
        if "run" in step:
            assert step["shell"] == "sh"
            assert set(step["env"]) <= set(variables.split())
            for value in step["env"].values():
                assert re.fullmatch(
                    r"\$\{\{ inputs\.[\w-]+ \}\}|"
                    r"\$\{\{ github\.workspace \}\}/\$\{\{ inputs\.folder \}\}|"
                    r"\$\{\{ runner\.temp \}\}/wirelab-\w+",
                    value,
                )


def test_github_does_what_this_machine_does() -> None:
    """Each of the tests that .ci/run runs is a job of ci.yml."""
    text = (HERE / ".ci" / "run").read_text(encoding="utf-8")
    there = set(re.findall(r"^step (test[\w-]*)", text, re.MULTILINE))
    assert "test" in there
    assert there <= {line.split()[-1] for line in lines(HERE / ".github" / "workflows" / "ci.yml")}


def example() -> dict[str, Any]:
    """The project that the comment at the top of the template shows."""
    text = GITLAB.read_text(encoding="utf-8")
    block = re.search(r"^(?:#   .*\n|#\n)+", text[text.index("#   include:") :], re.MULTILINE)
    assert block
    project: dict[str, Any] = yaml.safe_load(re.sub(r"^# ?", "", block[0], flags=re.MULTILINE))
    return project


def test_the_example_for_gitlab_uses_the_template() -> None:
    """Both jobs of it, and the variables that it cannot know."""
    shown, template = example(), load(GITLAB)
    assert shown["include"][0]["file"] == "ci/gitlab.yml"
    assert {job["extends"] for job in shown.values() if isinstance(job, dict) and "extends" in job} == {
        ".wirelab",
        ".wirelab-summary",
    }
    assert shown["verdict"]["needs"] == ["scenarios"]
    assert {"WIRELAB_URL", "WIRELAB_REF", "SCENARIOS"} == set(shown["variables"])
    assert all(name.startswith(".") for name in template)


def test_a_template_for_gitlab_keeps_results_whatever_the_verdict() -> None:
    """With their JUnit report; the last job runs after jobs that failed, too."""
    template = load(GITLAB)
    for job in (template[".wirelab"], template[".wirelab-summary"]):
        assert job["artifacts"]["when"] == "always"
    assert template[".wirelab"]["artifacts"]["reports"]["junit"] == "wirelab-results/*/junit.xml"
    assert template[".wirelab"]["cache"]["when"] == "always"
    assert template[".wirelab-summary"]["when"] == "always"
    assert template[".wirelab-job"]["timeout"]


def test_what_gitlab_runs_before_reads_no_variable_unquoted() -> None:
    """Two lines get the tools and wirelab itself; they have variables in them, each a word of its own."""
    for line in load(GITLAB)[".wirelab-job"]["before_script"]:
        assert "$" not in re.sub(r'"\$\w+(?:/[\w./]+)?"', "", line), line
        assert shlex.split(line)
