"""Every setting of a port, once: what it is, who sets it, and where a Plan has its value.

The lab writes and reads back by this table, `wirelab plan` prints it, the reference lists it. Standard
library only, for the guest. A name ends in its unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from wirelab.plan.types import Cable, Port

Tool = Literal[
    "ip link", "ethtool -s", "ethtool -A", "ethtool -C", "ethtool -G", "dcb pfc", "dcb apptrust", "sysfs"
]
Value = int | str | bool


@dataclass(frozen=True, slots=True)
class PortSetting:
    """One setting: ``option`` is the tool's word for it, or a file in /sys/class/net/PORT.

    ``text`` says what it is, for hardware that no tool knows under a ``topic``. ``value`` is None for a
    port that does not have it, or leaves it alone.
    """

    name: str
    tool: Tool
    option: str
    text: str
    value: Callable[[Port, Cable], Value | None]
    topic: str = ""


def _own(name: str, tool: Tool, option: str, text: str, *, if_autoneg: bool | None = None) -> PortSetting:
    """A field of the port itself; with ``if_autoneg`` only of one that negotiates, or that does not."""

    def value(port: Port, _: Cable) -> Value | None:
        own: Value | tuple[str, ...] | None = getattr(port, name)
        if if_autoneg not in (None, port.autoneg):
            return None
        return " ".join(own) if isinstance(own, tuple) else own

    return PortSetting(name, tool, option, text, value)


def _hardware(
    topic: str, name: str, text: str, value: Callable[[Port, Cable], Value | None] | None = None
) -> PortSetting:
    """A file of the driver's own; without ``value`` the field of the port that has its name."""
    return PortSetting(
        name, "sysfs", f"etherport/{name}", text, value or (lambda port, _: getattr(port, name)), topic
    )


def _part(topic: str, part: str, name: str, field: str, text: str) -> PortSetting:
    """The same for a field of what a port may have: a bus, a CPU, a pool."""

    def value(port: Port, _: Cable) -> Value | None:
        owner = getattr(port, part)
        return None if owner is None else getattr(owner, field)

    return _hardware(topic, name, text, value)


PORT_SETTINGS: tuple[PortSetting, ...] = (
    _own("autoneg", "ethtool -s", "autoneg", "whether it negotiates"),
    _own("speed_bps", "ethtool -s", "speed", "forced speed", if_autoneg=False),
    _own("duplex", "ethtool -s", "duplex", "forced duplex", if_autoneg=False),
    _own("advertise", "ethtool -s", "advertise", "modes that it offers", if_autoneg=True),
    _own("pause_autoneg", "ethtool -A", "autoneg", "whether PAUSE is negotiated"),
    _own("pause_rx", "ethtool -A", "rx", "whether it obeys PAUSE"),
    _own("pause_tx", "ethtool -A", "tx", "whether it sends PAUSE"),
    _own("rx_usecs", "ethtool -C", "rx-usecs", "how long an interrupt is held back"),
    _own("rx_frames", "ethtool -C", "rx-frames", "with which frame it comes at the latest"),
    _own("rx_ring_frames", "ethtool -G", "rx", "receive ring"),
    _own("tx_ring_frames", "ethtool -G", "tx", "transmit ring"),
    _part("bus", "bus", "bus_bps", "bps", "rate in each direction"),
    _part("bus", "bus", "bus_payload_bytes", "payload_bytes", "largest payload"),
    _part("bus", "bus", "bus_overhead_bytes", "overhead_bytes", "overhead of each payload"),
    _part("bus", "bus", "bus_frame_bytes", "frame_bytes", "descriptors of a frame"),
    _part("CPU", "cpu", "cpu", "number", "number"),
    _part("CPU", "cpu", "cpu_rx_frame_ns", "rx_frame_ns", "a frame received takes"),
    _part("CPU", "cpu", "cpu_rx_byte_ps", "rx_byte_ps", "a byte received"),
    _part("CPU", "cpu", "cpu_tx_frame_ns", "tx_frame_ns", "a frame sent"),
    _part("CPU", "cpu", "cpu_tx_byte_ps", "tx_byte_ps", "a byte sent"),
    _part("shared packet memory", "pool", "pool", "number", "number"),
    _part("shared packet memory", "pool", "pool_bytes", "size_bytes", "size"),
    PortSetting(
        "pfc",
        "dcb pfc",
        "prio-pfc",
        "priorities that are paused on their own",
        lambda port, _: " ".join(map(str, port.pfc)) or None,
    ),
    PortSetting(
        "trust",
        "dcb apptrust",
        "order",
        "what tells a priority",
        lambda port, _: port.trust if port.pfc else None,
    ),
    _own("mac", "ip link", "address", "MAC address"),
    _own("mtu_bytes", "ip link", "mtu", "MTU"),
    _own("gso_max_segs", "ip link", "gso_max_segs", "longest burst of the stack, in segments"),
    _hardware("frames", "role", "role"),
    _hardware("packet buffer", "buffer_bytes", "size"),
    _hardware("packet buffer", "xoff_bytes", "XOFF at"),
    _hardware("packet buffer", "xon_bytes", "XON at"),
    _hardware("cable", "cable_delay_ns", "delay", lambda _, cable: cable.delay_ns),
    _hardware("link", "follow", "only while there is one at"),
)
"""In the order in which the lab writes them."""
