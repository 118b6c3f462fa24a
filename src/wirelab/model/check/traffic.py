"""What is wrong with the traffic of a scenario that has the right shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wirelab.errors import unknown
from wirelab.model.metric import METRICS, NETWORK
from wirelab.model.traffic import Copy, Iperf3
from wirelab.units import SIZE, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.errors import Problem
    from wirelab.model.scenario import Scenario
    from wirelab.model.topology import Topology
    from wirelab.model.traffic import Item
    from wirelab.model.yamlfile import Document, Loc

LARGEST_DATAGRAM_BYTES: Final = 65_507
MOST_BLOCKS: Final = 100_000
MOST_REQUESTS: Final = 1_000_000
LARGEST_BLOCK_BYTES: Final = 64 << 20
LARGEST_WINDOWS_BYTES: Final = 128 << 20
"""What the sockets of one flow may hold together: a sixth of a lab's memory."""
LARGEST_WRITE_BYTES: Final = 1 << 20
MOST_STREAMS: Final = 128
"""As many parallel streams as iperf3 makes."""


def traffic_problems(scenario: Scenario, topology: Topology | None, document: Document) -> Iterator[Problem]:
    """What is wrong with the flows, one by one and together. Without a topology, only what needs none."""
    if document.tree.get("traffic") == [] and not _only_links(scenario):
        metrics = ", ".join(name for name, metric in METRICS.items() if not metric.needs_traffic)
        message = f"is empty: nothing would be measured; without traffic a port still has {metrics}"
        yield document.problem(("traffic",), message)
    earlier: dict[str, Loc] = {}
    for index, item in enumerate(scenario.traffic):
        flow = item.item
        loc: Loc = ("traffic", index, item.tool)
        if flow.name in earlier:
            line = document.place((*earlier[flow.name], "name")).line
            yield document.problem((*loc, "name"), f"duplicate name, first on line {line}")
        elif flow.name == NETWORK or (topology and flow.name in topology.nodes):
            yield document.problem((*loc, "name"), f"`{flow.name}` is the name of something else already")
        yield from _item_problems(flow, loc, document)
        if flow.concurrent_with is not None:
            if flow.start_ns is not None:
                yield document.problem((*loc, "start"), "give `start` or `with`, not both")
            if flow.concurrent_with not in earlier:
                message = unknown("earlier flow", flow.concurrent_with, earlier)
                yield document.problem((*loc, "with"), message)
        if topology is not None:
            yield from _end_problems(flow, topology, loc, document)
        earlier.setdefault(flow.name, loc)


def _only_links(scenario: Scenario) -> bool:
    """Whether all that is expected can be told without any traffic."""
    expects = (scenario.expect, *(variant.expect for variant in scenario.variants))
    subjects = [bounds for expect in expects for bounds in expect.values()]
    metrics = {metric for bounds in subjects for metric in METRICS if getattr(bounds, metric) is not None}
    return bool(metrics) and not any(METRICS[name].needs_traffic for name in metrics)


def _item_problems(item: Item, loc: Loc, document: Document) -> Iterator[Problem]:
    match item:
        case Iperf3():
            yield from _flow_problems(item, loc, document)
        case Copy():
            yield from _copy_problems(item, loc, document)


def _copy_problems(copy: Copy, loc: Loc, document: Document) -> Iterator[Problem]:
    blocks = -(-copy.size_bytes // copy.block_bytes)
    if copy.block_bytes > LARGEST_BLOCK_BYTES:
        most = show(LARGEST_BLOCK_BYTES, SIZE)
        yield document.problem((*loc, "block"), f"is more than a lab has memory for: {most}")
    if blocks > MOST_BLOCKS:
        message = f"makes more than {MOST_BLOCKS} blocks: a lab carries them out one by one"
        yield document.problem((*loc, "bytes"), message)
    elif blocks * copy.requests > MOST_REQUESTS:
        message = f"makes more than {MOST_REQUESTS} of them in all: a lab carries them out one by one"
        yield document.problem((*loc, "requests"), message)


def _flow_problems(flow: Iperf3, loc: Loc, document: Document) -> Iterator[Problem]:
    if flow.duration_ns is None and flow.size_bytes is None:
        yield document.problem(loc, "say how long: `time`, or how many `bytes` to transfer")
    if flow.duration_ns is not None and flow.size_bytes is not None:
        yield document.problem((*loc, "bytes"), "give `time` or `bytes`, not both")
    if flow.within_ns is not None and flow.size_bytes is None:
        yield document.problem((*loc, "within"), "is for a transfer of `bytes`; `time` is how long it runs")
    if flow.protocol == "udp" and flow.pacing_bps is not None:
        yield document.problem((*loc, "pacing"), "spaces the frames of TCP; UDP has its `bitrate`")
    if flow.protocol == "udp" and flow.congestion is not None:
        yield document.problem((*loc, "congestion"), "UDP has no congestion control")
    largest = LARGEST_DATAGRAM_BYTES if flow.protocol == "udp" else LARGEST_WRITE_BYTES
    if flow.payload_bytes is not None and flow.payload_bytes > largest:
        yield document.problem((*loc, "payload"), f"is more than {flow.protocol} sends at once, {largest} B")
    if (flow.window_bytes or 0) * flow.parallel > LARGEST_WINDOWS_BYTES:
        most = show(LARGEST_WINDOWS_BYTES, SIZE)
        yield document.problem((*loc, "window"), f"is more than a lab has memory for: {most} for all streams")
    if flow.parallel > MOST_STREAMS:
        yield document.problem((*loc, "parallel"), f"iperf3 makes at most {MOST_STREAMS} streams")


def _end_problems(flow: Item, topology: Topology, loc: Loc, document: Document) -> Iterator[Problem]:
    hosts = tuple(name for name, node in topology.nodes.items() if node.kind == "host")
    sound = True
    for key, name in (("from", flow.sender), ("to", flow.receiver)):
        if name not in hosts:
            sound = False
            node = topology.nodes.get(name)
            message = (
                unknown("node", name, hosts)
                if node is None
                else f"`{name}` is a {node.kind}; a flow runs between hosts: {', '.join(hosts)}"
            )
            yield document.problem((*loc, key), message)
    if flow.sender == flow.receiver:
        yield document.problem((*loc, "to"), f"`{flow.receiver}` would send to itself")
    elif sound and not topology.connected(flow.sender, flow.receiver):
        yield document.problem((*loc, "to"), f"no cables lead from `{flow.sender}` to `{flow.receiver}`")
