"""What is wrong with the traffic of a scenario that has the right shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wirelab.errors import unknown
from wirelab.model.expect import LINK_METRICS, METRICS, NETWORK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.errors import Problem
    from wirelab.model.scenario import Iperf3, Scenario
    from wirelab.model.topology import Topology
    from wirelab.model.yamlfile import Document, Loc

LARGEST_DATAGRAM_BYTES: Final = 65_507
LARGEST_WRITE_BYTES: Final = 1 << 20
MOST_STREAMS: Final = 128
"""As many parallel streams as iperf3 makes."""


def traffic_problems(scenario: Scenario, topology: Topology | None, document: Document) -> Iterator[Problem]:
    """What is wrong with the flows, one by one and together. Without a topology, only what needs none."""
    if document.tree.get("traffic") == [] and not _only_links(scenario):
        metrics = ", ".join(LINK_METRICS)
        message = f"is empty: nothing would be measured; without traffic a port still has {metrics}"
        yield document.problem(("traffic",), message)
    earlier: dict[str, Loc] = {}
    for index, item in enumerate(scenario.traffic):
        flow = item.flow
        loc: Loc = ("traffic", index, "iperf3")
        if flow.name in earlier:
            line = document.place((*earlier[flow.name], "name")).line
            yield document.problem((*loc, "name"), f"duplicate name, first on line {line}")
        elif flow.name == NETWORK or (topology and flow.name in topology.nodes):
            yield document.problem((*loc, "name"), f"`{flow.name}` is the name of something else already")
        yield from _flow_problems(flow, loc, document)
        if flow.together is not None:
            if flow.start is not None:
                yield document.problem((*loc, "start"), "give `start` or `with`, not both")
            if flow.together not in earlier:
                message = unknown("earlier flow", flow.together, earlier)
                yield document.problem((*loc, "with"), message)
        if topology is not None:
            yield from _end_problems(flow, topology, loc, document)
        earlier.setdefault(flow.name, loc)


def _only_links(scenario: Scenario) -> bool:
    """Whether all that is expected can be told without any traffic."""
    expects = (scenario.expect, *(variant.expect for variant in scenario.variants))
    bounds = [each for expect in expects for each in expect.values()]
    metrics = {metric for each in bounds for metric in METRICS if getattr(each, metric, None) is not None}
    return bool(metrics) and metrics <= set(LINK_METRICS)


def _flow_problems(flow: Iperf3, loc: Loc, document: Document) -> Iterator[Problem]:
    if flow.protocol == "udp" and flow.congestion is not None:
        yield document.problem((*loc, "congestion"), "UDP has no congestion control")
    largest = LARGEST_DATAGRAM_BYTES if flow.protocol == "udp" else LARGEST_WRITE_BYTES
    if flow.payload is not None and flow.payload > largest:
        yield document.problem((*loc, "payload"), f"is more than {flow.protocol} sends at once, {largest} B")
    if flow.parallel > MOST_STREAMS:
        yield document.problem((*loc, "parallel"), f"iperf3 makes at most {MOST_STREAMS} streams")


def _end_problems(flow: Iperf3, topology: Topology, loc: Loc, document: Document) -> Iterator[Problem]:
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
