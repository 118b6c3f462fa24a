"""What samples and echoes tell of a part of the time, and of how a flow came through what happened to it."""

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from wirelab.model.expect import Expectation
from wirelab.plan.flows import phase_ns
from wirelab.plan.traffic import Flow, Ping
from wirelab.plan.types import Plan
from wirelab.results.counting import Counted, at
from wirelab.results.datagrams import Received, received_in_window, received_until_ns
from wirelab.results.flow import FlowResult
from wirelab.results.ping import Echoes, ping_figure
from wirelab.results.rtt import FIGURES, Rtt
from wirelab.results.samples import Sample
from wirelab.units import BITS_PER_BYTE, NS_PER_MS, NS_PER_S

RECOVERED: Final = 0.9
"""Of the rate before the first event: from then on a flow has recovered."""
_LOOK_NS: Final = 100 * NS_PER_MS
_BEFORE_NS: Final = NS_PER_S


def acknowledged(flow: Flow, samples: Sequence[Sample]) -> list[tuple[int, int]]:
    """The bytes of a flow that were acknowledged by each sample; none of several connections, or UDP.

    While it tries to connect nothing is, of which the samples tell nothing.
    """
    if flow.parallel > 1 or flow.protocol != "tcp":
        return []
    after = [sample for sample in samples if sample.at_ns > flow.start_ns]
    has_it = [flow.name in sample.flows for sample in after]
    if True not in has_it:
        return []
    first = has_it.index(True)
    nothing = [(sample.at_ns, 0) for sample in after[:first]]
    seen = [
        (sample.at_ns, sample.flows[flow.name].bytes_acked)
        for sample in after[first:]
        if flow.name in sample.flows
    ]
    return [(flow.start_ns, 0), *nothing, *seen]


def longest_gap_ns(counted: Counted, from_ns: int = 0, to_ns: int | None = None) -> int | None:
    """The longest time in which a counter stood still, as far as samples tell; None without any."""
    seen = [
        reading for reading in counted if from_ns <= reading[0] and (to_ns is None or reading[0] <= to_ns)
    ]
    if len(seen) < 2:  # noqa: PLR2004 - the two ends of a time
        return None
    longest_ns, since_ns = 0, seen[0][0]
    for (before_ns, before), (at_ns, count) in pairwise(seen):
        if count > before:
            longest_ns, since_ns = max(longest_ns, before_ns - since_ns), at_ns
    return max(longest_ns, seen[-1][0] - since_ns)


def recovery_ns(plan: Plan, flow: Flow, counted: Counted) -> int | None:
    """How long after the last event of its time a flow began to be as fast again; None if never.

    So it is where nothing had come before the first: it cannot be as fast as that again.
    """
    if not counted:
        return None
    # A transfer may be over long before its time is.
    over_ns = flow.end_ns if flow.size_bytes is None else min(counted[-1][0], flow.end_ns)
    events_ns = [event.at_ns for event in plan.events if flow.start_ns < event.at_ns < over_ns]
    if not events_ns:
        return None
    first_ns, last_ns = events_ns[0], events_ns[-1]
    began_ns = max(first_ns - _BEFORE_NS, flow.start_ns)
    before = (at(counted, first_ns) - at(counted, began_ns)) / (first_ns - began_ns)
    if not before:
        return None
    starts_ns = [last_ns, *(at_ns for at_ns, _ in counted if at_ns > last_ns)]
    looks = (at_ns for at_ns in starts_ns if at_ns + _LOOK_NS <= counted[-1][0])
    needed = RECOVERED * before * _LOOK_NS
    again = (at_ns for at_ns in looks if at(counted, at_ns + _LOOK_NS) - at(counted, at_ns) >= needed)
    recovered_ns = next(again, None)
    return None if recovered_ns is None else recovered_ns - last_ns


def _goodput_bps(counted: Counted, from_ns: int, to_ns: int) -> float:
    return (at(counted, to_ns) - at(counted, from_ns)) * BITS_PER_BYTE * NS_PER_S / (to_ns - from_ns)


def in_window(  # noqa: PLR0913, PLR0917 - whatever may tell of a window
    expectation: Expectation,
    plan: Plan,
    samples: Sequence[Sample],
    flows: Mapping[str, FlowResult],
    echoes: Mapping[str, Echoes],
    received: Mapping[str, Sequence[Received]],
) -> float | None:
    """What an expectation about a window is about, in its base unit; None if nothing tells it.

    ``flows`` are what each came to, ``echoes`` those of each ping, ``received`` is what came of each flow
    over UDP.
    Raises KeyError for a metric that a window does not have.
    """
    assert expectation.window is not None  # noqa: S101 - whoever asks has looked
    from_ns, to_ns = (instant_ns + phase_ns(plan.seed) for instant_ns in expectation.window)
    flow = next((flow for flow in plan.flows if flow.name == expectation.subject), None)
    if flow is not None and flow.protocol == "udp":
        return received_in_window(expectation.metric, flow, received.get(flow.name, ()), from_ns, to_ns)
    if flow is not None:
        measured = flows[flow.name]
        over_ns = _over_ns(flow, samples, measured.duration_ns)
        total = measured.retransmits
        return flow_in_window(
            expectation.metric, flow, samples, from_ns, to_ns, retransmits=total, over_ns=over_ns
        )
    ping = next((ping for ping in plan.pings if ping.name == expectation.subject), None)
    if ping is not None:
        return ping_in_window(expectation.metric, ping, echoes[ping.name], from_ns, to_ns)
    port = next(port for port in plan.ports if port.label == expectation.subject)
    return port_in_window(port.name, samples, from_ns, to_ns)


