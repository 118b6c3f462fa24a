"""What has to be set with a setting, for without it the change could not be made, or would do nothing."""

from typing import Final

from wirelab.model.check.queue import BYTE_LIMITED, FRAME_LIMITED, MAY_MARK, usual_queue
from wirelab.model.ethernet import frame_bytes
from wirelab.model.settings import FRAMES
from wirelab.model.topology import PortRef
from wirelab.runner.places import Places
from wirelab.units import RATE, SIZE, show

_SHAPED_PERCENT: Final = 95
"""Of the line's rate: so the queue is at the shaper, and what the line itself has to send finds room."""


def companions(places: Places, key: str, text: str) -> tuple[tuple[str, str], ...]:
    """Other keys, and their values, that belong to a key and its value."""
    owner, _, name = key.rpartition(".")
    if name == "queue" and (ref := places.ref(owner)):
        return _limit(places, ref, owner, text)
    if name == "ecn" and (ref := places.ref(owner)):
        return _marking_queue(places, ref, owner)
    if name == "pfc":
        return _sorting(places, owner)
    if name == "kind" and owner.endswith(".shape"):
        return _as_the_line(places, owner)
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
    setting = places.wiring.setting(ref, "queue")
    queue = usual_queue(places.wiring, ref) if setting is None else str(setting.value)
    if queue in MAY_MARK:
        return ()
    return ((f"{owner}.queue", MAY_MARK[0]), *_limit(places, ref, owner, MAY_MARK[0]))


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
