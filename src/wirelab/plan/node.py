"""The nodes of a Plan. Standard library only, for the guest."""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Node:
    """Something with ports. ``part`` names what it is in the catalogue."""

    name: str
    part: str


@dataclass(frozen=True, slots=True)
class Route:
    """A network (``10.0.1.0/24``) and the address of the firewall that leads to it; none to one's own."""

    to: str
    via: str


@dataclass(frozen=True, slots=True)
class Host(Node):
    """An end system: a network namespace with its own stack.

    ``sysctls`` are set after the Plan's own and win over them; ``nic`` names its card. With ``quickack`` its
    stack acknowledges at once whatever it has joined.
    """

    sysctls: dict[str, str] = field(default_factory=dict)
    nic: str = ""
    routes: tuple[Route, ...] = ()
    quickack: bool = False


@dataclass(frozen=True, slots=True)
class Firewall(Node):
    """A firewall: forwards IP between the networks at its ports. ``nft`` is its rules, a line each."""

    nic: str = ""
    routes: tuple[Route, ...] = ()
    nft: str = ""

    @property
    def rules(self) -> list[str]:
        """What each rule of its chain matches, and what becomes of that."""
        added = (line for line in self.nft.splitlines() if line.startswith("add rule "))
        # add rule FAMILY TABLE CHAIN, and then that.
        return [line.split(maxsplit=5)[-1] for line in added]


@dataclass(frozen=True, slots=True)
class Switch(Node):
    """A learning switch: an Open vSwitch bridge with the kernel datapath."""


@dataclass(frozen=True, slots=True)
class Hub(Node):
    """A repeater: all its ports are one shared medium in half duplex."""


@dataclass(frozen=True, slots=True)
class Transceiver(Node):
    """A two-port node, an SFP+ transceiver: what enters one port leaves by the other.

    ``host_port`` faces the switch, ``line_port`` the cable.
    """

    host_port: str
    line_port: str


def without_part(node: Node) -> Node:
    """A node without the names of parts, which a lab does not read."""
    return replace(node, part="", nic="") if isinstance(node, Host | Firewall) else replace(node, part="")
