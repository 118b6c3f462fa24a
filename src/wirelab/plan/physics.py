"""From parts to ports: what each kind of device is to the emulated Ethernet port.

A host's port ends frames in a stack and waits as its card does. A switch and a module forward them:
frames wait in the egress queue and stay charged to the ingress port's packet buffer meanwhile.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypedDict

from wirelab.model.bus import bus_of
from wirelab.model.check.queue import FORWARDING_QUEUE, HOST_QUEUE, MAY_MARK
from wirelab.model.ethernet import frame_bytes
from wirelab.model.settings import FRAMES
from wirelab.plan.bus import plan_bus
from wirelab.plan.types import Netem, Pool, Queue
from wirelab.units import COUNT, PPM, parse

if TYPE_CHECKING:
    from wirelab.model.topology import PortRef
    from wirelab.model.wiring import Wiring
    from wirelab.plan.types import Bus, Port

FORWARD_RING_FRAMES: Final = 1
"""A forwarding port keeps its frames in the egress queue; the ring only feeds the wire."""


def equipped(port: Port, wiring: Wiring, ref: PortRef) -> Port:
    """``port`` with what the device that it belongs to makes of it: role, rings, buffer, queue."""
    match wiring.topology.nodes[ref.node].kind:
        case "host" | "firewall":
            return _card(port, wiring, ref)
        case "switch":
            return replace(port, role="forward", **_switch(wiring, ref))
        case "hub":
            return _hub(port)
        case _:
            return _module(port, wiring, ref)


def netem(wiring: Wiring, ref: PortRef) -> Netem | None:
    """The long path that begins at a port's egress, None if there is none."""
    delay, jitter, reorder = (wiring.setting(ref, name) for name in ("delay", "jitter", "reorder"))
    loss_ppm = wiring.loss_ppm(ref)
    if delay is None and not loss_ppm:
        return None
    return Netem(
        delay_ns=int(delay.value) if delay else 0,
        jitter_ns=int(jitter.value) if jitter else 0,
        loss_ratio=loss_ppm / PPM,
        reorder_ratio=int(reorder.value) / PPM if reorder else 0.0,
    )


def gso_max_segs(wiring: Wiring, ref: PortRef) -> int | None:
    """The longest burst that the stack hands to a port, in segments; None leaves the kernel's own.

    Where a long path begins it is one: netem holds and loses what it is handed, and that would be a
    whole burst.
    """
    if netem(wiring, ref) is not None:
        return 1
    setting = wiring.setting(ref, "gso_max_segs")
    return None if setting is None else int(setting.value)


def pool(wiring: Wiring, ref: PortRef, number: int) -> Pool | None:
    """The packet memory that the ports of a switch share.

    None where it is larger than all that the ports may hold by themselves: it is never the limit then.
    """
    if wiring.topology.nodes[ref.node].kind != "switch":
        return None
    ports = [port for port in wiring.topology.ports() if port.node == ref.node]
    size = wiring.number(ref, "buffer")
    most_in = sum(_switch(wiring, port)["buffer_bytes"] for port in ports)
    most_out = sum(_most_queued(wiring, port) for port in ports)
    return Pool(number, size) if size < min(most_in, most_out) else None


def bus(wiring: Wiring, ref: PortRef) -> Bus | None:
    """The bus between a card and its host, None where nobody says what it is: it is no limit then."""
    words = wiring.value(ref, "bus")
    if words is None:
        return None
    payload = wiring.setting(ref, "bus_payload")
    return plan_bus(bus_of(str(words), wiring.parts.buses), int(payload.value) if payload else None)


def _queue(wiring: Wiring, ref: PortRef, kind: str, limit_bytes: int | None) -> Queue:
    """The egress queue as the settings want it, else the one that is usual for the device."""
    chosen, limit, ecn = (wiring.setting(ref, name) for name in ("queue", "queue_limit", "ecn"))
    if chosen is not None and chosen.value != kind:
        kind, limit_bytes = str(chosen.value), None
    frames: int | None = None
    if limit is not None and isinstance(limit.value, str):
        limit_bytes, frames = None, parse(limit.value.removesuffix(FRAMES), COUNT)
    elif limit is not None:
        limit_bytes = int(limit.value)
    marks = ecn is not None and kind == MAY_MARK and wiring.topology.nodes[ref.node].kind != "host"
    return Queue(kind, limit_bytes, frames, bool(ecn.value) if ecn and marks else None)


def _card(port: Port, wiring: Wiring, ref: PortRef) -> Port:
    return replace(
        port,
        rx_usecs=wiring.rx_usecs(ref),
        rx_frames=int(wiring.value(ref, "rx_frames") or 0),
        rx_ring_frames=wiring.number(ref, "rx_ring"),
        tx_ring_frames=wiring.number(ref, "tx_ring"),
        buffer_bytes=wiring.number(ref, "buffer"),
        xoff_bytes=wiring.number(ref, "xoff"),
        xon_bytes=wiring.number(ref, "xon"),
        queue=_queue(wiring, ref, HOST_QUEUE, None),
    )


class _Memory(TypedDict):
    """How a switch divides its packet memory, for one port."""

    buffer_bytes: int
    xoff_bytes: int
    xon_bytes: int
    queue: Queue


def _switch(wiring: Wiring, ref: PortRef) -> _Memory:
    """A switch that sends PAUSE bounds what each port may bring in, one that does not each egress queue."""
    shared = wiring.number(ref, "buffer")
    xoff = wiring.number(ref, "xoff")
    ports = [sibling for sibling in wiring.topology.ports() if sibling.node == ref.node]
    lossless = any(_stops(wiring, sibling) for sibling in ports)
    limit = wiring.value(ref, "queue_limit")
    if lossless and wiring.setting(ref, "queue_limit") is None:
        limit = shared
    return {
        "buffer_bytes": xoff + wiring.number(ref, "headroom") if _stops(wiring, ref) else shared,
        "xoff_bytes": xoff,
        "xon_bytes": wiring.number(ref, "xon"),
        "queue": _queue(wiring, ref, FORWARDING_QUEUE, limit if isinstance(limit, int) else None),
    }


def _stops(wiring: Wiring, ref: PortRef) -> bool:
    """Whether a port tells its peer to stop, all of it or some priorities."""
    return wiring.pause(ref, "pause_tx") or bool(wiring.priorities(ref))


def _most_queued(wiring: Wiring, ref: PortRef) -> int:
    """What an egress queue and the ring below it can hold, as a packet memory counts it."""
    queue = _switch(wiring, ref)["queue"]
    if queue.limit_bytes is None:
        return wiring.number(ref, "buffer")
    return queue.limit_bytes + (FORWARD_RING_FRAMES + 1) * frame_bytes(wiring.mtu_bytes(ref))


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
    return replace(port, role="forward", buffer_bytes=room, xoff_bytes=xoff, xon_bytes=xon, queue=queue)
