"""The four graphs of tcptrace, of each sender in a record: time-sequence, throughput, RTT and window."""

import bisect
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from wirelab.plan.types import Plan
from wirelab.report.chart import Axis, Chart, Line, Plots, Point, Spans
from wirelab.report.html import filled_in
from wirelab.report.script import Script
from wirelab.results.record import Event, Frame
from wirelab.results.segments import Sender, Senders, read_senders
from wirelab.units import BITS_PER_BYTE, MICROSECONDS, NS_PER_S, NS_PER_US, RATE, SIZE, TIME, show

_BINS: Final = 200
_LEAST_BIN_NS: Final = 50_000  # Acknowledgements come in steps: in less than that they are all spikes.
_TALL, _LOW = 300, 150


def graphs_page(
    plan: Plan, record: Iterable[Frame | Event], ready_ns: int, window_ns: tuple[int, int]
) -> tuple[str, int | None]:
    """The page, and when the record was as long as it may be; None if it is whole."""
    senders = read_senders(plan, record, ready_ns)
    from_ns, until_ns = _busy_ns(senders, window_ns[0], senders.cut_ns or window_ns[1])
    flows = [
        (str(end), Plots.of(sender_charts(sender, from_ns, until_ns)))
        for end, sender in senders.by_end.items()
        if sender.segments
    ]
    page = filled_in(
        "graphs.html.j2",
        title=f"{plan.scenario} {plan.variant}, seed {plan.seed}",
        begins=show(from_ns, TIME),
        flows=flows,
        script=Script.load(),
    )
    return page, senders.cut_ns


def _busy_ns(senders: Senders, from_ns: int, until_ns: int) -> tuple[int, int]:
    """The part of a window in which segments leave: nothing is to be seen in the rest."""
    times_ns = [segment.at_ns for one in senders.by_end.values() for segment in one.segments]
    last_ns = max((ack.at_ns for one in senders.by_end.values() for ack in one.acks), default=until_ns)
    return (min(times_ns), max(last_ns, *times_ns)) if len(times_ns) > 1 else (from_ns, until_ns)


def sender_charts(sender: Sender, from_ns: int, until_ns: int) -> Iterator[Chart]:
    """The charts of one sender over a window."""
    x = Axis.of("time", TIME, until_ns - from_ns)
    base = min(segment.first for segment in sender.segments)
    acked: list[Point] = [(ack.at_ns - from_ns, max(ack.number - base, 0)) for ack in sender.acks]
    yield _sequence(sender, x, from_ns, base, acked)
    yield _throughput(sender, x, from_ns, until_ns - from_ns, base)
    yield _rtt(sender, x, from_ns)
    yield _window(sender, x, from_ns)


def _sequence(sender: Sender, x: Axis, from_ns: int, base: int, acked: list[Point]) -> Chart:
    def spans(*, again: bool) -> list[tuple[float, float, float]]:
        return [
            (segment.at_ns - from_ns, segment.first - base, segment.end - base)
            for segment in sender.segments
            if segment.is_retransmission is again
        ]

    sacked = [
        (ack.at_ns - from_ns, max(left - base, 0), max(right - base, 0))
        for ack in sender.acks
        for left, right in ack.sacks
    ]
    high = max(segment.end for segment in sender.segments) - base
    return Chart(
        "Time-sequence",
        x,
        Axis.of("sequence", SIZE, high),
        (Line("acknowledged", _held(acked, x), 1, step=True),),
        spans=(
            Spans("sent", spans(again=False), 0),
            Spans("selectively acknowledged (SACK)", sacked, 2),
            Spans("sent again", spans(again=True), 7),
        ),
        from_zero=False,
        note="bytes from the first segment in the window; each segment when its last bit leaves the sender,"
        " each acknowledgement when its last bit comes there",
        height=_TALL,
    )


