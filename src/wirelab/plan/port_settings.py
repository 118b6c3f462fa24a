"""Every setting of a port, once: what it is, who sets it, and where a Plan has its value.

The lab writes and reads back by this table, `wirelab plan` prints it, the reference lists it. Standard
library only, for the guest. A name ends in its unit.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from wirelab.plan.types import Cable, Port

Tool = Literal[
    "ip link set",
    "ethtool -s",
    "ethtool -A",
    "ethtool -C",
    "ethtool -G",
    "ethtool -K",
    "dcb pfc",
    "dcb apptrust",
    "sysfs",
]
Value = int | str | bool


@dataclass(frozen=True, slots=True)
class PortSetting:
    """One setting: ``option`` is the tool's word for it, or a file in /sys/class/net/PORT.

    ``text`` says what it is, for hardware that no tool knows under a ``topic``. ``field`` is where its value
    is: in the port unless it says ``bus.``, ``cpu.``, ``capture.``, ``pool.`` or ``cable.``. Only a port
    that it ``is_of`` has it.
    """

    name: str
    tool: Tool
    option: str
    text: str
    topic: str = ""
    field: str = ""
    is_of: Callable[[Port], object] = lambda _: True

    def value(self, port: Port, cable: Cable) -> Value | None:
        """What the Plan sets; None for a port that does not have it, or leaves it alone."""
        part, _, field = (self.field or self.name).rpartition(".")
        owner = cable if part == "cable" else getattr(port, part) if part else port
        if owner is None or not self.is_of(port):
            return None
        own: Value | tuple[object, ...] | None = getattr(owner, field)
        return " ".join(map(str, own)) if isinstance(own, tuple) else own


def _hardware(topic: str, field: str, text: str, name: str = "") -> PortSetting:
    """A file of the driver's own."""
    name = name or field.replace(".", "_")
    return PortSetting(name, "sysfs", f"etherport/{name}", text, topic, field)


def _where_any(setting: PortSetting) -> PortSetting:
    """What is set only where it is neither 0, off nor empty, which is how a port is made."""
    return replace(setting, is_of=lambda port: getattr(port, setting.field or setting.name))


def _of_cards(setting: PortSetting) -> PortSetting:
    """What a port without interrupts does not have."""
    return replace(setting, is_of=lambda port: port.role == "host")


def _fixed(name: str, option: str, text: str) -> PortSetting:
    """A figure of the moderation, where no algorithm chooses it by the load."""
    return PortSetting(name, "ethtool -C", option, text, is_of=lambda port: not port.adapts)


def _deferred(name: str, file: str) -> PortSetting:
    """What the stack waits for, where it and not the card says when to interrupt."""
    return PortSetting(name, "sysfs", file, file, "stack", is_of=lambda port: port.napi_defer_hard_irqs)


