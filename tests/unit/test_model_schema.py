"""The JSON Schemas agree with the reader on what is shipped."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from examples import ROOT
from jsonschema import Draft202012Validator

from wirelab.model.files import MODELS, schema
from wirelab.model.yamlfile import read

if TYPE_CHECKING:
    from pathlib import Path

FILES = [
    (kind, path)
    for kind, folder in (("scenario", "scenarios"), ("topology", "topologies"), ("parts", "parts"))
    for path in sorted((ROOT / folder).glob("*.yaml"))
] + [("exercise", path) for path in sorted((ROOT / "exercises").glob("*/exercise.yaml"))]
EDITOR_WORDS = {"true": True, "false": False}


def _as_an_editor_reads(tree: Any) -> Any:  # noqa: ANN401 - a tree of YAML
    """The tree by the rules of YAML 1.2, which editors go by: plain digits are a number."""
    if isinstance(tree, dict):
        return {key: _as_an_editor_reads(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_as_an_editor_reads(item) for item in tree]
    return int(tree) if isinstance(tree, str) and tree.isdecimal() else EDITOR_WORDS.get(tree, tree)


@pytest.mark.parametrize("kind", MODELS)
def test_a_schema_is_a_schema(kind: str) -> None:
    """It conforms to the dialect it names."""
    Draft202012Validator.check_schema(schema(kind))


@pytest.mark.parametrize(("kind", "path"), FILES, ids=lambda value: getattr(value, "name", value))
def test_an_editor_accepts_what_is_shipped(kind: str, path: Path) -> None:
    """No squiggle under a file that loads."""
    Draft202012Validator(schema(kind)).validate(_as_an_editor_reads(read(path).root))


@pytest.mark.parametrize(
    ("loc", "value"),
    [
        (("wth",), {}),
        (("traffic", 0, "iperf3", "time"), 10),
        (("traffic", 0, "iperf3", "time"), "10 sec"),
        (("traffic", 0, "iperf3", "congestion"), "cubik"),
        (("expect", "download", "goodput"), "2.30..2.38 Gbps"),
        (("expect", "download", "retransmits"), {"rnge": 0}),
        (("source",), {}),
    ],
)
def test_an_editor_marks_what_the_reader_refuses(loc: tuple[Any, ...], value: object) -> None:
    """An unknown key, a bare number, a wrong unit and a missing key are visible while one types."""
    tree = copy.deepcopy(_as_an_editor_reads(read(ROOT / "scenarios/sfp-mismatch.yaml").root))
    here = tree
    for step in loc[:-1]:
        here = here[step]
    here[loc[-1]] = value
    assert not Draft202012Validator(schema("scenario")).is_valid(tree)
