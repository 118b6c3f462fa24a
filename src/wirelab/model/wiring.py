"""Wiring: a topology with one set of settings, where every figure of every port can be looked up."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self, cast

from wirelab.model.bond import USUAL_HASH, BondMode, HashPolicy
from wirelab.model.ethernet import cable_delay_ns
from wirelab.model.metric import NETWORK
from wirelab.model.modes import AUTO, Mode
from wirelab.model.parts import (
    OF_LINE,
    Driver,
    Firewall,
    Host,
    Hub,
    Line,
    Nic,
    Part,
    Parts,
    Storage,
    Switch,
    Transceiver,
)
from wirelab.model.settings import INSTEAD, PART, Setting, Target, Value, parse_priorities
from wirelab.model.topology import MODULE_HOST_PORT, Cable, PortRef, Topology
from wirelab.model.trace_file import Traces
from wirelab.model.types import Adaptive, Moderation, figure_value


@dataclass(frozen=True, slots=True)
class Wiring:
    """A topology, its parts and the settings on top; what is said nearest to a port holds.

    A setting of the port comes before one of its node, of its cable, of the network, and all of them
    before the figure of the part. Later settings replace earlier ones for the same thing.
    """

    topology: Topology
    parts: Parts
    settings: Mapping[tuple[Target, str], Setting] = field(default_factory=dict)
    traces: Traces = field(default_factory=Traces)
    # A scenario sets a handful of names, and every figure of every port is asked for.
    _names: frozenset[str] = field(init=False, repr=False, compare=False)
    _telling: dict[str, tuple[Part, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Note which names are set at all, and make room for the parts that were looked up."""
        object.__setattr__(self, "_names", frozenset(name for _, name in self.settings))
        object.__setattr__(self, "_telling", {})

    @classmethod
    def of(
        cls, topology: Topology, parts: Parts, settings: Iterable[Setting], traces: Traces | None = None
    ) -> Self:
        """The wiring with ``settings`` in the order in which they apply."""
        return cls(topology, parts, {}, traces or Traces()).changed(settings)

    def changed(self, on_top: Iterable[Setting]) -> Self:
        """The wiring with these settings on top, in this order."""
        merged = dict(self.settings)
        for setting in on_top:
            merged.pop((setting.target, INSTEAD.get(setting.name, "")), None)
            merged[setting.target, setting.name] = setting
        return replace(self, settings=merged)

    def own(self, owner: str, name: str) -> Value | None:
        """What the settings say of a node or a bond itself, None if they say nothing."""
        setting = self.settings.get((Target(owner), name)) if name in self._names else None
        return None if setting is None else setting.value

    def part_name(self, node: str) -> str | None:
        """The part that a node is, None if it is left open."""
        part = self.own(node, PART)
        return self.topology.nodes[node].part if part is None else str(part)

    def nic_name(self, node: str) -> str:
        """The card of a host: what a setting says, else the topology, else what the host comes with.

        A scenario that replaces the host replaces its card with it.
        """
        said, written = self.own(node, "nic"), self.topology.nodes[node]
        if said is not None:
            return str(said)
        if written.nic and self.own(node, PART) is None:
            return written.nic
        return self.firewall(node).nic if written.kind == "firewall" else self.host(node).nic

    def firewall(self, node: str) -> Firewall:
        """The firewall part of a node."""
        return self.parts.firewalls[self.part_name(node) or ""]

    def host(self, node: str) -> Host:
        """The host part of a node."""
        return self.parts.hosts[self.part_name(node) or ""]

    def nic(self, node: str) -> Nic:
        """The card of a host or a firewall."""
        return self.parts.nics[self.nic_name(node)]

    def driver(self, node: str) -> Driver | None:
        """What drives the card of a host, None where that is Linux's driver or not known to differ."""
        if self.topology.nodes[node].kind != "host":
            return None
        card = (self.nic_name(node), self.host(node).system)
        drivers = (driver for driver in self.parts.drivers.values() if (driver.nic, driver.system) == card)
        return next(drivers, None)

    def storage(self, node: str) -> Storage | None:
        """What a host reads from and writes to, None if that costs no time."""
        storage = self.own(node, "storage")
        return None if storage is None else self.parts.storage[str(storage)]

    def line(self, cable: Cable) -> Line | None:
        """The line that a cable is, None for a plain one."""
        name = self.line_name(cable)
        return None if name is None else self.parts.lines[name]

    def line_name(self, cable: Cable) -> str | None:
        """What it is called among the parts."""
        setting = self._cable_setting(cable, "line")
        return cable.line if setting is None else str(setting.value)

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
        if self._names.isdisjoint(names):
            return None
        targets = (Target(ref.node, ref.port), Target(ref.node), Target(NETWORK))
        keys = ((target, name) for target in targets for name in names)
        return next((self.settings[key] for key in keys if key in self.settings), None)

    def number(self, ref: PortRef, name: str) -> int:
        """A figure of a port, in base units. Raises KeyError if neither settings nor part have it."""
        value = self.value(ref, name)
        if value is None:
            raise KeyError(name)
        return int(value)

    def value(self, ref: PortRef, name: str) -> Value | None:
        """A figure of a port from the settings, else its line's, else its part's, None if none has it."""
        setting = self.said(ref, name)
        if setting is not None:
            return setting.value
        if (figure := self.of_line(ref, name)) is not None:
            return figure
        if (parts := self._telling.get(ref.node)) is None:
            parts = self._telling[ref.node] = self._parts_telling(ref.node)
        figures = (figure_value(part, name) for part in parts)
        return next((figure for figure in figures if figure is not None), None)

    def _parts_telling(self, node: str) -> tuple[Part, ...]:
        """The parts that say how the ports of a node behave, a driver before the card that it drives."""
        device = self.device(node)
        driver = self.driver(node) if isinstance(device, Nic) else None
        return (device,) if driver is None else (driver, device)

    def said(self, ref: PortRef, name: str) -> Setting | None:
        """What the settings say of a figure of a port, of its shape those of its cable, too."""
        return (self.setting(ref, name) or self._shape_setting(ref, name)) if name in self._names else None

    def of_line(self, ref: PortRef, name: str) -> Value | None:
        """What the line that begins at a port says of it, None where no line begins or it says nothing."""
        if name not in OF_LINE:
            return None
        cable = self.topology.cable_of(ref)
        line = self.line(cable)
        if line is None:
            return None
        way = "down" if ref == self.topology.ends(cable)[0] else "up"
        value: Value | None = figure_value(line, OF_LINE[name].format(way=way))
        return value

    def _shape_setting(self, ref: PortRef, name: str) -> Setting | None:
        """What the cable in a port says of what leaves by it."""
        return self._cable_setting(self.topology.cable_of(ref), name) if name.startswith("shape.") else None

    def is_up(self, ref: PortRef) -> bool:
        """Whether a port is not shut."""
        setting = self.setting(ref, "link")
        return setting is None or bool(setting.value)

    def is_plugged(self, cable: Cable) -> bool:
        """Whether a cable is in its ports."""
        setting = self._cable_setting(cable, "link")
        return setting is None or bool(setting.value)

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
        if setting is not None and setting.name == "delay":
            return int(setting.value)
        length_mm = cable.length_mm or 0 if setting is None else int(setting.value)
        own_ns = cable.delay_ns if setting is None else None
        line = self.line(cable)
        return (cable_delay_ns(length_mm) if own_ns is None else own_ns) + (
            line.rtt.value // 2 if line else 0
        )

    def autoneg_ms(self, ref: PortRef) -> int:
        """How long a port negotiates, if it does."""
        setting = self.setting(ref, "autoneg_time")
        if setting is not None:
            return int(setting.value)
        figure = "host_autoneg_time" if ref.port == MODULE_HOST_PORT else "autoneg_time"
        return figure_value(self.device(ref.node), figure) or 0

    def phy_latency_ns(self, ref: PortRef, mode: Mode | None) -> int:
        """What a bit takes through the PHY of a port, out and in together, with a link in ``mode``.

        A part's is that of full duplex: in half duplex the slot time has room for the PHYs already.
        """
        setting = self.setting(ref, "phy_latency")
        if setting is not None:
            return int(setting.value)
        device = self.device(ref.node)
        if isinstance(device, Hub) or ref.port == MODULE_HOST_PORT or mode is None or mode.duplex == "half":
            return 0
        assert isinstance(device, Nic | Switch | Transceiver)  # noqa: S101 - device() gives no other
        known = {latency.speed: latency.latency for latency in device.phy_latency}
        return known.get(mode.speed_bps, 0)

    def bits_per_error(self, ref: PortRef) -> int:
        """The bits that a port receives for one that is wrong, 0 if none is."""
        cable = self.topology.cable_of(ref)
        setting = self.setting(ref, "bit_error_rate") or self._cable_setting(cable, "bit_error_rate")
        return int(setting.value) if setting else cable.bits_per_error or 0

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

    def adaptive(self, ref: PortRef) -> Adaptive:
        """What chooses the interrupt moderation of a card's port; a set ``rx_usecs`` switches it off."""
        driver = self.driver(ref.node)
        if self.setting(ref, "rx_usecs") is not None or (driver and driver.rx_usecs):
            return "none"
        return cast("Adaptive", self.value(ref, "rx_adaptive") or "none")

    def moderations(self, ref: PortRef) -> tuple[Moderation, ...]:
        """What the interrupt moderation of a card's port can count from, the default first."""
        modes = self.nic(ref.node).rx_moderation
        return modes.value if modes else ("first",)

    def moderation(self, ref: PortRef) -> Moderation:
        """What it counts from."""
        setting = self.setting(ref, "rx_moderation")
        return self.moderations(ref)[0] if setting is None else cast("Moderation", setting.value)

    def fifo_bytes(self, ref: PortRef) -> int:
        """What a module holds in front of a port.

        One that says PAUSE to a switch that does not listen holds less than its datasheet says.
        """
        unheeded = self.transceiver(ref.node).fifo_unheeded
        side = PortRef(ref.node, MODULE_HOST_PORT)
        if unheeded is None or self.setting(ref, "fifo") is not None:
            return self.number(ref, "fifo")
        if self.pause(side, "pause_tx") and self.pause(self.topology.peer(side), "pause_rx"):
            return self.number(ref, "fifo")
        return unheeded.value

    def of_host(self, node: str, name: str) -> Value:
        """A figure of a host itself, not of its card, from the settings, else its part or its system."""
        host, own = self.host(node), self.own(node, name)
        value = figure_value(host, name) if own is None else own
        if value is None and (system := self.parts.systems.get(host.system)) is not None:
            value = figure_value(system, name)
        return cast("Value", value)

    def bond_mode(self, bond: str) -> BondMode:
        """How the ports of a bond are one."""
        said = self.own(bond, "mode")
        return self.topology.bonds[bond].mode if said is None else cast("BondMode", said)

    def miimon_ms(self, bond: str) -> int:
        """How often a bond looks whether its ports have a link; 0 if it never does."""
        said = self.own(bond, "miimon")
        return self.topology.bonds[bond].miimon_ms if said is None else int(said)

    def hash_policy(self, bond: str) -> HashPolicy:
        """What of a frame tells by which port of a bond it leaves."""
        said = self.own(bond, "xmit_hash_policy") or self.topology.bonds[bond].xmit_hash_policy
        return USUAL_HASH if said is None else cast("HashPolicy", said)

    def _cable_setting(self, cable: Cable, name: str) -> Setting | None:
        return self.settings.get((Target(cable.name), name)) if cable.name and name in self._names else None
