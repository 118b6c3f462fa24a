"""What is physically wrong with a wiring: figures that fit their own file but not each other."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wirelab.errors import unknown
from wirelab.model.check import Blame
from wirelab.model.check.bond import bond_conflicts
from wirelab.model.check.link import cable_problem, link_problems
from wirelab.model.check.parts import fifo_message, threshold_problems
from wirelab.model.check.queue import queue_problems
from wirelab.model.check.shape import shape_problems
from wirelab.model.ethernet import frame_bytes, memory_bytes
from wirelab.model.metric import NETWORK
from wirelab.model.parts import CAPTURE, STANDARD_MTU_BYTES, Hub, Switch, Transceiver
from wirelab.model.settings import PART, Setting, Target
from wirelab.model.topology import PortRef
from wirelab.model.types import figure_value
from wirelab.model.wiring import Wiring
from wirelab.model.yamlfile import Loc
from wirelab.units import SIZE, show

SMALLEST_MTU_BYTES: Final = 68
"""The least an IPv4 link must carry (RFC 791)."""
LARGEST_MTU_BYTES: Final = 9216


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something impossible, the setting to blame for it, and the place in the topology if there is none.

    ``missing_part`` is the node that has no part: right in a topology, wrong in a scenario.
    """

    message: str
    setting: Setting | None
    loc: Loc
    missing_part: str | None = None


def wiring_conflicts(wiring: Wiring) -> Iterator[Conflict]:
    """Everything wrong with the ports and cables of a wiring whose topology is sound."""
    topology = wiring.topology
    nameless = {name for name in topology.nodes if wiring.part_name(name) is None}
    for name, node in topology.nodes.items():
        if name in nameless:
            message = f"the {node.kind} `{name}` has no part: a scenario's `with` must name one"
            yield Conflict(message, None, ("nodes", name), missing_part=name)
    for ref in topology.ports():
        if ref.node not in nameless:
            yield from _port_conflicts(wiring, ref)
    for name in topology.bonds if not nameless else ():
        for message, names in bond_conflicts(wiring, name):
            keys = ((Target(name), key) for key in names)
            blamed = next((wiring.settings[key] for key in keys if key in wiring.settings), None)
            yield Conflict(message, blamed, ("bonds", name))
    for index, cable in enumerate(topology.cables):
        ends = topology.ends(cable)
        if nameless.isdisjoint(ref.node for ref in ends) and (differ := cable_problem(wiring, ends)):
            setting = wiring.setting(ends[0], "speed") or wiring.setting(ends[1], "speed")
            yield Conflict(differ, setting, ("cables", index, "speed"))


def _port_conflicts(wiring: Wiring, ref: PortRef) -> Iterator[Conflict]:
    device = wiring.device(ref.node)
    if isinstance(device, Switch | Hub) and ref.number > device.ports.value:
        part, label = wiring.part_name(ref.node), wiring.topology.label(ref)
        index = wiring.topology.cables.index(wiring.topology.cable_of(ref))
        message = f"there is no port `{label}`: `{part}` has {device.ports.value}"
        yield Conflict(message, _blamed(wiring, ref, ()), ("cables", index, "between"))
    for problems in (
        link_problems,
        queue_problems,
        shape_problems,
        _moderation,
        _capture,
        _mtu,
        _room,
        _pause,
        _path,
    ):
        for message, names in problems(wiring, ref):
            yield Conflict(message, _blamed(wiring, ref, names), _written(wiring, ref, names))


def _written(wiring: Wiring, ref: PortRef, names: tuple[str, ...]) -> Loc:
    """Where a topology says what ``names`` are about: at the cable in the port, else at the node."""
    cable = wiring.topology.cable_of(ref)
    for name, said in (("speed", cable.speed_bps), ("line", cable.line)):
        if name in names and said is not None:
            return ("cables", wiring.topology.cables.index(cable), name)
    if "mtu" in names and wiring.topology.mtu_bytes != STANDARD_MTU_BYTES:
        return ("mtu",)
    return ("nodes", ref.node)


def _blamed(wiring: Wiring, ref: PortRef, names: tuple[str, ...]) -> Setting | None:
    """The one of the settings ``names`` that there is, else that of the card or the part."""
    cable = wiring.topology.cable_of(ref)
    targets = [Target(ref.node, ref.port), Target(ref.node), Target(NETWORK)]
    if cable.name:
        targets.append(Target(cable.name))
    keys = [(target, name) for name in names for target in targets]
    keys += [(Target(ref.node), "nic"), (Target(ref.node), PART)]
    return next((wiring.settings[key] for key in keys if key in wiring.settings), None)


def _moderation(wiring: Wiring, ref: PortRef) -> Iterator[Blame]:
    """A way to count that the card does not have, and frames that would wait for ever."""
    if wiring.topology.nodes[ref.node].kind not in ("host", "firewall"):
        return
    card, modes = wiring.nic_name(ref.node), wiring.moderations(ref)
    if wiring.moderation(ref) not in modes:
        mode = unknown(f"moderation of {card}", wiring.moderation(ref), modes)
        yield f"{mode}; it is a matter of the card", ("rx_moderation",)
    adaptive, frames = wiring.adaptive(ref), int(wiring.value(ref, "rx_frames") or 0)
    if adaptive != "none":
        if wiring.setting(ref, "rx_frames") is not None:
            yield f"`{card}` adapts its moderation to the load: set `rx_usecs`, too", ("rx_frames",)
    elif frames > 1 and wiring.number(ref, "rx_usecs") == 0:
        lonely = f"with `rx_usecs` 0 nothing interrupts before {frames} frames are there: fewer wait for ever"
        yield lonely, ("rx_frames", "rx_usecs")
    yield from _tx_moderation(wiring, ref)


