"""What is physically wrong with a wiring: figures that fit their own file but not each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from wirelab.model.check.conflict import Conflict
from wirelab.model.check.link import cable_conflicts, link_problems
from wirelab.model.check.queue import queue_problems
from wirelab.model.ethernet import frame_bytes
from wirelab.model.metric import NETWORK
from wirelab.model.parts import Hub, Nic, Switch, Transceiver, fifo_message, threshold_problems
from wirelab.model.settings import PART, Target
from wirelab.units import RATIO, SIZE, parse, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.model.topology import PortRef
    from wirelab.model.wiring import Wiring

SMALLEST_MTU_BYTES: Final = 68
"""The least an IPv4 link must carry (RFC 791)."""
LARGEST_MTU_BYTES: Final = 9216
LARGEST_RING_FRAMES: Final = 8192
MOST_RULES: Final = 10_000
MOST_SEGMENTS: Final = 65_535
"""What Linux takes for `gso_max_segs`."""
_EVERYTHING_PPM: Final = parse("100 %", RATIO)


def wiring_conflicts(wiring: Wiring) -> Iterator[Conflict]:
    """Everything wrong with the ports and cables of a wiring whose topology is sound."""
    nameless = set()
    for name, node in wiring.topology.nodes.items():
        if wiring.part_name(name) is None:
            nameless.add(name)
            message = f"the {node.kind} `{name}` has no part: a scenario's `with` must name one"
            yield Conflict(message, None, ("nodes", name), missing_part=name)
    refs = [ref for ref in wiring.topology.ports() if ref.node not in nameless]
    for ref in refs:
        yield from _PortChecks(wiring, ref).conflicts()
    known = {ref for ref in refs if not nameless & {wiring.topology.peer(ref).node}}
    for index, cable in enumerate(wiring.topology.cables):
        ends = wiring.topology.ends(cable)
        if known.issuperset(ends):
            yield from cable_conflicts(wiring, index, ends)


@dataclass(frozen=True, slots=True)
class _PortChecks:
    wiring: Wiring
    ref: PortRef

    def conflicts(self) -> Iterator[Conflict]:
        yield from self._number()
        for message, names in (
            *link_problems(self.wiring, self.ref),
            *queue_problems(self.wiring, self.ref),
        ):
            yield self._conflict(message, *names)
        yield from self._mtu()
        yield from self._room()
        yield from self._pause()
        yield from self._rings()
        yield from self._segments()
        yield from self._path()
        yield from self._rules()

    def _conflict(self, message: str, *names: str) -> Conflict:
        """A conflict to be blamed on the settings ``names``, else on the part or the card."""
        wiring, ref = self.wiring, self.ref
        cable = wiring.topology.cable_of(ref)
        targets = [Target(ref.node, ref.port), Target(ref.node), Target(NETWORK)]
        if cable.name:
            targets.append(Target(cable.name))
        keys = [(target, name) for name in names for target in targets]
        keys += [(Target(ref.node), "nic"), (Target(ref.node), PART)]
        setting = next((wiring.settings[key] for key in keys if key in wiring.settings), None)
        return Conflict(message, setting, ("nodes", ref.node))

    def _number(self) -> Iterator[Conflict]:
        wiring, ref = self.wiring, self.ref
        device = wiring.device(ref.node)
        if isinstance(device, Switch | Hub) and ref.number > device.ports.value:
            part, label = wiring.part_name(ref.node), wiring.topology.label(ref)
            conflict = self._conflict(f"there is no port `{label}`: `{part}` has {device.ports.value}")
            index = wiring.topology.cables.index(wiring.topology.cable_of(ref))
            yield replace(conflict, loc=("cables", index, "between"))

    def _mtu(self) -> Iterator[Conflict]:
        mtu = self.wiring.mtu_bytes(self.ref)
        if not SMALLEST_MTU_BYTES <= mtu <= LARGEST_MTU_BYTES:
            yield self._conflict(
                f"an MTU of {mtu} B is not between {SMALLEST_MTU_BYTES} and {LARGEST_MTU_BYTES} B", "mtu"
            )

    def _room(self) -> Iterator[Conflict]:
        wiring, ref = self.wiring, self.ref
        mtu = wiring.mtu_bytes(ref)
        frame = frame_bytes(mtu)
        device = wiring.device(ref.node)
        if isinstance(device, Hub):
            return
        if isinstance(device, Transceiver):
            if wiring.fifo_bytes(ref) < frame:
                yield self._conflict(fifo_message(wiring.fifo_bytes(ref), mtu), "fifo", "mtu")
            return
        for name in ("buffer", "queue_limit"):
            room = wiring.value(ref, name)
            if not isinstance(room, int):
                continue
            if room < frame:
                size = show(room, SIZE)
                yield self._conflict(
                    f"a {name.replace('_', ' ')} of {size} does not hold one frame, {show(frame, SIZE)}",
                    name,
                    "mtu",
                )

    def _pause(self) -> Iterator[Conflict]:
        wiring, ref = self.wiring, self.ref
        if not wiring.pause(ref, "pause_tx") and not wiring.priorities(ref):
            return
        device = wiring.device(ref.node)
        room_name = "fifo" if isinstance(device, Transceiver) else "buffer"
        missing = [name for name in ("xoff", "xon") if wiring.value(ref, name) is None]
        if missing:
            label = wiring.topology.label(ref)
            yield self._conflict(
                f"`{label}` is to send PAUSE, but its part has no thresholds: "
                f"set {' and '.join(f'`{ref.node}.{name}`' for name in missing)}",
                "pause_tx",
                "flow_control",
                "pfc",
            )
            return
        xoff, xon, room = (wiring.number(ref, name) for name in ("xoff", "xon", room_name))
        for name, message in threshold_problems(xoff=xoff, xon=xon, room=room):
            other = "xon" if name == "xoff" else "xoff"
            yield self._conflict(message, name, other, room_name)
        if isinstance(device, Switch) and xon < xoff <= room < xoff + wiring.number(ref, "headroom"):
            yield self._conflict(
                f"XOFF + headroom is more than the buffer holds, {show(room, SIZE)}",
                "headroom",
                "xoff",
                "buffer",
            )

    def _rings(self) -> Iterator[Conflict]:
        if not isinstance(self.wiring.device(self.ref.node), Nic):
            return
        for name in ("rx_ring", "tx_ring"):
            frames = self.wiring.number(self.ref, name)
            if not 1 <= frames <= LARGEST_RING_FRAMES:
                yield self._conflict(f"a ring of {frames} is not between 1 and {LARGEST_RING_FRAMES}", name)

    def _segments(self) -> Iterator[Conflict]:
        setting = self.wiring.setting(self.ref, "gso_max_segs")
        if setting is None:
            return
        segments = int(setting.value)
        if not 1 <= segments <= MOST_SEGMENTS:
            message = f"bursts of {segments} segments are not between 1 and {MOST_SEGMENTS}"
            yield self._conflict(message, "gso_max_segs")
        elif segments > 1 and (self.wiring.setting(self.ref, "delay") or self.wiring.loss_ppm(self.ref)):
            message = "netem holds and loses whole bursts: on a long path `gso_max_segs` is 1"
            yield self._conflict(message, "gso_max_segs")

    def _rules(self) -> Iterator[Conflict]:
        wiring, node = self.wiring, self.ref.node
        if wiring.topology.nodes[node].kind == "firewall":
            setting = wiring.settings.get((Target(node), "rules"))
            rules = wiring.firewall(node).rules.value if setting is None else int(setting.value)
            if rules > MOST_RULES:
                yield self._conflict(f"a rule set of {rules} is more than {MOST_RULES}", "rules")

    def _path(self) -> Iterator[Conflict]:
        wiring, ref = self.wiring, self.ref
        if wiring.loss_ppm(ref) > _EVERYTHING_PPM:
            yield self._conflict("more than 100 % cannot be lost", "loss")
        if int(wiring.value(ref, "reorder") or 0) > _EVERYTHING_PPM:
            yield self._conflict("more than 100 % cannot be reordered", "reorder")
        if wiring.setting(ref, "delay") is None:
            if wiring.setting(ref, "jitter") is not None:
                yield self._conflict("jitter needs a delay to vary", "jitter")
            if wiring.setting(ref, "reorder") is not None:
                yield self._conflict("reorder needs a delay, by which some frames are overtaken", "reorder")
