"""What is physically wrong with a wiring: figures that fit their own file but not each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from wirelab.ethernet import frame_bytes
from wirelab.model.expect import NETWORK
from wirelab.model.parts import Module, Nic, Switch, fifo_message, threshold_problems
from wirelab.model.settings import PART, Target
from wirelab.units import RATE, RATIO, SIZE, parse, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.model.settings import Setting
    from wirelab.model.topology import PortRef
    from wirelab.model.wiring import Wiring
    from wirelab.model.yamlfile import Loc

SMALLEST_MTU_BYTES: Final = 68
"""The least an IPv4 link must carry (RFC 791)."""
LARGEST_MTU_BYTES: Final = 9216
LARGEST_RING_FRAMES: Final = 8192
_EVERYTHING_PPM: Final = parse("100 %", RATIO)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong, the setting to blame for it, and the place in the topology if there is none.

    ``missing_part`` is the node that has no part: right in a topology, wrong in a scenario.
    """

    message: str
    setting: Setting | None
    loc: Loc
    missing_part: str | None = None


def wiring_findings(wiring: Wiring) -> Iterator[Finding]:
    """Everything wrong with the ports and cables of a wiring whose topology is sound."""
    nameless = set()
    for name, node in wiring.topology.nodes.items():
        if wiring.part_name(name) is None:
            nameless.add(name)
            message = f"the {node.kind} `{name}` has no part: a scenario's `with` must name one"
            yield Finding(message, None, ("nodes", name), missing_part=name)
    refs = [ref for ref in wiring.topology.ports() if ref.node not in nameless]
    for ref in refs:
        yield from _PortChecks(wiring, ref).findings()
    for index, cable in enumerate(wiring.topology.cables):
        ends = wiring.topology.ends(cable)
        speeds = [wiring.speed_bps(ref) for ref in ends]
        if speeds[0] != speeds[1]:
            one, other = (
                f"`{wiring.topology.label(ref)}` at {show(speed, RATE)}"
                for ref, speed in zip(ends, speeds, strict=True)
            )
            message = f"the two ends of a cable differ: {one}, {other}"
            setting = wiring.setting(ends[0], "speed") or wiring.setting(ends[1], "speed")
            yield Finding(message, setting, ("cables", index, "speed"))


@dataclass(frozen=True, slots=True)
class _PortChecks:
    wiring: Wiring
    ref: PortRef

    def findings(self) -> Iterator[Finding]:
        yield from self._number()
        yield from self._speed()
        yield from self._mtu()
        yield from self._room()
        yield from self._pause()
        yield from self._rings()
        yield from self._path()

    def _finding(self, message: str, *names: str) -> Finding:
        """A finding to be blamed on the settings ``names``, else on the part or the card."""
        wiring, ref = self.wiring, self.ref
        cable = wiring.topology.cable_of(ref)
        targets = [Target(ref.node, ref.port), Target(ref.node), Target(NETWORK)]
        if cable.name:
            targets.append(Target(cable.name))
        keys = [(target, name) for name in names for target in targets]
        keys += [(Target(ref.node), "nic"), (Target(ref.node), PART)]
        setting = next((wiring.settings[key] for key in keys if key in wiring.settings), None)
        return Finding(message, setting, ("nodes", ref.node))

    def _number(self) -> Iterator[Finding]:
        wiring, ref = self.wiring, self.ref
        device = wiring.device(ref.node)
        if isinstance(device, Switch) and ref.number > device.ports.value:
            part, label = wiring.part_name(ref.node), wiring.topology.label(ref)
            finding = self._finding(f"there is no port `{label}`: `{part}` has {device.ports.value}")
            index = wiring.topology.cables.index(wiring.topology.cable_of(ref))
            yield replace(finding, loc=("cables", index, "between"))

    def _speed(self) -> Iterator[Finding]:
        wiring, ref = self.wiring, self.ref
        speed, speeds = wiring.speed_bps(ref), wiring.speeds_bps(ref)
        if speed not in speeds:
            is_nic = isinstance(wiring.device(ref.node), Nic)
            part = wiring.nic_name(ref.node) if is_nic else wiring.part_name(ref.node)
            label = wiring.topology.label(ref)
            listed = ", ".join(show(each, RATE) for each in speeds)
            yield self._finding(
                f"`{label}` ({part}) does not link at {show(speed, RATE)}, only at {listed}", "speed"
            )

    def _mtu(self) -> Iterator[Finding]:
        mtu = self.wiring.mtu_bytes(self.ref)
        if not SMALLEST_MTU_BYTES <= mtu <= LARGEST_MTU_BYTES:
            yield self._finding(
                f"an MTU of {mtu} B is not between {SMALLEST_MTU_BYTES} and {LARGEST_MTU_BYTES} B", "mtu"
            )

    def _room(self) -> Iterator[Finding]:
        wiring, ref = self.wiring, self.ref
        mtu = wiring.mtu_bytes(ref)
        frame = frame_bytes(mtu)
        device = wiring.device(ref.node)
        if isinstance(device, Module):
            if wiring.fifo_bytes(ref) < frame:
                yield self._finding(fifo_message(wiring.fifo_bytes(ref), mtu), "fifo", "mtu")
            return
        for name in ("buffer", "queue_limit") if isinstance(device, Switch) else ("buffer",):
            room = wiring.number(ref, name)
            if room < frame:
                size = show(room, SIZE)
                yield self._finding(
                    f"a {name.replace('_', ' ')} of {size} does not hold one frame, {show(frame, SIZE)}",
                    name,
                    "mtu",
                )

    def _pause(self) -> Iterator[Finding]:
        wiring, ref = self.wiring, self.ref
        if not wiring.pause(ref, "pause_tx"):
            return
        device = wiring.device(ref.node)
        room_name = "fifo" if isinstance(device, Module) else "buffer"
        missing = [name for name in ("xoff", "xon") if wiring.value(ref, name) is None]
        if missing:
            label = wiring.topology.label(ref)
            yield self._finding(
                f"`{label}` is to send PAUSE, but its part has no thresholds: "
                f"set {' and '.join(f'`{ref.node}.{name}`' for name in missing)}",
                "pause_tx",
                "flow_control",
            )
            return
        xoff, xon, room = (wiring.number(ref, name) for name in ("xoff", "xon", room_name))
        for name, message in threshold_problems(xoff=xoff, xon=xon, room=room):
            other = "xon" if name == "xoff" else "xoff"
            yield self._finding(message, name, other, room_name)
        if isinstance(device, Switch) and xon < xoff <= room < xoff + wiring.number(ref, "headroom"):
            yield self._finding(
                f"XOFF + headroom is more than the buffer holds, {show(room, SIZE)}",
                "headroom",
                "xoff",
                "buffer",
            )

    def _rings(self) -> Iterator[Finding]:
        if not isinstance(self.wiring.device(self.ref.node), Nic):
            return
        for name in ("rx_ring", "tx_ring"):
            frames = self.wiring.number(self.ref, name)
            if not 1 <= frames <= LARGEST_RING_FRAMES:
                yield self._finding(f"a ring of {frames} is not between 1 and {LARGEST_RING_FRAMES}", name)

    def _path(self) -> Iterator[Finding]:
        wiring, ref = self.wiring, self.ref
        if wiring.loss_ppm(ref) > _EVERYTHING_PPM:
            yield self._finding("more than 100 % cannot be lost", "loss")
        if wiring.setting(ref, "jitter") is not None and wiring.setting(ref, "delay") is None:
            yield self._finding("jitter needs a delay to vary", "jitter")
