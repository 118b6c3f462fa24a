"""What is wrong with the traffic of a scenario that has the right shape."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from wirelab.errors import Problem, unknown
from wirelab.model.check.vlan import blocked
from wirelab.model.linking import forced_mode, offered_modes
from wirelab.model.metric import METRICS, NETWORK
from wirelab.model.scenario import Scenario
from wirelab.model.shaping import shaped_bps
from wirelab.model.topology import PortRef, Topology
from wirelab.model.traffic import Copy, Iperf3, Item
from wirelab.model.wiring import Wiring
from wirelab.model.yamlfile import Document, Loc
from wirelab.units import BITS_PER_BYTE, RATE, SIZE, rounded, show

LARGEST_DATAGRAM_BYTES: Final = 65_507
LEAST_DATAGRAM_BYTES: Final = 16
"""When it was sent and its number, of 64 bits: iperf3 writes them wherever they end."""
MOST_BLOCKS: Final = 100_000
MOST_REQUESTS: Final = 1_000_000
LARGEST_BLOCK_BYTES: Final = 64 << 20
LARGEST_WINDOWS_BYTES: Final = 512 << 20
"""What the sockets of one flow may be given together: iperf3 asks for no more."""
LARGEST_WRITE_BYTES: Final = 1 << 20
MOST_STREAMS: Final = 128
"""As many parallel streams as iperf3 makes."""
LOOKS_PER_S: Final = 10
"""iperf3 sees at the end of an interval, 0.1 s at the shortest, that its bytes are sent."""
_LARGEST_EXCESS: Final = 4
"""It may send a quarter more than it was asked for."""


def traffic_problems(scenario: Scenario, topology: Topology | None, document: Document) -> Iterator[Problem]:
    """What is wrong with the flows, one by one and together. Without a topology, only what needs none."""
    if document.tree.get("traffic") == [] and not _only_links(scenario):
        metrics = ", ".join(name for name, metric in METRICS.items() if not metric.needs_traffic)
        message = f"is empty: nothing would be measured; without traffic a port still has {metrics}"
        yield document.problem(("traffic",), message)
    earlier: dict[str, Loc] = {}
    for index, item in enumerate(scenario.items):
        loc: Loc = ("traffic", index, item.tool)
        if item.name in earlier:
            line = document.place((*earlier[item.name], "name")).line
            yield document.problem((*loc, "name"), f"duplicate name, first on line {line}")
        elif item.name == NETWORK or (topology and item.name in topology.nodes):
            yield document.problem((*loc, "name"), f"`{item.name}` is the name of something else already")
        for key, message in _item_problems(item, earlier, topology):
            yield document.problem((*loc, key) if key else loc, message)
        earlier.setdefault(item.name, loc)


def _only_links(scenario: Scenario) -> bool:
    """Whether all that is expected can be told without any traffic."""
    expects = (scenario.expect, *(variant.expect for variant in scenario.variants))
    subjects = [bounds for expect in expects for bounds in expect.values()]
    metrics = {metric for bounds in subjects for metric in METRICS if getattr(bounds, metric) is not None}
    return bool(metrics) and not any(METRICS[name].needs_traffic for name in metrics)


def _item_problems(
    item: Item, earlier: Mapping[str, Loc], topology: Topology | None
) -> Iterator[tuple[str, str]]:
    """What is wrong with an item, each with the key it stands under: none for the item itself."""
    if isinstance(item, Iperf3):
        yield from _flow_problems(item)
    elif isinstance(item, Copy):
        yield from _copy_problems(item)
    if item.concurrent_with is not None:
        if item.start_ns is not None:
            yield "start", "give `start` or `with`, not both"
        if item.concurrent_with not in earlier:
            yield "with", unknown("earlier flow", item.concurrent_with, earlier)
    if topology is not None:
        yield from _end_problems(item, topology)


def _copy_problems(copy: Copy) -> Iterator[tuple[str, str]]:
    blocks = -(-copy.size_bytes // copy.block_bytes)
    if copy.block_bytes > LARGEST_BLOCK_BYTES:
        yield "block", f"is more than a lab has memory for: {show(LARGEST_BLOCK_BYTES, SIZE)}"
    if blocks > MOST_BLOCKS:
        yield "bytes", f"makes more than {MOST_BLOCKS} blocks: a lab carries them out one by one"
    elif blocks * copy.requests > MOST_REQUESTS:
        yield "requests", f"makes more than {MOST_REQUESTS} of them in all: a lab carries them out one by one"


def _flow_problems(flow: Iperf3) -> Iterator[tuple[str, str]]:
    udp = flow.protocol == "udp"
    if flow.duration_ns is None and flow.size_bytes is None:
        yield "", "say how long: `time`, or how many `bytes` to transfer"
    if flow.duration_ns is not None and flow.size_bytes is not None:
        yield "bytes", "give `time` or `bytes`, not both"
    if flow.within_ns is not None and flow.size_bytes is None:
        yield "within", "is for a transfer of `bytes`; `time` is how long it runs"
    if udp and flow.pacing_bps is not None:
        yield "pacing", "spaces the frames of TCP; UDP has its `bitrate`"
    if udp and flow.congestion is not None:
        yield "congestion", "UDP has no congestion control"
    yield from _limit_problems(flow)


def _limit_problems(flow: Iperf3) -> Iterator[tuple[str, str]]:
    """What of a flow is more or less than iperf3 can do."""
    udp = flow.protocol == "udp"
    largest = LARGEST_DATAGRAM_BYTES if udp else LARGEST_WRITE_BYTES
    if flow.payload_bytes is not None and flow.payload_bytes > largest:
        yield "payload", f"is more than {flow.protocol} sends at once, {largest} B"
    if udp and flow.payload_bytes is not None and flow.payload_bytes < LEAST_DATAGRAM_BYTES:
        least = show(LEAST_DATAGRAM_BYTES, SIZE)
        yield "payload", f"is less than iperf3 needs for its own header in a datagram, {least}"
    if flow.pacing_bps is not None and flow.pacing_bps < BITS_PER_BYTE:
        yield "pacing", f"is less than the byte a second that iperf3 counts in, {show(BITS_PER_BYTE, RATE)}"
    if (flow.window_bytes or 0) * flow.parallel > LARGEST_WINDOWS_BYTES:
        most = show(LARGEST_WINDOWS_BYTES, SIZE)
        yield "window", f"is more than iperf3 asks for: {most} for all streams"
    if flow.parallel > MOST_STREAMS:
        yield "parallel", f"iperf3 makes at most {MOST_STREAMS} streams"


def _end_problems(item: Item, topology: Topology) -> Iterator[tuple[str, str]]:
    hosts = tuple(name for name, node in topology.nodes.items() if node.kind == "host")
    for key, name in (("from", item.sender), ("to", item.receiver)):
        node = topology.nodes.get(name)
        if node is None:
            yield key, unknown("node", name, hosts)
        elif node.kind != "host":
            yield key, f"`{name}` is a {node.kind}; a flow runs between hosts: {', '.join(hosts)}"
    if item.sender == item.receiver:
        yield "to", f"`{item.receiver}` would send to itself"
    elif {item.sender, item.receiver} <= set(hosts):
        way = topology.way(item.sender, item.receiver)
        if way is None:
            yield "to", f"no cables lead from `{item.sender}` to `{item.receiver}`"
        elif topology.vlans and (why := blocked(topology, way)):
            yield "to", f"no VLAN leads from `{item.sender}` to `{item.receiver}`: {why}"


def transfer_problems(scenario: Scenario, known: Sequence[Wiring], document: Document) -> Iterator[Problem]:
    """The transfers that would send far more than their bytes, at the fastest that their way is once.

    They are over before iperf3 looks whether they are. ``known`` is the wiring before and after each event.
    """
    for index, flow in enumerate(scenario.items):
        if not isinstance(flow, Iperf3) or flow.size_bytes is None:
            continue
        rate_bps = max(_fastest_bps(wiring, flow) for wiring in known)
        least_bytes = _LARGEST_EXCESS * rate_bps // (BITS_PER_BYTE * LOOKS_PER_S)
        if flow.size_bytes < least_bytes:
            message = (
                f"iperf3 looks {LOOKS_PER_S} times a second whether all is sent: at up to "
                f"{rounded(rate_bps, RATE)} that needs {rounded(least_bytes, SIZE)}; "
                "for a shorter transfer write `copy`"
            )
            yield document.problem(("traffic", index, flow.tool, "bytes"), message)


def _fastest_bps(wiring: Wiring, flow: Iperf3) -> int:
    """The most that lines and shapers between two hosts, and what the flow itself asks for, allow."""
    way = wiring.topology.way(flow.sender, flow.receiver) or ()
    rates_bps = [_line_bps(wiring, ref) for hop in way for ref in hop]
    rates_bps += [rate_bps for out, _ in way if (rate_bps := shaped_bps(wiring, out))]
    rates_bps += [rate_bps * flow.parallel for rate_bps in (flow.pacing_bps, flow.bitrate_bps) if rate_bps]
    return min(rates_bps, default=0)


def _line_bps(wiring: Wiring, ref: PortRef) -> int:
    forced = forced_mode(wiring, ref)
    modes = (forced,) if forced else offered_modes(wiring, ref)
    return max((mode.speed_bps for mode in modes), default=0)
