"""The flows of a Plan: iperf3 servers and clients, started at fixed virtual instants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.guest import clock
from wirelab.guest.shell import Job, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wirelab.guest.measure import Probe
    from wirelab.guest.network import Network
    from wirelab.plan.types import Flow, Plan

# What an iperf3 client may take beyond its time: connecting, slow ends, the exchange of results.
_GRACE_NS = 30 * clock.NS_PER_S

# Silence after the last flow, in which every queue runs empty.
_DRAIN_NS = clock.NS_PER_S


class TrafficError(Exception):
    """A flow could not be run."""


class RunningFlow:
    """One iperf3 server and one client."""

    def __init__(self, flow: Flow, network: Network, folder: Path) -> None:
        """Start the server; the client waits for ``start``."""
        self.flow = flow
        self._network = network
        self._folder = folder
        self._client: Job | None = None
        self._server = Job(
            network.argv(flow.receiver, ["iperf3", "-s", "-1", "-J", "-i", "1", "-p", str(flow.port)]),
            folder / f"{flow.name}.server.json",
            folder / f"{flow.name}.server.log",
        )

    def start(self) -> None:
        """Start the client: from now on there is traffic."""
        self._client = Job(
            self._network.argv(self.flow.sender, client_argv(self.flow, self._network.plan)),
            self._folder / f"{self.flow.name}.client.json",
            self._folder / f"{self.flow.name}.client.log",
        )

    @property
    def done(self) -> bool:
        """Whether the client has ended."""
        return self._client is not None and self._client.code is not None

    def finish(self) -> None:
        """Collect both ends. Raises TrafficError when the client did not end well or at all."""
        name = self.flow.name
        if self._client is None or self._client.code is None:
            self.kill()
            grace_s = _GRACE_NS // clock.NS_PER_S
            msg = f"flow {name}: iperf3 was not done {grace_s} virtual seconds after its time"
            raise TrafficError(msg)
        if self._client.code != 0:
            self._server.kill()
            code = self._client.code
            msg = f"flow {name}: iperf3 ended with {code}; its words are in flows/{name}.client.json"
            raise TrafficError(msg)
        self._server.wait()

    def kill(self) -> None:
        """End both ends at once."""
        for job in (self._client, self._server):
            if job is not None and job.code is None:
                job.kill()


def address_of(plan: Plan, host: str) -> str:
    """The IPv4 address of a host's first port."""
    address = plan.ports_of(host)[0].address
    if address is None:
        msg = f"host {host} has no address"
        raise TrafficError(msg)
    return address.partition("/")[0]


def client_argv(flow: Flow, plan: Plan) -> list[str]:
    """The iperf3 client of a flow, every choice pinned that iperf3 or the kernel would make itself."""
    seconds = flow.duration_ns / clock.NS_PER_S
    argv = ["iperf3", "-J", "-i", "1", "-c", address_of(plan, flow.receiver), "-p", str(flow.port)]
    argv += ["--cport", str(flow.client_port), "-t", f"{seconds:g}", "-P", str(flow.parallel)]
    if flow.protocol == "udp":
        argv += ["-u", "-b", str(flow.bitrate_bps or 0)]
    elif flow.bitrate_bps is not None:
        argv += ["-b", str(flow.bitrate_bps)]
    if flow.congestion is not None:
        argv += ["-C", flow.congestion]
    if flow.payload_bytes is not None:
        argv += ["-l", str(flow.payload_bytes)]
    return argv


def introduce(network: Network) -> None:
    """A ping each way between the ends of every flow: ARP and the switches' tables are filled.

    Repeated until it is answered, for a path may be meant to lose frames. Raises CommandError when
    nothing comes through.
    """
    pairs = {(flow.sender, flow.receiver) for flow in network.plan.flows}
    for a, b in sorted(pairs | {(b, a) for a, b in pairs}):
        run(network.argv(a, ["ping", "-c", "1", "-w", "10", address_of(network.plan, b)]))


class Schedule:
    """Runs every flow at its instant and samples while any of them runs.

    Everything happens at instants counted from ``ready_ns``, so that how long the set-up took cannot
    shift anything. One loop, no threads: two events at one instant always come in the same order.
    """

    def __init__(
        self, network: Network, probe: Probe, folder: Path, on_progress: Callable[[int], None]
    ) -> None:
        self._network = network
        self._plan = network.plan
        self._probe = probe
        self._folder = folder
        self._on_progress = on_progress
        self._waiting = sorted(self._plan.flows, key=lambda flow: (flow.start_ns, flow.name))
        self._running: list[RunningFlow] = []

    def run(self, ready_ns: int) -> None:
        """Run all flows. Raises TrafficError when one of them fails."""
        interval_ns = self._plan.sample_interval_ns
        at_ns = 0
        self._probe.snapshot("start", 0)
        try:
            while self._waiting or self._running:
                clock.sleep_until(ready_ns + at_ns)
                self._collect(at_ns)
                self._start_due(at_ns)
                self._probe.sample(at_ns)
                self._on_progress(at_ns)
                at_ns = self._next(at_ns, interval_ns)
        finally:
            for running in self._running:
                running.kill()
        clock.sleep_until(ready_ns + at_ns + _DRAIN_NS)
        self._probe.snapshot("end", at_ns + _DRAIN_NS)

    def _next(self, at_ns: int, interval_ns: int) -> int:
        tick = (at_ns // interval_ns + 1) * interval_ns
        if not self._waiting:
            return tick
        start = self._waiting[0].start_ns
        return min(tick, start) if self._running else start

    def _start_due(self, at_ns: int) -> None:
        while self._waiting and self._waiting[0].start_ns <= at_ns:
            running = RunningFlow(self._waiting.pop(0), self._network, self._folder)
            self._probe.snapshot(f"{running.flow.name}:start", at_ns)
            running.start()
            self._running.append(running)

    def _collect(self, at_ns: int) -> None:
        for running in tuple(self._running):
            late = at_ns > running.flow.start_ns + running.flow.duration_ns + _GRACE_NS
            if running.done or late:
                running.finish()
                self._probe.snapshot(f"{running.flow.name}:end", at_ns)
                self._running.remove(running)
