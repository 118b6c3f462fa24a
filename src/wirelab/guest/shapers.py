"""The shaper of a port, read back from tc, and the policer that may be in its place, from the kernel.

tc tells what a frame counts with ``-d`` alone, and in JSON nothing of a policer's rate. Sources:
include/uapi/linux/pkt_cls.h, pkt_sched.h and rtnetlink.h.
"""

import json
import socket
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from wirelab.guest import clock, netlink
from wirelab.guest.queues import BITS_PER_BYTE, TICK_NS, told_burst_bytes
from wirelab.guest.readback import Readback, readbacks
from wirelab.guest.shell import run
from wirelab.plan import iproute2
from wirelab.plan.shape import Shape
from wirelab.plan.types import Port

_GET_FILTER, _DUMP, _DONE = 46, 0x300, 3
_OPTIONS, _ACTIONS, _ACTION_OPTIONS = 2, 2, 2
_POLICE, _RATE_64 = 1, 8
# struct tc_police up to its rate: index, action, limit, burst, mtu; then struct tc_ratespec.
_POLICE_TBF = struct.Struct("=IiIIIBBHhHI")
_SHOT = 2


def read_back(port: Port, shape: Shape) -> list[Readback]:
    """What it lets pass, and what a frame counts there; asked in the network namespace of the port."""
    shown = (("-j", "qdisc"), ("-j", "class"), ("-d", "-j", "qdisc"))
    told = (run(("tc", *words, "show", "dev", port.name)) for words in shown)
    settings = shaper(port, shape, *map(json.loads, told))
    return settings + policer(port, shape, _told_police(port)) if shape.kind == "police" else settings


def shaper(
    port: Port,
    shape: Shape,
    qdiscs: Iterable[Mapping[str, Any]],
    classes: Iterable[Mapping[str, Any]],
    detailed: Iterable[Mapping[str, Any]],
) -> list[Readback]:
    """What tc says of a shaper: its qdisc, its class if it is htb, and with details what a frame counts."""
    kind = iproute2.POLICED if shape.kind == "police" or shape.kicked else shape.kind
    qdiscs = list(qdiscs)
    own = next((qdisc for qdisc in qdiscs if _is_top(qdisc, port)), {})
    options = own.get("options", {})
    stab: Mapping[str, int] = next((qdisc["stab"] for qdisc in detailed if "stab" in qdisc), {})
    overhead, least = stab.get("overhead", 0), stab.get("mpu", 0)
    if shape.kind == "htb":
        handle = f"{iproute2.shaper_handle(port)}1"
        options = next((told for told in classes if (told["class"], told["handle"]) == ("htb", handle)), {})
    if shape.kind == iproute2.CAKE:
        options = {**options, "rate": options.get("bandwidth", 0)}
        overhead = options.get("overhead", 0) - iproute2.ETHERNET_HEADER_BYTES
        least = options.get("mpu", 0)
    pairs: dict[str, tuple[Any, Any]] = {
        "shape": (kind, own.get("kind", "none")),
        "shape_overhead_bytes": (shape.overhead_bytes, overhead),
        "shape_least_bytes": (shape.least_bytes, least),
    }
    if shape.kicked:
        handle = iproute2.shaper_handle(port)
        below = {qdisc.get("parent"): qdisc for qdisc in qdiscs}
        bucket = below.get(f"{handle}1", {"kind": "none"})
        options = bucket.get("options", {})
        name = "trace" if shape.trace else "shape"
        pairs[f"{name}_bucket"] = ("tbf", bucket["kind"])
        pairs[f"{name}_kick"] = ("plug", below.get(f"{handle}2", {"kind": "none"})["kind"])
    # The bucket of a trace changes with every millisecond: who does that reads it back.
    if not shape.trace and shape.kind != "police":
        pairs |= _limits(shape, options.get("rate", 0), options.get("burst", 0))
    return readbacks(port.name, pairs)


def _limits(shape: Shape, rate: int, burst_bytes: int) -> dict[str, tuple[Any, Any]]:
    """What may pass in a second, told in bytes, and at once, which tc keeps as a time."""
    told_bytes = told_burst_bytes(shape.burst_bytes, burst_bytes, shape.rate_bps)
    bursts = {"shape_burst_bytes": (shape.burst_bytes, told_bytes)} if shape.burst_bytes else {}
    return {"shape_rate_bps": (shape.rate_bps, rate * BITS_PER_BYTE), **bursts}


def _is_top(qdisc: Mapping[str, Any], port: Port) -> bool:
    """Whether a qdisc is the first of a port, or below the path that begins there."""
    return bool(qdisc.get("root")) if port.netem is None else str(qdisc.get("parent", "")).startswith("1:")


def policer(port: Port, shape: Shape, told: bytes) -> list[Readback]:
    """What the attributes of a policer say, none of which there are if there is none."""
    attributes = netlink.attributes(told)
    block = attributes.get(_POLICE, bytes(_POLICE_TBF.size))
    _, action, _, burst_ticks, _, _, _, _, _, _, rate = _POLICE_TBF.unpack_from(block)
    if _RATE_64 in attributes:
        rate = int.from_bytes(attributes[_RATE_64], "little")
    burst_bytes = round(burst_ticks * TICK_NS * rate / clock.NS_PER_S)
    pairs = {"police_drops": (True, action == _SHOT), **_limits(shape, rate, burst_bytes)}
    return readbacks(port.name, pairs)


def _told_police(port: Port) -> bytes:
    """The attributes of the policer of what leaves by a port."""
    parent = int(iproute2.shaper_handle(port).rstrip(":"), 16) << 16
    request = netlink.TC_MESSAGE.pack(socket.AF_UNSPEC, socket.if_nametoindex(port.name), 0, parent, 0)
    with netlink.open_socket(netlink.ROUTE) as route:
        netlink.send(route, _GET_FILTER, request, _DUMP)
        for kind, body in _dumped(route):
            options = netlink.attributes(body[netlink.TC_MESSAGE.size :]).get(_OPTIONS, b"")
            actions = netlink.attributes(netlink.attributes(options).get(_ACTIONS, b""))
            if kind != _DONE and actions:
                return netlink.attributes(next(iter(actions.values()))).get(_ACTION_OPTIONS, b"")
    return b""


def _dumped(route: socket.socket) -> Iterator[tuple[int, bytes]]:
    """The messages of a dump, to its end."""
    kind = 0
    while kind != _DONE:
        for kind, body in netlink.messages(route):
            yield kind, body
