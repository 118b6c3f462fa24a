"""The Plan and its parts: frozen, in base units, the border between host and lab.

Standard library only: the guest inside the lab imports this module too, on an interpreter that has
none of the host's packages. A Plan is written to ``plan.json`` and read back equal.
"""

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from wirelab.model.trace import Trace
from wirelab.plan.bond import Bond
from wirelab.plan.capture import Capture
from wirelab.plan.jsonform import from_values, to_values
from wirelab.plan.node import Firewall, Host, Hub, Node, Switch, Transceiver, without_part
from wirelab.plan.queue import OWN_QUEUE, Queue
from wirelab.plan.shape import Shape, router_shape
from wirelab.plan.tagged import Tagged
from wirelab.plan.traffic import KINDS, Flow, Item, Ping

SCHEMA = 2
MEMORY_BYTES = 768 << 20
SAMPLE_NS = 100_000_000

SHAPER = "htb"

Role = Literal["host", "forward", "through", "repeat"]
Duplex = Literal["full", "half"]
Trust = Literal["pcp", "dscp"]
Moderation = Literal["first", "last", "interval"]
Adaptive = Literal["none", "ixgbe", "igb", "e1000", "dim"]


@dataclass(frozen=True, slots=True)
class Bus:
    """What joins a card to its host, each direction by itself: it has ``bps`` after line coding.

    A frame crosses in pieces of ``payload_bytes`` at most, or whole if that is 0. Around each piece there are
    ``overhead_bytes``, and with each frame go ``frame_bytes`` of descriptors.
    """

    bps: int
    payload_bytes: int
    overhead_bytes: int
    frame_bytes: int

    def transactions(self, frame_bytes: float) -> int:
        """In how many pieces a frame crosses, which may be one of a mean size."""
        return int(-(-frame_bytes // (self.payload_bytes or frame_bytes)))

    def taken_bytes(self, frame_bytes: float) -> float:
        """What a frame takes, with all that is around its pieces."""
        return frame_bytes + self.transactions(frame_bytes) * self.overhead_bytes + self.frame_bytes


@dataclass(frozen=True, slots=True)
class Cpu:
    """The CPU that serves a port, one frame after the other; ports with the same ``number`` share it."""

    number: int
    rx_frame_ns: int = 0
    rx_byte_ps: int = 0
    tx_frame_ns: int = 0
    tx_byte_ps: int = 0


@dataclass(frozen=True, slots=True)
class Pool:
    """A packet memory that ports with the same ``number`` share."""

    number: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Netem:
    """Delay, loss and reordering of a long path, put on a port's egress by tc netem."""

    delay_ns: int = 0
    jitter_ns: int = 0
    loss_ratio: float = 0.0
    limit_packets: int = 1_000_000
    reorder_ratio: float = 0.0


@dataclass(frozen=True, slots=True)
class Port:
    """One MAC with its PHY, and every setting it has.

    ``name`` is the interface name inside the lab (at most 15 characters), ``label`` how a person
    names it in a scenario (``switch.p1``, ``server``). ``role`` is ``host`` where frames end in a
    stack, ``forward`` where they are passed on (switch, module), ``forward_latency_ns`` after they have
    come, and stay charged to this port's packet buffer until they have left the node, and ``repeat`` where
    they are repeated bit by bit (hub).

    Without ``autoneg`` speed and duplex are forced. With it the port offers the modes ``advertise`` (by
    ethtool's names, without the slash), and ``speed_bps`` is the fastest of them: what the link comes to is
    known when it is up, ``autoneg_ms`` after both ends are, or what the other end takes for it. With
    ``pause_autoneg`` the same holds for PAUSE. A port that ``follow``s another one of its node has a link
    only while that one has, and at its speed. ``pfc`` are the priorities that are paused on their own
    (802.1Qbb) and never dropped. In the buffer a frame takes whole cells of ``buffer_cell_bytes``, if that is
    not 0. Of what is free of the ``pool`` its own queue takes at most ``queue_alpha_128ths``, and what came
    in by it ``xoff_alpha_128ths`` before it says stop; 0 is no such limit. Told to stop, it sends on for
    ``pause_reaction_ns``. ``rx_usecs`` counts from what ``rx_moderation`` says, or is chosen by the algorithm
    ``rx_adaptive``; ``tx_usecs`` is how long the sender of a frame that has left may not hear of it.
    ``gso_max_segs`` bounds the bursts that the stack hands to the port as one, in segments; None leaves the
    kernel's own bound, as ``gro_max_bytes`` does of what it joins of what comes in. Of ``bits_per_error``
    bits that arrive one is wrong; 0 for none. ``rate_bps`` is that of a router's own htb, ``shape`` a line's.
    A port that is not ``up`` has been shut. Frames at one with ``trunk_vlans`` have the tag of one of them,
    those at one with an ``access_vlan`` have none and are in that; with neither nobody looks at tags.
    """

    name: str
    label: str
    node: str
    role: Role
    mac: str
    address: str | None
    speed_bps: int
    mtu_bytes: int
    buffer_bytes: int = 0
    xoff_bytes: int = 0
    xon_bytes: int = 0
    buffer_cell_bytes: int = 0
    queue_alpha_128ths: int = 0
    xoff_alpha_128ths: int = 0
    pause_rx: bool = False
    pause_tx: bool = False
    rx_usecs: int = 0
    rx_frames: int = 0
    tx_usecs: int = 0
    tx_frames: int = 0
    tx_adaptive: bool = False
    rx_moderation: Moderation = "first"
    rx_adaptive: Adaptive = "none"
    gro: bool = True
    napi_defer_hard_irqs: int = 0
    gro_flush_timeout_ns: int = 0
    rx_ring_frames: int = 1
    tx_ring_frames: int = 1
    queue: Queue | None = None
    rate_bps: int = 0
    shape: Shape | None = None
    netem: Netem | None = None
    autoneg: bool = False
    advertise: tuple[str, ...] = ()
    duplex: Duplex = "full"
    pause_autoneg: bool = False
    follow: str | None = None
    bus: Bus | None = None
    cpu: Cpu | None = None
    capture: Capture | None = None
    pool: Pool | None = None
    pfc: tuple[int, ...] = ()
    trust: Trust = "pcp"
    pause_reaction_ns: int = 0
    gso_max_segs: int | None = None
    gro_max_bytes: int | None = None
    bits_per_error: int = 0
    forward_latency_ns: int = 0
    autoneg_ms: int = 0
    up: bool = True
    access_vlan: int = 0
    trunk_vlans: tuple[int, ...] = ()

    @property
    def own_queue(self) -> Queue | None:
        """Its queue if it is the port's own, which tc knows no options of."""
        return self.queue if self.queue and self.queue.kind == OWN_QUEUE else None

    @property
    def shaper(self) -> Shape | None:
        """What lets pass what leaves by it, whosever it is: a line's, or a router's own."""
        return self.shape or (router_shape(self.rate_bps) if self.rate_bps else None)

    @property
    def adapts(self) -> bool:
        """Whether its driver chooses the interrupt moderation by the load."""
        return self.rx_adaptive != "none"


@dataclass(frozen=True, slots=True)
class Cable:
    """Two ports joined, and the time a bit takes from one to the other: ``phys_ns`` of it in their PHYs.

    One that is not ``plugged`` has been pulled out.
    """

    a: str
    b: str
    delay_ns: int
    phys_ns: int = 0
    plugged: bool = True


@dataclass(frozen=True, slots=True)
class Event:
    """What changes at ``at_ns``, counted as the traffic is: ports and cables as they are from then on.

    ``what`` says it in the scenario's words.
    """

    at_ns: int
    what: str
    ports: tuple[Port, ...] = ()
    cables: tuple[Cable, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """One variant of one scenario, ready to be built.

    ``ports`` and ``cables`` are in the order in which they are made, as they are before the first of the
    ``events``, which are in the order of their instants. ``sysctls`` are set in every host's namespace and
    read back. ``memory_bytes`` is what the lab is given, part of the experiment: its kernel derives tables
    and limits from it. ``wall_limit_s`` is the wall-clock time in which the lab must come farther, or it is
    taken for hung. Samples are taken at ``sample_at_ns``, in order, besides each ``sample_interval_ns``.
    """

    scenario: str
    variant: str
    seed: int
    drawing: str
    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    modules: tuple[Transceiver, ...]
    ports: tuple[Port, ...]
    cables: tuple[Cable, ...]
    traffic: tuple[Item, ...] = ()
    sysctls: dict[str, str] = field(default_factory=dict)
    sample_interval_ns: int = SAMPLE_NS
    memory_bytes: int = MEMORY_BYTES
    wall_limit_s: int = 600
    schema: int = SCHEMA
    hubs: tuple[Hub, ...] = ()
    firewalls: tuple[Firewall, ...] = ()
    events: tuple[Event, ...] = ()
    traces: tuple[Trace, ...] = ()
    bonds: tuple[Bond, ...] = ()
    tagged: tuple[Tagged, ...] = ()
    sample_at_ns: tuple[int, ...] = ()

    @property
    def timetable(self) -> tuple[Item, ...]:
        """All traffic, in the order in which it begins."""
        return tuple(sorted(self.traffic, key=lambda item: (item.start_ns, item.name)))

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The flows of payload."""
        return tuple(item for item in self.traffic if isinstance(item, Flow))

    @property
    def pings(self) -> tuple[Ping, ...]:
        """The pings."""
        return tuple(item for item in self.traffic if isinstance(item, Ping))

    @property
    def stacks(self) -> tuple[Host | Firewall, ...]:
        """Everything that has addresses."""
        return (*self.hosts, *self.firewalls)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Everything that has ports."""
        return (*self.hosts, *self.firewalls, *self.switches, *self.hubs, *self.modules)

    def port(self, name: str) -> Port:
        """The port with interface name ``name``. Raises KeyError if there is none."""
        return {port.name: port for port in self.ports}[name]

    def trace(self, shape: Shape) -> Trace | None:
        """The trace that a shape follows, None if none. Raises KeyError if the Plan does not have it."""
        return {trace.name: trace for trace in self.traces}[shape.trace] if shape.trace else None

    def ports_of(self, node: str) -> tuple[Port, ...]:
        """The ports of a node, in order."""
        return tuple(port for port in self.ports if port.node == node)

    def bonds_of(self, node: str) -> tuple[Bond, ...]:
        """The bonds of a node, in order."""
        return tuple(bond for bond in self.bonds if bond.node == node)

    def tagged_of(self, node: str) -> tuple[Tagged, ...]:
        """What of a node writes and reads tags."""
        return tuple(tagged for tagged in self.tagged if tagged.node == node)

    def interfaces_of(self, node: str) -> tuple[Tagged | Bond | Port, ...]:
        """What the stack or the bridge of a node has for ports.

        What writes tags comes before what it is on, and a bond is there in the place of its ports.
        """
        bonds = self.bonds_of(node)
        bonded = {name for bond in bonds for name in bond.ports}
        alone = (port for port in self.ports_of(node) if port.name not in bonded)
        return (*self.tagged_of(node), *bonds, *alone)

    def cable_of(self, port: str) -> Cable:
        """The cable in the port with interface name ``port``. Raises KeyError if there is none."""
        return {end: cable for cable in self.cables for end in (cable.a, cable.b)}[port]

    def address_of(self, host: str) -> str:
        """The IPv4 address of a host's bond, or first port. Raises ValueError if it has none."""
        address = self.interfaces_of(host)[0].address
        if address is None:
            raise ValueError(f"host {host} has no address")
        return address.partition("/")[0]

    def to_json(self) -> str:
        """The Plan as JSON text without what is at its default, the same bytes for equal Plans."""
        return json.dumps(_values(self), indent=1, sort_keys=True) + "\n"

    def physical_json(self) -> str:
        """The Plan as the lab gets it: without what only people read, and the host's wall limit.

        Equal for Plans that are measured alike, whatever scenario, variant and parts they are of.
        """
        kinds = ("hosts", "firewalls", "switches", "hubs", "modules")
        unnamed: dict[str, Any] = {kind: tuple(map(without_part, getattr(self, kind))) for kind in kinds}
        events = tuple(replace(event, what="") for event in self.events)
        plain = replace(self, scenario="", variant="", drawing="", wall_limit_s=0, events=events, **unnamed)
        return json.dumps(_values(plain), sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The Plan that ``to_json`` wrote. Raises ValueError for another schema."""
        values: dict[str, Any] = json.loads(text)
        if values["schema"] != SCHEMA:
            raise ValueError(f"plan schema {values['schema']}, this wirelab reads {SCHEMA}")
        traffic = tuple(from_values(KINDS[raw.pop("tool")], raw) for raw in values.pop("traffic"))
        return replace(from_values(cls, values), traffic=traffic)


def _values(plan: Plan) -> dict[str, Any]:
    traffic = [{"tool": item.tool, **to_values(item)} for item in plan.traffic]
    return {**to_values(plan), "schema": SCHEMA, "traffic": traffic}
