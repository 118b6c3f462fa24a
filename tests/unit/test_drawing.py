"""Drawings of networks: from two nodes to a hundred everything has its place, and can be read."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from examples import ROOT

from wirelab.exercise.draw import drawn
from wirelab.exercise.sketch import network_drawing
from wirelab.model.exercise_reader import load_exercise
from wirelab.report.drawing import drawing
from wirelab.report.html import filled_in
from wirelab.serve.bench import scenario_called, scenarios
from wirelab.serve.exercises import exercise_names

if TYPE_CHECKING:
    from collections.abc import Sequence

PHONE_PX = 358
"""What a page of 390 px has for a drawing."""


def both(text: str) -> tuple[ET.Element, ET.Element]:
    """The drawing from left to right, and that from the top."""
    across, down = ET.fromstring(f"<div>{text}</div>")  # noqa: S314 - our own
    assert (across.get("class"), down.get("class")) == ("network across", "network down")
    return across, down


def boxes(svg: ET.Element) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each box."""
    found = []
    for rect in svg.iter("rect"):
        x, y, width, height = (float(rect.get(key, "")) for key in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height))
    return found


def names(svg: ET.Element) -> list[str]:
    """The nodes that it names."""
    return [text.text or "" for text in svg.iter("text") if text.get("class") == "name"]


def is_sound(svg: ET.Element) -> None:
    """All boxes are within it, and none lies on another."""
    width, height = float(svg.get("width", "")), float(svg.get("height", ""))
    for left, top, right, bottom in (found := boxes(svg)):
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
    for one, other in combinations(found, 2):
        assert are_apart(one, other), (one, other)
    for (said, *here), (others, *there) in combinations(words(svg), 2):
        assert are_apart(here, there), (said, others)


def are_apart(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two boxes share nothing."""
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def words(svg: ET.Element) -> list[tuple[str, float, float, float, float]]:
    """What stands beside cables, and the least that it takes: 6 px a letter, 13 px high."""
    found = []
    for text in svg.iter("text"):
        if text.get("class") in {"speed", "far", "note"} and text.text:
            x, y, half = float(text.get("x", "")), float(text.get("y", "")), 3 * len(text.text)
            found.append((text.text, x - half, y - 11, x + half, y + 2))
    return found


@pytest.mark.parametrize("name", scenarios())
def test_every_network_of_the_catalogue_has_a_drawing(name: str) -> None:
    """Each node stands in it once, in both directions."""
    wiring = scenario_called(name).cases[0].wiring
    for svg in both(drawing(wiring, "network")):
        is_sound(svg)
        assert sorted(names(svg)) == sorted(wiring.topology.nodes)


@pytest.mark.parametrize("name", exercise_names())
def test_an_exercise_is_drawn_for_a_desk_and_for_a_phone(name: str) -> None:
    """Neither has to be made smaller: what is written is at least 12 px high."""
    exercise = load_exercise(name, ROOT)
    across, down = both(network_drawing(exercise, drawn(exercise, "course", "ada").values, "network"))
    assert float(across.get("width", "")) <= 1088
    assert float(across.get("height", "")) <= 300
    assert float(down.get("width", "")) <= PHONE_PX
    for svg in (across, down):
        is_sound(svg)


def test_many_that_are_alike_stand_in_one_box() -> None:
    """With all their names, how many cables there are, and their speed; others stand alone."""
    across, down = both(drawing(scenario_called("incast").cases[0].wiring, "network"))
    for svg in (across, down):
        assert len(boxes(svg)) == 3
        assert "8 \N{MULTIPLICATION SIGN} 1 Gbit/s" in {text.text for text in svg.iter("text")}
        assert len([line for line in svg.iter("line") if line.get("class") == "many"]) == 8


def test_parallel_cables_lie_beside_each_other() -> None:
    """Of a bond each can be seen."""
    for svg in both(drawing(scenario_called("bond-takes-over").cases[0].wiring, "network")):
        lines = [tuple(line.attrib.items()) for line in svg.iter("line")]
        assert len(set(lines)) == len(lines)


def test_what_a_note_tells_is_not_told_again() -> None:
    """A cable that has the student's speed has it once; a line has the name that it has among the parts."""
    wiring = scenario_called("sfp-mismatch").cases[0].wiring
    for svg in both(drawing(wiring, "network", {"patch": ["speed 2.5 Gbit/s"]})):
        said = [text.text for text in svg.iter("text")]
        assert "speed 2.5 Gbit/s" in said
        assert "2.5 Gbit/s" not in said
    line = scenario_called("home-line").cases[0].wiring
    for svg in both(drawing(line, "network")):
        assert "vdsl-100" in [text.text for text in svg.iter("text")]


def test_its_style_is_written_once() -> None:
    """Slides and the pages of a class have it from there."""
    assert "svg.network" in filled_in("network.css.j2")
    for file in ("report/slides.html.j2", "serve/static/serve.css"):
        assert ".network rect" not in (ROOT / "src" / "wirelab" / file).read_text(encoding="utf-8")


def test_a_delay_is_told_to_the_microsecond() -> None:
    """What a patch cord of 3 m adds, 15 ns, is no part of a way of 7.5 ms."""
    across, _ = both(drawing(scenario_called("home-line").cases[0].wiring, "network"))
    told = [text.text for text in across.iter("text") if text.text and text.text.endswith(" ms")]
    assert told == ["5 ms", "7.5 ms"]
