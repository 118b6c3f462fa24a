"""From parts to ports: what each kind of device is to the emulated Ethernet port.

A host's port ends frames in a stack and waits as its card does. A switch and a module forward them:
frames wait in the egress queue and stay charged to the ingress port's packet buffer meanwhile.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final, cast

from wirelab.model import ethernet
from wirelab.model.bus import Bus as BusModel
from wirelab.model.bus import bus_of
from wirelab.model.check.queue import FORWARDING_QUEUE, MAY_MARK, RED, usual_queue
from wirelab.model.ethernet import frame_bytes
from wirelab.model.linking import link_speed_bps
from wirelab.model.settings import FRAMES, STATIC, is_time
from wirelab.model.shaping import CAKE, POLICE, held_bytes, is_shaped, shaping
from wirelab.model.topology import PortRef
from wirelab.model.wiring import Wiring
from wirelab.plan.queue import OWN_QUEUE, Queue, Red
from wirelab.plan.shape import Shape, ShapeKind
from wirelab.plan.types import Bus, Netem, Pool, Port
from wirelab.units import BITS_PER_BYTE, COUNT, NS_PER_S, NS_PER_US, PPM, TIME, parse

ALPHA_ONE: Final = 128
"""The lab is told a dynamic threshold in 128ths."""
FORWARD_RING_FRAMES: Final = 1
"""A forwarding port keeps its frames in the egress queue; the ring only feeds the wire."""

_MOST_JOINED_BYTES: Final = 65536
"""GRO's own limit for IPv4 (GRO_LEGACY_MAX_SIZE in the kernel's netdevice.h)."""


def equipped(port: Port, wiring: Wiring, ref: PortRef) -> Port:
    """``port`` with what the device that it belongs to makes of it: role, rings, buffer, queue."""
    match wiring.topology.nodes[ref.node].kind:
        case "host" | "firewall":
            return _card(port, wiring, ref)
        case "switch":
            return _switch(port, wiring, ref)
        case "hub":
            return _hub(port)
        case _:
            return _module(port, wiring, ref)


def netem(wiring: Wiring, ref: PortRef) -> Netem | None:
    """The long path that begins at a port's egress, None if there is none."""
    loss_ppm = wiring.loss_ppm(ref)
    if wiring.setting(ref, "delay") is None and not loss_ppm:
        return None
    said = {name: int(wiring.value(ref, name) or 0) for name in ("delay", "jitter", "reorder")}
    return Netem(said["delay"], said["jitter"], loss_ppm / PPM, reorder_ratio=said["reorder"] / PPM)


def shape(wiring: Wiring, ref: PortRef) -> Shape | None:
    """What lets pass what leaves by a port, None where nothing but the line does."""
    told = shaping(wiring, ref)
    if told is None:
        return None
    burst_bytes = told.burst_bytes or told.usual_burst_bytes
    kind = cast("ShapeKind", told.kind)
    number = list(wiring.topology.ports()).index(ref) + 1 if kind == POLICE else 0
    return Shape(kind, told.rate_bps, burst_bytes, told.overhead_bytes, told.least_bytes, told.trace, number)


def pause_reaction_ns(wiring: Wiring, ref: PortRef) -> int:
    """How long a port that obeys PAUSE or PFC sends on; 0 for one that does not.

    Where nobody says, it is the most that the standard allows: that is what a headroom is reckoned with.
    """
    if not wiring.pause(ref, "pause_rx") and not wiring.priorities(ref):
        return 0
    said = wiring.value(ref, "pause_reaction")
    return ethernet.pause_reaction_ns(link_speed_bps(wiring, ref)) if said is None else int(said)


def gso_max_segs(wiring: Wiring, ref: PortRef) -> int | None:
    """The longest burst that the stack hands to a port, in segments; None leaves the kernel's own.

    Where a long path begins it is one: netem holds and loses what it is handed, and that would be a
    whole burst. A shaper of a line counts frames.
    """
    if is_shaped(wiring, ref) or netem(wiring, ref):
        return 1
    longest = wiring.value(ref, "gso_max_segs")
    return None if longest is None else int(longest)


def pool(wiring: Wiring, ref: PortRef, number: int, ports: Mapping[PortRef, Port]) -> Pool | None:
    """The packet memory that a port of a switch shares with those of ``ports`` that are there, too.

    None where it is larger than all that they may hold by themselves: it is never the limit then, nor what a
    dynamic threshold depends on.
    """
    if wiring.topology.nodes[ref.node].kind != "switch":
        return None
    sharing = {other: port for other, port in ports.items() if other.node == ref.node}
    size_bytes = wiring.number(ref, "buffer")
    most_in = sum(port.buffer_bytes for port in sharing.values())
    most_out = sum(_most_queued(wiring, other, port) for other, port in sharing.items())
    most_out += sum(map(_most_forwarded, sharing.values()))
    dynamic = any(port.queue_alpha_128ths or port.xoff_alpha_128ths for port in sharing.values())
    return Pool(number, size_bytes) if dynamic or size_bytes < min(most_in, most_out) else None


