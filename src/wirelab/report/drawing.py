"""A network as a drawing: its nodes in layers from one end to the other, joined by their cables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from wirelab.model.topology import Cable, Topology
from wirelab.model.wiring import Wiring
from wirelab.units import LENGTH, NS_PER_US, RATE, TIME, show

_BOX: Final = (132, 56)
_STEP: Final = (232, 96)
_MARGIN: Final = 10
_MOST_LETTERS: Final = 18
_LONG_MM: Final = 100_000
"""A cable whose length matters: its drawing tells it."""


@dataclass(frozen=True, slots=True)
class _Place:
    x: float
    y: float


def drawing(wiring: Wiring, title: str, notes: Mapping[str, Sequence[str]] | None = None) -> str:
    """The drawing as an ``svg`` element, to stand in a page.

    ``notes`` are lines to stand below a node or beside a cable, by its name.
    """
    notes = notes or {}
    topology = wiring.topology
    layers = _layers(topology)
    most = max(len(layer) for layer in layers)
    below = 16 * max((len(notes.get(name, ())) for name in topology.nodes), default=0)
    step_y = _STEP[1] + below
    width = 2 * _MARGIN + _BOX[0] + _STEP[0] * (len(layers) - 1)
    height = 2 * _MARGIN + _BOX[1] + step_y * (most - 1) + below
    places = {
        name: _Place(
            _MARGIN + _BOX[0] / 2 + _STEP[0] * column,
            _MARGIN + _BOX[1] / 2 + step_y * (row + (most - len(layer)) / 2),
        )
        for column, layer in enumerate(layers)
        for row, name in enumerate(layer)
    }
    root = Element("svg", {"viewBox": f"0 0 {width} {height}", "role": "img", "class": "network"})
    root.set("width", str(width))
    root.set("height", str(height))
    SubElement(root, "title").text = f"{title}: {topology.drawing}"
    cables = SubElement(root, "g", {"class": "cables"})
    for cable in topology.cables:
        _draw_cable(cables, wiring, cable, places, notes)
    nodes = SubElement(root, "g", {"class": "nodes"})
    for name, place in places.items():
        _draw_node(nodes, wiring, name, place, notes.get(name, ()))
    return tostring(root, encoding="unicode")


def _layers(topology: Topology) -> list[list[str]]:
    """The nodes by how far they are from one end, each layer so that cables cross as little as is easy."""
    near: dict[str, list[str]] = {name: [] for name in topology.nodes}
    for cable in topology.cables:
        one, other = (ref.node for ref in topology.ends(cable))
        near[one].append(other)
        near[other].append(one)
    hosts = [name for name, node in topology.nodes.items() if node.kind == "host"] or list(near)
    start = max(hosts, key=lambda name: (max(_steps(near, name).values()), -hosts.index(name)))
    steps = _steps(near, start)
    layers: list[list[str]] = [[] for _ in range(max(steps.values()) + 1)]
    for name in topology.nodes:
        layers[steps.get(name, 0)].append(name)
    for before, layer in pairwise(layers):
        row = {name: at for at, name in enumerate(before)}
        layer.sort(key=lambda name: _middle([row[other] for other in near[name] if other in row]))
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


def _middle(rows: Sequence[int]) -> float:
    return sum(rows) / len(rows) if rows else 0.0


def _draw_node(parent: Element, wiring: Wiring, name: str, place: _Place, notes: Sequence[str]) -> None:
    kind = wiring.topology.nodes[name].kind
    group = SubElement(parent, "g", {"class": f"node {kind}"})
    width, height = _BOX
    box = {"x": place.x - width / 2, "y": place.y - height / 2, "width": width, "height": height, "rx": 8}
    SubElement(group, "rect", {key: _px(value) for key, value in box.items()})
    part = wiring.part_name(name)
    shown = kind if part is None else part
    _text(group, _short(name), place.x, place.y - 3, "name")
    _text(group, _short(shown), place.x, place.y + 15, "part")
    for line, note in enumerate(notes):
        _text(group, note, place.x, place.y + height / 2 + 15 + 16 * line, "note")


def _draw_cable(
    parent: Element,
    wiring: Wiring,
    cable: Cable,
    places: Mapping[str, _Place],
    notes: Mapping[str, Sequence[str]],
) -> None:
    one, other = (places[ref.node] for ref in wiring.topology.ends(cable))
    ends = {"x1": one.x, "y1": one.y, "x2": other.x, "y2": other.y}
    SubElement(parent, "line", {key: _px(value) for key, value in ends.items()})
    x, y = (one.x + other.x) / 2, (one.y + other.y) / 2
    above = [_speed(wiring, cable), *notes.get(cable.name or "", ())]
    for line, words in enumerate(filter(None, above)):
        _text(parent, words, x, y - 7 - 14 * line, "speed")
    if far := _far(wiring, cable):
        _text(parent, far, x, y + 17, "far")


def _speed(wiring: Wiring, cable: Cable) -> str:
    """The speed of a cable, as far as it is said and not agreed on."""
    if (line := wiring.line(cable)) is not None:
        return getattr(line, "title", "")[:_MOST_LETTERS]
    ends = wiring.topology.ends(cable)
    speeds = [bps for bps in (wiring.asked_speed_bps(ref) for ref in ends) if bps]
    if not speeds:
        speeds = [max(mode.speed_bps for mode in modes) for ref in ends if (modes := wiring.modes(ref))]
    return show(min(speeds), RATE) if speeds else ""


def _far(wiring: Wiring, cable: Cable) -> str:
    """How far it is, where that matters."""
    delay_ns = wiring.delay_ns(cable)
    if cable.length_mm is not None and cable.length_mm >= _LONG_MM:
        return show(cable.length_mm, LENGTH)
    return show(delay_ns, TIME) if delay_ns >= NS_PER_US else ""


def _text(parent: Element, words: str, x: float, y: float, kind: str) -> None:
    element = SubElement(parent, "text", {"x": _px(x), "y": _px(y), "text-anchor": "middle", "class": kind})
    element.text = words


def _short(words: str) -> str:
    return words if len(words) <= _MOST_LETTERS else f"{words[: _MOST_LETTERS - 1]}…"


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
