"""What CI jobs are asked for, and what they tell GitHub's runner; no lab and no runner is needed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ci.asked import Asked, FailOn
from ci.github import ANNOTATIONS_MAX, Runner, annotated
from ci.job import STEPS, main
from wirelab.errors import InputError
from wirelab.lab.recipe import Recipe
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = Path(__file__).resolve().parents[2]
CI = HERE / "ci"
HOSTED = {"GITHUB_ACTIONS": "true"}


def asked(folder: Path, **variables: str) -> Asked:
    """What is asked for by these variables, in a folder."""
    return Asked.of({"HOME": str(folder), "FOLDER": str(folder), **variables})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ()),
        ("sfp-* autoneg-matrix", ("sfp-*", "autoneg-matrix")),
        (" one\n two\n\n", ("one", "two")),
        ("one one", ("one",)),
        ("'my scenarios/first one.yaml'", ("my scenarios/first one.yaml",)),
        ("$(date) `date` ;", ("$(date)", "`date`", ";")),
        ("scenarios/*.yaml", ("scenarios/a.yaml", "scenarios/b c.yaml")),
        ("scenarios/x*.yaml", ("scenarios/x*.yaml",)),
    ],
)
def test_scenarios_are_words(text: str, words: tuple[str, ...], tmp_path: Path) -> None:
    """Separated by blanks or lines; a pattern with a slash in it is one of files, as in a shell."""
    (tmp_path / "scenarios").mkdir()
    for name in ("b c.yaml", "a.yaml", "a.txt"):
        (tmp_path / "scenarios" / name).touch()
    (tmp_path / "sfp-file").touch()
    assert asked(tmp_path, SCENARIOS=text).scenarios == words


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"SCENARIOS": "it's"}, "SCENARIOS=it's: no closing quotation"),
        ({"SHARD": "2"}, "SHARD=2: expected which of how many, as 2/4"),
        ({"SHARD": "5/4"}, "SHARD=5/4"),
        ({"SHARD": "0/4"}, "SHARD=0/4"),
        ({"SHARDS": "many"}, "SHARDS=many: expected a number from 1"),
        ({"JOBS": "0"}, "JOBS=0: expected a number from 1"),
        ({"SEEDS": "x"}, "--seeds x: expected how many"),
        ({"SERIES": "../x"}, "unknown kernel series `../x`"),
        ({"FAIL_ON": "errors"}, "unknown FAIL_ON `errors`; did you mean `error`?"),
        ({"DO": "plans"}, "unknown DO `plans`; did you mean `plan`?"),
        ({"FOLDER": "/no/such"}, "FOLDER=/no/such: no such folder"),
        ({"OUT": "a\nmatrix=[]"}, "OUT='a\\nmatrix=[]': not the name of a folder or file"),
    ],
)
def test_bad_input_names_the_variable(variables: dict[str, str], words: str, tmp_path: Path) -> None:
    """Or says it as `wirelab` does."""
    with pytest.raises(InputError, match=re.escape(words)):
        asked(tmp_path, **variables)


def test_bad_input_is_a_message_and_exit_code_2(capfd: pytest.CaptureFixture[str]) -> None:
    """For whoever runs a step by hand, too."""
    assert main(["run"], {"FAIL_ON": "nothing"}) == 2
    assert capfd.readouterr() == ("", "error: unknown FAIL_ON `nothing`; known: skip, fail, error\n")


def test_a_job_that_is_alone_runs_everything(tmp_path: Path) -> None:
    """GitLab numbers only jobs that are several, and counts all."""
    assert asked(tmp_path, SHARD="/1").shard is None
    assert asked(tmp_path, SHARD="").shard is None
    assert asked(tmp_path, SHARD="2/4").shard == (2, 4)


def test_names_of_folders_are_plain(tmp_path: Path) -> None:
    """What uploads one refuses a path with `.` or `..` in it."""
    (tmp_path / "a").mkdir()
    settings = Asked.of({"HOME": "/", "FOLDER": f"{tmp_path}/./a/../a", "OUT": "./b/../c"})
    assert (settings.folder, settings.out) == (tmp_path / "a", tmp_path / "a" / "c")


def test_a_series_has_a_cache_of_its_own(tmp_path: Path) -> None:
    """Beside that of all others, whose kernel stays what runs use."""
    series = Recipe.find().series[-1].name
    cache = {"WIRELAB_CACHE": str(tmp_path / "cache")}
    assert asked(tmp_path, **cache).environ["WIRELAB_CACHE"] == str(tmp_path / "cache")
    assert asked(tmp_path, SERIES=series, **cache).environ["WIRELAB_CACHE"] == str(
        tmp_path / f"cache-{series}"
    )


@pytest.mark.parametrize("fail_on", FailOn)
def test_what_fails_a_job_is_chosen(fail_on: FailOn, tmp_path: Path) -> None:
    """That verdict and all that are worse; what is no verdict fails always."""
    settings = asked(tmp_path, FAIL_ON=fail_on)
    order = [Verdict.PASS, Verdict.SKIP, Verdict.FAIL, Verdict.ERROR]
    for verdict in order:
        fails = order.index(verdict) >= order.index(Verdict(fail_on))
        assert settings.exit_code(verdict.exit_code) == (verdict.exit_code if fails else 0)
    assert [settings.exit_code(code) for code in (2, 130)] == [2, 130]
    assert asked(tmp_path).fail_on is FailOn.FAIL


def document(scenario: str = "one", verdict: str = "fail", checks: int = 1) -> dict[str, Any]:
    """A result, as far as annotations read it."""
    check = {"name": "up.goodput", "verdict": verdict, "explanation": "100 %: too\nslow, ::error::really"}
    passed = {"name": "up.retransmits", "verdict": "pass", "explanation": "fine"}
    return {"scenario": scenario, "variants": [{"name": "main", "checks": [check] * checks + [passed]}]}


def test_an_annotation_stands_at_the_scenarios_file() -> None:
    """With whatever would end it or begin another one written as GitHub reads it back."""
    (line,) = annotated([document()], {"one": "my: scenarios/one,two.yaml"})
    assert line == (
        "::error file=my%3A scenarios/one%2Ctwo.yaml,line=1,title=one%3A main%3A up.goodput::"
        "100 %25: too%0Aslow, ::error::really"
    )


@pytest.mark.parametrize(
    ("verdict", "kind"), [("fail", "error"), ("error", "error"), ("skip", "notice"), ("pass", None)]
)
def test_a_verdict_has_its_kind(verdict: str, kind: str | None) -> None:
    """What passes is not worth a line."""
    kinds = [line.partition(" ")[0] for line in annotated([document(verdict=verdict)], {})]
    assert kinds == ([f"::{kind}"] if kind else [])


@pytest.mark.parametrize("count", [ANNOTATIONS_MAX, ANNOTATIONS_MAX + 1, 40])
def test_no_annotation_is_dropped_without_a_word(count: int) -> None:
    """The runner shows ten of a kind; where there are more, the tenth says how many."""
    lines = annotated([document(checks=count)], {})
    assert len(lines) == ANNOTATIONS_MAX
    more = count - ANNOTATIONS_MAX + 1
    assert lines[-1].startswith(f"::error title=wirelab::{more} more: ") is (count > ANNOTATIONS_MAX)


def test_commands_stand_between_what_is_none(capfd: pytest.CaptureFixture[str]) -> None:
    """The runner is deaf but for them; each silence ends with a word of its own, that nobody can guess."""
    runner = Runner(HOSTED)
    with runner.deaf():
        runner.tell(["::error::heard"])
        runner.tell([])
    lines = capfd.readouterr().out.splitlines()
    first, second = (line.removeprefix("::stop-commands::") for line in (lines[0], lines[3]))
    assert lines == [
        *(f"::stop-commands::{first}", f"::{first}::"),
        "::error::heard",
        *(f"::stop-commands::{second}", f"::{second}::"),
    ]
    assert first != second
    assert len(first) == len(second) == 32


def test_without_a_runner_nothing_is_told(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Whoever runs a step by hand sees what `wirelab` says and nothing else."""
    runner = Runner({})
    with runner.deaf():
        runner.tell(["::error::nobody hears it"])
        runner.output(verdict="pass")
        runner.show(tmp_path / "none.md")
    assert capfd.readouterr() == ("", "")


