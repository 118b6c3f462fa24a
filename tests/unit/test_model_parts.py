"""Laws of the files of parts: no figure without its provenance, no key that means nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from examples import ROOT

from wirelab.model.parts import PartsFile
from wirelab.model.validate import validate
from wirelab.model.yamlfile import dotted, read

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.errors import Problem

each_file = pytest.mark.parametrize(
    "path", sorted((ROOT / "parts").glob("*.yaml")), ids=lambda path: str(path.stem)
)


def _problems(tree: dict[str, Any], folder: Path) -> tuple[dict[str, Problem], list[str]]:
    """What is wrong with a file of parts, by field, and the lines of the file."""
    path = folder / "parts.yaml"
    path.write_text(json.dumps(tree, indent=1), encoding="utf-8")
    problems = {problem.field or "": problem for problem in validate(PartsFile, read(path)).problems}
    return problems, path.read_text(encoding="utf-8").splitlines()


@each_file
def test_a_figure_without_provenance_is_refused(path: Path, tmp_path: Path) -> None:
    """Whichever figure of whichever part it is: the message has its line, its name and what to write."""
    tree = read(path).tree
    bare: dict[str, Any] = {}
    for section, parts in tree.items():
        for name, part in parts.items():
            for key, figure in part.items():
                if isinstance(figure, dict):
                    part[key] = figure["value"]
                    bare[dotted((section, name, key))] = figure["value"]
    problems, lines = _problems(tree, tmp_path)
    assert problems.keys() == bare.keys() != set()
    for field, problem in problems.items():
        value = bare[field] if isinstance(bare[field], str) else "..."
        assert f" has no provenance; write {{value: {value}, from: datasheet|measured|" in problem.message
        assert problem.line is not None
        assert f'"{field.rpartition(".")[2]}":' in lines[problem.line - 1]


@pytest.mark.parametrize(("word", "told"), [("from", "how sure it is"), ("note", "who says so")])
@each_file
def test_half_a_provenance_is_refused(path: Path, word: str, told: str, tmp_path: Path) -> None:
    """How sure a figure is and who says so: neither may be left out, of a measured temperature neither."""
    tree = read(path).tree
    halved = set()
    for section, parts in tree.items():
        for name, part in parts.items():
            for key, value in part.items():
                for number, said in enumerate(value if isinstance(value, list) else [value]):
                    if isinstance(said, dict):
                        del said[word]
                        item = (number,) if isinstance(value, list) else ()
                        halved.add(dotted((section, name, key, *item, word)))
    problems, _ = _problems(tree, tmp_path)
    assert {field: problem.message for field, problem in problems.items()} == dict.fromkeys(
        halved, f"is missing: {told}"
    )
    assert halved


@each_file
def test_a_key_that_means_nothing_is_refused(path: Path, tmp_path: Path) -> None:
    """Whichever key of whichever part is misspelt: the message has its line, its name and the right word."""
    tree = read(path).tree
    misspelt = {}
    for section, parts in tree.items():
        for name, part in parts.items():
            for key in tuple(part):
                part[f"{key}x"] = part.pop(key)
                misspelt[dotted((section, name, f"{key}x"))] = key
    problems, lines = _problems(tree, tmp_path)
    assert {field: problem.message for field, problem in problems.items()} == {
        field: f"unknown key `{key}x`; did you mean `{key}`?" for field, key in misspelt.items()
    }
    for field, problem in problems.items():
        assert problem.line is not None
        assert f'"{field.rpartition(".")[2]}":' in lines[problem.line - 1]
