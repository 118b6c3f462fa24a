"""Parts: catalogued devices, each figure with its provenance."""

from collections.abc import Mapping
from typing import Final, Literal

from wirelab.model.bus import Bus
from wirelab.model.types import (
    Adaptive,
    Alpha,
    ByteRate,
    Celsius,
    Congestion,
    Cost,
    Count,
    Figure,
    HostSpeed,
    Layer,
    LinkModes,
    Microseconds,
    Milliseconds,
    Model,
    Moderations,
    Name,
    OnOff,
    PositiveCount,
    Provenance,
    Rate,
    Size,
    Text,
    Time,
    Titled,
    key,
    optional,
)

CAPTURE: Final = ("capture_frame", "capture_backlog", "capture_rate")
"""What a host that captures its frames has: all of these."""

PartKind = Literal[
    "host", "system", "firewall", "switch", "hub", "module", "nic", "driver", "bus", "storage", "line"
]
System = Literal["linux", "windows", "macos", "other"]

STANDARD_MTU_BYTES: Final = 1500


class CpuCosts(Model):
    """What a frame costs one CPU core, and each byte of it, on its way in and out."""

    rx_frame: Figure[Cost] | None = optional("CPU time for each frame that comes in.")
    rx_byte: Figure[Cost] | None = optional("CPU time for each byte that comes in.")
    tx_frame: Figure[Cost] | None = optional("CPU time for each frame that goes out.")
    tx_byte: Figure[Cost] | None = optional("CPU time for each byte that goes out.")


_REACTION: Final = (
    "How long a PAUSE or PFC frame that it receives takes to stop it. Without it the most that IEEE 802.3 "
    "allows at the link's speed is assumed: 3.072 us at 10 Gbit/s."
)


class Interrupts(Model):
    """How a driver lets its card wake the host."""

    rx_usecs: Figure[Microseconds] | None = optional(
        "How long an interrupt may be held back to collect frames, as `ethtool -C rx-usecs`."
    )
    rx_frames: Figure[Count] | None = optional(
        "After how many frames it comes at once, as `ethtool -C rx-frames`."
    )
    rx_adaptive: Figure[Adaptive] | None = optional(
        "Whose algorithm chooses `rx_usecs` by the load, as `ethtool -C adaptive-rx on`."
    )
    tx_usecs: Figure[Microseconds] | None = optional(
        "How long it may not say that frames have left, as `ethtool -C tx-usecs`; an `interval` is for both."
    )
    tx_frames: Figure[Count] | None = optional(
        "After how many frames it says so at once, as `ethtool -C tx-frames`."
    )
    napi_defer_hard_irqs: Figure[Count] | None = optional(
        "How often the stack looks again before it lets the card interrupt, as in `/sys/class/net`."
    )
    gro_flush_timeout: Figure[Microseconds] | None = optional(
        "How long it waits for that, and GRO for more of a burst."
    )


class PhyLatency(Model):
    """How long a PHY takes at one speed, in full duplex."""

    speed: Rate = key("The link speed.")
    latency: Time = key("What a bit takes through it, out and in together; half of it counts each way.")
    provenance: Provenance = key("How sure it is.", alias="from")
    note: Text = key("Who says so.")


_AUTONEG_TIME: Final = (
    "How long it takes its PHY to negotiate, and to train for the best it has; 0 if unsaid."
)
_PHY_LATENCIES: Final = "What its PHY takes at the speeds of which that is known; at others nothing."


class Nic(Titled, Interrupts, CpuCosts):
    """A network card: one port of a host, with Linux's driver unless a part ``driver`` is another's.

    The CPU costs are those of its driver, on top of the host's.
    """

    speeds: Figure[LinkModes] = key("The link modes that it offers.")
    bus: Figure[Text] | None = optional(
        "What joins it to the host, and the lanes: `pcie-3 x1`. Without one the bus is no limit."
    )
    rx_moderation: Figure[Moderations] | None = optional(
        "What `rx_usecs` can count from: the `first` frame that waits, the `last` one, the last interrupt "
        "(`interval`); the default first. Without it that is `first`."
    )
    rx_ring: Figure[PositiveCount] = key("Frames that the host may have to fetch.")
    tx_ring: Figure[PositiveCount] = key("Frames that wait in the card.")
    buffer: Figure[Size] = key("The memory for received frames, before the bus.")
    xoff: Figure[Size] = key("The fill of the buffer at which it sends PAUSE.")
    xon: Figure[Size] = key("The fill at which it lets the peer go on.")
    flow_control: Figure[OnOff] = key("Whether it offers PAUSE.")
    pause_reaction: Figure[Time] | None = optional(_REACTION)
    autoneg_time: Figure[Milliseconds] | None = optional(_AUTONEG_TIME)
    phy_latency: tuple[PhyLatency, ...] = key(_PHY_LATENCIES, default=())


