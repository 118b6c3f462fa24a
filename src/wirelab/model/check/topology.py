"""What is wrong with a topology that has the right shape."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from wirelab.model.settings import SettingError, part_name
from wirelab.model.topology import (
    HOST_PORT,
    MODULE_HOST_PORT,
    MODULE_LINE_PORT,
    PortError,
    PortRef,
)
from wirelab.model.types import INTERFACE_NAME_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.errors import Problem
    from wirelab.model.parts import Parts
    from wirelab.model.topology import Topology
    from wirelab.model.yamlfile import Document

MOST_NODES: Final = 254
"""As many as 10.0.0.0/24 has host addresses, and fewer than a MAC address byte can count."""


@dataclass(slots=True)
class _Cabling:
    """The ports that have a cable, and which nodes hang together."""

    cable_in: dict[PortRef, int] = field(default_factory=dict)
    group: dict[str, str] = field(default_factory=dict)

    def join(self, one: str, other: str) -> bool:
        """Note a cable between two nodes. False: there was a way between them already."""
        one, other = self._root(one), self._root(other)
        self.group[one] = other
        return one != other

    def _root(self, node: str) -> str:
        while self.group.get(node, node) != node:
            node = self.group[node]
        return node


def topology_problems(topology: Topology, parts: Parts, document: Document) -> Iterator[Problem]:
    """Every problem of a topology: names, ports, cables, loops and parts."""
    for key in ("nodes", "cables"):
        if document.tree.get(key) in ([], {}):
            yield document.problem((key,), "is empty")
    yield from _name_problems(topology, document)
    for name, node in topology.nodes.items():
        if node.part is not None:
            try:
                part_name(parts, node.kind, node.part)
            except SettingError as error:
                yield document.problem(("nodes", name, "part"), str(error))
        if node.nic is not None and node.kind not in ("host", "firewall"):
            yield document.problem(("nodes", name, "nic"), f"a {node.kind} has no nic")
        elif node.nic is not None:
            try:
                part_name(parts, "nic", node.nic)
            except SettingError as error:
                yield document.problem(("nodes", name, "nic"), str(error))
    yield from _cable_problems(topology, document)


def _name_problems(topology: Topology, document: Document) -> Iterator[Problem]:
    if len(topology.nodes) > MOST_NODES:
        yield document.problem(("nodes",), f"has {len(topology.nodes)} nodes; the limit is {MOST_NODES}")
    for name, node in topology.nodes.items():
        ports = {"host": (HOST_PORT,), "module": (MODULE_HOST_PORT, MODULE_LINE_PORT)}
        interface = max((PortRef(name, port).interface for port in ports.get(node.kind, ("p1",))), key=len)
        if len(interface) > INTERFACE_NAME_LENGTH:
            yield document.problem(
                ("nodes", name),
                f"its interface `{interface}` is longer than {INTERFACE_NAME_LENGTH} characters, "
                f"Linux takes no more: shorten the name by {len(interface) - INTERFACE_NAME_LENGTH}",
            )
        owner, _, port = name.rpartition("-")
        if owner in topology.nodes and topology.has_port(owner, port):
            yield document.problem(("nodes", name), f"`{name}` is the name of an interface of `{owner}` too")
    seen: set[str] = set()
    for index, cable in enumerate(topology.cables):
        if cable.name is None:
            continue
        if cable.name in topology.nodes or cable.name in seen:
            noun = "node" if cable.name in topology.nodes else "cable"
            yield document.problem(
                ("cables", index, "name"), f"duplicate name: a {noun} is called `{cable.name}` already"
            )
        seen.add(cable.name)


def _cable_problems(topology: Topology, document: Document) -> Iterator[Problem]:
    cabling = _Cabling()
    all_plugged = len(document.tree.get("cables") or ()) == len(topology.cables)
    for index, cable in enumerate(topology.cables):
        loc = ("cables", index)
        if cable.length_mm is not None and cable.delay_ns is not None:
            yield document.problem((*loc, "delay"), "give the length or the delay, not both")
        if cable.length_mm is None and cable.delay_ns is None:
            yield document.problem(loc, "has neither length nor delay; write for example `length: 3 m`")
        ends = []
        for end, text in enumerate(cable.between):
            plugged = _plug(topology, cabling, index, text, document)
            if isinstance(plugged, PortRef):
                ends.append(plugged)
            else:
                all_plugged = False
                if plugged:
                    yield document.problem((*loc, "between", end), plugged)
        if len(ends) == len(cable.between) and not cabling.join(ends[0].node, ends[1].node):
            yield document.problem(
                loc, "closes a loop, in which broadcasts would circle for ever: there is no spanning tree"
            )
    if all_plugged:
        yield from _loose_ends(topology, cabling, document)


def _plug(topology: Topology, cabling: _Cabling, index: int, text: str, document: Document) -> PortRef | str:
    """The port that one end of a cable goes into, or what is wrong with it: nothing if that is known."""
    try:
        ref = topology.resolve(text)
    except PortError as error:
        node = text.partition(".")[0]
        reported = node not in topology.nodes and node in (document.tree.get("nodes") or ())
        return "" if reported else str(error)
    if ref.number > 1 and len(ref.interface) > INTERFACE_NAME_LENGTH:
        return f"its interface `{ref.interface}` is longer than {INTERFACE_NAME_LENGTH} characters"
    if ref in cabling.cable_in:
        first = document.place(("cables", cabling.cable_in[ref])).line
        return f"`{text}` has a cable already, on line {first}"
    cabling.cable_in[ref] = index
    return ref


def _loose_ends(topology: Topology, cabling: _Cabling, document: Document) -> Iterator[Problem]:
    for name, node in topology.nodes.items():
        needed = {"host": (HOST_PORT,), "module": (MODULE_HOST_PORT, MODULE_LINE_PORT)}
        for port in needed.get(node.kind, ()):
            if PortRef(name, port) not in cabling.cable_in:
                label = name if node.kind == "host" else f"{name}.{port}"
                yield document.problem(("nodes", name), f"no cable is in `{label}`")
