"""Where the nodes of a drawing stand: in layers from one end to the other, alike ones in one box."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Literal

from wirelab.model.topology import Topology

Direction = Literal["across", "down"]
"""From left to right, for a desk, or from the top, for a phone."""

_HEIGHT: Final = 56
_LEAST_WIDTH: Final[Mapping[Direction, int]] = {"across": 132, "down": 92}
_LETTER: Final = 7.2
_BOLD: Final = 8.6
_CELL: Final = 20
_PAD: Final = 10
_MOST_ROWS: Final = 10
_MOST_WIDTH: Final = 330
_NOTE: Final = 17
_LEAST_WORDS: Final = 200
_LAYER_GAP: Final[Mapping[Direction, int]] = {"across": 80, "down": 74}
_BOX_GAP: Final[Mapping[Direction, int]] = {"across": 40, "down": 18}
_WORDS_GAP: Final = 16
FURTHER: Final = 0.62
"""How far along a slanting cable its words stand: cables of one node are further from each other there."""


@dataclass(frozen=True, slots=True)
class Content:
    """What needs room. By node: the letters of its longest line, the notes below, what makes it like others.

    ``words`` are the letters beside a cable, by the names of both its nodes.
    """

    letters: Mapping[str, int]
    notes: Mapping[str, int]
    alike: Mapping[str, Hashable]
    words: Mapping[frozenset[str], int]


@dataclass(frozen=True, slots=True)
class Box:
    """A node, or several that are alike, with ``notes`` lines below."""

    names: tuple[str, ...]
    width: float
    columns: int = 1
    notes: int = 0

    @property
    def rows(self) -> int:
        """In how many rows its names stand."""
        return math.ceil(len(self.names) / self.columns)

    @property
    def cell(self) -> float:
        """How wide a column is."""
        return _cell(self.names)

    @property
    def height(self) -> float:
        """With its frame, and without its notes."""
        return _HEIGHT if len(self.names) == 1 else self.rows * _CELL + _CELL + _PAD

    @property
    def depth(self) -> float:
        """The height with the notes below."""
        return self.height + _NOTE * self.notes


@dataclass(frozen=True, slots=True)
class Place:
    """The middle of a box."""

    box: Box
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Layout:
    """The boxes at their places; each node is in one."""

    places: tuple[Place, ...]
    width: float
    height: float

    def by_node(self) -> dict[str, Place]:
        """The place of each node."""
        return {name: place for place in self.places for name in place.box.names}


def layout(topology: Topology, direction: Direction, content: Content) -> Layout:
    """Where all nodes stand."""
    near = _near(topology)
    layers = [_boxes(layer, direction, content) for layer in _layers(topology, near, content)]
    _untangle(layers, near)
    places: list[Place] = []
    at = 0.0
    for number, layer in enumerate(layers):
        if number:
            at += _gap(layers[number - 1], layer, direction, content)
        beside = _words_beside(layers[number - 1], layer, content) if number else [0.0] * len(layer)
        places += _across(layer, at) if direction == "across" else _down(layer, at, beside)
        at += max(box.width if direction == "across" else box.depth for box in layer)
    # What stands beside the cables may be wider than the boxes.
    least = _LEAST_WORDS if direction == "down" else 0
    left = min(-least / 2, *(place.x - place.box.width / 2 for place in places)) - _PAD
    top = min(place.y - place.box.height / 2 for place in places) - _PAD
    moved = tuple(replace(place, x=place.x - left, y=place.y - top) for place in places)
    return Layout(
        moved,
        max(least - left - least / 2, *(place.x + place.box.width / 2 for place in moved)) + _PAD,
        max(place.y + place.box.depth - place.box.height / 2 for place in moved) + _PAD,
    )


def _across(layer: Sequence[Box], left: float) -> Iterator[Place]:
    """A column, whose middle is at 0."""
    span = sum(box.depth for box in layer) + _BOX_GAP["across"] * (len(layer) - 1)
    y = -(span - _NOTE * layer[-1].notes) / 2
    middle = left + max(box.width for box in layer) / 2
    for box in layer:
        yield Place(box, middle, y + box.height / 2)
        y += box.depth + _BOX_GAP["across"]


def _down(layer: Sequence[Box], top: float, beside: Sequence[float]) -> Iterator[Place]:
    """A row, whose middle is at 0; ``beside`` is the width of the words at the cable that leads to each."""
    steps = [
        max((one.width + other.width) / 2 + _BOX_GAP["down"], (words + others) / 2 / FURTHER)
        for (one, other), (words, others) in zip(pairwise(layer), pairwise(beside), strict=True)
    ]
    x = -(layer[0].width / 2 + sum(steps) + layer[-1].width / 2) / 2 + layer[0].width / 2
    for box, step in zip(layer, [*steps, 0.0], strict=True):
        yield Place(box, x, top + box.height / 2)
        x += step


def _words_beside(before: Sequence[Box], layer: Sequence[Box], content: Content) -> list[float]:
    """How wide the words are beside the cables from one layer to each box of the next."""
    names = _names(before)
    letters = (
        max(content.words.get(frozenset((one, other)), 0) for one in box.names for other in names)
        for box in layer
    )
    return [many * _LETTER + _WORDS_GAP for many in letters]


def _gap(before: Sequence[Box], after: Sequence[Box], direction: Direction, content: Content) -> float:
    """The room for what stands beside the cables."""
    if direction == "down":
        return _LAYER_GAP["down"]
    pairs = (frozenset((one, other)) for one in _names(before) for other in _names(after))
    return max(_LAYER_GAP["across"], max(content.words.get(pair, 0) for pair in pairs) * _LETTER + 2 * _PAD)


def _names(layer: Sequence[Box]) -> list[str]:
    return [name for box in layer for name in box.names]


def _near(topology: Topology) -> dict[str, list[str]]:
    near: dict[str, list[str]] = {name: [] for name in topology.nodes}
    for cable in topology.cables:
        one, other = (ref.node for ref in topology.ends(cable))
        near[one].append(other)
        near[other].append(one)
    return near


def _layers(topology: Topology, near: Mapping[str, Sequence[str]], content: Content) -> list[list[str]]:
    """The nodes by how far they are from one end, which is none of many that are alike."""
    hosts = [name for name, node in topology.nodes.items() if node.kind == "host"] or list(near)
    start = max(
        hosts,
        key=lambda name: (max(_steps(near, name).values()), name not in content.alike, -hosts.index(name)),
    )
    steps = _steps(near, start)
    layers: list[list[str]] = [[] for _ in range(max(steps.values()) + 1)]
    for name in topology.nodes:
        layers[steps.get(name, 0)].append(name)
    return layers


def _steps(near: Mapping[str, Sequence[str]], start: str) -> dict[str, int]:
    """How many cables each node is away."""
    steps, reached = {start: 0}, [start]
    for name in reached:
        for other in near[name]:
            if other not in steps:
                steps[other] = steps[name] + 1
                reached.append(other)
    return steps


def _boxes(layer: Sequence[str], direction: Direction, content: Content) -> list[Box]:
    groups: dict[Hashable, list[str]] = {}
    for name in layer:
        groups.setdefault(("alike", content.alike[name]) if name in content.alike else name, []).append(name)
    single: list[Box] = []
    many: list[tuple[str, ...]] = []
    for names in groups.values():
        if len(names) > 1:
            many.append(tuple(names))
        else:
            single += [_box(name, direction, content) for name in names]
    room = _MOST_WIDTH - sum(box.width + _BOX_GAP["down"] for box in single)
    return [_box_of_many(names, direction, room) for names in many] + single


def _box(name: str, direction: Direction, content: Content) -> Box:
    width = max(_LEAST_WIDTH[direction], content.letters[name] * _LETTER + 2 * _PAD)
    return Box((name,), width, notes=content.notes.get(name, 0))


def _box_of_many(names: tuple[str, ...], direction: Direction, room: float) -> Box:
    if direction == "across":
        columns = math.ceil(len(names) / _MOST_ROWS)
    else:
        fitting = max(2, int((room - _PAD) / _cell(names)))
        columns = math.ceil(len(names) / math.ceil(len(names) / fitting))
    return Box(names, max(_LEAST_WIDTH["across"], columns * _cell(names) + _PAD), columns)


def _cell(names: Sequence[str]) -> float:
    return _BOLD * max(map(len, names)) + _PAD


def _untangle(layers: Sequence[list[Box]], near: Mapping[str, Sequence[str]]) -> None:
    """Sort each layer so that cables cross as little as is easy."""
    for before, layer in pairwise(layers):
        row = {name: at for at, box in enumerate(before) for name in box.names}
        layer.sort(
            key=lambda box: _middle(
                [row[other] for name in box.names for other in near[name] if other in row]
            )
        )


def _middle(rows: Sequence[int]) -> float:
    return sum(rows) / len(rows) if rows else 0.0
