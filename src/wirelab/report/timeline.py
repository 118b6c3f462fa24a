"""What one variant measured, over virtual time: the charts that prove its verdict."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from wirelab.model import ethernet
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Port
from wirelab.report.chart import Axis, Chart, Line, Mark, Point, Range
from wirelab.report.expected import Expected, expected_of
from wirelab.results.counters import END
from wirelab.results.flow import FlowResult
from wirelab.results.port import PortResult
from wirelab.results.samples import FlowSample, PortSample
from wirelab.runner.run_result import Evidence
from wirelab.units import (
    BITS_PER_BYTE,
    COUNT,
    MICROSECONDS,
    NS_PER_S,
    PPM,
    RATE,
    RATIO,
    SIZE,
    TIME,
    Quantity,
    rounded,
    show,
)
from wirelab.verdict.checks import Check

PORTS_SHOWN: Final = 5
"""More are in the table of ports."""

_LEVEL_IN_SIGHT: Final = 1.6
"""A level higher than so many times all that happened is not drawn: it would flatten the lines."""

RULE: Final = (
    f"At most {PORTS_SHOWN} ports have a chart of what they held: those that dropped frames, the most first; "
    "then those that sent PAUSE; then by what they held at most. One that never held more than one frame has "
    "none. Between two samples more may have been held: that shows in the high water alone, which the ports "
    "count themselves."
)

_RECEIVED: Final = "what the receiver got in each second, for UDP and parallel connections"
_PORT_PX: Final = 96
_QUEUE_COLOUR: Final = 4
_QUEUE, _BUFFER = "egress queue", "packet buffer"
_HIGH_WATERS: Final = {_QUEUE: "queue_high_water", _BUFFER: "buffer_high_water"}


class Timeline:
    """What a Plan led to, drawn over one time axis; a chart without lines is none.

    What the ``checks`` expected stands behind the lines it is about.
    """

    def __init__(self, evidence: Evidence, checks: Iterable[Check] = ()) -> None:
        self._plan = evidence.result.timed(evidence.plan)
        self._result = evidence.result
        # What was looked at for a window alone would be a rate of next to no time.
        between = frozenset(self._plan.sample_at_ns)
        self._samples = [sample for sample in self._result.samples if sample.at_ns not in between]
        self._busy_ports = _busy_ports(evidence)
        self._expected = expected_of(checks, evidence.plan)
        # Flows that begin together have one mark.
        flows = sorted(self._plan.flows, key=lambda flow: flow.start_ns)
        starts = itertools.groupby(flows, key=lambda flow: flow.start_ns)
        marks = [Mark(" + ".join(flow.name for flow in group), at_ns) for at_ns, group in starts]
        marks += [Mark(event.what, event.at_ns) for event in self._result.due(self._plan)]
        self._marks = tuple(marks)
        self._interval = show(self._plan.sample_interval_ns, TIME)
        self._sampled_note = f"of the sender, every {self._interval}"

    def charts(self) -> tuple[Chart, ...]:
        """One below the other over the same time."""
        charts = (self._goodput(), self._window(), self._rtt(), *self._occupancy(), self._drops())
        return tuple(chart for chart in (*charts, self._paused()) if chart.lines)

    def absent(self) -> tuple[str, ...]:
        """A sentence for each thing that did not happen, and for what no chart could have."""
        if not self._plan.traffic:
            return ("nothing was sent",)
        ports = self._result.ports.values()
        brief = self._brief()
        happened = {
            f"goodput of {', '.join(brief)}: over between two samples": not brief,
            "no frame was dropped": any(port.dropped_frames for port in ports),
            "no port was paused": any(port.paused_ns for port in ports),
            "no port held more than one frame": self._busy_ports,
        }
        return tuple(sentence for sentence, did in happened.items() if not did)

    def _brief(self) -> list[str]:
        """Flows that ended before a second sample told how fast they were: they have no line."""
        flows = ((flow, self._result.flows[flow.name]) for flow in self._plan.flows)
        return [
            flow.name
            for flow, measured in flows
            if measured.connected and not self._acknowledged(flow) and not _intervals(flow, measured)
        ]

    def _goodput(self) -> Chart:
        lines: list[Line] = []
        notes: dict[str, None] = {}
        for colour, flow in enumerate(self._plan.flows):
            measured = self._result.flows[flow.name]
            acknowledged = self._acknowledged(flow)
            points = acknowledged or _intervals(flow, measured)
            if points:
                notes[f"acknowledged in each {self._interval}" if acknowledged else _RECEIVED] = None
            note = measured.untold or f"{rounded(measured.goodput_bps or 0, RATE)} in all"
            lines.append(Line(flow.name, points, colour, note, step=True))
        in_sight = _highest(lines) * _LEVEL_IN_SIGHT
        ceilings = {flow.path_bps for flow in self._result.flows.values() if flow.path_bps is not None}
        carried = [Mark(f"the path carries {rounded(bps, RATE)}", bps) for bps in sorted(ceilings)]
        chart = self._chart("Goodput", "goodput", RATE, lines, "; ".join(notes))
        levels = tuple(level for level in carried if level.at <= in_sight)
        return replace(chart, levels=levels, ranges=self._ranges("goodput", lines))

    def _window(self) -> Chart:
        lines = self._sampled(lambda sample: sample.cwnd_segments, COUNT)
        return self._chart("Congestion window", "cwnd (segments)", COUNT, lines, self._sampled_note)

    def _rtt(self) -> Chart:
        lines = self._sampled(lambda sample: sample.rtt_us, MICROSECONDS)
        note = f"smoothed RTT {self._sampled_note}" if lines else ""
        for ping in self._plan.pings:
            echoes = self._result.echoes[ping.name]
            sent = [(echoes.asked_ns(ping, number), us) for number, us in echoes.rtt_us.items()]
            if sent:
                told = f"ping, {_span(sent, MICROSECONDS)}"
                lines.append(Line(ping.name, sent, len(self._plan.flows) + len(lines), told))
        chart = self._chart("Round-trip time", "RTT", MICROSECONDS, lines, note)
        return replace(chart, ranges=self._ranges("rtt", lines))

    def _occupancy(self) -> Iterator[Chart]:
        for port in self._busy_ports[:PORTS_SHOWN]:
            counted = self._result.ports[port.label]
            queue = self._at_port(port, lambda sample: sample.queue_bytes)
            buffer = self._at_port(port, lambda sample: sample.buffer_bytes)
            places = (
                (_QUEUE, queue, counted.queue_high_water_bytes),
                (_BUFFER, buffer, counted.buffer_high_water_bytes),
            )
            lines = [
                Line(name, held, colour, f"high water {rounded(most, SIZE)}", step=True)
                for colour, (name, held, most) in enumerate(places, _QUEUE_COLOUR)
                if most
            ]
            most = _most_held_bytes(counted)
            chart = self._chart(f"Held at {port.label}", "held", SIZE, lines, _room(port), high=most)
            expected = (
                replace(one, colour=line.colour)
                for line in lines
                for one in self._ranges(_HIGH_WATERS[line.name], [replace(line, name=port.label)])
            )
            yield replace(chart, levels=_levels(port, counted), height=_PORT_PX, ranges=tuple(expected))

    def _drops(self) -> Chart:
        lines: list[Line] = []
        for port in self._plan.ports:
            dropped = {cause: n for cause, n in self._result.ports[port.label].drops.items() if n}
            if dropped:
                seen = self._at_port(port, lambda sample: sample.dropped_frames)
                causes = ", ".join(f"{rounded(n, COUNT)} {cause}" for cause, n in dropped.items())
                points = [(at_ns, n - seen[0][1]) for at_ns, n in seen]
                lines.append(Line(port.label, points, len(lines), causes, step=True))
        chart = self._chart("Drops", "dropped frames", COUNT, lines, "added up since the start")
        # Added up from the start it is no figure of a window.
        return replace(chart, ranges=self._ranges("drops", lines, windows=False))

    def _paused(self) -> Chart:
        snapshots = sorted(self._result.snapshots.values(), key=lambda snapshot: snapshot.at_ns)
        paused = [(self._result.ports[port.label].paused_ns, port) for port in self._plan.ports]
        paused.sort(key=lambda pause: -pause[0])
        lines: list[Line] = []
        for paused_ns, port in paused[:PORTS_SHOWN]:
            if paused_ns:
                counted = [(then.at_ns, then.ports[port.name]["tx_paused_ns"]) for then in snapshots]
                note = f"{rounded(paused_ns, TIME)} in all"
                # One that stops its peer for as long as it is stopped itself would hide that.
                shares = _growth(counted, PPM)
                lines.append(Line(port.label, shares, len(lines), note, step=True, dashed=bool(lines)))
        note = "share of the time between two readings of the counters, at the start and the end of each flow"
        chart = self._chart("Paused by the peer", "time paused", RATIO, lines, note, high=PPM)
        return replace(chart, ranges=self._ranges("paused", lines))

    def _ranges(self, metric: str, lines: Sequence[Line], *, windows: bool = True) -> tuple[Range, ...]:
        """What was expected of the subjects of lines, over their window or as long as they send."""
        colours = {line.name: line.colour for line in lines}
        return tuple(
            self._range(one, colours[one.subject])
            for one in self._expected
            if one.metric == metric and one.subject in colours and (windows or one.window_ns is None)
        )

    def _range(self, one: Expected, colour: int) -> Range:
        item = next((item for item in self._plan.traffic if item.name == one.subject), None)
        whole_ns = (item.start_ns, item.end_ns) if item else (0, self._result.snapshots[END].at_ns)
        return Range(one.words, one.low, one.high, *(one.window_ns or whole_ns), colour)

    def _acknowledged(self, flow: Flow) -> list[Point]:
        """What was acknowledged between two samples, as a rate; empty where samples do not tell it all."""
        seen = self._at_flow(flow, lambda sample: sample.bytes_acked) if flow.parallel == 1 else []
        return _growth([(flow.start_ns, 0), *seen], BITS_PER_BYTE * NS_PER_S)

    def _sampled(self, figure: Callable[[FlowSample], float], quantity: Quantity) -> list[Line]:
        lines: list[Line] = []
        for colour, flow in enumerate(self._plan.flows):
            points = self._at_flow(flow, figure)
            if points:
                note = _span(points, quantity)
                if flow.parallel > 1:
                    note += f", the first of {flow.parallel} connections"
                lines.append(Line(flow.name, points, colour, note))
        return lines

    def _at_flow(self, flow: Flow, figure: Callable[[FlowSample], float]) -> list[Point]:
        """A figure of a flow in each sample that has it."""
        samples = (sample for sample in self._samples if flow.name in sample.flows)
        return [(sample.at_ns, figure(sample.flows[flow.name])) for sample in samples]

    def _at_port(self, port: Port, figure: Callable[[PortSample], float]) -> list[Point]:
        """A figure of a port in each sample."""
        return [(sample.at_ns, figure(sample.ports[port.name])) for sample in self._samples]

    def _chart(  # noqa: PLR0913 - what a chart has
        self,
        title: str,
        name: str,
        quantity: Quantity,
        lines: list[Line],
        note: str,
        *,
        high: float | None = None,
    ) -> Chart:
        x = Axis.of("virtual time", TIME, self._result.snapshots[END].at_ns, unit="s")
        y = Axis.of(name, quantity, _highest(lines) if high is None else high)
        drawn = tuple(line for line in lines if line.points)
        return Chart(title, x, y, drawn, marks=self._marks, note=note)


def _growth(counted: Sequence[Point], per_ns: int) -> list[Point]:
    """The rate at which a counter grew between two readings, times ``per_ns``; the last holds to the end."""
    spans = [(before, after) for before, after in itertools.pairwise(counted) if after[0] > before[0]]
    rates = [(a[0], (b[1] - a[1]) * per_ns / (b[0] - a[0])) for a, b in spans]
    return [*rates, (counted[-1][0], rates[-1][1])] if rates else []


def _intervals(flow: Flow, measured: FlowResult) -> list[Point]:
    """The receiver's figures, one for each second; the last holds to its end."""
    rates = (*measured.intervals_bps, *measured.intervals_bps[-1:])
    return [(flow.start_ns + second * NS_PER_S, bps) for second, bps in enumerate(rates)]


