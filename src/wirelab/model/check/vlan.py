"""What is wrong with VLANs: with ports, with the two ends of a cable, and with flows from one to another."""

from collections.abc import Iterator, Sequence
from typing import Final

from wirelab.errors import Problem
from wirelab.model.topology import PortRef, Topology
from wirelab.model.types import INTERFACE_NAME_LENGTH
from wirelab.model.yamlfile import Document

_KINDS: Final = ("host", "switch")


def vlan_problems(topology: Topology, document: Document) -> Iterator[Problem]:
    """What is wrong with the VLANs of a topology whose ports and cables are sound."""
    seen: dict[PortRef, str] = {}
    for name, vlans in topology.vlans.items():
        if message := _name_problem(topology, name) or _host_problem(topology, name, vlans):
            yield document.problem(("vlans", name), message)
        elif name not in topology.bonds and (first := seen.setdefault(topology.resolve(name), name)) != name:
            yield document.problem(("vlans", name), f"is the port of `{first}`, whose VLANs are said already")
    for ref in topology.ports():
        other = next((name for name in topology.vlans if name.partition(".")[0] == ref.node), None)
        if topology.nodes[ref.node].kind == "switch" and other and topology.vlan_of(ref) is None:
            message = f"`{topology.label(ref)}` has no VLAN, though `{other}` has"
            yield document.problem(("vlans",), f"{message}: all ports of a switch have one, or none")
    for index, cable in enumerate(topology.cables):
        one, other_end = topology.ends(cable)
        for trunk, end in ((one, other_end), (other_end, one)):
            kind, alone = topology.nodes[end.node].kind, topology.vlan_of(end) is None
            passes = kind in ("module", "hub") or (kind == "switch" and alone)
            if topology.is_tagged(trunk) and not topology.is_tagged(end) and not passes:
                message = f"frames at `{topology.label(trunk)}` have a tag, at `{topology.label(end)}` none"
                yield document.problem(("cables", index), message)


def _name_problem(topology: Topology, name: str) -> str | None:
    """What is wrong with what a line is about."""
    if name in topology.bonds:
        return None
    try:
        ref = topology.resolve(name)
    except ValueError as error:
        return str(error)
    kind, bond = topology.nodes[ref.node].kind, topology.bond_of(ref)
    if kind not in _KINDS:
        return f"`{ref.node}` is a {kind}; switches and hosts have VLANs"
    if ref not in topology.ports():
        return f"no cable is in `{name}`"
    return f"`{name}` is in `{bond}`, which has its VLANs as a whole" if bond else None


def _host_problem(topology: Topology, name: str, vlans: int | tuple[int, ...]) -> str | None:
    node = name.partition(".")[0]
    if topology.nodes[node].kind != "host":
        return None
    if isinstance(vlans, int) or len(vlans) != 1:
        return "of a host it is one VLAN, whose tag it writes and reads: `[10]`"
    interface = f"{node}-v{vlans[0]}"
    too_long = len(interface) > INTERFACE_NAME_LENGTH
    return (
        f"its interface `{interface}` is longer than {INTERFACE_NAME_LENGTH} characters" if too_long else None
    )


def blocked(topology: Topology, way: Sequence[tuple[PortRef, PortRef]]) -> str | None:
    """Why the frames of a way do not get to its end; None if they do, or nobody has VLANs."""
    tag = _own_tag(topology, way[0][0])
    for (out, into), following in zip(way, (*way[1:], None), strict=True):
        vlans = topology.vlan_of(into)
        if following is None:
            expected = _own_tag(topology, into)
            come = f"frames come with {_tag(tag)} to `{topology.label(into)}`, which wants {_tag(expected)}"
            return None if tag == expected else come
        if topology.nodes[into.node].kind == "firewall" and tag is not None:
            return f"frames come with {_tag(tag)} to `{topology.label(into)}`, a firewall, which reads none"
        if vlans is None:
            continue
        inside = vlans if isinstance(vlans, int) and tag is None else tag
        if inside is None or inside not in _numbers(vlans) or (isinstance(vlans, int) and tag is not None):
            return f"frames come with {_tag(tag)} to `{topology.label(into)}`, which is in {_said(vlans)}"
        beyond = topology.vlan_of(following[0])
        if beyond is None or inside not in _numbers(beyond):
            came, goes = topology.label(out), topology.label(following[0])
            return f"from `{came}` they are in VLAN {inside}, `{goes}` is in {_said(beyond or ())}"
        tag = inside if isinstance(beyond, tuple) else None
    return None


def _numbers(vlans: int | tuple[int, ...]) -> tuple[int, ...]:
    return vlans if isinstance(vlans, tuple) else (vlans,)


def _own_tag(topology: Topology, ref: PortRef) -> int | None:
    """The tag that a host writes and reads."""
    vlans = topology.vlan_of(ref)
    return vlans[0] if isinstance(vlans, tuple) else None


def _tag(tag: int | None) -> str:
    return "no tag" if tag is None else f"the tag of VLAN {tag}"


def _said(vlans: int | tuple[int, ...]) -> str:
    return f"VLAN {vlans}" if isinstance(vlans, int) else f"a trunk of VLAN {', '.join(map(str, vlans))}"