def test_outputs_and_the_page_are_added_to(tmp_path: Path) -> None:
    """A step may have said something before."""
    outputs, page, markdown = (tmp_path / name for name in ("outputs", "page", "summary.md"))
    outputs.write_text("before=1\n", encoding="utf-8")
    page.write_text("# before\n", encoding="utf-8")
    markdown.write_text("## wirelab\n", encoding="utf-8")
    runner = Runner({"GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(page)})
    runner.output(exit_code="1", verdict="fail")
    runner.show(markdown)
    runner.show(tmp_path / "none.md")
    assert outputs.read_text(encoding="utf-8") == "before=1\nexit-code=1\nverdict=fail\n"
    assert page.read_text(encoding="utf-8") == "# before\n## wirelab\n"
    with pytest.raises(ValueError, match="line break"):
        runner.output(verdict="pass\nmatrix=[]")


def key(environ: Mapping[str, str], capfd: pytest.CaptureFixture[str]) -> str:
    """What `make ci-lab-key` prints."""
    assert main(["lab-key"], environ) == 0
    return capfd.readouterr().out.strip()


def test_the_key_of_the_lab_is_that_of_its_recipe(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same wherever it is asked for; another one for another series or a file that has changed."""
    first = key({"HOME": "/nonexistent"}, capfd)
    assert re.fullmatch(r"wirelab-lab-newest-[0-9a-f]{20}", first)
    assert key({"HOME": str(tmp_path), "WIRELAB_CACHE": str(tmp_path)}, capfd) == first
    series = {name: key({"HOME": "/", "SERIES": name}, capfd) for name in ("6.1", "6.12")}
    assert len({first, *series.values()}) == 3
    home = Recipe.find().home
    for file in ("kernel/driver/etherport.h", "kernel/lab.config", "rootfs/packages.txt", "rootfs/links.txt"):
        copy = tmp_path / file.replace("/", "-")
        for folder in ("kernel", "rootfs"):
            _copied(home / folder, copy / folder)
        monkeypatch.setattr(Recipe, "find", classmethod(lambda _cls, copy=copy: Recipe(copy)))
        assert key({"HOME": "/"}, capfd) == first
        with (copy / file).open("a", encoding="utf-8") as changed:
            changed.write("\nanother another\n")
        assert key({"HOME": "/"}, capfd) != first


def _copied(source: Path, target: Path) -> None:
    for path in sorted(source.rglob("*")):
        if path.is_file():
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())
            place.chmod(path.stat().st_mode)


def test_every_step_has_its_target_and_every_variable_its_line() -> None:
    """In ci.mk and in the README beside it; no other is named there."""
    recipes = (CI / "ci.mk").read_text(encoding="utf-8")
    (targets,) = re.findall(r"^CI_STEPS := (.*)$", recipes, re.MULTILINE)
    (variables,) = re.findall(r"^CI_VARIABLES := (.*)$", recipes, re.MULTILINE)
    assert targets.split() == [f"ci-{name}" for name in STEPS]
    readme = (CI / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", readme, re.MULTILINE)) == set(variables.split())
    assert set(re.findall(r"make (ci-[\w-]+)", readme)) <= set(targets.split())
    read = set(re.findall(r'text\("([A-Z_]+)"\)', (CI / "asked.py").read_text(encoding="utf-8")))
    assert read == set(variables.split())