def flow_in_window(  # noqa: PLR0913 - a window of a flow, and its end
    metric: str,
    flow: Flow,
    samples: Sequence[Sample],
    from_ns: int,
    to_ns: int,
    *,
    retransmits: int | None = None,
    over_ns: int | None = None,
) -> float | None:
    """A metric of a flow between two instants of the Plan; None where no sample tells it.

    Its goodput is what was acknowledged; ``retransmits`` are all of the flow's, if its end tells them.
    ``over_ns`` is when a transfer was done, None for one that was not, and for a flow that runs for a time.
    Raises KeyError for a metric that a window does not have.
    """
    counted = acknowledged(flow, samples)
    from_ns, to_ns = max(from_ns, flow.start_ns), min(to_ns, flow.end_ns if over_ns is None else over_ns)
    if not counted or from_ns >= to_ns:
        return None
    if metric == "retransmits":
        again = _sent_again(flow, samples, retransmits, over_ns)
        return round(at(again, to_ns) - at(again, from_ns))
    if over_ns is not None and flow.size_bytes is not None:
        before = [reading for reading in counted if reading[0] < over_ns]
        counted = [*before, (over_ns, max(flow.size_bytes, before[-1][1]))]
    return _FLOW[metric](flow, counted, samples, from_ns, to_ns)


def own_time_ns(
    expectation: Expectation,
    plan: Plan,
    samples: Sequence[Sample],
    flows: Mapping[str, FlowResult],
    received: Mapping[str, Sequence[Received]],
) -> tuple[int, int] | None:
    """When the subject of a window began and was over, in instants of the Plan; None for a port."""
    item = next((item for item in plan.traffic if item.name == expectation.subject), None)
    if item is None:
        return None
    over_ns = None
    if isinstance(item, Flow):
        told = received.get(item.name, ())
        over_ns = _over_ns(item, samples, flows[item.name].duration_ns) or received_until_ns(item, told)
    return item.start_ns, item.end_ns if over_ns is None else over_ns


def _over_ns(flow: Flow, samples: Sequence[Sample], taken_ns: float | None) -> int | None:
    """When a transfer was done: before the first sample that has all of it, or not the flow any more.

    None for one that was not, and for a flow that runs for a time.
    """
    if flow.size_bytes is None or taken_ns is None or flow.protocol == "udp":
        return None
    last_ns = flow.start_ns
    for sample in samples:
        if flow.name in sample.flows and sample.flows[flow.name].bytes_acked < flow.size_bytes:
            last_ns = max(last_ns, sample.at_ns)
    gone_ns = next((sample.at_ns for sample in samples if sample.at_ns > last_ns), flow.end_ns)
    # Its own clock begins when it has its connection.
    done_ns = flow.start_ns + round(taken_ns)
    return min(done_ns if last_ns < done_ns <= gone_ns else gone_ns, flow.end_ns)


def _sent_again(flow: Flow, samples: Sequence[Sample], total: int | None, over_ns: int | None) -> Counted:
    """The segments of a flow that had been sent again by each sample, and by its end, if that is known."""
    seen = [
        (sample.at_ns, sample.flows[flow.name].retransmits)
        for sample in samples
        if flow.name in sample.flows and flow.start_ns < sample.at_ns < (over_ns or math.inf)
    ]
    known = [(flow.start_ns, 0), *seen]
    if total is None:
        return known
    last_ns, last = known[-1]
    # A flow may be over long before its time is: the next sample does not have it any more.
    gone_ns = next((sample.at_ns for sample in samples if sample.at_ns > last_ns), flow.end_ns)
    end_ns = flow.end_ns if over_ns is None else over_ns
    return [*known, (max(min(gone_ns, end_ns), last_ns), max(total, last))]


def _rtt(metric: str, samples: Sequence[Sample], name: str, from_ns: int, to_ns: int) -> float | None:
    """Of the smoothed RTT that the sender had at each sample of the window."""
    inside = (sample for sample in samples if from_ns <= sample.at_ns <= to_ns and name in sample.flows)
    of = Rtt.of([sample.flows[name].rtt_us for sample in inside])
    return FIGURES[metric](of) if of else None


_FLOW: Final[Mapping[str, Callable[[Flow, Counted, Sequence[Sample], int, int], float | None]]] = {
    "goodput": lambda _flow, counted, _samples, from_ns, to_ns: _goodput_bps(counted, from_ns, to_ns),
    "longest_gap": lambda _flow, counted, _samples, from_ns, to_ns: longest_gap_ns(counted, from_ns, to_ns),
    "rtt_p50": lambda flow, _counted, samples, *window: _rtt("rtt_p50", samples, flow.name, *window),
    "rtt_p90": lambda flow, _counted, samples, *window: _rtt("rtt_p90", samples, flow.name, *window),
    "rtt_p99": lambda flow, _counted, samples, *window: _rtt("rtt_p99", samples, flow.name, *window),
}


def ping_in_window(metric: str, ping: Ping, echoes: Echoes, from_ns: int, to_ns: int) -> float | None:
    """A metric of the echoes that were asked for between two instants of the Plan; None if there are none."""
    requests = range(1, echoes.sent + 1)
    first, past = (
        bisect_left(requests, at_ns, key=lambda number: echoes.asked_ns(ping, number))
        for at_ns in (from_ns, to_ns)
    )
    asked = requests[first:past]
    if not asked:
        return None
    inside = {number: rtt_us for number, rtt_us in echoes.rtt_us.items() if number in asked}
    return ping_figure(metric, Echoes(len(asked), inside).result(ping))


def port_in_window(port: str, samples: Sequence[Sample], from_ns: int, to_ns: int) -> float:
    """The frames that a port dropped between two instants of the Plan, for any cause."""
    seen = [(sample.at_ns, sample.ports[port].dropped_frames) for sample in samples]
    return round(at(seen, to_ns) - at(seen, from_ns))