PORT_SETTINGS: tuple[PortSetting, ...] = (
    PortSetting("autoneg", "ethtool -s", "autoneg", "whether it negotiates"),
    PortSetting("speed_bps", "ethtool -s", "speed", "forced speed", is_of=lambda port: not port.autoneg),
    PortSetting("duplex", "ethtool -s", "duplex", "forced duplex", is_of=lambda port: not port.autoneg),
    PortSetting(
        "advertise", "ethtool -s", "advertise", "modes that it offers", is_of=lambda port: port.autoneg
    ),
    PortSetting("pause_autoneg", "ethtool -A", "autoneg", "whether PAUSE is negotiated"),
    PortSetting("pause_rx", "ethtool -A", "rx", "whether it obeys PAUSE"),
    PortSetting("pause_tx", "ethtool -A", "tx", "whether it sends PAUSE"),
    _of_cards(_hardware("interrupt moderation", "rx_moderation", "counts from")),
    _of_cards(_hardware("interrupt moderation", "rx_adaptive", "adapts as")),
    _of_cards(PortSetting("adapts", "ethtool -C", "adaptive-rx", "whether it follows the load")),
    _of_cards(PortSetting("gro", "ethtool -K", "gro", "whether segments are joined as they come in")),
    _deferred("napi_defer_hard_irqs", "napi_defer_hard_irqs"),
    _deferred("gro_flush_timeout_ns", "gro_flush_timeout"),
    _fixed("rx_usecs", "rx-usecs", "how long an interrupt is held back"),
    _fixed("rx_frames", "rx-frames", "with which frame it comes at the latest"),
    _where_any(PortSetting("tx_adaptive", "ethtool -C", "adaptive-tx", "whether that follows the load")),
    _where_any(PortSetting("tx_usecs", "ethtool -C", "tx-usecs", "how long it is not told what has left")),
    _where_any(PortSetting("tx_frames", "ethtool -C", "tx-frames", "with which frame it is at the latest")),
    PortSetting("rx_ring_frames", "ethtool -G", "rx", "receive ring"),
    PortSetting("tx_ring_frames", "ethtool -G", "tx", "transmit ring"),
    _hardware("bus", "bus.bps", "rate in each direction"),
    _hardware("bus", "bus.payload_bytes", "largest payload"),
    _hardware("bus", "bus.overhead_bytes", "overhead of each payload"),
    _hardware("bus", "bus.frame_bytes", "descriptors of a frame"),
    _hardware("CPU", "cpu.number", "number", "cpu"),
    _hardware("CPU", "cpu.rx_frame_ns", "a frame received takes"),
    _hardware("CPU", "cpu.rx_byte_ps", "a byte received"),
    _hardware("CPU", "cpu.tx_frame_ns", "a frame sent"),
    _hardware("CPU", "cpu.tx_byte_ps", "a byte sent"),
    _hardware("capture", "capture.frame_ns", "a frame with a full backlog takes"),
    _hardware("capture", "capture.backlog_bytes", "what waits to be written at most"),
    _hardware("capture", "capture.bytes_per_s", "what is written in a second"),
    _hardware("shared packet memory", "pool.number", "number", "pool"),
    _hardware("shared packet memory", "pool.size_bytes", "size", "pool_bytes"),
    _where_any(
        _hardware("shared packet memory", "queue_alpha_128ths", "queue in 128ths of what is free at most")
    ),
    _where_any(
        _hardware("shared packet memory", "xoff_alpha_128ths", "XOFF in 128ths of what is free at most")
    ),
    _where_any(PortSetting("pfc", "dcb pfc", "prio-pfc", "priorities that are paused on their own")),
    PortSetting("trust", "dcb apptrust", "order", "what tells a priority", is_of=lambda port: port.pfc),
    PortSetting("mac", "ip link set", "address", "MAC address"),
    PortSetting("mtu_bytes", "ip link set", "mtu", "MTU"),
    PortSetting("gso_max_segs", "ip link set", "gso_max_segs", "longest burst of the stack, in segments"),
    _where_any(PortSetting("gro_max_bytes", "ip link set", "gro_max_size", "most that the stack joins")),
    _hardware("frames", "role", "role"),
    _where_any(_hardware("frames", "forward_latency_ns", "passed on after")),
    _hardware("packet buffer", "buffer_bytes", "size"),
    _where_any(_hardware("packet buffer", "buffer_cell_bytes", "in cells of")),
    _hardware("packet buffer", "xoff_bytes", "XOFF at"),
    _hardware("packet buffer", "xon_bytes", "XON at"),
    replace(
        _hardware("flow control", "pause_reaction_ns", "stops after"),
        is_of=lambda port: port.pause_rx or port.pfc,
    ),
    _hardware("egress queue", "own_queue.limit_bytes", "limit", "queue_limit_bytes"),
    _hardware("cable", "cable.delay_ns", "delay"),
    _where_any(_hardware("cable", "bits_per_error", "bits for one that is wrong")),
    _where_any(_hardware("link", "autoneg_ms", "negotiated for")),
    _hardware("link", "follow", "only while there is one at"),
)
"""In the order in which the lab writes them."""


def settings_of(port: Port, cable: Cable) -> list[tuple[PortSetting, Value]]:
    """The settings that a port has, each with its value."""
    values = [(setting, setting.value(port, cable)) for setting in PORT_SETTINGS]
    return [(setting, value) for setting, value in values if value is not None]