class Driver(Titled, Interrupts):
    """What another operating system than Linux makes of a card."""

    nic: Name = key("The card.")
    system: System = key("The operating system.")


class Host(Titled, CpuCosts):
    """What an operating system does to a flow, and the card it usually comes with.

    The CPU costs are those of what looks into every frame; what an ordinary stack costs is nothing here.
    """

    nic: Name = key("The card that it usually comes with.")
    system: System = key("The operating system: whose drivers it has, and whose TCP.", default="linux")
    timestamps: Figure[OnOff] = key("TCP timestamps (RFC 7323); 12 bytes of each segment.")
    congestion: Figure[Congestion] = key("The congestion control that its TCP sends with.")
    gro_max_segs: Figure[PositiveCount] | None = optional(
        "How many segments it or its card joins, where that is not as its system does."
    )
    capture_frame: Figure[Cost] | None = optional("CPU time of a frame that it captures, its backlog full.")
    capture_backlog: Figure[Size] | None = optional("How much of what it captures may wait to be written.")
    capture_rate: Figure[ByteRate] | None = optional("How fast it writes what it captures.")


class OperatingSystem(Titled):
    """What the TCP of another system than Linux does, as far as Linux can be told to."""

    gro_max_segs: Figure[PositiveCount] | None = optional(
        "How many segments it acknowledges at once where they come fast: as many are joined, at most."
    )
    quickack: Figure[OnOff] | None = optional(
        "Whether it acknowledges those at once: Linux waits for the program, once its window has grown."
    )
    tcp_rmem: Figure[Size] | None = optional(
        "What the receive buffer of a connection may grow to; the window is about half of it."
    )
    differs: Text = key("What it does and Linux cannot be told to.")


class Storage(Titled):
    """Disks of a host, and how fast long files are read from them and written to them."""

    read: Figure[ByteRate] = key("How fast long files are read.")
    write: Figure[ByteRate] = key("How fast long files are written.")


class Line(Titled):
    """A line as a provider sells it: a shaper and a FIFO in each direction, and what is between them."""

    down: Figure[Rate] = key("What it lets pass to the customer, as `layer` counts it.")
    up: Figure[Rate] = key("What it lets pass to the provider.")
    layer: Figure[Layer] = key("Which bytes of a frame count, as of `shape.layer`.")
    overhead: Figure[Size] | None = optional("What each frame counts besides, as of `shape.overhead`.")
    rtt: Figure[Time] = key(
        "How long a bit is under way there and back when it is idle; half of it each way."
    )
    down_queue: Figure[Size] = key("What may wait at the provider's end for its turn, as counted.")
    up_queue: Figure[Size] = key("What may wait at the customer's end, in the modem.")


OF_LINE: Final = {
    "shape.rate": "{way}",
    "shape.layer": "layer",
    "shape.overhead": "overhead",
    "queue_limit": "{way}_queue",
}
"""The figures of a port that a line has, each by the line's word for it; ``way`` is ``up`` or ``down``."""


class Temperature(Model):
    """What was measured at a module's case."""

    speed: Rate = key("The link speed.")
    celsius: Celsius = key("What was measured at the case.")
    where: Text = key("In which switch, and how warm the room was.")
    provenance: Provenance = key("How sure it is.", alias="from")
    note: Text = key("Who says so.")


class Firewall(Titled):
    """A machine between networks, with one core for all it forwards."""

    nic: Name = key("The card of its ports.")
    frame: Figure[Cost] = key("CPU time for each frame.")
    byte: Figure[Cost] | None = optional("CPU time for each byte of a frame.")
    rule: Figure[Cost] = key("CPU time for each rule that a frame is compared with.")
    rules: Figure[Count] = key("Rules before the one that lets a frame pass.")
    stateful: Figure[OnOff] = key("Whether only the first packet of a connection meets the rules.")


class Hub(Titled):
    """A repeater: one shared medium in half duplex."""

    ports: Figure[PositiveCount] = key("How many ports it has.")
    speed: Figure[Rate] = key("The speed of its one medium, in half duplex.")


