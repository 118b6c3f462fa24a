"""The traffic of a Plan: servers, clients and pings, started at fixed virtual instants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from wirelab.guest import clock, programs
from wirelab.guest.shell import CommandError, Job, run
from wirelab.plan.traffic import Ping

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wirelab.guest.measure import Probe
    from wirelab.guest.network import Network
    from wirelab.plan.traffic import Flow

# What a program may take beyond its time: connecting, slow ends, the exchange of results.
_GRACE_NS = 30 * clock.NS_PER_S

# The least silence between what is done and what comes after it.
_GAP_NS = clock.NS_PER_S

# Silence after the last flow, in which every queue runs empty.
_DRAIN_NS = clock.NS_PER_S


# What iperf3 says when it does not reach its server.
_NO_CONNECTION: Final = "unable to connect"
# ping: 0 answered, 1 nobody answered, 2 it failed itself.
_PING_CODES: Final = (0, 1)


class TrafficError(Exception):
    """A flow could not be run."""


class Running(Protocol):
    """Something that is begun and will end."""

    @property
    def item(self) -> Flow | Ping:
        """What it is in the Plan."""

    def start(self) -> None:
        """From now on there is traffic."""

    @property
    def done(self) -> bool:
        """Whether it has ended."""

    def finish(self) -> None:
        """Collect what it left. Raises TrafficError when it did not end well or at all."""

    def kill(self) -> None:
        """End it at once."""


class RunningFlow:
    """The receiving and the sending end of a flow."""

    def __init__(self, flow: Flow, network: Network, folder: Path) -> None:
        """Start the receiving end; the sending one waits for ``start``."""
        self.item = flow
        self._network = network
        self._folder = folder
        self._client: Job | None = None
        self._server = Job(
            network.argv(flow.receiver, programs.server_argv(flow)),
            folder / f"{flow.name}.server.json",
            folder / f"{flow.name}.server.log",
        )

    def start(self) -> None:
        """Start the sending end: from now on there is traffic."""
        self._client = Job(
            self._network.argv(self.item.sender, programs.client_argv(self.item, self._network.plan)),
            self._folder / f"{self.item.name}.client.json",
            self._folder / f"{self.item.name}.client.log",
        )

    @property
    def done(self) -> bool:
        """Whether the sending end has ended."""
        return self._client is not None and self._client.code is not None

    def finish(self) -> None:
        """Collect both ends. Raises TrafficError when the sending one did not end well or at all."""
        name, tool = self.item.name, "iperf3" if self.item.copy is None else "the copy"
        if self._client is None or self._client.code is None:
            self.kill()
            grace_s = _GRACE_NS // clock.NS_PER_S
            msg = f"flow {name}: {tool} was not done {grace_s} virtual seconds after its time"
            raise TrafficError(msg)
        if self._client.code != 0:
            self._server.kill()
            if self._refused():
                return
            code = self._client.code
            msg = f"flow {name}: {tool} ended with {code}; its words are in flows/{name}.client.json"
            raise TrafficError(msg)
        self._server.wait()

    def kill(self) -> None:
        """End both ends at once."""
        for job in (self._client, self._server):
            if job is not None and job.code is None:
                job.kill()

    def _refused(self) -> bool:
        """Whether it is the network that let nothing through, which is a finding and no error."""
        words = (self._folder / f"{self.item.name}.client.json").read_text()
        return self.item.copy is None and _NO_CONNECTION in words


class RunningPing:
    """A ping on its way."""

    def __init__(self, ping: Ping, network: Network, folder: Path) -> None:
        self.item = ping
        self._network = network
        self._folder = folder
        self._job: Job | None = None

    def start(self) -> None:
        """Send the first request."""
        ping = self.item
        self._job = Job(
            self._network.argv(ping.sender, programs.ping_argv(ping, self._network.plan)),
            self._folder / f"{ping.name}.ping.txt",
            self._folder / f"{ping.name}.ping.log",
        )

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._job is not None and self._job.code is not None

    def finish(self) -> None:
        """Raises TrafficError when ping itself failed; that nobody answered is no failure of it."""
        name, code = self.item.name, self._job.code if self._job else None
        if code not in _PING_CODES:
            self.kill()
            msg = f"ping {name}: ended with {code}; its words are in flows/{name}.ping.log"
            raise TrafficError(msg)

    def kill(self) -> None:
        """End it at once."""
        if self._job is not None and self._job.code is None:
            self._job.kill()


def _prepare(item: Flow | Ping, network: Network, folder: Path) -> Running:
    if isinstance(item, Ping):
        return RunningPing(item, network, folder)
    return RunningFlow(item, network, folder)


def introduce(network: Network) -> None:
    """A ping each way between the ends of all traffic: ARP and the switches' tables are filled.

    Repeated until it is answered, for a path may be meant to lose frames. Raises CommandError when
    nothing comes through, but where a firewall may have been told to let no ping pass.
    """
    pairs = {(each.sender, each.receiver) for each in network.plan.traffic}
    for a, b in sorted(pairs | {(b, a) for a, b in pairs}):
        try:
            run(network.argv(a, ["ping", "-c", "1", "-w", "10", programs.address_of(network.plan, b)]))
        except CommandError:
            if not network.plan.routers:
                raise


class Schedule:
    """Runs every flow at its instant and samples while any of them runs.

    Everything happens at instants counted from ``ready_ns``, so that how long the set-up took cannot
    shift anything. One loop, no threads: two events at one instant always come in the same order.
    """

    def __init__(
        self, network: Network, probe: Probe, folder: Path, on_progress: Callable[[int], None]
    ) -> None:
        self._plan = network.plan
        self._probe = probe
        self._on_progress = on_progress
        # Whoever receives listens from the beginning: a sender never comes too soon.
        self._waiting = [_prepare(item, network, folder) for item in self._plan.traffic]
        self._running: list[Running] = []
        self._begun_ns: dict[str, int] = {}
        # By how much transfers were over sooner than they might have been: what is early begins sooner by it.
        self._ahead_ns = 0

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
                self._on_progress(at_ns + self._ahead_ns)
                at_ns = self._next(at_ns, interval_ns)
        finally:
            for each in (*self._running, *self._waiting):
                each.kill()
        clock.sleep_until(ready_ns + at_ns + _DRAIN_NS)
        self._probe.snapshot("end", at_ns + _DRAIN_NS)

    def _next(self, at_ns: int, interval_ns: int) -> int:
        tick = (at_ns // interval_ns + 1) * interval_ns
        if not self._waiting:
            return tick
        if not self._running:
            self._bring_forward(at_ns)
        start = min(self._start_ns(each.item) for each in self._waiting)
        return min(tick, start) if self._running else start

    def _start_ns(self, item: Flow | Ping) -> int:
        return item.start_ns - (self._ahead_ns if item.early else 0)

    def _bring_forward(self, at_ns: int) -> None:
        """Let what is early begin sooner, by whole seconds, for the phase of a start is part of the Plan."""
        first = min((each.item for each in self._waiting), key=self._start_ns)
        if first.early:
            spare_ns = self._start_ns(first) - (at_ns + _GAP_NS)
            self._ahead_ns += max(spare_ns // clock.NS_PER_S, 0) * clock.NS_PER_S

    def _start_due(self, at_ns: int) -> None:
        for due in tuple(self._waiting):
            if self._start_ns(due.item) > at_ns:
                continue
            self._waiting.remove(due)
            self._begun_ns[due.item.name] = at_ns
            self._probe.snapshot(f"{due.item.name}:start", at_ns)
            due.start()
            self._running.append(due)

    def _collect(self, at_ns: int) -> None:
        for running in tuple(self._running):
            item = running.item
            late = at_ns > self._begun_ns[item.name] + item.duration_ns + _GRACE_NS
            if running.done or late:
                running.finish()
                self._probe.snapshot(f"{item.name}:end", at_ns)
                self._running.remove(running)