def _tx_moderation(wiring: Wiring, ref: PortRef) -> Iterator[Blame]:
    """Figures that an interval has no use for, and frames of which nobody would ever hear."""
    frames = int(wiring.value(ref, "tx_frames") or 0)
    if wiring.moderation(ref) == "interval":
        for name in ("tx_usecs", "tx_frames"):
            if wiring.setting(ref, name) is not None:
                yield "an interval is one for both directions: `rx_usecs` sets it", (name, "rx_moderation")
    elif frames > 1 and not wiring.value(ref, "tx_usecs"):
        lonely = f"with `tx_usecs` 0 nobody hears of fewer than {frames} frames that have left: they wait on"
        yield lonely, ("tx_frames", "tx_usecs")


def _capture(wiring: Wiring, ref: PortRef) -> Iterator[Blame]:
    """A capture of which one figure is missing."""
    if wiring.topology.nodes[ref.node].kind != "host":
        return
    host = wiring.host(ref.node)
    said = {name: wiring.own(ref.node, name) or figure_value(host, name) for name in CAPTURE}
    if any(said.values()) and (missing := [f"`{ref.node}.{name}`" for name in CAPTURE if not said[name]]):
        yield f"a host that captures needs all of {', '.join(CAPTURE)}: set {' and '.join(missing)}", CAPTURE


def _mtu(wiring: Wiring, ref: PortRef) -> Iterator[Blame]:
    mtu = wiring.mtu_bytes(ref)
    if not SMALLEST_MTU_BYTES <= mtu <= LARGEST_MTU_BYTES:
        yield f"an MTU of {mtu} B is not between {SMALLEST_MTU_BYTES} and {LARGEST_MTU_BYTES} B", ("mtu",)


def _room(wiring: Wiring, ref: PortRef) -> Iterator[Blame]:
    mtu = wiring.mtu_bytes(ref)
    frame = frame_bytes(mtu)
    if isinstance(wiring.device(ref.node), Transceiver):
        if wiring.fifo_bytes(ref) < frame:
            yield fifo_message(wiring.fifo_bytes(ref), mtu), ("fifo", "mtu")
        return
    cell = int(wiring.value(ref, "cell") or 0)
    for name in ("buffer", "queue_limit"):
        room = wiring.value(ref, name)
        if isinstance(room, int) and room < memory_bytes(frame, cell):
            noun, size, taken = (
                name.replace("_", " "),
                show(room, SIZE),
                show(memory_bytes(frame, cell), SIZE),
            )
            yield f"a {noun} of {size} does not hold one frame, {taken}", (name, "mtu", "cell")
    waiting = wiring.of_line(ref, "queue_limit")
    if isinstance(waiting, int) and isinstance(wiring.device(ref.node), Switch):
        held = wiring.number(ref, "buffer")
        if wiring.value(ref, "queue_limit") == waiting > held:
            queue = f"what may wait for the line, {show(waiting, SIZE)}, is more than the buffer holds"
            yield f"{queue}, {show(held, SIZE)}", ("buffer", "line")


def _pause(wiring: Wiring, ref: PortRef) -> Iterator[Blame]:
    if not wiring.pause(ref, "pause_tx") and not wiring.priorities(ref):
        return
    device = wiring.device(ref.node)
    missing = [f"`{ref.node}.{name}`" for name in ("xoff", "xon") if wiring.value(ref, name) is None]
    if missing:
        message = f"`{wiring.topology.label(ref)}` is to send PAUSE, but its part has no thresholds"
        yield f"{message}: set {' and '.join(missing)}", ("pause_tx", "flow_control", "pfc")
        return
    room_name = "fifo" if isinstance(device, Transceiver) else "buffer"
    xoff, xon, room = (wiring.number(ref, name) for name in ("xoff", "xon", room_name))
    for name, message in threshold_problems(xoff=xoff, xon=xon, room=room):
        yield message, (name, "xon" if name == "xoff" else "xoff", room_name)
    if isinstance(device, Switch) and xon < xoff <= room < xoff + wiring.number(ref, "headroom"):
        message = f"XOFF + headroom is more than the buffer holds, {show(room, SIZE)}"
        yield message, ("headroom", "xoff", "buffer")


def _path(wiring: Wiring, ref: PortRef) -> Iterator[Blame]:
    segments = wiring.setting(ref, "gso_max_segs")
    delay, jitter, reorder = (wiring.setting(ref, name) for name in ("delay", "jitter", "reorder"))
    if segments is not None and int(segments.value) > 1 and (delay or wiring.loss_ppm(ref)):
        yield "netem holds and loses whole bursts: on a long path `gso_max_segs` is 1", ("gso_max_segs",)
    is_delayed = delay is not None and bool(delay.value)
    if not is_delayed and jitter is not None and (delay is None or jitter.value):
        yield "jitter needs a delay to vary", ("jitter", "delay")
    if not is_delayed and reorder is not None and (delay is None or reorder.value):
        yield "reorder needs a delay, by which some frames are overtaken", ("reorder", "delay")