class Transceiver(Titled):
    """An SFP+ transceiver: port ``host`` faces the switch, port ``line`` the cable."""

    host_speed: Figure[HostSpeed] = key(
        "Its speed towards the switch: a fixed one, or `line` for that of the cable."
    )
    line_speeds: Figure[LinkModes] = key("The link modes that it offers to the cable.")
    fifo: Figure[Size] = key("What it holds in each direction where its two sides run at different speeds.")
    fifo_unheeded: Figure[Size] | None = optional(
        "What it effectively holds when it sends PAUSE and the switch ignores it."
    )
    host_pause: Figure[OnOff] = key("Whether it speaks PAUSE with the switch.")
    line_pause: Figure[OnOff] = key("Whether it speaks PAUSE with the cable.")
    xoff: Figure[Size] | None = optional("The fill of the FIFO at which it sends PAUSE.")
    xon: Figure[Size] | None = optional("The fill at which it lets the peer go on.")
    pause_reaction: Figure[Time] | None = optional(_REACTION)
    autoneg_time: Figure[Milliseconds] | None = optional(
        "How long its side towards the cable negotiates and trains; 0 if unsaid."
    )
    host_autoneg_time: Figure[Milliseconds] | None = optional(
        "How long its side towards the switch does, once the cable has a link; 0 if unsaid."
    )
    phy_latency: tuple[PhyLatency, ...] = key(
        "What its PHY towards the cable takes at the speeds of which that is known; at others nothing.",
        default=(),
    )
    temperatures: tuple[Temperature, ...] = key("What was measured at its case, as data.", default=())


class Switch(Titled):
    """A switch with one shared packet buffer."""

    ports: Figure[PositiveCount] = key("How many ports it has.")
    speeds: Figure[LinkModes] = key("The link modes that each port offers.")
    buffer: Figure[Size] = key("The packet memory that all ports share.")
    cell: Figure[Size] | None = optional(
        "The packet memory is divided into cells of this size, and a frame takes whole ones."
    )
    alpha: Figure[Alpha] | None = optional(
        "Dynamic thresholds (Choudhury and Hahne, 1998): at most so much of what is free of the memory "
        "waits in an egress queue, or, with flow control on, has come by a port before it sends PAUSE. The "
        "static ones hold, too."
    )
    queue_limit: Figure[Size] = key("What one egress queue may hold, with flow control off.")
    xoff: Figure[Size] = key("What one ingress port may hold before it sends PAUSE, with flow control on.")
    xon: Figure[Size] = key("The fill at which it lets the peer go on.")
    headroom: Figure[Size] = key("What a port still takes after XOFF, for what is under way.")
    pause_reaction: Figure[Time] | None = optional(_REACTION)
    forward_latency: Figure[Time] | None = optional(
        "How long a frame that has arrived whole is on its way to the queue by which it leaves."
    )
    autoneg_time: Figure[Milliseconds] | None = optional(_AUTONEG_TIME)
    phy_latency: tuple[PhyLatency, ...] = key(_PHY_LATENCIES, default=())


Part = Nic | Driver | Transceiver | Switch | Host | OperatingSystem | Hub | Firewall | Bus | Storage | Line


class PartsFile(Model):
    """One file of parts."""

    nics: dict[Name, Nic] = key("Network cards.", default_factory=dict)
    drivers: dict[Name, Driver] = key("Cards with other drivers than Linux's.", default_factory=dict)
    modules: dict[Name, Transceiver] = key("Transceivers.", default_factory=dict)
    switches: dict[Name, Switch] = key("Switches.", default_factory=dict)
    hubs: dict[Name, Hub] = key("Repeaters.", default_factory=dict)
    hosts: dict[Name, Host] = key(
        "Computers: what an operating system does to a flow, and a card.", default_factory=dict
    )
    systems: dict[System, OperatingSystem] = key(
        "Operating systems, where their TCP is known to differ from Linux's.", default_factory=dict
    )
    firewalls: dict[Name, Firewall] = key(
        "Machines between networks that look at every frame.", default_factory=dict
    )
    buses: dict[Name, Bus] = key("What joins a card to its host.", default_factory=dict)
    storage: dict[Name, Storage] = key("Disks.", default_factory=dict)
    lines: dict[Name, Line] = key("Lines as providers sell them.", default_factory=dict)


KINDS: Final = tuple(PartsFile.model_fields)

_SECTIONS: Final[Mapping[PartKind, str]] = {
    "nic": "nics",
    "driver": "drivers",
    "module": "modules",
    "switch": "switches",
    "hub": "hubs",
    "host": "hosts",
    "system": "systems",
    "firewall": "firewalls",
    "bus": "buses",
    "storage": "storage",
    "line": "lines",
}


class Parts(PartsFile):
    """Every part that can be named."""

    def of(self, kind: PartKind) -> Mapping[str, Part]:
        """All parts of a kind, by name."""
        parts: Mapping[str, Part] = getattr(self, _SECTIONS[kind])
        return parts
