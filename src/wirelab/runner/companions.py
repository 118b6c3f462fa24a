"""What has to be set with a setting, for without it the change could not be made, or would do nothing."""

from itertools import permutations
from typing import Final

from wirelab.model.check.queue import BYTE_LIMITED, FRAME_LIMITED, MAY_MARK, usual_queue
from wirelab.model.ethernet import frame_bytes
from wirelab.model.settings import FRAMES
from wirelab.model.topology import PortRef
from wirelab.plan.path import crossing_ns, path
from wirelab.runner.places import Places
from wirelab.units import BITS_PER_BYTE, NS_PER_S, RATE, SIZE, TIME, show

_SHAPED_PERCENT: Final = 95
"""Of the line's rate: so the queue is at the shaper, and what the line itself has to send finds room."""
_LEAST_FRAMES: Final = 10


def companions(places: Places, key: str, text: str) -> tuple[tuple[str, str], ...]:
    """Other keys, and their values, that belong to a key and its value."""
    owner, _, name = key.rpartition(".")
    if name == "queue" and (ref := places.ref(owner)):
        return _limit(places, ref, owner, text)
    if name == "ecn" and (ref := places.ref(owner)):
        return _marking_queue(places, ref, owner)
    if name == "pfc":
        return _sorting(places, owner)
    if name == "kind" and text == "cake":
        return _as_the_line(places, owner)
    if name == "kind" and (ref := places.ref(owner.removesuffix(".shape"))):
        return _a_round_trip(places, ref)
    return ()


def _limit(places: Places, ref: PortRef, owner: str, queue: str) -> tuple[tuple[str, str], ...]:
    """As much memory as before, in what the other queue counts: full frames, or bytes."""
    said, port = places.wiring.setting(ref, "queue_limit"), places.plan.port(ref.interface)
    if said is None or port.queue is None:
        return ()
    full_bytes = frame_bytes(port.mtu_bytes)
    frames = isinstance(said.value, str) and said.value.endswith(FRAMES)
    held_bytes = port.queue.limit_bytes or (port.queue.limit_frames or 0) * full_bytes
    if queue in FRAME_LIMITED and not frames:
        return ((f"{owner}.queue_limit", f"{max(held_bytes // full_bytes, 1)}{FRAMES}"),)
    if queue in BYTE_LIMITED and (frames or isinstance(said.value, str)):
        return ((f"{owner}.queue_limit", show(held_bytes, SIZE)),)
    return ()


def _marking_queue(places: Places, ref: PortRef, owner: str) -> tuple[tuple[str, str], ...]:
    """A queue that can mark."""
    if _queue(places, ref) in MAY_MARK:
        return ()
    return ((f"{owner}.queue", MAY_MARK[0]), *_limit(places, ref, owner, MAY_MARK[0]))


def _queue(places: Places, ref: PortRef) -> str:
    """What kind of egress queue a port has."""
    setting = places.wiring.setting(ref, "queue")
    return usual_queue(places.wiring, ref) if setting is None else str(setting.value)


def _sorting(places: Places, owner: str) -> tuple[tuple[str, str], ...]:
    """What tells the priority of a frame, and no PAUSE beside PFC."""
    speaks = any(port.pause_rx or port.pause_tx for port in places.plan.ports_of(owner))
    quiet = ((f"{owner}.flow_control", "off"),) if speaks else ()
    return ((f"{owner}.trust", "dscp"), *quiet)


def _as_the_line(places: Places, owner: str) -> tuple[tuple[str, str], ...]:
    """A little less than the line behind it, and counted as the line counts."""
    line = places.place()
    if line is None:
        return ()
    rate, layer, overhead = (places.wiring.value(line, f"shape.{of}") for of in ("rate", "layer", "overhead"))
    told = [(f"{owner}.rate", show(int(rate or 0) * _SHAPED_PERCENT // 100, RATE))]
    if layer is not None:
        told.append((f"{owner}.layer", str(layer)))
    if overhead:
        told.append((f"{owner}.overhead", show(int(overhead), SIZE)))
    return tuple(told)


def _a_round_trip(places: Places, ref: PortRef) -> tuple[tuple[str, str], ...]:
    """Where a policer held nothing back: room for what comes in a round trip of the flow."""
    port, flow = places.plan.port(ref.interface), places.flow
    if port.shape is None or _queue(places, ref) != "bfifo":
        return ()
    there_and_back = (path(places.plan, *ends) for ends in permutations((flow.sender, flow.receiver)))
    round_trip_ns = sum(crossing_ns(way) for way in there_and_back)
    frames_ns = _LEAST_FRAMES * frame_bytes(port.mtu_bytes) * BITS_PER_BYTE * NS_PER_S // port.shape.rate_bps
    return ((f"{places.wiring.topology.label(ref)}.queue_limit", show(max(round_trip_ns, frames_ns), TIME)),)
