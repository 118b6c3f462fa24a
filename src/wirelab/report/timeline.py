"""What one variant measured, over virtual time: the charts that prove its verdict."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from wirelab.report.axis import Axis
from wirelab.report.chart import Chart, Level, Line, Mark
from wirelab.report.occupancy import LEVEL_IN_SIGHT, PORTS_SHOWN, busy_ports, levels, most_held_bytes, room
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
    Quantity,
    rounded,
    show,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wirelab.plan.traffic import Flow
    from wirelab.report.chart import Point
    from wirelab.results.flow import FlowResult
    from wirelab.results.samples import FlowSample
    from wirelab.runner.run_result import Evidence

_RECEIVED: Final = "what the receiver got in each second, for UDP and parallel connections"
_PORT_PX: Final = 96
_QUEUE_COLOUR: Final = 4


@dataclass(frozen=True, slots=True)
class Timeline:
    """The charts of a variant, and a sentence for each thing that did not happen."""

    charts: tuple[Chart, ...]
    absent: tuple[str, ...]


def timeline(evidence: Evidence) -> Timeline:
    """The charts of what a Plan led to, one below the other over the same time."""
    drawer = _Drawer(evidence)
    charts = [drawer.goodput(), drawer.window(), drawer.rtt(), *drawer.occupancy(), drawer.drops()]
    charts.append(drawer.paused())
    drawn = tuple(chart for chart in charts if chart is not None and chart.lines)
    return Timeline(drawn, tuple(_absent(evidence)))


def _absent(evidence: Evidence) -> Iterator[str]:
    ports = evidence.result.ports.values()
    if not evidence.plan.traffic:
        yield "nothing was sent"
        return
    if not any(port.dropped_frames for port in ports):
        yield "no frame was dropped"
    if not any(port.paused_ns for port in ports):
        yield "no port was paused"
    if not busy_ports(evidence):
        yield "no port held more than one frame"


class _Drawer:
    """Draws what was measured over the time axis that all charts share; a chart without lines is none."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.plan = evidence.plan
        self.result = evidence.result
        # Flows that begin together have one mark.
        flows = sorted(self.plan.flows, key=lambda flow: flow.start_ns)
        starts = itertools.groupby(flows, key=lambda flow: flow.start_ns)
        self.marks = tuple(Mark(" + ".join(flow.name for flow in group), at_ns) for at_ns, group in starts)
        self._interval = show(self.plan.sample_interval_ns, TIME)
        self._sampled_note = f"of the sender, every {self._interval}"

    def goodput(self) -> Chart:
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
        ceilings = {flow.path_bps for flow in self.result.flows.values() if flow.path_bps is not None}
        highest = _highest(lines)
        carried = tuple(
            Level(f"the path carries {rounded(bps, RATE)}", bps)
            for bps in sorted(ceilings)
            if bps <= highest * LEVEL_IN_SIGHT
        )
        return self._chart("Goodput", "goodput", RATE, lines, note="; ".join(notes), levels=carried)

    def window(self) -> Chart:
        lines = self._sampled(lambda sample: sample.cwnd_segments, COUNT)
        return self._chart("Congestion window", "cwnd (segments)", COUNT, lines, note=self._sampled_note)

    def rtt(self) -> Chart:
        lines = self._sampled(lambda sample: sample.rtt_us, MICROSECONDS)
        for ping in self.plan.pings:
            rtt_us = self.result.echoes[ping.name].rtt_us
            if rtt_us:
                sent_ns = (
                    (ping.start_ns + (number - 1) * ping.interval_ns, us) for number, us in rtt_us.items()
                )
                note = f"ping, {_span(tuple(rtt_us.values()), MICROSECONDS)}"
                lines.append(Line(ping.name, tuple(sent_ns), len(self.plan.flows) + len(lines), note))
        note = f"smoothed RTT {self._sampled_note}"
        return self._chart("Round-trip time", "RTT", MICROSECONDS, lines, note=note)

    def occupancy(self) -> Iterator[Chart]:
        for port in busy_ports(self.evidence)[:PORTS_SHOWN]:
            counted = self.result.ports[port.label]
            held = [(sample.at_ns, sample.ports[port.name]) for sample in self.result.samples]
            queued = tuple((at_ns, sample.queue_bytes) for at_ns, sample in held)
            buffered = tuple((at_ns, sample.buffer_bytes) for at_ns, sample in held)
            highest = {
                "egress queue": (queued, counted.queue_high_water_bytes),
                "packet buffer": (buffered, counted.buffer_high_water_bytes),
            }
            lines = [
                Line(name, points, colour, f"high water {rounded(most, SIZE)}")
                for colour, (name, (points, most)) in enumerate(highest.items(), _QUEUE_COLOUR)
                if most
            ]
            yield self._chart(
                f"Held at {port.label}",
                "held",
                SIZE,
                lines,
                high=most_held_bytes(counted),
                note=room(port),
                levels=levels(port, counted),
                height=_PORT_PX,
            )

    def drops(self) -> Chart:
        lines: list[Line] = []
        for port in self.plan.ports:
            dropped = {cause: n for cause, n in self.result.ports[port.label].drops.items() if n}
            if dropped:
                seen = [
                    (sample.at_ns, sample.ports[port.name].dropped_frames) for sample in self.result.samples
                ]
                before = seen[0][1] if seen else 0
                causes = ", ".join(f"{rounded(n, COUNT)} {cause}" for cause, n in dropped.items())
                points = tuple((at_ns, n - before) for at_ns, n in seen)
                lines.append(Line(port.label, points, len(lines), causes))
        return self._chart("Drops", "dropped frames", COUNT, lines, note="added up since the start")

    def paused(self) -> Chart:
        snapshots = sorted(self.result.snapshots.values(), key=lambda snapshot: snapshot.at_ns)
        spans = [(a, b) for a, b in itertools.pairwise(snapshots) if b.at_ns > a.at_ns]
        lines: list[Line] = []
        for port in sorted(self.plan.ports, key=lambda port: -self.result.ports[port.label].paused_ns):
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
        return self._chart("Paused by the peer", "time paused", RATIO, lines, high=PPM, note=note)

    def _acknowledged(self, flow: Flow) -> tuple[Point, ...]:
        """What was acknowledged between two samples, as a rate; empty where samples do not tell it all."""
        seen = [
            (sample.at_ns, sample.flows[flow.name].bytes_acked)
            for sample in self.result.samples
            if flow.name in sample.flows
        ]
        if not seen or flow.parallel > 1:
            return ()
        spans = [(a, b) for a, b in itertools.pairwise([(flow.start_ns, 0), *seen]) if b[0] > a[0]]
        rates = [(a[0], (b[1] - a[1]) * BITS_PER_BYTE * NS_PER_S / (b[0] - a[0])) for a, b in spans]
        return (*rates, (seen[-1][0], rates[-1][1])) if rates else ()

    def _sampled(self, value: Callable[[FlowSample], float], quantity: Quantity) -> list[Line]:
        lines: list[Line] = []
        for colour, flow in enumerate(self.plan.flows):
            points = tuple(
                (sample.at_ns, value(sample.flows[flow.name]))
                for sample in self.result.samples
                if flow.name in sample.flows
            )
            if points:
                note = _span([y for _, y in points], quantity)
                if flow.parallel > 1:
                    note += f", the first of {flow.parallel} connections"
                lines.append(Line(flow.name, points, colour, note))
        return lines

    def _chart(  # noqa: PLR0913 - what a chart has
        self,
        title: str,
        name: str,
        quantity: Quantity,
        lines: list[Line],
        *,
        high: float | None = None,
        note: str = "",
        levels: tuple[Level, ...] = (),
        height: int = 130,
    ) -> Chart:
        x = Axis.of("virtual time", TIME, self.result.snapshots[END].at_ns, unit="s")
        y = Axis.of(name, quantity, _highest(lines) if high is None else high)
        drawn = tuple(line for line in lines if line.points)
        return Chart(title, x, y, drawn, levels, self.marks, note, height)


def _intervals(flow: Flow, measured: FlowResult) -> tuple[Point, ...]:
    """The receiver's figures, one for each second."""
    rates = measured.intervals_bps
    points = [(flow.start_ns + second * NS_PER_S, bps) for second, bps in enumerate(rates)]
    return (*points, (points[-1][0] + NS_PER_S, rates[-1])) if points else ()


def _highest(lines: list[Line]) -> float:
    return max((y for line in lines for _, y in line.points), default=0)


def _span(values: Sequence[float], quantity: Quantity) -> str:
    least, most = map(partial(rounded, quantity=quantity), (min(values), max(values)))
    return least if least == most else f"{least} to {most}"
