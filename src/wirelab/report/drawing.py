"""A network as a drawing: its nodes in layers from one end to the other, joined by their cables."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from wirelab.model.topology import Cable
from wirelab.model.wiring import Wiring
from wirelab.report.layout import FURTHER, Content, Direction, Layout, Place, layout
from wirelab.units import LENGTH, NS_PER_US, RATE, TIME, show

_MOST_LETTERS: Final = 18
_TIMES: Final = "\N{MULTIPLICATION SIGN}"
_ALIKE: Final = 4
"""So many hosts that are alike stand in one box."""
_MOST_LINES: Final = 10
"""Of a bundle, however many cables it has."""
_LINE: Final = 16
_BESIDE: Final[Mapping[Direction, int]] = {"across": 44, "down": 72}
"""From one of two parallel cables to the other."""
_LONG_MM: Final = 100_000
"""A cable whose length matters: its drawing tells it."""


@dataclass(frozen=True, slots=True)
class _Bundle:
    """The cables between two boxes; ``shift`` is how far it lies beside the middle."""

    one: Place
    other: Place
    cables: tuple[Cable, ...]
    shift: float = 0.0


def drawing(wiring: Wiring, title: str, notes: Mapping[str, Sequence[str]] | None = None) -> str:
    """The drawing as two ``svg`` elements, to stand in a page with the style of ``network.css.j2``.

    The first is from left to right, the second from the top, for a narrow page; the style shows one of them.
    ``notes`` are lines to stand below a node or beside a cable, by its name.
    """
    notes = notes or {}
    return "".join(_drawn(wiring, title, notes, direction) for direction in ("across", "down"))


def _drawn(wiring: Wiring, title: str, notes: Mapping[str, Sequence[str]], direction: Direction) -> str:
    topology = wiring.topology
    plan = layout(topology, direction, _content(wiring, notes))
    width, height = px(plan.width), px(plan.height)
    root = Element(
        "svg", {"viewBox": f"0 0 {width} {height}", "role": "img", "class": f"network {direction}"}
    )
    root.set("width", width)
    root.set("height", height)
    SubElement(root, "title").text = f"{title}: {topology.drawing}"
    bundles = _bundles(wiring, plan, _BESIDE[direction])
    lines = SubElement(root, "g", {"class": "cables"})
    for bundle in bundles:
        _draw_lines(lines, bundle)
    nodes = SubElement(root, "g", {"class": "nodes"})
    for place in plan.places:
        _draw_box(nodes, wiring, place, notes)
    words = SubElement(root, "g", {"class": "words"})
    for bundle in bundles:
        _draw_words(words, wiring, bundle, notes, direction)
    return tostring(root, encoding="unicode")


def _content(wiring: Wiring, notes: Mapping[str, Sequence[str]]) -> Content:
    topology = wiring.topology
    alike = _alike(wiring, notes)
    words: dict[frozenset[str], int] = {}
    for cable in topology.cables:
        pair = frozenset(ref.node for ref in topology.ends(cable))
        # Of many that are alike their number stands before.
        said = [f"10 {_TIMES} {_speed(wiring, cable)}" if pair & set(alike) else _speed(wiring, cable)]
        said += [_far(wiring, cable), *notes.get(cable.name or "", ())]
        words[pair] = max(words.get(pair, 0), *map(len, said))
    return Content(
        {name: max(len(_short(name)), len(_part(wiring, name))) for name in topology.nodes},
        {name: len(lines) for name, lines in notes.items()},
        alike,
        words,
    )


def _alike(wiring: Wiring, notes: Mapping[str, Sequence[str]]) -> dict[str, Hashable]:
    """What a host with one cable shares with others, where there is no more to tell of it, by its name."""
    ends: dict[str, list[tuple[Cable, str]]] = defaultdict(list)
    for cable in wiring.topology.cables:
        one, other = wiring.topology.ends(cable)
        ends[one.node].append((cable, other.node))
        ends[other.node].append((cable, one.node))
    found: dict[str, Hashable] = {}
    for name, node in wiring.topology.nodes.items():
        if node.kind != "host" or len(ends[name]) != 1 or name in notes:
            continue
        ((cable, neighbour),) = ends[name]
        if (cable.name or "") not in notes:
            found[name] = (neighbour, wiring.part_name(name), _speed(wiring, cable), _far(wiring, cable))
    count = Counter(found.values())
    return {name: key for name, key in found.items() if count[key] >= _ALIKE}


def _bundles(wiring: Wiring, plan: Layout, beside: float) -> list[_Bundle]:
    """The cables, those to a box of many together, and parallel ones beside each other."""
    places = plan.by_node()
    pairs: dict[tuple[Place, Place], list[Cable]] = defaultdict(list)
    for cable in wiring.topology.cables:
        one, other = (places[ref.node] for ref in wiring.topology.ends(cable))
        # From the box of many to the one that they share.
        pair = (other, one) if len(other.box.names) > 1 or (other, one) in pairs else (one, other)
        pairs[pair].append(cable)
    bundles = []
    for (one, other), cables in pairs.items():
        if len(one.box.names) > 1:
            bundles.append(_Bundle(one, other, tuple(cables)))
            continue
        for number, cable in enumerate(cables):
            bundles.append(_Bundle(one, other, (cable,), beside * (number - (len(cables) - 1) / 2)))
    return bundles


def _draw_lines(parent: Element, bundle: _Bundle) -> None:
    one, other = bundle.one, bundle.other
    is_flat = abs(one.x - other.x) > abs(one.y - other.y)
    count = min(len(bundle.cables), _MOST_LINES)
    side = one.box.height if is_flat else one.box.width
    for number in range(count):
        apart = (number + 0.5) / count - 0.5
        start = bundle.shift if count == 1 else apart * (side - 2 * _LINE)
        end = bundle.shift if count == 1 else apart * _LINE * 2
        x1, y1 = (one.x, one.y + start) if is_flat else (one.x + start, one.y)
        x2, y2 = (other.x, other.y + end) if is_flat else (other.x + end, other.y)
        ends = {"x1": px(x1), "y1": px(y1), "x2": px(x2), "y2": px(y2)}
        SubElement(parent, "line", ends | ({"class": "many"} if count > 1 else {}))


def _draw_words(
    parent: Element,
    wiring: Wiring,
    bundle: _Bundle,
    notes: Mapping[str, Sequence[str]],
    direction: Direction,
) -> None:
    one, other, (cable, *more) = bundle.one, bundle.other, bundle.cables
    speed, far = _speed(wiring, cable), _far(wiring, cable)
    if more and speed:
        speed = f"{len(bundle.cables)} {_TIMES} {speed}"
    noted = [*reversed(notes.get(cable.name or "", ()))]
    said = [(words, "note") for words in noted]
    said += [(speed, "speed"), (far, "far")]
    # What a note tells is not told again.
    lines = [
        (words, kind)
        for words, kind in said
        if words and (kind == "note" or not any(note.endswith(f" {words}") for note in noted))
    ]
    is_flat = abs(one.x - other.x) > abs(one.y - other.y)
    x, y = _between(one, other, is_flat=is_flat)
    if is_flat and not more:
        # Above the line but for how far it is.
        y += bundle.shift + (_LINE + 2 if far else 0) - 7 - _LINE * (len(lines) - 1)
    else:
        x += 0 if direction == "across" else bundle.shift
        y += 4 - _LINE * (len(lines) - 1) / 2
    for number, (words, kind) in enumerate(lines):
        _text(parent, words, x, y + _LINE * number + (7 if is_flat and kind == "far" else 0), kind)


def _between(one: Place, other: Place, *, is_flat: bool) -> tuple[float, float]:
    """The middle of what is seen of a cable."""
    if is_flat:
        left, right = sorted((one, other), key=lambda place: place.x)
        x = (left.x + left.box.width / 2 + right.x - right.box.width / 2) / 2
        return x, one.y + (other.y - one.y) * (x - one.x) / (other.x - one.x)
    top, bottom = sorted((one, other), key=lambda place: place.y)
    begin, end = top.y + top.box.depth - top.box.height / 2, bottom.y - bottom.box.height / 2
    y = begin + (end - begin) * (FURTHER if one.x != other.x else 0.5)
    return one.x + (other.x - one.x) * ((y - one.y) / (other.y - one.y) if other.y != one.y else 0.5), y


def _draw_box(parent: Element, wiring: Wiring, place: Place, notes: Mapping[str, Sequence[str]]) -> None:
    box, name = place.box, place.box.names[0]
    kind = wiring.topology.nodes[name].kind
    group = SubElement(parent, "g", {"class": f"node {kind}"})
    left, top = place.x - box.width / 2, place.y - box.height / 2
    shape = {"x": left, "y": top, "width": box.width, "height": box.height, "rx": 8}
    SubElement(group, "rect", {key: px(value) for key, value in shape.items()})
    shown = _part(wiring, name)
    if len(box.names) == 1:
        _text(group, _short(name), place.x, place.y - 3, "name")
        _text(group, shown, place.x, place.y + 16, "part")
    else:
        for number, each in enumerate(box.names):
            column, row = divmod(number, box.rows)
            x = place.x + (column - (box.columns - 1) / 2) * box.cell
            _text(group, each, x, top + 20 * (row + 1) - 1, "name")
        _text(group, f"{len(box.names)} {_TIMES} {shown}", place.x, top + box.height - 9, "part")
    for line, note in enumerate(notes.get(name, ())):
        _text(group, note, place.x, top + box.height + 16 + 16 * line, "note")


def _speed(wiring: Wiring, cable: Cable) -> str:
    """The speed of a cable, as far as it is said and not agreed on; of a line, which one it is."""
    if (line := wiring.line_name(cable)) is not None:
        return _short(line)
    ends = wiring.topology.ends(cable)
    speeds = [bps for bps in (wiring.asked_speed_bps(ref) for ref in ends) if bps]
    if not speeds:
        speeds = [max(mode.speed_bps for mode in modes) for ref in ends if (modes := wiring.modes(ref))]
    return show(min(speeds), RATE) if speeds else ""


def _far(wiring: Wiring, cable: Cable) -> str:
    """How far it is, where that matters, to the microsecond: of a long way a patch cord is no part."""
    delay_us = round(wiring.delay_ns(cable) / NS_PER_US)
    if cable.length_mm is not None and cable.length_mm >= _LONG_MM:
        return show(cable.length_mm, LENGTH)
    return show(delay_us * NS_PER_US, TIME) if delay_us else ""


def _part(wiring: Wiring, name: str) -> str:
    return _short(wiring.part_name(name) or wiring.topology.nodes[name].kind)


def _text(parent: Element, words: str, x: float, y: float, kind: str) -> None:
    element = SubElement(parent, "text", {"x": px(x), "y": px(y), "text-anchor": "middle", "class": kind})
    element.text = words


def _short(words: str) -> str:
    return words if len(words) <= _MOST_LETTERS else f"{words[: _MOST_LETTERS - 1]}…"


def px(value: float) -> str:
    """A length or a place as SVG has it, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")