def _highest(lines: list[Line]) -> float:
    return max((y for line in lines for _, y in line.points), default=0)


def _span(points: Sequence[Point], quantity: Quantity) -> str:
    heights = [y for _, y in points]
    least, most = rounded(min(heights), quantity), rounded(max(heights), quantity)
    return least if least == most else f"{least} to {most}"


def _busy_ports(evidence: Evidence) -> list[Port]:
    """The ports where something happened, by the rule that ``RULE`` states."""

    def weight(port: Port) -> tuple[int, bool, int]:
        counted = evidence.result.ports[port.label]
        sent_pause = counted.tx_pause_frames + counted.tx_pfc_frames > 0
        return counted.dropped_frames, sent_pause, _most_held_bytes(counted)

    def happened(port: Port) -> bool:
        dropped, _, highest = weight(port)
        return dropped > 0 or highest > ethernet.frame_bytes(port.mtu_bytes)

    return sorted(filter(happened, evidence.plan.ports), key=weight, reverse=True)


def _most_held_bytes(counted: PortResult) -> int:
    """The high water of the queue or the buffer, whichever was higher."""
    return max(counted.queue_high_water_bytes, counted.buffer_high_water_bytes)


def _levels(port: Port, counted: PortResult) -> tuple[Mark, ...]:
    """The high water, and what was nearly reached of that which a port has."""
    queue, buffer = counted.queue_high_water_bytes, counted.buffer_high_water_bytes
    highest, limits = max(queue, buffer), []
    if port.queue is not None and port.queue.limit_bytes is not None:
        limits.append((f"{port.queue.kind} limit", port.queue.limit_bytes, queue))
    if port.pause_tx or port.pfc:
        limits.append(("XOFF", port.xoff_bytes, buffer))
    limits.append(("packet buffer", port.buffer_bytes, buffer))
    near = (
        Mark(f"{name} {show(limit_bytes, SIZE)}", limit_bytes)
        for name, limit_bytes, held_bytes in limits
        if limit_bytes <= held_bytes * _LEVEL_IN_SIGHT
    )
    return Mark(f"high water {rounded(highest, SIZE)}", highest), *near


def _room(port: Port) -> str:
    """What there is room for at a port: ``bfifo of 22 KiB; packet buffer of 64 KiB; XOFF at ...``."""
    parts = []
    if port.queue is not None:
        limit = "" if port.queue.limit_bytes is None else f" of {show(port.queue.limit_bytes, SIZE)}"
        if port.queue.limit_frames is not None:
            limit = f" of {rounded(port.queue.limit_frames, COUNT)} frames"
        parts.append(f"{port.queue.kind}{limit}")
    if port.buffer_bytes:
        parts.append(f"packet buffer of {show(port.buffer_bytes, SIZE)}")
    if port.pause_tx or port.pfc:
        parts.append(f"XOFF at {show(port.xoff_bytes, SIZE)}, XON at {show(port.xon_bytes, SIZE)}")
    return "; ".join(parts)
