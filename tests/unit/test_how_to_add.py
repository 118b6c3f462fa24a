"""What CONTRIBUTING says of adding something is so: an example stands in the files it names alone."""

from __future__ import annotations

import re

import pytest
from examples import ROOT

from wirelab.verdict import laws

SOURCE = ROOT / "src" / "wirelab"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def named(thing: str) -> list[str]:
    """The files of the numbered list under a word in bold."""
    section = CONTRIBUTING.partition(f"**{thing}**")[2].partition("\n\nA **")[0]
    return [match[1] for match in re.finditer(r"^\d\. `([^`]+)`", section, re.MULTILINE)]


def with_word(word: str, *folders: str) -> set[str]:
    """The files below some folders, of the package or the repository, in which a pattern is found."""
    homes = [SOURCE / folder if (SOURCE / folder).is_dir() else ROOT / folder for folder in folders]
    paths = [path for home in homes for path in home.rglob("*") if path.suffix in {".py", ".yaml"}]
    return {
        path.relative_to(SOURCE if path.is_relative_to(SOURCE) else ROOT).as_posix()
        for path in paths
        if re.search(word, path.read_text(encoding="utf-8"))
    }


def test_a_figure_of_a_part_stands_in_six_files() -> None:
    """From the datasheet to the tool that sets it; the lab and `wirelab plan` go by the last of them."""
    files = with_word(r"\brx_ring\b|rx_ring_frames", "parts", "model", "plan", "runner", "report", "cli")
    assert files == set(named("figure of a part"))
    assert len(files) == 6


def test_a_kind_of_traffic_stands_in_eight_files() -> None:
    """Its name and its classes, wherever they are."""
    folders = ("model", "plan", "guest", "results", "verdict", "runner", "report", "cli")
    files = with_word(r"\bCopy\b|parse_copy|\"copy\"", *folders)
    assert files == set(named("kind of traffic"))
    assert len(files) == 8


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_a_law_stands_in_one_file(law: laws.Law) -> None:
    """Nobody else knows it by name: what breaks it is told in its own words."""
    name = law.__name__
    places = with_word(rf"def {name}\(plan: Plan|def {name}\(_plan: Plan", "verdict")
    assert places <= {"verdict/laws.py", "verdict/lossless.py"}
    assert with_word(rf"law\.{name}\b", "verdict", "runner", "report", "cli", "fleet") == set()


def test_a_scenario_is_one_file() -> None:
    """No code knows one by name, but for the example in a docstring."""
    names = [path.stem for path in (ROOT / "scenarios").glob("*.yaml") if "-" in path.stem]
    assert len(names) > 15
    known = {name for name in names if with_word(rf"\b{name}\b", "model", "plan", "guest", "runner", "cli")}
    assert known <= {"sfp-mismatch"}
