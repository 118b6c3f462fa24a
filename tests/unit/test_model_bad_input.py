"""Bad input: each file beside its exact message, and laws no bad file escapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from examples import EXPECT, HEAD, ROOT, SHIPPED, TRAFFIC, scenario
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wirelab.errors import InputError, Problem
from wirelab.model.experiment import load_file
from wirelab.model.files import check_file
from wirelab.model.scenario import Bounds, Window
from wirelab.model.traffic import Copy, Iperf3, Ping
from wirelab.model.yamlfile import read

if TYPE_CHECKING:
    from wirelab.model.types import Model

FOLDERS = ("scenarios", "topologies", "parts")
BAD_INPUT = Path("tests/bad-input")
MESSAGES = sorted(path.relative_to(ROOT) for path in (ROOT / BAD_INPUT).glob("*/*.txt"))
FILES = sorted(path.relative_to(ROOT) for path in (ROOT / BAD_INPUT).glob("*/*.yaml"))


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_bad_file_gives_exactly_its_message(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """File, line, field and the nearest right word, for all of them."""
    monkeypatch.chdir(ROOT)
    with pytest.raises(InputError) as caught:
        check_file(path.with_suffix(".yaml"))
    assert f"{caught.value}\n" == path.read_text(encoding="utf-8")
    assert caught.value.exit_code == 2


def test_every_bad_file_has_a_message() -> None:
    """A bad file without its message would test nothing; one message is about no file."""
    assert {path.with_suffix(".txt") for path in FILES} <= set(MESSAGES)
    assert {path.with_suffix(".yaml") for path in MESSAGES} - set(FILES) == {
        BAD_INPUT / "scenario/no-such-file.yaml"
    }


@pytest.mark.parametrize("kind", [Bounds, Window, Iperf3, Ping, Copy])
def test_what_people_write_instead_stands_for_a_key(kind: type[Model]) -> None:
    """And is none: a word that is right is nobody's mistake."""
    keys = {field.alias or name for name, field in kind.model_fields.items()}
    assert kind.mistakes
    assert set(kind.mistakes.values()) <= keys
    assert not keys & set(kind.mistakes)


KEY_SITES = [
    (HEAD.replace("{title: a test}", "{title: a test, KEY: x}"), TRAFFIC, EXPECT, "source.KEY"),
    (HEAD + "KEY: x\n", TRAFFIC, EXPECT, "KEY"),
    (HEAD, TRAFFIC.replace("time: 10 s", "time: 10 s, KEY: x"), EXPECT, "traffic[0].iperf3.KEY"),
    (HEAD, TRAFFIC.replace("- iperf3:", "- KEY: x\n    iperf3:"), EXPECT, "traffic[0].KEY"),
    (HEAD, TRAFFIC, EXPECT.replace("..50", "..50, KEY: 1"), "expect.download.KEY"),
    (HEAD + "with: {KEY: x}\n", TRAFFIC, EXPECT, "with.KEY"),
    (HEAD + "with: {switch.KEY: x}\n", TRAFFIC, EXPECT, "with.switch.KEY"),
    (HEAD + "with: {module.line.KEY: x}\n", TRAFFIC, EXPECT, "with.module.line.KEY"),
    (HEAD, TRAFFIC, EXPECT + "  KEY: {goodput: 1..2 Gbit/s}\n", "expect.KEY"),
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(word=st.from_regex(r"x[a-z_]{3,12}x", fullmatch=True), site=st.sampled_from(KEY_SITES))
def test_an_unknown_key_is_always_reported(
    word: str, site: tuple[str, str, str, str], tmp_path: Path
) -> None:
    """Wherever a word stands that means nothing, the file is refused and the word is named."""
    head, traffic, expect, field = site
    path = scenario(
        tmp_path,
        head=head.replace("KEY", word),
        traffic=traffic.replace("KEY", word),
        expect=expect.replace("KEY", word),
    )
    with pytest.raises(InputError) as caught:
        load_file(path, SHIPPED)
    assert [problem.field for problem in caught.value.problems] == [field.replace("KEY", word)]
    assert "unknown" in caught.value.problems[0].message


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damage_to_a_shipped_scenario_crashes(data: st.DataObject, tmp_path: Path) -> None:
    """A line taken out, doubled or cut short leaves a sound file or an InputError, never a traceback."""
    name = data.draw(st.sampled_from(SHIPPED.names("scenarios")))
    lines = SHIPPED.path("scenarios", name).read_text(encoding="utf-8").splitlines()
    index = data.draw(st.integers(0, len(lines) - 1))
    cut = data.draw(st.integers(0, len(lines[index])))
    kind = data.draw(st.sampled_from(["drop", "double", "cut", "indent"]))
    damaged = {
        "drop": [],
        "double": [lines[index]] * 2,
        "cut": [lines[index][:cut]],
        "indent": [f"  {lines[index]}"],
    }[kind]
    path = tmp_path / "damaged.yaml"
    path.write_text("\n".join([*lines[:index], *damaged, *lines[index + 1 :]]), encoding="utf-8")
    problems: tuple[Problem, ...] = ()
    try:
        load_file(path, SHIPPED)
    except InputError as error:
        problems = error.problems
    assert all(problem.file and problem.message for problem in problems)


ODD: list[Any] = [
    *(None, [], {}, "", "x", "1 B", "0", "-1", "..", "10 Gbit/s", "9999999 s", "on", "network", "switch.p1"),
    *(["a"], {"a": "b"}, {"range": "0"}, {"value": "1", "from": "assumed", "note": "x"}),
]
SHIPPED_FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).glob("*.yaml"))


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_odd_value_in_a_shipped_file_crashes(data: st.DataObject, tmp_path: Path) -> None:
    """Whatever stands where something else is meant, the file is sound or gives an InputError."""
    tree = read(data.draw(st.sampled_from(SHIPPED_FILES))).tree
    here: Any = tree
    while True:
        step = data.draw(st.sampled_from(list(here) if isinstance(here, dict) else range(len(here))))
        if not isinstance(here[step], dict | list) or not here[step] or data.draw(st.booleans()):
            break
        here = here[step]
    if data.draw(st.booleans()):
        del here[step]
    else:
        here[step] = data.draw(st.sampled_from(ODD))
    path = tmp_path / "odd.yaml"
    path.write_text(json.dumps(tree), encoding="utf-8")
    problems: tuple[Problem, ...] = ()
    try:
        check_file(path)
    except InputError as error:
        problems = error.problems
    assert all(problem.file and problem.message for problem in problems)
