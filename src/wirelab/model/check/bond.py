"""What is wrong with bonds: with their ports, and with what the two ends of their cables make of them."""

import contextlib
from collections.abc import Container, Iterator
from typing import Final

from wirelab.errors import Problem
from wirelab.model.bond import BOND_NAME, FEWEST_PORTS, LACP
from wirelab.model.linking import link_speed_bps
from wirelab.model.modes import Mode, listed
from wirelab.model.topology import PortRef, Topology
from wirelab.model.types import INTERFACE_NAME_LENGTH
from wirelab.model.wiring import Wiring
from wirelab.model.yamlfile import Document
from wirelab.units import MILLISECONDS, show

BONDED_KINDS: Final = ("host", "switch")

_ONLY_OF: Final = {
    LACP: ("xmit_hash_policy", "lacp_rate"),
    "active-backup": ("primary", "num_grat_arp"),
}


def bond_problems(topology: Topology, document: Document) -> Iterator[Problem]:
    """What is wrong with the bonds of a topology as it is written: names, nodes and ports."""
    taken: dict[PortRef, str] = {}
    cabled = _cabled(topology)
    owners: dict[str, str] = {}
    for name, bond in topology.bonds.items():
        loc = ("bonds", name)
        node, _, own = name.partition(".")
        kind = topology.nodes[node].kind if node in topology.nodes else None
        interface = PortRef(node, own).interface
        if kind is None or not BOND_NAME.fullmatch(own):
            yield document.problem(loc, "is not `<node>.bond0`: a host or switch, and bond0, bond1...")
            continue
        if kind not in BONDED_KINDS:
            yield document.problem(loc, f"`{node}` is a {kind}; hosts and switches have bonds")
            continue
        if len(interface) > INTERFACE_NAME_LENGTH:
            message = f"its interface `{interface}` is longer than {INTERFACE_NAME_LENGTH} characters"
            yield document.problem(loc, message)
        if kind == "host" and owners.setdefault(node, name) != name:
            yield document.problem(loc, f"`{node}` has a bond already, `{owners[node]}`: a host has one")
        if len(bond.ports) < FEWEST_PORTS:
            yield document.problem((*loc, "ports"), f"a bond has at least {FEWEST_PORTS} ports")
        for index, text in enumerate(bond.ports):
            if wrong := _port_problem(topology, taken, cabled, text, name):
                yield document.problem((*loc, "ports", index), wrong)


def _cabled(topology: Topology) -> frozenset[PortRef]:
    """The ports with a cable, as far as the ends of cables are ports."""
    refs = []
    for text in (end for cable in topology.cables for end in cable.between):
        with contextlib.suppress(ValueError):
            refs.append(topology.resolve(text))
    return frozenset(refs)


def _port_problem(
    topology: Topology, taken: dict[PortRef, str], cabled: Container[PortRef], text: str, name: str
) -> str | None:
    """What is wrong with one of the ports of a bond; it is ``taken`` from then on."""
    node = name.partition(".")[0]
    if text.partition(".")[0] != node:
        return f"`{text}` is not a port of `{node}`"
    try:
        ref = topology.resolve(text)
    except ValueError as error:
        return str(error)
    if ref in taken:
        return f"`{text}` is in `{taken[ref]}` already"
    taken[ref] = name
    # Of a host that is said of the node already.
    return None if ref in cabled or topology.nodes[node].kind == "host" else f"no cable is in `{text}`"


def bond_conflicts(wiring: Wiring, name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is wrong with a bond as it is set, and which of its settings are to blame."""
    topology, bond = wiring.topology, wiring.topology.bonds[name]
    refs = [topology.resolve(text) for text in bond.ports]
    mode = wiring.bond_mode(name)
    for of, names in _ONLY_OF.items():
        for setting in names:
            if of != mode and wiring.own(name, setting) is not None:
                yield f"`{setting}` is for `{of}`; `{name}` is `{mode}`", (setting, "mode")
    primary = wiring.own(name, "primary")
    if primary is not None and primary not in {ref.port for ref in refs}:
        ports = " and ".join(f"`{ref.port}`" for ref in refs)
        yield f"`{primary}` is none of its ports: they are {ports}", ("primary",)
    yield from _delay_conflicts(wiring, name)
    mtus = sorted({wiring.mtu_bytes(ref) for ref in refs})
    if len(mtus) > 1:
        yield f"the ports of `{name}` have one MTU, not {' and '.join(map(str, mtus))} B", ("mode",)
    if mode == LACP:
        yield from _lacp_conflicts(wiring, name, refs)
    elif topology.nodes[name.partition(".")[0]].kind == "switch":
        yield f"a switch has bonds that speak LACP: set `mode: {LACP}`", ("mode",)


def _delay_conflicts(wiring: Wiring, name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    miimon_ms = wiring.miimon_ms(name)
    for delay in ("downdelay", "updelay"):
        delay_ms = int(wiring.own(name, delay) or 0)
        if delay_ms and (not miimon_ms or delay_ms % miimon_ms):
            every = f"`miimon`, {show(miimon_ms, MILLISECONDS)}"
            yield f"{show(delay_ms, MILLISECONDS)} is no whole number of {every}", (delay, "miimon")


def _lacp_conflicts(wiring: Wiring, name: str, refs: list[PortRef]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """LACP without a look at the links, at several speeds, or towards somebody who cannot join in."""
    topology = wiring.topology
    if not wiring.miimon_ms(name):
        yield "LACP has to know which links there are: `miimon` must be above 0 ms", ("miimon", "mode")
    speeds = {link_speed_bps(wiring, ref) for ref in refs}
    if len(speeds) > 1:
        modes = listed(Mode(speed_bps) for speed_bps in sorted(speeds))
        yield f"LACP joins ports of one speed, those of `{name}` have {modes}", ("mode",)
    peers = [topology.peer(ref) for ref in refs]
    ends = {topology.bond_of(peer) or peer.node for peer in peers}
    if len(ends) > 1:
        listed_ends = " and ".join(f"`{end}`" for end in sorted(ends))
        yield f"LACP has one other end, the cables of `{name}` lead to {listed_ends}", ("mode",)
        return
    (end,) = ends
    if end in topology.bonds and wiring.bond_mode(end) != LACP:
        yield f"`{name}` speaks LACP, `{end}` at the other end is `{wiring.bond_mode(end)}`", ("mode",)
    elif topology.nodes[name.partition(".")[0]].kind == "switch" and end not in topology.bonds:
        yield f"at the other end of `{name}` is no bond: the cables would close a loop", ("mode",)
