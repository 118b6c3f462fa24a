"""The qdiscs of a port, read back from what ``tc -j qdisc show`` says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirelab.guest.inforce import Setting
from wirelab.plan import tc

if TYPE_CHECKING:
    from wirelab.plan.types import Netem, Port, Queue


def read_back(port: Port, qdiscs: list[dict[str, Any]]) -> list[Setting]:
    """The path and the egress queue of a port as they are in force; with PFC one queue a priority."""
    own = [each for each in qdiscs if each.get("dev") == port.name]
    root = next((each for each in own if each.get("root")), {})
    if port.pfc:
        settings = [Setting(port.name, "qdisc", "mq", root.get("kind", "none"))]
        for number in range(1, tc.PRIORITIES + 1):
            below = next((each for each in own if each.get("parent") == f"1:{number}"), {})
            settings += _read_queue(port.name, port.queue, below) if port.queue else []
        return settings
    settings = _read_netem(port.name, port.netem, root) if port.netem else []
    if port.queue is not None:
        below = next((each for each in own if each.get("parent") == "1:"), {})
        settings += _read_queue(port.name, port.queue, below if port.netem else root)
    return settings


def _read_queue(name: str, asked: Queue, qdisc: dict[str, Any]) -> list[Setting]:
    options = qdisc.get("options", {})
    pairs: dict[str, tuple[int | str | bool, int | str | bool]] = {
        "qdisc": (asked.kind, qdisc.get("kind", "none"))
    }
    if asked.limit_bytes is not None:
        limit = options.get("memlimit" if asked.kind == "cake" else "limit", 0)
        pairs["queue_limit_bytes"] = (asked.limit_bytes, limit)
    if asked.limit_frames is not None:
        pairs["queue_limit_frames"] = (asked.limit_frames, options.get("limit", 0))
    if asked.ecn is not None:
        pairs["queue_ecn"] = (asked.ecn, options.get("ecn", False))
    return [Setting(name, setting, ask, actual) for setting, (ask, actual) in pairs.items()]


def _read_netem(name: str, asked: Netem, qdisc: dict[str, Any]) -> list[Setting]:
    options = qdisc.get("options", {})
    delay, loss, reorder = (options.get(name, {}) for name in ("delay", "loss-random", "reorder"))
    pairs: dict[str, tuple[int | str, int | str]] = {
        "path": ("netem", qdisc.get("kind", "none")),
        "netem_delay_ns": (asked.delay_ns, round(delay.get("delay", 0) * 1e9)),
        "netem_jitter_ns": (asked.jitter_ns, round(delay.get("jitter", 0) * 1e9)),
        # netem keeps a probability in 32 bits.
        "netem_loss_ppm": (round(asked.loss_ratio * 1e6), round(loss.get("loss", 0) * 1e6)),
        "netem_reorder_ppm": (round(asked.reorder_ratio * 1e6), round(reorder.get("reorder", 0) * 1e6)),
        "netem_limit_packets": (asked.limit_packets, options.get("limit", 0)),
    }
    return [Setting(name, setting, ask, actual) for setting, (ask, actual) in pairs.items()]
