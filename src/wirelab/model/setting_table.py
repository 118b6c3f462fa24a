"""Every setting that ``with`` may have. The reader of scenarios and the reference go by this table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wirelab.model.setting_kind import Limits, Owner, SettingKind
from wirelab.units import (
    COST,
    COUNT,
    LENGTH,
    MICROSECONDS,
    NS_PER_S,
    PPM,
    PS_PER_S,
    RATIO,
    SIZE,
    TIME,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirelab.model.topology import NodeKind

_U32: Final = 2**32 - 1
_CARDS: Final[tuple[Owner, ...]] = ("host", "firewall", "firewall port")
_QUEUEING: Final[tuple[Owner, ...]] = (*_CARDS, "switch", "switch port")
_PAUSING: Final[tuple[Owner, ...]] = (*_QUEUEING, "module", "module port")
_LINKED: Final[tuple[Owner, ...]] = ("host", "firewall port", "switch port", "module port")

_TC_BYTES: Final = Limits(1, _U32, "tc counts the bytes of a queue in 32 bits")
_RING: Final = Limits(1, 8192, "no card has longer rings")
_COST_OF_A_FRAME: Final = Limits(0, 10 * PS_PER_S, "a network in which a frame takes longer carries nothing")
_COST_OF_A_BYTE: Final = Limits(0, PS_PER_S // 1000, "a network in which a byte takes longer carries nothing")

SETTINGS: Final[tuple[SettingKind, ...]] = (
    # The card of a host or a firewall.
    SettingKind("nic", "nic", ("host", "firewall"), "the card, a part of the catalogue", "x520"),
    SettingKind(
        "rx_usecs",
        MICROSECONDS,
        _CARDS,
        "interrupt moderation: how long an interrupt waits for more frames (`ethtool -C`)",
        "50 us",
        limits=Limits(0, 1_000_000, "no card holds an interrupt back for longer"),
    ),
    SettingKind(
        "rx_frames",
        COUNT,
        _CARDS,
        "interrupt moderation: the frame with which it comes at the latest, 0 for none (`ethtool -C`)",
        "32",
        default="the part's, or 0",
        limits=Limits(0, _U32, "ethtool counts them in 32 bits"),
    ),
    SettingKind("rx_ring", COUNT, _CARDS, "frames in the receive ring (`ethtool -G`)", "512", limits=_RING),
    SettingKind("tx_ring", COUNT, _CARDS, "frames in the transmit ring (`ethtool -G`)", "512", limits=_RING),
    SettingKind("bus", "bus", ("host", "firewall"), "what joins the card to the machine", "pcie-3 x1"),
    SettingKind(
        "bus_payload", SIZE, _CARDS, "largest payload of a transaction on the bus", "256 B", "the bus's"
    ),
    # Memory and queues.
    SettingKind("buffer", SIZE, _QUEUEING, "packet buffer", "512 KiB"),
    SettingKind(
        "fifo", SIZE, ("module", "module port"), "FIFO in each direction", "16 KiB", limits=_TC_BYTES
    ),
    SettingKind(
        "headroom", SIZE, ("switch", "switch port"), "room behind XOFF for what is on its way", "20 kB"
    ),
    SettingKind(
        "queue",
        "queue",
        _QUEUEING,
        "egress queue: `fq_codel`, `fq`, `cake`, `pfifo_fast`, `pfifo` or `bfifo`",
        "cake",
        default="`fq_codel` at hosts and firewalls, `bfifo` at switches",
    ),
    SettingKind(
        "queue_limit",
        "queue_limit",
        _QUEUEING,
        "the most that the egress queue holds, in bytes or in frames, as it counts",
        "1000 frames",
        default="the part's, or the queue's own",
        limits=_TC_BYTES,
    ),
    SettingKind(
        "ecn",
        "on_off",
        _QUEUEING,
        "whether the queue marks instead of dropping; at a host, whether TCP asks for it",
        "on",
        default="the queue's own; TCP answers, but does not ask",
    ),
    # Saying stop.
    SettingKind("flow_control", "on_off", _PAUSING, "both of `pause_rx` and `pause_tx`", "on"),
    SettingKind("pause_rx", "on_off", _PAUSING, "whether it obeys PAUSE (`ethtool -A rx`)", "on"),
    SettingKind("pause_tx", "on_off", _PAUSING, "whether it sends PAUSE (`ethtool -A tx`)", "off"),
    SettingKind("xoff", SIZE, _PAUSING, "fill of the buffer or FIFO at which it says stop", "48 KiB"),
    SettingKind("xon", SIZE, _PAUSING, "fill at which it says go on", "32 KiB"),
    SettingKind(
        "pfc",
        "priorities",
        _QUEUEING,
        "priorities that are paused on their own (802.1Qbb), in the place of PAUSE",
        "[3, 4]",
        default="none",
    ),
    SettingKind(
        "trust",
        "trust",
        _QUEUEING,
        "what tells the priority of a frame: `pcp` or `dscp`",
        "dscp",
        default="pcp",
    ),
    # Links.
    SettingKind(
        "speed",
        "speed",
        (*_LINKED, "cable"),
        "the speed that it is forced to; `auto` negotiates",
        "1 Gbit/s",
        default="the cable's, or auto",
    ),
    SettingKind(
        "duplex", "duplex", _LINKED, "`full` or `half`", "half", default="full, or what is agreed on"
    ),
    SettingKind(
        "advertise",
        "modes",
        _LINKED,
        "the modes that it offers: a list, or a range",
        "100 Mbit/s..1 Gbit/s",
        default="all that its part has",
    ),
    SettingKind(
        "mtu",
        SIZE,
        (*_QUEUEING, "module", "module port", "hub", "network"),
        "longest IP packet",
        "9000 B",
        default="the topology's, or 1500 B",
    ),
    SettingKind(
        "length",
        LENGTH,
        ("cable",),
        "5 ns a metre",
        "100 m",
        default="the topology's",
        limits=Limits(0, parse("100000 km", LENGTH), "that is farther than to a satellite and back"),
    ),
    # Long paths, which begin at a port.
    SettingKind(
        "delay",
        TIME,
        (*_LINKED, "cable"),
        "one-way delay of the path that begins here; of a cable, from end to end",
        "10 ms",
        default="none",
        limits=Limits(0, 60 * NS_PER_S, "TCP has given up by then"),
    ),
    SettingKind(
        "jitter",
        TIME,
        _LINKED,
        "by how much the delay varies, either way",
        "1 ms",
        default="none",
        limits=Limits(0, 2**31 - 1, "netem draws it in 32 bits of nanoseconds"),
    ),
    SettingKind(
        "loss",
        RATIO,
        (*_LINKED, "cable"),
        "share of the frames that is lost",
        "0.1 %",
        default="none",
        limits=Limits(0, PPM, "more than all cannot be lost"),
    ),
    SettingKind(
        "reorder",
        RATIO,
        _LINKED,
        "share of the frames that overtake, by the delay",
        "1 %",
        default="none",
        limits=Limits(0, PPM, "more than all cannot overtake"),
    ),
    # Hosts.
    SettingKind(
        "storage",
        "storage",
        ("host",),
        "what a copy reads from and writes to",
        "nvme",
        default="takes no time",
    ),
    SettingKind("timestamps", "on_off", ("host",), "TCP timestamps", "off"),
    SettingKind("congestion", "congestion", ("host",), "congestion control of what it sends", "bbr"),
    SettingKind(
        "gso_max_segs",
        COUNT,
        ("host",),
        "the longest burst that the stack hands to the card, in segments",
        "1",
        default="the kernel's own; 1 where a long path begins",
        limits=Limits(1, 65_535, "Linux takes no more"),
    ),
    SettingKind("rx_frame", COST, ("host",), "CPU time of a frame received", "7 us", limits=_COST_OF_A_FRAME),
    SettingKind("rx_byte", COST, ("host",), "CPU time of a byte received", "2 ns", limits=_COST_OF_A_BYTE),
    SettingKind("tx_frame", COST, ("host",), "CPU time of a frame sent", "7 us", limits=_COST_OF_A_FRAME),
    SettingKind("tx_byte", COST, ("host",), "CPU time of a byte sent", "2 ns", limits=_COST_OF_A_BYTE),
    # Firewalls.
    SettingKind("frame", COST, ("firewall",), "CPU time of a frame", "5 us", limits=_COST_OF_A_FRAME),
    SettingKind("byte", COST, ("firewall",), "CPU time of a byte", "1 ns", limits=_COST_OF_A_BYTE),
    SettingKind(
        "rule",
        COST,
        ("firewall",),
        "CPU time of a rule that a frame is compared with",
        "60 ns",
        limits=_COST_OF_A_FRAME,
    ),
    SettingKind(
        "rules",
        COUNT,
        ("firewall",),
        "rules before the one that lets a frame pass",
        "1000",
        limits=Limits(0, 10_000, "nft takes minutes to load more"),
    ),
    SettingKind(
        "stateful", "on_off", ("firewall",), "whether only the first frame of a connection is compared", "on"
    ),
    SettingKind(
        "block",
        "packets",
        ("firewall",),
        "what it drops: a protocol, or one and a port",
        "tcp 5201",
        default="nothing",
    ),
)


def settings_of(owner: Owner) -> Mapping[str, SettingKind]:
    """The settings that an owner may have, by name."""
    return {setting.name: setting for setting in SETTINGS if owner in setting.owners}


NODE_SETTINGS: Final[Mapping[NodeKind, Mapping[str, SettingKind]]] = {
    "host": settings_of("host"),
    "switch": settings_of("switch"),
    "module": settings_of("module"),
    "hub": settings_of("hub"),
    "firewall": settings_of("firewall"),
}
PORT_SETTINGS: Final[Mapping[NodeKind, Mapping[str, SettingKind]]] = {
    "host": {},
    "switch": settings_of("switch port"),
    "module": settings_of("module port"),
    "hub": {},
    "firewall": settings_of("firewall port"),
}
CABLE_SETTINGS: Final = settings_of("cable")
NETWORK_SETTINGS: Final = settings_of("network")
