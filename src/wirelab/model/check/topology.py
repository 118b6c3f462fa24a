"""What is wrong with a topology that has the right shape."""

from collections.abc import Iterator, Mapping
from typing import Final

from wirelab.errors import Problem
from wirelab.model.check.bond import bond_problems
from wirelab.model.parts import PartKind, Parts
from wirelab.model.setting_table import settings_of
from wirelab.model.settings import part_name
from wirelab.model.topology import FIXED_PORTS, Node, PortRef, Topology
from wirelab.model.types import INTERFACE_NAME_LENGTH
from wirelab.model.yamlfile import Document
from wirelab.units import LENGTH, TIME

Place = str | PortRef

MOST_NODES: Final = 254
"""As many as 10.0.0.0/24 has host addresses, and fewer than a MAC address byte can count."""


def topology_problems(topology: Topology, parts: Parts, document: Document) -> Iterator[Problem]:
    """Every problem of a topology: names, ports, cables, loops and parts."""
    for key in ("nodes", "cables"):
        if document.tree.get(key) in ([], {}):
            yield document.problem((key,), "is empty")
    yield from _name_problems(topology, document)
    for name, node in topology.nodes.items():
        for key, message in _part_problems(node, parts):
            yield document.problem(("nodes", name, key), message)
    for index, cable in enumerate(topology.cables):
        if cable.line is None:
            continue
        try:
            part_name(parts, "line", cable.line)
        except ValueError as error:
            yield document.problem(("cables", index, "line"), str(error))
    yield from _length_problems(topology, document)
    yield from _cabling_problems(topology, document)
    yield from bond_problems(topology, document)


def _part_problems(node: Node, parts: Parts) -> Iterator[tuple[str, str]]:
    named: tuple[tuple[str, PartKind, str | None], ...] = (
        ("part", node.kind, node.part),
        ("nic", "nic", node.nic),
    )
    for key, kind, name in named:
        if name is not None and key == "nic" and node.kind not in ("host", "firewall"):
            yield key, f"a {node.kind} has no nic"
        elif name is not None:
            try:
                part_name(parts, kind, name)
            except ValueError as error:
                yield key, str(error)


def _name_problems(topology: Topology, document: Document) -> Iterator[Problem]:
    if len(topology.nodes) > MOST_NODES:
        yield document.problem(("nodes",), f"has {len(topology.nodes)} nodes; the limit is {MOST_NODES}")
    for name, node in topology.nodes.items():
        interfaces = (PortRef(name, port).interface for port in FIXED_PORTS.get(node.kind, ("p1",)))
        interface = max(interfaces, key=len)
        if len(interface) > INTERFACE_NAME_LENGTH:
            yield document.problem(
                ("nodes", name),
                f"its interface `{interface}` is longer than {INTERFACE_NAME_LENGTH} characters, "
                f"Linux takes no more: shorten the name by {len(interface) - INTERFACE_NAME_LENGTH}",
            )
        owner, _, port = name.rpartition("-")
        if owner in topology.nodes and topology.has_port(owner, port):
            yield document.problem(("nodes", name), f"`{name}` is the name of an interface of `{owner}` too")
    named = dict.fromkeys(topology.nodes, "node")
    for index, cable in enumerate(topology.cables):
        if cable.name in named:
            message = f"duplicate name: a {named[cable.name]} is called `{cable.name}` already"
            yield document.problem(("cables", index, "name"), message)
        elif cable.name is not None:
            named[cable.name] = "cable"


def _length_problems(topology: Topology, document: Document) -> Iterator[Problem]:
    for index, cable in enumerate(topology.cables):
        loc = ("cables", index)
        if cable.length_mm is not None and cable.delay_ns is not None:
            yield document.problem((*loc, "delay"), "give the length or the delay, not both")
        said = {"length": (cable.length_mm, LENGTH), "delay": (cable.delay_ns, TIME)}
        for key, (value, quantity) in said.items():
            if value is not None and (problem := settings_of("cable")[key].problem(value, quantity)):
                yield document.problem((*loc, key), problem)
        if cable.length_mm is None and cable.delay_ns is None:
            yield document.problem(loc, "has neither length nor delay; write for example `length: 3 m`")


def _cabling_problems(topology: Topology, document: Document) -> Iterator[Problem]:
    cable_in: dict[PortRef, int] = {}
    sound: dict[int, list[PortRef]] = {}
    for index, cable in enumerate(topology.cables):
        sound[index] = []
        for end, text in enumerate(cable.between):
            plugged = _plug(topology, cable_in, text, document)
            if isinstance(plugged, PortRef):
                cable_in[plugged] = index
                sound[index].append(plugged)
            elif plugged:
                yield document.problem(("cables", index, "between", end), plugged)
    whole = {index: (ends[0], ends[1]) for index, ends in sound.items() if len(ends) == 2}  # noqa: PLR2004 - of a cable
    for index in _closing(topology, whole):
        message = "closes a loop, in which broadcasts would circle for ever: there is no spanning tree"
        yield document.problem(("cables", index), message)
    if len(document.tree.get("cables") or ()) != len(whole):
        return
    for name in topology.nodes:
        for ref in (PortRef(name, port) for port in topology.ports_of(name) or ()):
            if ref not in cable_in:
                yield document.problem(("nodes", name), f"no cable is in `{topology.label(ref)}`")


def _closing(topology: Topology, cables: Mapping[int, tuple[PortRef, PortRef]]) -> Iterator[int]:
    """The cables that close a loop; those between two bonds are one."""
    joined: dict[Place, set[Place]] = {}
    bonded: set[frozenset[str | None]] = set()
    for index, ends in cables.items():
        bonds = frozenset(map(topology.bond_of, ends))
        if None not in bonds:
            if bonds in bonded:
                continue
            bonded.add(bonds)
        one, other = (joined.setdefault(place, {place}) for place in (_place(topology, ref) for ref in ends))
        if one is other:
            yield index
        one |= other
        joined.update(dict.fromkeys(other, one))


def _place(topology: Topology, ref: PortRef) -> Place:
    """What passes on what comes by a port: its node, but for a host, which does not."""
    return ref if topology.nodes[ref.node].kind == "host" else ref.node


def _plug(
    topology: Topology, cable_in: Mapping[PortRef, int], text: str, document: Document
) -> PortRef | str:
    """The port that one end of a cable goes into, or what is wrong with it: nothing if that is known."""
    try:
        ref = topology.resolve(text)
    except ValueError as error:
        node = text.partition(".")[0]
        written = document.tree.get("bonds")
        bonds = written if isinstance(written, dict) else {}
        unsound = {name.partition(".")[0] for name in bonds if name not in topology.bonds}
        reported = node not in topology.nodes and node in (document.tree.get("nodes") or ())
        return "" if reported or node in unsound else str(error)
    if ref.number > 1 and len(ref.interface) > INTERFACE_NAME_LENGTH:
        return f"its interface `{ref.interface}` is longer than {INTERFACE_NAME_LENGTH} characters"
    if ref in cable_in:
        return f"`{text}` has a cable already, on line {document.place(('cables', cable_in[ref])).line}"
    return ref
