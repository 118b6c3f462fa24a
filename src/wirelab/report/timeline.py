"""What one variant measured, over virtual time: the charts that prove its verdict."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from wirelab.model import ethernet
from wirelab.plan.ceiling import ceiling
from wirelab.report.chart import Axis, Chart, Level, Line, Mark
from wirelab.results.counters import END
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
    rounded,
    show,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wirelab.plan.traffic import Flow
    from wirelab.plan.types import Plan, Port
    from wirelab.report.chart import Point
    from wirelab.results.flow import FlowResult
    from wirelab.results.result import PortResult, Result
    from wirelab.results.samples import FlowSample

PORTS_SHOWN: Final = 5
"""More are in the table of ports."""

RULE: Final = (
    f"At most {PORTS_SHOWN} ports have a chart of what they held: those that dropped frames, the most first; "
    "then those that sent PAUSE; then by what they held at most. One that never held more than one frame has "
    "none. Between two samples more may have been held: that shows in the high water alone, which the ports "
    "count themselves."
)

_RECEIVED: Final = "what the receiver got in each second, for UDP and parallel connections"
_PORT_PX: Final = 96
_QUEUE_COLOUR: Final = 4
# A level far above everything that happened would press that to the ground.
_LEVEL_IN_SIGHT: Final = 1.6


@dataclass(frozen=True, slots=True)
class Timeline:
    """The charts of a variant, and a sentence for each thing that did not happen."""

    charts: tuple[Chart, ...]
    absent: tuple[str, ...]


def timeline(plan: Plan, result: Result) -> Timeline:
    """The charts of what ``plan`` led to, one below the other over the same time."""
    drawer = _Drawer(plan, result)
    charts = [drawer.goodput(), drawer.window(), drawer.rtt(), *drawer.occupancy(), drawer.drops()]
    charts.append(drawer.paused())
    return Timeline(tuple(chart for chart in charts if chart is not None), tuple(_absent(drawer)))


def _absent(drawer: _Drawer) -> Iterator[str]:
    ports = drawer.result.ports.values()
    if not drawer.plan.traffic:
        yield "nothing was sent"
        return
    if not any(sum(port.drops.values()) for port in ports):
        yield "no frame was dropped"
    if not any(port.paused_ns for port in ports):
        yield "no port was paused"
    if not drawer.busy_ports():
        yield "no port held more than one frame"


@dataclass(frozen=True, slots=True)
class _Drawer:
    """Draws what ``result`` holds over the time axis that all charts share."""

    plan: Plan
    result: Result

    @property
    def x(self) -> Axis:
        end_ns = self.result.snapshots[END].at_ns
        return Axis.of("virtual time", TIME, end_ns, unit="s")

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Where flows begin, those that begin together with one mark."""
        flows = sorted(self.plan.flows, key=lambda flow: flow.start_ns)
        starts = itertools.groupby(flows, key=lambda flow: flow.start_ns)
        return tuple(Mark(" + ".join(flow.name for flow in group), at_ns) for at_ns, group in starts)

    def goodput(self) -> Chart | None:
        lines: list[Line] = []
        notes: dict[str, None] = {}
        for colour, flow in enumerate(self.plan.flows):
            measured = self.result.flows[flow.name]
            acknowledged = self._acknowledged(flow)
            points = acknowledged or _intervals(flow, measured)
            if points:
                notes[f"acknowledged in each {self._interval}" if acknowledged else _RECEIVED] = None
            mean = f"{rounded(measured.goodput_bps, RATE)} in all"
            lines.append(Line(flow.name, points, colour, mean, step=True))
        linked = self.result.linked(self.plan)
        mosts = {found.bps for flow in linked.flows if (found := ceiling(linked, flow))}
        highest = _highest(lines)
        levels = tuple(
            Level(f"the path carries {rounded(bps, RATE)}", bps)
            for bps in sorted(mosts)
            if bps <= highest * _LEVEL_IN_SIGHT
        )
        chart = self._chart("Goodput", Axis.of("goodput", RATE, highest), lines, "; ".join(notes))
        return chart and replace(chart, levels=levels)

    def window(self) -> Chart | None:
        lines = self._sampled(lambda sample: sample.cwnd_segments, _segments)
        chart = self._chart("Congestion window", Axis.of("cwnd (segments)", COUNT, _highest(lines)), lines)
        return chart and replace(chart, note=self._sampled_note)

    def rtt(self) -> Chart | None:
        lines = self._sampled(lambda sample: sample.rtt_us, _microseconds)
        for ping in self.plan.pings:
            found = self.result.pings[ping.name]
            # Which of the requests were lost is not known: then nobody can say when the others were sent.
            if found.rtts_us and len(found.rtts_us) == found.sent:
                points = tuple(
                    (ping.start_ns + n * ping.interval_ns, rtt) for n, rtt in enumerate(found.rtts_us)
                )
                note = f"ping, {_span(found.rtts_us, _microseconds)}"
                lines.append(Line(ping.name, points, len(self.plan.flows) + len(lines), note))
        axis = Axis.of("RTT", MICROSECONDS, _highest(lines))
        return self._chart("Round-trip time", axis, lines, f"smoothed RTT {self._sampled_note}")

    def occupancy(self) -> Iterator[Chart]:
        for port in self.busy_ports()[:PORTS_SHOWN]:
            counted = self.result.ports[port.label]
            queued = [(each.at_ns, each.ports[port.name].queue_bytes) for each in self.result.samples]
            held = [(each.at_ns, each.ports[port.name].buffer_bytes) for each in self.result.samples]
            highest = {
                "egress queue": (queued, counted.queue_high_water_bytes),
                "packet buffer": (held, counted.buffer_high_water_bytes),
            }
            lines = [
                Line(name, tuple(points), colour, f"high water {rounded(most, SIZE)}")
                for colour, (name, (points, most)) in enumerate(highest.items(), _QUEUE_COLOUR)
                if most
            ]
            most = max(counted.queue_high_water_bytes, counted.buffer_high_water_bytes)
            levels = (Level(f"high water {rounded(most, SIZE)}", most), *_limits(port, counted))
            chart = self._chart(f"Held at {port.label}", Axis.of("held", SIZE, most), lines, _room(port))
            if chart is not None:
                yield replace(chart, levels=levels, height=_PORT_PX)

    def drops(self) -> Chart | None:
        lines: list[Line] = []
        for port in self.plan.ports:
            dropped = {cause: n for cause, n in self.result.ports[port.label].drops.items() if n}
            if dropped:
                seen = [(each.at_ns, each.ports[port.name].dropped_frames) for each in self.result.samples]
                before = seen[0][1] if seen else 0
                causes = ", ".join(f"{rounded(n, COUNT)} {cause}" for cause, n in dropped.items())
                points = tuple((at_ns, n - before) for at_ns, n in seen)
                lines.append(Line(port.label, points, len(lines), causes))
        return self._chart(
            "Drops", Axis.of("dropped frames", COUNT, _highest(lines)), lines, "added up since the start"
        )

    def paused(self) -> Chart | None:
        snapshots = sorted(self.result.snapshots.values(), key=lambda each: each.at_ns)
        spans = [(a, b) for a, b in itertools.pairwise(snapshots) if b.at_ns > a.at_ns]
        lines: list[Line] = []
        for port in sorted(self.plan.ports, key=lambda each: -self.result.ports[each.label].paused_ns):
            paused_ns = self.result.ports[port.label].paused_ns
            if not paused_ns or len(lines) == PORTS_SHOWN:
                break
            stats = [(a, b, a.ports[port.name], b.ports[port.name]) for a, b in spans]
            shares = [
                (a.at_ns, (last["tx_paused_ns"] - first["tx_paused_ns"]) * PPM / (b.at_ns - a.at_ns))
                for a, b, first, last in stats
            ]
            points = (*shares, (spans[-1][1].at_ns, shares[-1][1])) if spans else ()
            note = f"{rounded(paused_ns, TIME)} in all"
            # One that stops its peer for as long as it is stopped itself would hide that.
            lines.append(Line(port.label, points, len(lines), note, step=True, dashed=bool(lines)))
        note = "share of the time between two readings of the counters, at the start and the end of each flow"
        return self._chart("Paused by the peer", Axis.of("time paused", RATIO, PPM), lines, note)

    def busy_ports(self) -> list[Port]:
        """The ports where something happened, by the rule that ``RULE`` states."""

        def weight(port: Port) -> tuple[int, bool, int]:
            found = self.result.ports[port.label]
            highest = max(found.queue_high_water_bytes, found.buffer_high_water_bytes)
            return sum(found.drops.values()), found.tx_pause_frames + found.tx_pfc_frames > 0, highest

        def happened(port: Port) -> bool:
            dropped, _, highest = weight(port)
            return dropped > 0 or highest > ethernet.frame_bytes(port.mtu_bytes)

        return sorted(filter(happened, self.plan.ports), key=weight, reverse=True)

    def _acknowledged(self, flow: Flow) -> tuple[Point, ...]:
        """What was acknowledged between two samples, as a rate; empty where samples do not tell it all."""
        seen = [
            (each.at_ns, each.flows[flow.name]) for each in self.result.samples if flow.name in each.flows
        ]
        if not seen or flow.parallel > 1:
            return ()
        counts = [(flow.start_ns, 0), *((at_ns, sample.bytes_acked) for at_ns, sample in seen)]
        spans = [(a, b) for a, b in itertools.pairwise(counts) if b[0] > a[0]]
        rates = [(a[0], (b[1] - a[1]) * BITS_PER_BYTE * NS_PER_S / (b[0] - a[0])) for a, b in spans]
        return (*rates, (counts[-1][0], rates[-1][1])) if rates else ()

    def _sampled(self, value: Callable[[FlowSample], float], shown: Callable[[float], str]) -> list[Line]:
        lines: list[Line] = []
        for colour, flow in enumerate(self.plan.flows):
            points = tuple(
                (sample.at_ns, value(sample.flows[flow.name]))
                for sample in self.result.samples
                if flow.name in sample.flows
            )
            if points:
                values = [y for _, y in points]
                note = _span(values, shown)
                if flow.parallel > 1:
                    note += f", the first of {flow.parallel} connections"
                lines.append(Line(flow.name, points, colour, note))
        return lines

    def _chart(self, title: str, y: Axis, lines: list[Line], note: str = "") -> Chart | None:
        drawn = tuple(line for line in lines if line.points)
        return Chart(title, self.x, y, drawn, marks=self.marks, note=note) if drawn else None

    @property
    def _interval(self) -> str:
        return show(self.plan.sample_interval_ns, TIME)

    @property
    def _sampled_note(self) -> str:
        return f"of the sender, every {self._interval}"


