"""The qdiscs of a port, read back from what ``tc -j qdisc show`` says."""

from collections.abc import Sequence
from typing import Any

from wirelab.guest import clock
from wirelab.guest.readback import Readback, readbacks
from wirelab.plan import iproute2
from wirelab.plan.queue import OWN_QUEUE, Queue
from wirelab.plan.shape import ROUTER_BURST_BYTES
from wirelab.plan.types import SHAPER, Netem, Port

BITS_PER_BYTE = 8
_PPM = 1e6
# net/pkt_sched.h: PSCHED_SHIFT
TICK_NS = 64
# The average that RED goes by is of the last two looks, half each: the fastest that tc can say.
_RED_WEIGHT_LOG2 = 1


def read_back(
    port: Port, qdiscs: list[dict[str, Any]], classes: Sequence[dict[str, Any]] = ()
) -> list[Readback]:
    """The path, the shaper and the egress queue of a port as in force; with PFC one queue a priority."""
    own = [qdisc for qdisc in qdiscs if qdisc.get("dev") == port.name]
    root: dict[str, Any] = next((qdisc for qdisc in own if qdisc.get("root")), {})
    below: dict[str, dict[str, Any]] = {qdisc["parent"]: qdisc for qdisc in own if "parent" in qdisc}
    settings: list[Readback] = []
    if port.pfc:
        settings.append(Readback(port.name, "qdisc", "mq", root.get("kind", "none")))
    if port.netem is not None:
        settings += _netem(port.name, port.netem, root)
    if port.rate_bps:
        settings += _shaper(port, port.rate_bps, classes)
    for parent in iproute2.queue_parents(port):
        settings += _queue(port.name, port.queue, below.get(parent, {}) if parent else root)
    return settings


def _shaper(port: Port, rate_bps: int, classes: Sequence[dict[str, Any]]) -> list[Readback]:
    """What its shaper lets pass, and at once; tc tells both in bytes, and keeps a burst as a time."""
    handle = f"{iproute2.shaper_handle(port)}1"
    told = next(
        (c for c in classes if (c["class"], c["handle"]) == (SHAPER, handle)), {"rate": 0, "burst": 0}
    )
    asked_bytes = ROUTER_BURST_BYTES
    pairs = {
        "rate_bps": (rate_bps, told["rate"] * BITS_PER_BYTE),
        "rate_burst_bytes": (asked_bytes, told_burst_bytes(asked_bytes, told["burst"], rate_bps)),
    }
    return readbacks(port.name, pairs)


def told_burst_bytes(asked_bytes: int, told_bytes: int, rate_bps: int) -> int:
    """What tc tells of a burst: it keeps it as a time, and what agrees with that is what was asked for."""
    lost_bytes = 1 + TICK_NS * rate_bps / (BITS_PER_BYTE * clock.NS_PER_S)
    return asked_bytes if abs(told_bytes - asked_bytes) <= lost_bytes else told_bytes


def _queue(name: str, asked: Queue | None, qdisc: dict[str, Any]) -> list[Readback]:
    if asked is None:
        return []
    options = qdisc.get("options", {})
    pairs: dict[str, tuple[Any, Any]] = {"qdisc": (asked.kind, qdisc.get("kind", "none"))}
    # The limit of the port's own queue is read back with what else belongs to the port.
    if asked.limit_bytes is not None and asked.kind != OWN_QUEUE:
        limit = options.get("memlimit" if asked.kind == "cake" else "limit", 0)
        pairs["queue_limit_bytes"] = (asked.limit_bytes, limit)
    if asked.limit_frames is not None:
        pairs["queue_limit_frames"] = (asked.limit_frames, options.get("limit", 0))
    if asked.ecn is not None:
        pairs["queue_ecn"] = (asked.ecn, options.get("ecn", False))
    if asked.red is not None:
        pairs["red_min_bytes"] = (asked.red.min_bytes, options.get("min", 0))
        pairs["red_max_bytes"] = (asked.red.max_bytes, options.get("max", 0))
        pairs["red_weight_log2"] = (_RED_WEIGHT_LOG2, options.get("ewma", 0))
        if asked.red.probability_ppm:
            share_ppm = round(options.get("probability", 0) * _PPM)
            pairs["red_probability_ppm"] = (asked.red.probability_ppm, share_ppm)
    return readbacks(name, pairs)


def _netem(name: str, asked: Netem, qdisc: dict[str, Any]) -> list[Readback]:
    options = qdisc.get("options", {})
    delay, loss, reorder = (options.get(option, {}) for option in ("delay", "loss-random", "reorder"))
    # The last probability stays, and counts for nothing, where frames are no longer overtaken.
    overtaken = reorder.get("reorder", 0) if options.get("gap") else 0
    return readbacks(
        name,
        {
            "path": ("netem", qdisc.get("kind", "none")),
            "netem_delay_ns": (asked.delay_ns, _told_ns(asked.delay_ns, delay.get("delay", 0))),
            "netem_jitter_ns": (asked.jitter_ns, _told_ns(asked.jitter_ns, delay.get("jitter", 0))),
            # netem keeps a probability in 32 bits.
            "netem_loss_ppm": (round(asked.loss_ratio * _PPM), round(loss.get("loss", 0) * _PPM)),
            "netem_reorder_ppm": (round(asked.reorder_ratio * _PPM), round(overtaken * _PPM)),
            "netem_limit_packets": (asked.limit_packets, options.get("limit", 0)),
        },
    )


def _told_ns(asked_ns: int, told_s: float) -> int:
    """What tc tells of a time: it prints six digits, and what agrees with them is what was asked for."""
    return asked_ns if f"{asked_ns / clock.NS_PER_S:g}" == f"{told_s:g}" else round(told_s * clock.NS_PER_S)
