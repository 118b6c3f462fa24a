"""What is physically wrong with a wiring: figures that fit their own file but not each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from wirelab.model.check.conflict import Conflict
from wirelab.model.check.link import cable_conflicts, link_problems
from wirelab.model.check.queue import queue_problems
from wirelab.model.ethernet import frame_bytes
from wirelab.model.metric import NETWORK
from wirelab.model.parts import Hub, Switch, Transceiver, fifo_message, threshold_problems
from wirelab.model.settings import PART, Target
from wirelab.units import SIZE, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.model.topology import PortRef
    from wirelab.model.wiring import Wiring

SMALLEST_MTU_BYTES: Final = 68
"""The least an IPv4 link must carry (RFC 791)."""
LARGEST_MTU_BYTES: Final = 9216


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
        yield from self._path()

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

    def _path(self) -> Iterator[Conflict]:
        wiring, ref = self.wiring, self.ref
        segments = wiring.setting(ref, "gso_max_segs")
        delay, jitter, reorder = (wiring.setting(ref, name) for name in ("delay", "jitter", "reorder"))
        if segments is not None and int(segments.value) > 1 and (delay or wiring.loss_ppm(ref)):
            message = "netem holds and loses whole bursts: on a long path `gso_max_segs` is 1"
            yield self._conflict(message, "gso_max_segs")
        if delay is None and jitter is not None:
            yield self._conflict("jitter needs a delay to vary", "jitter")
        if delay is None and reorder is not None:
            yield self._conflict("reorder needs a delay, by which some frames are overtaken", "reorder")
