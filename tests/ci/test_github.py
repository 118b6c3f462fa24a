"""scenarios.yml and action.yml, carried out."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.ci.conftest import make
from tests.ci.runner import ACTION, HERE, load
from wirelab.lab.archive import Archive

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ci.runner import GitHub, Job


def reports(github: GitHub, artifact: str) -> tuple[list[str], list[str]]:
    """The scenarios in the JUnit file of an artifact, and in its JSON file."""
    folder = github.artifacts / artifact
    suites = [str(suite.get("name")) for suite in ET.parse(folder / "junit.xml").getroot()]  # noqa: S314 - our own
    documents = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return suites, [document["scenario"] for document in documents]


def logs(jobs: dict[str, Job]) -> str:
    """What all of them have said."""
    return "\n".join(f"=== {name}: {job.ran}\n{job.log}" for name, job in jobs.items())


def errors(job: Job) -> list[tuple[str, str]]:
    """Where the runner would put its errors, and what they say."""
    return [(properties, text) for name, properties, text in job.commands if name == "error"]


def test_scenarios_run_on_several_machines_and_are_judged_as_one(github: GitHub) -> None:
    """A stranger's scenario and one of wirelab's: each runs once, somewhere; the last job knows both."""
    jobs = github.call(scenarios="scenarios/quick.yaml autoneg-*", shards=2)
    assert list(jobs) == ["plan", "run 1/2", "run 2/2", "summary"], logs(jobs)
    assert [name for name, job in jobs.items() if job.failed] == [], logs(jobs)
    assert jobs["summary"].outputs == {"verdict": "pass"}
    uploaded = [reports(github, f"wirelab-results-{number}") for number in (1, 2)]
    assert sorted(uploaded) == [
        (["autoneg-matrix"], ["autoneg-matrix"]),
        (["quick"], ["quick"]),
    ]
    assert reports(github, "wirelab-summary") == (["autoneg-matrix", "quick"],) * 2
    assert [job.page.count("✅") for job in jobs.values()] == [0, 1, 1, 2]
    assert not any(errors(job) for job in jobs.values())
    steps = {step["name"] for step in load(ACTION)["runs"]["steps"]}
    assert {name for job in jobs.values() for name in job.ran} == steps - {"Keep the lab"}
    # Everything of each result, once.
    kept = sorted(path.relative_to(github.artifacts) for path in github.artifacts.rglob("report.html"))
    assert [re.sub("^.*Z-", "", path.parts[1]) for path in kept] == [suites[0][0] for suites in uploaded]


def test_a_failure_is_told_where_it_is_and_at_the_end(github: GitHub) -> None:
    """Its results are kept; the sentence stands at its file, once; the page of the last job has it, too."""
    jobs = github.call(scenarios="scenarios/*.yaml", shards=1, name="mine")
    assert [name for name, job in jobs.items() if job.failed] == ["run 1/1", "summary"], logs(jobs)
    assert jobs["summary"].outputs == {"verdict": "fail"}
    ((where, text),) = errors(jobs["run 1/1"])
    assert where == "file=scenarios/impossible.yaml,line=1,title=impossible%3A main%3A up.goodput"
    assert text.startswith("expected at least 9 Gbit/s of goodput, measured 2.3")
    assert errors(jobs["summary"]) == []
    assert "expected at least 9 Gbit/s of goodput" in jobs["summary"].page
    assert reports(github, "mine-results-1") == (["impossible", "quick"],) * 2
    assert reports(github, "mine-summary") == (["impossible", "quick"],) * 2


def test_what_fails_a_job_can_be_chosen(github: GitHub) -> None:
    """The verdict stays what it is; so does what the runner hears of it, and that is no word of a scenario's.

    Those are in the log, where the runner would obey a line of them were it not told otherwise.
    """
    machine = github.machine()
    machine.check_out({"persist-credentials": False})
    job = machine.use(HERE, {"scenarios": "impossible", "fail-on": "error"})
    assert not job.failed, job.log
    assert (job.outputs["verdict"], job.outputs["exit-code"]) == ("fail", "1")
    assert (github.artifacts / "wirelab-results" / "junit.xml").is_file()
    assert re.search(r"^\s*::error::a word of a stranger$", job.log, re.MULTILINE), job.log
    assert "a word of a stranger" not in str(job.commands)
    assert len(job.commands) == 1


def test_a_machine_that_dies_costs_the_verdict_and_nothing_else(github: GitHub) -> None:
    """What it was to run is an error, by name; what the other one has found is kept."""
    github.dying = frozenset({"run 1/2"})
    jobs = github.call(scenarios="quick autoneg-matrix", shards=2)
    assert jobs["summary"].failed
    assert jobs["summary"].outputs == {"verdict": "error"}
    ((where, text),) = errors(jobs["summary"])
    assert text == "no result of it came"
    suites, _ = reports(github, "wirelab-summary")
    assert suites == ["autoneg-matrix", "quick"]
    (lost,) = re.findall(r"title=([\w-]+)%3A", where)
    (document,) = github.artifacts.glob("wirelab-results-2/*-*/result.json")
    assert {lost} == set(suites) - {json.loads(document.read_text(encoding="utf-8"))["scenario"]}


def test_all_machines_die(github: GitHub) -> None:
    """The last job says so of every scenario, although there is not one artifact."""
    github.dying = frozenset({"run 1/1"})
    jobs = github.call(scenarios="quick autoneg-matrix", shards=1)
    assert jobs["summary"].outputs == {"verdict": "error"}
    assert [text for _, text in errors(jobs["summary"])] == ["no result of it came"] * 2


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"scenarios": "quik"}, "error: unknown scenario `quik`; did you mean `quick`?"),
        ({"scenarios": "scenarios/none.yaml"}, "error: scenarios/none.yaml: there is no such file"),
        ({"seeds": "many"}, "error: --seeds many: expected how many"),
        ({"series": "7.3"}, "error: unknown kernel series `7.3`; did you mean `7.2`?"),
        ({"fail-on": "errors"}, "error: unknown FAIL_ON `errors`; did you mean `error`?"),
        ({"folder": "elsewhere"}, "elsewhere: no such folder"),
        ({"shards": 0}, "error: SHARDS=0: expected a number from 1"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_bad_input_is_told_before_a_lab_is_built(
    inputs: dict[str, str | int], words: str, github: GitHub
) -> None:
    """In the first step of the first job; no other begins."""
    jobs = github.call(**inputs)
    assert list(jobs) == ["plan"]
    assert jobs["plan"].failed
    assert words in jobs["plan"].log, logs(jobs)
    assert jobs["plan"].ran == ["Check what is asked for"]


def test_a_lab_is_kept_before_anything_runs_in_it(github: GitHub) -> None:
    """Where the cache has none: so a scenario that fails costs the next run no kernel."""
    (key,) = github.caches.iterdir()
    key.unlink()
    machine = github.machine()
    machine.check_out({"persist-credentials": False})
    job = machine.use(HERE, {"scenarios": "impossible"})
    assert job.failed
    assert job.ran.index("Keep the lab") < job.ran.index("Run the scenarios")
    assert [path.name for path in github.caches.iterdir()] == [key.name]
    assert (github.artifacts / "wirelab-results" / "junit.xml").is_file()


def test_a_machine_without_a_lab_takes_it_from_the_cache(github: GitHub, empty_cache: Path) -> None:
    """It builds nothing, and the digest is that of the machine that has built it."""
    digests = []
    for name, environ in (("usual", {}), ("empty", {"WIRELAB_CACHE": str(empty_cache)})):
        github.environ = environ
        machine = github.machine()
        machine.check_out({"persist-credentials": False})
        job = machine.use(HERE, {"scenarios": "quick", "artifact": name})
        assert not job.failed, job.log
        assert "Keep the lab" not in job.ran
        (result,) = github.artifacts.glob(f"{name}/*-quick/result.json")
        digests.append(json.loads(result.read_text(encoding="utf-8"))["digest"])
    assert digests[0] == digests[1]
    assert (empty_cache / "kernel").is_dir()


def test_a_series_has_a_cache_of_its_own(github: GitHub, lab_file: Path, empty_cache: Path) -> None:
    """What is chosen for one job is not what other runs on that machine use from then on."""
    with lab_file.open("rb") as file:
        series = Archive(file, "lab").about.kernel.facts.series
    (kept,) = github.caches.iterdir()
    kept.rename(github.caches / make("ci-lab-key", SERIES=series).stdout.strip())
    github.environ = {"WIRELAB_CACHE": str(empty_cache)}
    machine = github.machine()
    machine.check_out({"persist-credentials": False})
    job = machine.use(HERE, {"scenarios": "quick", "series": series})
    assert not job.failed, job.log
    assert "Keep the lab" not in job.ran
    assert (empty_cache.with_name(f"{empty_cache.name}-{series}") / "kernel").is_dir()
    assert not (empty_cache / "kernel").exists()
