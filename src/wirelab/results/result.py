"""Raw files of one variant -> Result: frozen, complete, or a LabError that names the file."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

from wirelab.errors import LabError
from wirelab.model.expect import Expectation
from wirelab.model.metric import NETWORK
from wirelab.plan.ceiling import ceiling_bps
from wirelab.plan.event import is_open, states
from wirelab.plan.traffic import Flow, Item
from wirelab.plan.types import Event, Plan, Port
from wirelab.results import counters, samples
from wirelab.results.copy import parse_copy
from wirelab.results.counters import END, START, LinkState, PortCounters, Snapshot, parse_snapshots, window
from wirelab.results.datagrams import Received, parse_received
from wirelab.results.digest import digest
from wirelab.results.events import Happened, read_happened
from wirelab.results.flow import FlowResult, flow_figure
from wirelab.results.iperf3 import connected, lost_connection, parse_flow, read_report, require_server
from wirelab.results.ping import Echoes, PingResult, ping_figure, read_echoes
from wirelab.results.port import PortResult, port_figure
from wirelab.results.rawjson import Field, read_json, read_text
from wirelab.results.rtt import percentiles
from wirelab.results.samples import Sample, parse_lines, parse_samples
from wirelab.results.status import Readback, Status, read_readbacks, read_status
from wirelab.results.traces import Followed, read_followed
from wirelab.results.window import acknowledged, longest_gap_ns, recovery_ns
from wirelab.units import PPM


@dataclass(frozen=True, slots=True)
class Result:
    """Everything one variant measured.

    ``ports`` is by the port's label, everything else by interface name, as the lab wrote it; ``flows``,
    ``pings``, ``echoes`` and ``received`` (of flows over UDP) are by the name that the scenario gives them.
    ``followed`` is what each port, by interface name, did of the trace that it follows.
    ``digest`` is SHA-256 over what was measured in virtual time, nothing of the host.
    """

    status: Status
    readbacks: tuple[Readback, ...]
    snapshots: Mapping[str, Snapshot]
    samples: tuple[Sample, ...]
    flows: Mapping[str, FlowResult]
    digest: str
    ports: Mapping[str, PortResult] = field(default_factory=dict)
    pings: Mapping[str, PingResult] = field(default_factory=dict)
    echoes: Mapping[str, Echoes] = field(default_factory=dict)
    received: Mapping[str, tuple[Received, ...]] = field(default_factory=dict)
    happened: Happened = field(default_factory=Happened)
    followed: Mapping[str, Followed] = field(default_factory=dict)

    @property
    def elapsed_ns(self) -> int:
        """Virtual time between the first and the last snapshot."""
        return self.snapshots[END].at_ns - self.snapshots[START].at_ns

    def measured(self, expectation: Expectation) -> float | None:
        """The value that an expectation is about, in its base unit; None if nothing came that would tell it.

        A port's and the network's figures are over the whole run; ``in_window`` tells those of a window.
        Raises KeyError for a subject that the variant does not have: a model that was checked names none.
        """
        subject, metric = expectation.subject, expectation.metric
        return figure(subject, metric, self.flows, self.pings, self.ports, self.elapsed_ns)

    def timed(self, plan: Plan) -> Plan:
        """``plan`` with each item that was early at the instant at which it began."""
        traffic = tuple(
            replace(item, start_ns=self.snapshots[window(item.name)[0]].at_ns) if item.early else item
            for item in plan.traffic
        )
        return replace(plan, traffic=traffic)

    def due(self, plan: Plan) -> tuple[Event, ...]:
        """The events of ``plan`` that were to take place: once all traffic is over none does."""
        ends = [self.snapshots.get(window(item.name)[1]) for item in plan.traffic]
        if not all(ends):
            return plan.events
        over_ns = max((end.at_ns for end in ends if end), default=math.inf)
        return tuple(event for event in plan.events if event.at_ns <= over_ns)

    def linked(self, plan: Plan, item: Item | None = None) -> Plan:
        """``plan`` as it is in the end, with what the ports agreed on in the place of what they offered.

        Of an ``item`` it is what it ran on at last: what was changed after its time is nothing to it.
        A cable that never had a link leads nowhere, and is left out.
        """
        over_ns = math.inf if item is None else min(item.end_ns, self.snapshots[window(item.name)[1]].at_ns)
        became = states(replace(plan, events=self.due(plan)))
        last = [state for at_ns, state in became if at_ns < over_ns or at_ns == 0][-1]
        had = [
            name for snapshot in self.snapshots.values() for name, of in snapshot.ports.items() if of.link.up
        ]
        return replace(
            last,
            ports=tuple(_linked_port(port, self._link(port.name, item, over_ns)) for port in last.ports),
            cables=tuple(cable for cable in last.cables if not {cable.a, cable.b}.isdisjoint(had)),
        )

    def _link(self, port: str, item: Item | None, over_ns: float) -> LinkState | None:
        """What a port agreed on at last in the time of an item, or the whole run; None if nobody looked.

        The end of an item is looked at a little later than it is over: an event may have come in between.
        """
        if item is None:
            return self.snapshots[END].ports[port].link
        changes_ns = self.happened.relinked.get(port, ())
        from_ns = max((at_ns for at_ns in changes_ns if at_ns < over_ns), default=0)
        until_ns = min((at_ns for at_ns in changes_ns if at_ns >= over_ns), default=math.inf)
        looked_ns = self.snapshots[window(item.name)[1]].at_ns
        seen = [
            snapshot.ports[port].link
            for snapshot in sorted(self.snapshots.values(), key=lambda snapshot: snapshot.at_ns)
            if from_ns <= snapshot.at_ns < until_ns and snapshot.at_ns <= looked_ns
        ]
        return next((link for link in reversed(seen) if link.up), seen[-1] if seen else None)

    def blocked(self, flow: str | None = None) -> dict[str, dict[str, int]]:
        """Frames that the rules of each firewall dropped during ``flow``, or the whole run."""
        first, last = map(self.snapshots.__getitem__, window(flow))
        return {
            firewall: {rule: n - first.blocked.get(firewall, {}).get(rule, 0) for rule, n in rules.items()}
            for firewall, rules in last.blocked.items()
        }

    def change(self, port: str, flow: str | None = None) -> PortCounters:
        """What the port with interface name ``port`` counted during ``flow``, or the whole run."""
        first, last = map(self.snapshots.__getitem__, window(flow))
        return last.ports[port].since(first.ports[port])


def figure(  # noqa: PLR0913, PLR0917 - whatever may have figures
    subject: str,
    metric: str,
    flows: Mapping[str, FlowResult],
    pings: Mapping[str, PingResult],
    ports: Mapping[str, PortResult],
    elapsed_ns: int,
) -> float | None:
    """A metric of a subject in its base unit; None if nothing came that would tell it.

    Raises KeyError for a subject that is not there.
    """
    if subject == NETWORK:
        return NETWORK_FIGURES[metric](flows.values(), ports.values())
    if subject in flows:
        return flow_figure(metric, flows[subject])
    if subject in pings:
        return ping_figure(metric, pings[subject])
    return port_figure(metric, ports[subject], elapsed_ns)


def _goodput_bps(flows: Collection[FlowResult]) -> float | None:
    """That of all flows; None without any, or where one was not connected or lost: nobody knows its own."""
    rates_bps = [flow.goodput_bps for flow in flows]
    return sum(filter(None, rates_bps)) if rates_bps and None not in rates_bps else None


def _retransmits(flows: Collection[FlowResult]) -> int | None:
    """Those of all TCP flows; None without any, or where one was not connected or lost."""
    counts = [flow.retransmits for flow in flows if flow.protocol == "tcp"]
    return sum(filter(None, counts)) if counts and None not in counts else None


def _duration_ns(flows: Collection[FlowResult]) -> float | None:
    """What the longest transfer takes; None without any, or where one flow or another came to no end."""
    times_ns = [flow.duration_ns or 0 for flow in flows if flow.connected and flow.reached_bytes is None]
    return max(times_ns, default=0) or None if len(times_ns) == len(flows) else None


NETWORK_FIGURES: Final[
    Mapping[str, Callable[[Collection[FlowResult], Collection[PortResult]], float | None]]
] = {
    "drops": lambda _, ports: sum(port.dropped_frames for port in ports),
    "pause_sent": lambda _, ports: sum(port.tx_pause_frames for port in ports),
    "goodput": lambda flows, _: _goodput_bps(flows),
    "retransmits": lambda flows, _: _retransmits(flows),
    "duration": lambda flows, _: _duration_ns(flows),
}


def read_result(plan: Plan, raw: Path) -> Result:
    """What the lab that ran ``plan`` left in the folder ``raw``.

    Raises LabError when the lab says that it failed, or when a file is missing, cut short or holds
    something else than it should: then the lab broke, and nothing is known about the network.
    """
    status = read_status(raw)
    reports = {name: report for flow in plan.flows for name, report in _reports(raw, flow).items()}
    echoes = {ping.name: read_echoes(ping, raw) for ping in plan.pings}
    counted = read_json(raw, counters.FILE)
    lines = parse_lines(samples.FILE, read_text(raw, samples.FILE))
    snapshots = parse_snapshots(plan, counted)
    sampled = tuple(parse_samples(plan, lines))
    figures = {
        flow.name: _with_percentiles(_flow(flow, reports), flow.parallel, sampled) for flow in plan.flows
    }
    measured = {
        **{name: report.value for name, report in reports.items()},
        **{ping.sender_file: echoes[ping.name].digested for ping in plan.pings},
    }
    result = Result(
        status=status,
        readbacks=read_readbacks(raw),
        snapshots=snapshots,
        samples=sampled,
        flows=figures,
        pings={ping.name: echoes[ping.name].result(ping) for ping in plan.pings},
        echoes=echoes,
        received={
            flow.name: parse_received(reports[flow.sender_file], reports[flow.receiver_file])
            for flow in plan.flows
            if flow.protocol == "udp" and flow.receiver_file in reports
        },
        digest=digest(measured, counted.value, samples.written_out(lines)),
        happened=read_happened(plan, raw),
        followed=read_followed(plan, raw),
    )
    plan = result.timed(plan)
    linked = result.linked(plan)
    ports = {port.label: _port(port.label, result.change(port.name)) for port in plan.ports}
    total_bps = _goodput_bps(figures.values())
    counted_of = {flow.name: acknowledged(flow, sampled) for flow in plan.flows}
    flows = {
        flow.name: replace(
            figures[flow.name],
            path_bps=_path_bps(plan, linked, flow),
            longest_gap_ns=longest_gap_ns(counted_of[flow.name]),
            recovery_ns=recovery_ns(plan, flow, counted_of[flow.name]),
            share_ppm=(figures[flow.name].goodput_bps or 0) * PPM / total_bps if total_bps else None,
        )
        for flow in plan.flows
    }
    return replace(result, flows=flows, ports=ports)


def _path_bps(plan: Plan, linked: Plan, flow: Flow) -> float | None:
    """The most that the path of a flow carries at any time while it runs; None where there never was a path.

    The datagrams that still wait when a flow is over come later, and count.
    """
    known = states(plan)
    untils = [at_ns for at_ns, _ in known[1:]]
    end_ns = flow.end_ns if flow.protocol == "tcp" else math.inf
    whiles = [
        _open(state)
        for (from_ns, state), until_ns in zip(known, untils, strict=False)
        if from_ns < end_ns and until_ns > flow.start_ns
    ]
    if not untils or untils[-1] < end_ns:
        whiles.append(_open(linked))
    rates = (ceiling_bps(state, flow) for state in whiles)
    return max((rate for rate in rates if rate is not None), default=None)


def _port(label: str, change: PortCounters) -> PortResult:
    """What a port did. Raises LabError where it had counted more at the beginning than in the end."""
    port = PortResult.of(change)
    counts = {**asdict(port), **port.drops, "priority_paused_ns": min(port.priority_paused_ns)}
    for name, count in counts.items():
        if isinstance(count, int) and count < 0:
            raise LabError(f"{counters.FILE}: {label}: {name} became less, by {-count}")
    return port


def _open(plan: Plan) -> Plan:
    return replace(plan, cables=tuple(cable for cable in plan.cables if is_open(plan, cable)))


def _linked_port(port: Port, link: LinkState | None) -> Port:
    if link is None:
        return port
    return replace(
        port,
        speed_bps=link.speed_bps or port.speed_bps,
        duplex=link.duplex or port.duplex,
        pause_rx=link.pause_rx,
        pause_tx=link.pause_tx,
    )


def _with_percentiles(flow: FlowResult, parallel: int, sampled: tuple[Sample, ...]) -> FlowResult:
    """With the percentiles of the smoothed RTT that the sender had at each sample.

    Of several connections samples have the first alone: nobody knows those of all.
    """
    rtts_us = [sample.flows[flow.name].rtt_us for sample in sampled if flow.name in sample.flows]
    if flow.rtt is None or not rtts_us or parallel > 1:
        return flow
    p50_us, p90_us, p99_us = percentiles(rtts_us)
    return replace(flow, rtt=replace(flow.rtt, p50_us=p50_us, p90_us=p90_us, p99_us=p99_us))


def _reports(raw: Path, flow: Flow) -> dict[str, Field]:
    """The files of both ends; of the client alone where it never reached the server, or lost it."""
    reports = {flow.sender_file: read_report(raw, flow.sender_file)}
    if connected(reports[flow.sender_file]):
        reports[flow.receiver_file] = read_report(raw, flow.receiver_file)
    else:
        require_server(raw, flow.receiver_file)
    return reports


def _flow(flow: Flow, reports: Mapping[str, Field]) -> FlowResult:
    client, server = reports[flow.sender_file], reports.get(flow.receiver_file)
    if server is None:
        return FlowResult.unconnected(flow, lost_connection(client))
    return _PARSERS[flow.tool](flow, client, server)


_PARSERS: Final = {"iperf3": parse_flow, "copy": parse_copy}
"""How the files of each kind of flow are read."""