def _intervals(flow: Flow, measured: FlowResult) -> tuple[Point, ...]:
    """The receiver's figures, one for each second."""
    rates = measured.intervals_bps
    points = [(flow.start_ns + second * NS_PER_S, bps) for second, bps in enumerate(rates)]
    return (*points, (points[-1][0] + NS_PER_S, rates[-1])) if points else ()


def _limits(port: Port, counted: PortResult) -> Iterator[Level]:
    """What was nearly reached of that which a port has."""
    queue, buffer = counted.queue_high_water_bytes, counted.buffer_high_water_bytes
    limits = []
    if port.queue is not None and port.queue.limit_bytes is not None:
        limits.append((f"{port.queue.kind} limit", port.queue.limit_bytes, queue))
    if port.pause_tx or port.pfc:
        limits.append(("XOFF", port.xoff_bytes, buffer))
    limits.append(("packet buffer", port.buffer_bytes, buffer))
    for name, limit_bytes, most in limits:
        if limit_bytes <= most * _LEVEL_IN_SIGHT:
            yield Level(f"{name} {show(limit_bytes, SIZE)}", limit_bytes)


def _room(port: Port) -> str:
    """What there is room for at a port: ``egress queue bfifo 22 KiB; packet buffer 64 KiB, XOFF at ...``."""
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


def _highest(lines: list[Line]) -> float:
    return max((y for line in lines for _, y in line.points), default=0)


def _span(values: Sequence[float], shown: Callable[[float], str]) -> str:
    least, most = shown(min(values)), shown(max(values))
    return least if least == most else f"{least} to {most}"


def _segments(value: float) -> str:
    return rounded(value, COUNT)


def _microseconds(value: float) -> str:
    return rounded(value, MICROSECONDS)
