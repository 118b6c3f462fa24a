"""The clock of who receives over UDP: it begins when both ends have agreed, and stops when it hears so."""

from typing import Final

from wirelab.plan.path import crossing_ns, path
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.results.result import Result
from wirelab.units import BITS_PER_BYTE, NS_PER_S, PPM, TIME, rounded

_WORTH_SAYING_PPM: Final = 10_000


def rate_bps(begun: Plan, flow: Flow, result: Result) -> float:
    """The payload that came of a flow, over its own time: without the round trip that the clock has more.

    The time for which datagrams wait in queues when a flow is over is the network's, and stays.
    """
    goodput_bps = result.flows[flow.name].goodput_bps or 0.0
    ran_ns = _ran_ns(flow, result)
    return goodput_bps * ran_ns / (ran_ns - _waited_ns(begun, flow, result)) if ran_ns else goodput_bps


def late(begun: Plan, flow: Flow, result: Result) -> list[str]:
    """That the clock ran for longer than the flow, where that is why its goodput is less than was sent."""
    ran_ns, waited_ns = _ran_ns(flow, result), _waited_ns(begun, flow, result)
    if waited_ns * PPM < _WORTH_SAYING_PPM * flow.duration_ns:
        return []
    clock = f"goodput is by the clock of {flow.receiver}, which ran for {rounded(ran_ns, TIME)}"
    return [f"{clock}: {rounded(waited_ns, TIME)} of that is the way there and back"]


def _ran_ns(flow: Flow, result: Result) -> float:
    """How long the clock ran, 0 where nobody knows or it is not one of UDP for a given time."""
    goodput_bps = result.flows[flow.name].goodput_bps
    came_bytes = max((one.payload_bytes for one in result.received.get(flow.name, ())), default=0)
    if not goodput_bps or flow.size_bytes is not None:
        return 0.0
    return came_bytes * BITS_PER_BYTE * NS_PER_S / goodput_bps


def _waited_ns(begun: Plan, flow: Flow, result: Result) -> float:
    """How much longer than the flow it ran because of the way there and back."""
    plan = result.linked(begun, flow)
    ends = (flow.sender, flow.receiver)
    round_trip_ns = sum(crossing_ns(path(plan, *way)) for way in (ends, ends[::-1]))
    return min(max(_ran_ns(flow, result) - flow.duration_ns, 0.0), round_trip_ns)
