"""Wiring: a topology with one set of settings, where every figure of every port can be looked up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from wirelab.model.ethernet import cable_delay_ns
from wirelab.model.metric import NETWORK
from wirelab.model.modes import AUTO, Mode
from wirelab.model.parts import Firewall, Host, Hub, Nic, Storage, Switch, Transceiver
from wirelab.model.settings import PART, Setting, Target, Value, parse_priorities
from wirelab.model.topology import MODULE_HOST_PORT, PortRef

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wirelab.model.parts import Part, Parts
    from wirelab.model.topology import Cable, Topology
    from wirelab.model.types import Figure

_EVERYWHERE: Final = Target(NETWORK)


@dataclass(frozen=True, slots=True)
class Wiring:
    """A topology, its parts and the settings on top; what is said nearest to a port holds.

    A setting of the port comes before one of its node, of its cable, of the network, and all of them
    before the figure of the part. Later settings replace earlier ones for the same thing.
    """

    topology: Topology
    parts: Parts
    settings: Mapping[tuple[Target, str], Setting] = field(default_factory=dict)

    @classmethod
    def of(cls, topology: Topology, parts: Parts, settings: Iterable[Setting]) -> Wiring:
        """The wiring with ``settings`` in the order in which they apply."""
        return cls(topology, parts, {(setting.target, setting.name): setting for setting in settings})

    def part_name(self, node: str) -> str | None:
        """The part that a node is, None if it is left open."""
        setting = self.settings.get((Target(node), PART))
        return self.topology.nodes[node].part if setting is None else str(setting.value)

    def nic_name(self, node: str) -> str:
        """The card of a host: what a setting says, else the topology, else what the host comes with.

        A scenario that replaces the host replaces its card with it.
        """
        setting = self.settings.get((Target(node), "nic"))
        if setting is not None:
            return str(setting.value)
        replaced = (Target(node), PART) in self.settings
        named = self.topology.nodes[node].nic
        if named and not replaced:
            return named
        firewall = self.topology.nodes[node].kind == "firewall"
        return self.firewall(node).nic if firewall else self.host(node).nic

    def firewall(self, node: str) -> Firewall:
        """The firewall part of a node."""
        return self.parts.firewalls[self.part_name(node) or ""]

    def host(self, node: str) -> Host:
        """The host part of a node."""
        return self.parts.hosts[self.part_name(node) or ""]

    def nic(self, node: str) -> Nic:
        """The card of a host or a firewall."""
        return self.parts.nics[self.nic_name(node)]

    def storage(self, node: str) -> Storage | None:
        """What a host reads from and writes to, None if that costs no time."""
        setting = self.settings.get((Target(node), "storage"))
        return None if setting is None else self.parts.storage[str(setting.value)]

    def transceiver(self, node: str) -> Transceiver:
        """The module part of a node."""
        return self.parts.modules[self.part_name(node) or ""]

    def device(self, node: str) -> Part:
        """The part that the ports of a node belong to: a card where it has one, else the node's own part."""
        kind = self.topology.nodes[node].kind
        if kind in ("host", "firewall"):
            return self.nic(node)
        return self.parts.of(kind)[self.part_name(node) or ""]

    def setting(self, ref: PortRef, *names: str) -> Setting | None:
        """What the settings say about a port, the nearest first; of several names, the first."""
        for target in (Target(ref.node, ref.port), Target(ref.node), _EVERYWHERE):
            for name in names:
                setting = self.settings.get((target, name))
                if setting is not None:
                    return setting
        return None

    def number(self, ref: PortRef, name: str) -> int:
        """A figure of a port, in base units. Raises KeyError if neither settings nor part have it."""
        value = self.value(ref, name)
        if value is None:
            raise KeyError(name)
        return int(value)

    def value(self, ref: PortRef, name: str) -> Value | None:
        """A figure of a port from the settings, else from its part, None if neither has it."""
        setting = self.setting(ref, name)
        if setting is not None:
            return setting.value
        figure: Figure[Value] | None = getattr(self.device(ref.node), name, None)
        return None if figure is None else figure.value

    def asked_speed_bps(self, ref: PortRef) -> int | None:
        """The speed that a port is forced to by a setting or its cable, None where it is to negotiate."""
        cable = self.topology.cable_of(ref)
        setting = self.setting(ref, "speed") or self._cable_setting(cable, "speed")
        if setting is None:
            return cable.speed_bps
        return None if setting.value == AUTO else int(setting.value)

    def modes(self, ref: PortRef) -> tuple[Mode, ...]:
        """The modes that the hardware of a port has."""
        device = self.device(ref.node)
        if isinstance(device, Hub):
            return (Mode(device.speed.value, "half"),)
        if isinstance(device, Transceiver):
            fixed = device.host_speed.value
            if ref.port == MODULE_HOST_PORT and fixed != "line":
                return (Mode(fixed),)
            return device.line_speeds.value
        assert isinstance(device, Nic | Switch)  # noqa: S101 - device() gives no other
        return device.speeds.value

    def mtu_bytes(self, ref: PortRef) -> int:
        """The MTU of a port."""
        setting = self.setting(ref, "mtu")
        return self.topology.mtu_bytes if setting is None else int(setting.value)

    def delay_ns(self, cable: Cable) -> int:
        """How long a bit takes along a cable."""
        setting = self._cable_setting(cable, "delay") or self._cable_setting(cable, "length")
        if setting is not None:
            return int(setting.value) if setting.name == "delay" else cable_delay_ns(int(setting.value))
        return cable.delay_ns if cable.delay_ns is not None else cable_delay_ns(cable.length_mm or 0)

    def loss_ppm(self, ref: PortRef) -> int:
        """The share of frames that leave a port and get lost on the way."""
        setting = self.setting(ref, "loss") or self._cable_setting(self.topology.cable_of(ref), "loss")
        return 0 if setting is None else int(setting.value)

    def pause(self, ref: PortRef, direction: str) -> bool:
        """Whether a port sends (``pause_tx``) or obeys (``pause_rx``) PAUSE; a node without part does not."""
        if self.priorities(ref):
            return False
        setting = self.setting(ref, direction, "flow_control")
        if setting is not None:
            return bool(setting.value)
        if self.part_name(ref.node) is None:
            return False
        device = self.device(ref.node)
        if isinstance(device, Nic):
            return device.flow_control.value
        if isinstance(device, Transceiver):
            return (device.host_pause if ref.port == MODULE_HOST_PORT else device.line_pause).value
        return False

    def priorities(self, ref: PortRef) -> tuple[int, ...]:
        """The priorities that a port pauses on their own (PFC)."""
        setting = self.setting(ref, "pfc")
        return () if setting is None else parse_priorities(str(setting.value))

    def rx_usecs(self, ref: PortRef) -> int:
        """The interrupt moderation of a card's port; that of a host's own driver comes first."""
        if self.topology.nodes[ref.node].kind != "host":
            return self.number(ref, "rx_usecs")
        host = self.host(ref.node)
        if self.setting(ref, "rx_usecs") is None and host.rx_usecs and host.nic == self.nic_name(ref.node):
            return host.rx_usecs.value
        return self.number(ref, "rx_usecs")

    def fifo_bytes(self, ref: PortRef) -> int:
        """What a module holds in front of a port.

        One that says PAUSE to a switch that does not listen holds less than its datasheet says.
        """
        module = self.transceiver(ref.node)
        host_side = PortRef(ref.node, MODULE_HOST_PORT)
        if self.setting(ref, "fifo") is None and module.fifo_unheeded is not None:
            heeded = self.pause(host_side, "pause_tx") and self.pause(
                self.topology.peer(host_side), "pause_rx"
            )
            if not heeded:
                return module.fifo_unheeded.value
        return self.number(ref, "fifo")

    def timestamps(self, node: str) -> bool:
        """Whether a host uses TCP timestamps."""
        setting = self.settings.get((Target(node), "timestamps"))
        return self.host(node).timestamps.value if setting is None else bool(setting.value)

    def congestion(self, node: str) -> str:
        """The congestion control a host uses unless a flow says otherwise."""
        setting = self.settings.get((Target(node), "congestion"))
        return self.host(node).congestion.value if setting is None else str(setting.value)

    def _cable_setting(self, cable: Cable, name: str) -> Setting | None:
        return self.settings.get((Target(cable.name), name)) if cable.name else None