def _most_queued(wiring: Wiring, ref: PortRef, port: Port) -> int:
    """What an egress queue and the ring below it can hold, as a packet memory counts it."""
    if port.queue is None or port.queue.limit_bytes is None:
        return wiring.number(ref, "buffer")
    below = ethernet.memory_bytes(frame_bytes(port.mtu_bytes), port.buffer_cell_bytes)
    return port.queue.limit_bytes + (FORWARD_RING_FRAMES + 1) * below


def _most_forwarded(port: Port) -> int:
    """What a port may have taken in that has come to no queue yet."""
    held = port.forward_latency_ns * port.speed_bps // (NS_PER_S * BITS_PER_BYTE)
    return held + frame_bytes(port.mtu_bytes) if held else 0


def bus(wiring: Wiring, ref: PortRef) -> Bus | None:
    """The bus between a card and its host, None where nobody says what it is: it is no limit then."""
    words = wiring.value(ref, "bus")
    if words is None:
        return None
    return plan_bus(*bus_of(str(words), wiring.parts.buses), int(wiring.value(ref, "bus_payload") or 0))


def plan_bus(bus: BusModel, lanes: int, payload_bytes: int = 0) -> Bus:
    """The bus of a card; ``payload_bytes`` is its maximum payload, 0 for the usual one."""
    return Bus(
        bps=bus.lane.value * lanes * bus.coding.value // PPM,
        payload_bytes=payload_bytes or bus.payload.value,
        overhead_bytes=bus.overhead.value,
        frame_bytes=bus.frame.value,
    )


def _queue(wiring: Wiring, ref: PortRef, kind: str, limit_bytes: int | None) -> Queue:
    """The egress queue as the settings want it, else the one that is usual for the device."""
    chosen, limit, ecn = (wiring.setting(ref, name) for name in ("queue", "queue_limit", "ecn"))
    if chosen is not None and chosen.value != kind and (chosen.value, kind) != (FORWARDING_QUEUE, OWN_QUEUE):
        kind, limit_bytes = str(chosen.value), None
    frames: int | None = None
    if limit is not None and is_time(str(limit.value)):
        limit_bytes = held_bytes(wiring, ref, parse(str(limit.value), TIME))
    elif limit is not None and isinstance(limit.value, str):
        limit_bytes, frames = None, parse(limit.value.removesuffix(FRAMES), COUNT)
    elif limit is not None:
        limit_bytes = int(limit.value)
    elif kind == RED:
        limit_bytes = wiring.number(ref, "queue_limit")
    marks = ecn is not None and kind in MAY_MARK and wiring.topology.nodes[ref.node].kind != "host"
    red = _red(wiring, ref) if kind == RED else None
    return Queue(kind, limit_bytes, frames, bool(ecn.value) if ecn and marks else None, red)


def _red(wiring: Wiring, ref: PortRef) -> Red:
    least, most, share = (wiring.setting(ref, name) for name in ("red_min", "red_max", "red_probability"))
    assert least is not None and most is not None  # noqa: S101, PT018 - a wiring that was checked has them
    return Red(int(least.value), int(most.value), 0 if share is None else int(share.value))


def _gro_max_bytes(wiring: Wiring, ref: PortRef) -> int | None:
    """What so many full segments have with one header in front: less than one more would."""
    segments = wiring.of_host(ref.node, "gro_max_segs")
    return None if segments is None else min(int(segments) * wiring.mtu_bytes(ref), _MOST_JOINED_BYTES)