def _throughput(sender: Sender, x: Axis, from_ns: int, span_ns: int, base: int) -> Chart:
    bin_ns = max(span_ns // _BINS, _LEAST_BIN_NS)
    count = -(-span_ns // bin_ns) or 1
    sent, acked = [0] * count, [0] * count
    for segment in sender.segments:
        sent[min((segment.at_ns - from_ns) // bin_ns, count - 1)] += segment.end - segment.first
    known = base
    for ack in sender.acks:
        if ack.number > known:
            acked[min((ack.at_ns - from_ns) // bin_ns, count - 1)] += ack.number - known
            known = ack.number
    rates: list[list[Point]] = [
        [(place * bin_ns, total * BITS_PER_BYTE * NS_PER_S / bin_ns) for place, total in enumerate(totals)]
        for totals in (sent, acked)
    ]
    return Chart(
        "Throughput",
        x,
        Axis.of("payload", RATE, max(rate for line in rates for _, rate in line)),
        (
            Line("sent, what is sent again too", _held(rates[0], x), 0, step=True),
            Line("acknowledged", _held(rates[1], x), 1, step=True),
        ),
        note=f"over {show(bin_ns, TIME)} each",
        height=_LOW,
    )


def _rtt(sender: Sender, x: Axis, from_ns: int) -> Chart:
    samples = list(_rtt_samples(sender, from_ns))
    smoothed: list[Point] = [
        (at_ns - from_ns, state.srtt_us)
        for at_ns, state in sender.states
        if state.srtt_us and 0 <= at_ns - from_ns <= x.high
    ]
    high = max((rtt for _, rtt in (*samples, *smoothed)), default=0)
    return Chart(
        "Round-trip time",
        x,
        Axis.of("RTT", MICROSECONDS, high),
        (
            Line("from a segment to its acknowledgement", samples, 0, dots=True),
            Line("smoothed, as the sender has it", _held(smoothed, x), 1, step=True),
        ),
        note="of segments that were sent once (Karn)",
        height=_LOW,
    )


def _rtt_samples(sender: Sender, from_ns: int) -> Iterator[Point]:
    """For each acknowledgement of something new, how long ago the last segment of that had left."""
    once = [segment for segment in sender.segments if not segment.is_retransmission]
    again = {segment.first for segment in sender.segments if segment.is_retransmission}
    ends = [segment.end for segment in once]
    known = 0
    for ack in sender.acks:
        place = bisect.bisect_right(ends, ack.number) - 1
        if place < 0 or ends[place] <= known:
            continue
        known = ends[place]
        segment = once[place]
        if segment.end == ack.number and segment.first not in again and segment.at_ns <= ack.at_ns:
            yield ack.at_ns - from_ns, (ack.at_ns - segment.at_ns) / NS_PER_US


def _window(sender: Sender, x: Axis, from_ns: int) -> Chart:
    flight: list[Point] = []
    cwnd: list[Point] = []
    ssthresh: list[Point] = []
    offered: list[Point] = []
    for at_ns, state in sender.states:
        at = at_ns - from_ns
        if not 0 <= at <= x.high:
            continue
        flight.append((at, float(state.in_flight_frames * state.mss_bytes)))
        cwnd.append((at, float(state.cwnd_frames * state.mss_bytes)))
        offered.append((at, float(state.send_window_bytes)))
        if state.ssthresh_bytes is not None:
            ssthresh.append((at, float(state.ssthresh_bytes)))
    high = max((size for _, size in (*flight, *cwnd)), default=0.0)
    lines = [
        Line("in flight", _held(flight, x), 0, step=True),
        Line("congestion window", _held(cwnd, x), 1, step=True),
    ]
    # One that is far above all else would leave nothing to see of that.
    if ssthresh and max(size for _, size in ssthresh) <= 2 * high:
        lines.append(Line("slow-start threshold", _held(ssthresh, x), 2, step=True, dashed=True))
    note = "at each change, as the sender's kernel has them"
    if offered and max(size for _, size in offered) <= 2 * high:
        lines.append(Line("offered by the receiver", _held(offered, x), 3, step=True))
    elif offered:
        note += f"; the receiver offers up to {show(int(max(size for _, size in offered)), SIZE)}"
    return Chart("Window", x, Axis.of("window", SIZE, high), tuple(lines), note=note, height=_LOW)


def _held(points: Sequence[Point], x: Axis) -> Sequence[Point]:
    """The points of a step line, the last of which holds to the end of the axis."""
    return [*points, (x.high, points[-1][1])] if points and points[-1][0] < x.high else points
