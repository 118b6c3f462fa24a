"""Topology: nodes and the cables between their ports."""

import contextlib
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from wirelab.errors import unknown
from wirelab.model.bond import Bond
from wirelab.model.expected import kind_of
from wirelab.model.graph import fewest_hops
from wirelab.model.parts import STANDARD_MTU_BYTES
from wirelab.model.types import (
    BitErrorRate,
    Length,
    Model,
    Name,
    NodeName,
    Rate,
    Size,
    Text,
    Time,
    key,
    optional,
)
from wirelab.model.vlan import Vlans

NodeKind = Literal["host", "switch", "module", "hub", "firewall"]

HOST_PORT: Final = "eth0"
MODULE_HOST_PORT: Final = "host"
MODULE_LINE_PORT: Final = "line"

FIXED_PORTS: Final[Mapping[NodeKind, tuple[str, ...]]] = {
    "host": (HOST_PORT,),
    "module": (MODULE_HOST_PORT, MODULE_LINE_PORT),
}
"""The ports of the kinds of nodes that always have the same; those of the others are p1, p2, p3..."""

_SWITCH_PORT: Final = re.compile(r"p[1-9][0-9]{0,3}", re.ASCII)
_HOST_PORT: Final = re.compile(r"eth(0|[1-9][0-9]?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class PortRef:
    """A port of a node: ``p1`` of ``switch``."""

    node: str
    port: str

    @property
    def number(self) -> int:
        """Which port of its node it is, from 1."""
        if _SWITCH_PORT.fullmatch(self.port):
            return int(self.port[1:])
        if _HOST_PORT.fullmatch(self.port):
            return 1 + int(self.port.removeprefix("eth"))
        return 1 + (self.port == MODULE_LINE_PORT)

    @property
    def interface(self) -> str:
        """Its interface name in the lab: ``switch-p1``."""
        return f"{self.node}-{self.port}"


def _pair(value: object) -> object:
    if not isinstance(value, list | tuple):
        msg = f"expected the two ports it joins, such as [server, switch.p1], found {kind_of(value)}"
        raise ValueError(msg)  # noqa: TRY004 - pydantic collects ValueError
    if len(value) != 2:  # noqa: PLR2004 - a cable has two ends
        raise ValueError(f"a cable joins two ports, here are {len(value)}")
    return value


def _one_of_two(ends: tuple[str, str]) -> tuple[str, str]:
    if ends[0] == ends[1]:
        raise ValueError(f"both ends are `{ends[0]}`")
    return ends


Pair = Annotated[
    tuple[Text, Text],
    BeforeValidator(_pair),
    AfterValidator(_one_of_two),
    WithJsonSchema({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}),
]


class Node(Model):
    """A device."""

    kind: NodeKind = key("What it is.")
    part: Name | None = optional("Its hardware in the catalogue, unless a scenario says another.")
    nic: Name | None = optional("A host's or firewall's network card, if it is not that of its part.")


class Cable(Model):
    """Two ports joined."""

    name: NodeName | None = optional("How settings call it: `patch.length`.")
    between: Pair = key("The two ports that it joins, as `[server, switch.p1]`.")
    speed_bps: Rate | None = optional(
        "What both ends are forced to; without it they agree (autonegotiation).", alias="speed"
    )
    length_mm: Length | None = optional("How long it is: 5 ns a metre.", alias="length")
    delay_ns: Time | None = optional(
        "How long a bit takes to the other end, instead of a length.", alias="delay"
    )
    line: Name | None = optional(
        "The line that it is, as a provider sells it; the first of `between` is the provider's end."
    )
    bits_per_error: BitErrorRate | None = optional(
        "The share of bits that arrive wrong, at either end: `1e-12`. A frame with one is dropped.",
        alias="bit_error_rate",
    )


class Topology(Model):
    """Wiring shared by scenarios."""

    name: Name = key("The name of the file without `.yaml`.")
    drawing: Text = key("Its picture in one line, printed above each run.")
    story: Text | None = optional("What it is, in words.")
    mtu_bytes: Size = key(
        "The largest packet that a frame carries, at every port.", alias="mtu", default=STANDARD_MTU_BYTES
    )
    nodes: dict[NodeName, Node] = key("The devices by name.")
    cables: tuple[Cable, ...] = key("What joins their ports.")
    bonds: dict[Text, Bond] = key(
        "Ports of a host or a switch that are one: `server.bond0` has those of `server`.", default={}
    )

    vlans: dict[Text, Vlans] = key(
        "VLANs by port: `10` is an access port's, `[10, 20]` a trunk's, whose frames have a tag.", default={}
    )

    stub: ClassVar[Mapping[str, Any]] = {"name": "unnamed", "drawing": "none", "nodes": {}, "cables": []}

    def resolve(self, text: str) -> PortRef:
        """The port that ``text`` names: ``client``, ``client.eth0``, ``switch.p1``, ``module.line``.

        Raises ValueError if there is no such node, or the node has no such port.
        """
        name, dot, port = text.partition(".")
        node = self.nodes.get(name)
        if dot and not port:
            raise ValueError(f"`{text}` has no port behind its dot")
        if node is None:
            raise ValueError(unknown("node", name, self.nodes))
        ports = self.ports_of(name)
        if ports is None:
            if not _SWITCH_PORT.fullmatch(port):
                raise ValueError(
                    f"`{text}` is not a port of a {node.kind}; write `{name}.p1`, `{name}.p2`..."
                )
        elif node.kind == "host" and not port and len(ports) == 1:
            port = HOST_PORT
        elif port not in ports:
            listed = " and ".join(f"`{name}.{known}`" for known in ports)
            more = "; more ports are those of its bond" if _HOST_PORT.fullmatch(port) else ""
            raise ValueError(f"`{text}` is not a port: the {node.kind} `{name}` has {listed}{more}")
        return PortRef(name, port)

    def ports_of(self, node: str) -> tuple[str, ...] | None:
        """The ports that a node always has, and those of its bond; None where it may have p1, p2, p3..."""
        fixed = FIXED_PORTS.get(self.nodes[node].kind)
        if fixed != (HOST_PORT,):
            return fixed
        bonded = (text.partition(".") for bond in self.bonds.values() for text in bond.ports)
        own = {port for name, _, port in bonded if name == node and _HOST_PORT.fullmatch(port)}
        return tuple(sorted({HOST_PORT, *own}, key=lambda port: PortRef(node, port).number))

    def bond_of(self, ref: PortRef) -> str | None:
        """The bond that a port is in, by its name; None if it is in none."""
        return self._bonded.get(ref)

    def vlan_of(self, ref: PortRef) -> int | tuple[int, ...] | None:
        """The VLAN of an access port, those of a trunk, None for a port without any."""
        return self._in_vlans.get(ref)

    def is_tagged(self, ref: PortRef) -> bool:
        """Whether the frames at a port have a tag."""
        return isinstance(self.vlan_of(ref), tuple)

    def has_port(self, node: str, port: str) -> bool:
        """Whether ``node`` (one of the nodes) has a port of that name."""
        try:
            self.resolve(f"{node}.{port}")
        except ValueError:
            return False
        return True

    def label(self, ref: PortRef) -> str:
        """How a person names a port: ``client``, ``switch.p1``."""
        alone = self.nodes[ref.node].kind == "host" and ref not in self._bonded
        return ref.node if alone else f"{ref.node}.{ref.port}"

    def ends(self, cable: Cable) -> tuple[PortRef, PortRef]:
        """The two ports a cable joins."""
        return self.resolve(cable.between[0]), self.resolve(cable.between[1])

    def cable_of(self, ref: PortRef) -> Cable:
        """The cable in a port. Raises KeyError if there is none."""
        return self._cabled[ref]

    def peer(self, ref: PortRef) -> PortRef:
        """The port at the other end of the cable. Raises KeyError if there is no cable."""
        one, other = self.ends(self.cable_of(ref))
        return other if ref == one else one

    def way(self, one: str, other: str) -> tuple[tuple[PortRef, PortRef], ...] | None:
        """The cables from one node to another, each as its two ports in that direction; None without any."""
        ends = [self.ends(cable) for cable in self.cables]
        hops = (hop for a, b in ends for hop in ((a, b), (b, a)))
        return fewest_hops(one, other, ((hop[0].node, hop[1].node, hop) for hop in hops))

    def ports(self) -> tuple[PortRef, ...]:
        """Every port with a cable in it: in the order of the nodes, each node's by number."""
        return self._in_order

    @functools.cached_property
    def _in_order(self) -> tuple[PortRef, ...]:
        order = {name: index for index, name in enumerate(self.nodes)}
        return tuple(sorted(self._cabled, key=lambda ref: (order[ref.node], ref.number)))

    @functools.cached_property
    def _cabled(self) -> Mapping[PortRef, Cable]:
        return {ref: cable for cable in self.cables for ref in self.ends(cable)}

    @functools.cached_property
    def _bonded(self) -> Mapping[PortRef, str]:
        refs = {name: (text.partition(".") for text in bond.ports) for name, bond in self.bonds.items()}
        return {PortRef(node, port): name for name, parts in refs.items() for node, _, port in parts}

    @functools.cached_property
    def _in_vlans(self) -> Mapping[PortRef, int | tuple[int, ...]]:
        carried = {}
        for name, vlans in self.vlans.items():
            for text in self.bonds[name].ports if name in self.bonds else (name,):
                with contextlib.suppress(ValueError):  # what is no port is said of the line itself
                    carried[self.resolve(text)] = vlans
        return carried