def _card(port: Port, wiring: Wiring, ref: PortRef) -> Port:
    adaptive = wiring.adaptive(ref)
    is_host = wiring.topology.nodes[ref.node].kind == "host"
    return replace(
        port,
        rx_usecs=wiring.number(ref, "rx_usecs") if adaptive == "none" else 0,
        rx_frames=int(wiring.value(ref, "rx_frames") or 0),
        tx_usecs=int(wiring.value(ref, "tx_usecs") or 0),
        tx_adaptive=adaptive == "dim" and wiring.value(ref, "tx_usecs") is None,
        tx_frames=int(wiring.value(ref, "tx_frames") or 0),
        rx_moderation=wiring.moderation(ref),
        rx_adaptive=adaptive,
        gro=_joins(wiring, ref.node) and (not is_host or wiring.own(ref.node, "gro") is not False),
        gro_max_bytes=_gro_max_bytes(wiring, ref) if is_host else None,
        napi_defer_hard_irqs=int(wiring.value(ref, "napi_defer_hard_irqs") or 0),
        gro_flush_timeout_ns=int(wiring.value(ref, "gro_flush_timeout") or 0) * NS_PER_US,
        rx_ring_frames=wiring.number(ref, "rx_ring"),
        tx_ring_frames=wiring.number(ref, "tx_ring"),
        buffer_bytes=wiring.number(ref, "buffer"),
        xoff_bytes=wiring.number(ref, "xoff"),
        xon_bytes=wiring.number(ref, "xon"),
        queue=_queue(wiring, ref, usual_queue(wiring, ref), _line_queue_bytes(wiring, ref)),
    )


def _joins(wiring: Wiring, node: str) -> bool:
    """Whether a node may join segments as they come in.

    A firewall passes on what it has joined: a shaper behind it counts frames, and netem would lose all of it.
    """
    if wiring.topology.nodes[node].kind != "firewall":
        return True
    ports = (ref for ref in wiring.topology.ports() if ref.node == node)
    return not any(is_shaped(wiring, ref) or netem(wiring, ref) for ref in ports)


def _line_queue_bytes(wiring: Wiring, ref: PortRef) -> int | None:
    """What may wait for the line that begins at a port, None where none does or cake keeps the queue."""
    limit = wiring.of_line(ref, "queue_limit")
    return int(limit) if limit is not None and usual_queue(wiring, ref) == FORWARDING_QUEUE else None


def _switch(port: Port, wiring: Wiring, ref: PortRef) -> Port:
    """A switch that sends PAUSE bounds what each port may bring in, one that does not each egress queue."""
    shared = wiring.number(ref, "buffer")
    xoff = wiring.number(ref, "xoff")
    lossless = any(_stops(wiring, other) for other in wiring.topology.ports() if other.node == ref.node)
    limit = wiring.value(ref, "queue_limit")
    if lossless and wiring.setting(ref, "queue_limit") is None and wiring.of_line(ref, "queue_limit") is None:
        limit = shared
    cell = int(wiring.value(ref, "cell") or 0)
    alpha = _alpha_128ths(wiring, ref)
    usual = usual_queue(wiring, ref)
    kind = OWN_QUEUE if (cell or alpha) and usual == FORWARDING_QUEUE else usual
    return replace(
        port,
        role="forward",
        buffer_cell_bytes=cell,
        queue_alpha_128ths=0 if lossless else alpha,
        xoff_alpha_128ths=alpha if _stops(wiring, ref) else 0,
        buffer_bytes=xoff + wiring.number(ref, "headroom") if _stops(wiring, ref) else shared,
        xoff_bytes=xoff,
        xon_bytes=wiring.number(ref, "xon"),
        queue=_queue(wiring, ref, kind, limit if isinstance(limit, int) and kind != CAKE else None),
        forward_latency_ns=int(wiring.value(ref, "forward_latency") or 0),
    )


def _alpha_128ths(wiring: Wiring, ref: PortRef) -> int:
    said = wiring.value(ref, "alpha")
    return 0 if said in (None, STATIC) else int(Fraction(str(said)) * ALPHA_ONE)


def _stops(wiring: Wiring, ref: PortRef) -> bool:
    """Whether a port tells its peer to stop, all of it or some priorities."""
    return wiring.pause(ref, "pause_tx") or bool(wiring.priorities(ref))


def _hub(port: Port) -> Port:
    """A repeater holds nothing: what comes in by one port leaves by the others while it comes in."""
    frame = frame_bytes(port.mtu_bytes)
    return replace(port, role="repeat", buffer_bytes=3 * frame, xoff_bytes=2 * frame, xon_bytes=frame)


def _module(port: Port, wiring: Wiring, ref: PortRef) -> Port:
    """The FIFO of a module is the egress queue; only with PAUSE does the ingress side bound it too."""
    fifo = wiring.fifo_bytes(ref)
    if port.pause_tx:
        room, xoff, xon = (wiring.number(ref, name) for name in ("fifo", "xoff", "xon"))
    else:
        # Frames shorter than the minimum count more in the buffer than in the queue, and those on
        # the wire only in the buffer: twice the FIFO and some is never the limit.
        room = 2 * fifo + 4 * frame_bytes(port.mtu_bytes)
        xoff, xon = room, fifo
    queue = Queue(FORWARDING_QUEUE, fifo)
    return replace(port, role="through", buffer_bytes=room, xoff_bytes=xoff, xon_bytes=xon, queue=queue)
