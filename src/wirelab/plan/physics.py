"""From parts to ports: what each kind of device is to the emulated Ethernet port.

A host's port ends frames in a stack and waits as its card does. A switch and a module forward them:
frames wait in the egress queue and stay charged to the ingress port's packet buffer meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wirelab.ethernet import frame_bytes
from wirelab.plan.types import Netem, Queue
from wirelab.units import PPM

if TYPE_CHECKING:
    from wirelab.model.topology import PortRef
    from wirelab.model.wiring import Wiring
    from wirelab.plan.types import Role

DEFAULT_QUEUE: Final = "fq_codel"
FORWARD_RING_FRAMES: Final = 1
"""A forwarding port keeps its frames in the egress queue; the ring only feeds the wire."""


@dataclass(frozen=True, slots=True)
class Device:
    """What the device decides of a port, beside speed, MTU and path."""

    role: Role
    rx_usecs: int
    rx_frames: int
    rx_ring_frames: int
    tx_ring_frames: int
    buffer_bytes: int
    xoff_bytes: int
    xon_bytes: int
    queue: Queue


def device(wiring: Wiring, ref: PortRef) -> Device:
    """What the device that a port belongs to makes of it."""
    match wiring.topology.nodes[ref.node].kind:
        case "host":
            return _host(wiring, ref)
        case "switch":
            return _switch(wiring, ref)
        case _:
            return _module(wiring, ref)


def netem(wiring: Wiring, ref: PortRef) -> Netem | None:
    """The long path that begins at a port's egress, None if there is none."""
    delay, jitter = wiring.setting(ref, "delay"), wiring.setting(ref, "jitter")
    loss_ppm = wiring.loss_ppm(ref)
    if delay is None and not loss_ppm:
        return None
    return Netem(
        delay_ns=int(delay.value) if delay else 0,
        jitter_ns=int(jitter.value) if jitter else 0,
        loss_ratio=loss_ppm / PPM,
    )


def _host(wiring: Wiring, ref: PortRef) -> Device:
    queue = wiring.setting(ref, "queue")
    return Device(
        role="host",
        rx_usecs=wiring.rx_usecs(ref),
        rx_frames=int(wiring.value(ref, "rx_frames") or 0),
        rx_ring_frames=wiring.number(ref, "rx_ring"),
        tx_ring_frames=wiring.number(ref, "tx_ring"),
        buffer_bytes=wiring.number(ref, "buffer"),
        xoff_bytes=wiring.number(ref, "xoff"),
        xon_bytes=wiring.number(ref, "xon"),
        queue=Queue(DEFAULT_QUEUE if queue is None else str(queue.value)),
    )


def _switch(wiring: Wiring, ref: PortRef) -> Device:
    """A switch that sends PAUSE bounds what each port may bring in, one that does not each egress queue."""
    shared = wiring.number(ref, "buffer")
    xoff = wiring.number(ref, "xoff")
    ports = [each for each in wiring.topology.ports() if each.node == ref.node]
    lossless = any(wiring.pause(each, "pause_tx") for each in ports)
    explicit = wiring.setting(ref, "queue_limit") is not None
    limit = shared if lossless and not explicit else wiring.number(ref, "queue_limit")
    sends = wiring.pause(ref, "pause_tx")
    return _forward(
        buffer_bytes=xoff + wiring.number(ref, "headroom") if sends else shared,
        xoff_bytes=xoff,
        xon_bytes=wiring.number(ref, "xon"),
        limit_bytes=limit,
    )


def _module(wiring: Wiring, ref: PortRef) -> Device:
    """The FIFO of a module is the egress queue; only with PAUSE does the ingress side bound it too."""
    fifo = wiring.fifo_bytes(ref)
    if wiring.pause(ref, "pause_tx"):
        room, xoff, xon = (wiring.number(ref, name) for name in ("fifo", "xoff", "xon"))
    else:
        # Frames shorter than the minimum count more in the buffer than in the queue, and those on
        # the wire only in the buffer: twice the FIFO and some is never the limit.
        room = 2 * fifo + 4 * frame_bytes(wiring.mtu_bytes(ref))
        xoff, xon = room, fifo
    return _forward(buffer_bytes=room, xoff_bytes=xoff, xon_bytes=xon, limit_bytes=fifo)


def _forward(*, buffer_bytes: int, xoff_bytes: int, xon_bytes: int, limit_bytes: int) -> Device:
    return Device(
        role="forward",
        rx_usecs=0,
        rx_frames=0,
        rx_ring_frames=FORWARD_RING_FRAMES,
        tx_ring_frames=FORWARD_RING_FRAMES,
        buffer_bytes=buffer_bytes,
        xoff_bytes=xoff_bytes,
        xon_bytes=xon_bytes,
        queue=Queue("bfifo", limit_bytes),
    )
