"""The traffic of a Plan, each item at its virtual instant."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from wirelab.guest import clock
from wirelab.guest.measure import Probe, drained, still
from wirelab.guest.network import Network
from wirelab.guest.running import Running
from wirelab.guest.shortcuts import Shortcuts
from wirelab.plan.path import crossing_ns, path
from wirelab.plan.traffic import Item

# What a program may take beyond its time: connecting, slow ends, the exchange of results; and how many
# times it may have to wait for an answer, at the most.
_GRACE_NS = 30 * clock.NS_PER_S
_ROUND_TRIPS = 12

# The least silence between what is done and what comes after it.
_GAP_NS = clock.NS_PER_S

# Silence after the last item, in which every queue runs empty; and how often that is waited for.
_DRAIN_NS = clock.NS_PER_S
_MOST_DRAINS = 600

# How often the network is looked at before the first item, at the most, and how far apart.
_MOST_LOOKS = 100
_LOOK_NS = clock.NS_PER_S // 1000


class Due(Protocol):
    """Events, one after the other; instants count from when the network was ready."""

    @property
    def next_ns(self) -> int | None:
        """When the next one is due, None after the last."""

    def carry_out(self, ready_ns: int) -> None:
        """The next one, now."""

    def write(self, folder: Path) -> None:
        """Leave what came of them."""


class Schedule:
    """Runs every item at its instant, and every event, and samples while any item runs.

    Everything happens at instants counted from ``ready_ns``, so that how long the set-up took cannot
    shift anything. One loop, no threads: two events at one instant always come in the same order.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what a run is made of
        self,
        network: Network,
        probe: Probe,
        events: Due,
        results: Path,
        shortcuts: Shortcuts,
        on_progress: Callable[[int], None],
    ) -> None:
        self._plan = network.plan
        self._probe = probe
        self._events = events
        self._on_progress = on_progress
        # Whoever receives listens from the beginning: a sender never comes too soon.
        self._waiting = [Running(item, network, results, shortcuts) for item in self._plan.timetable]
        self._running: list[Running] = []
        # Beside traffic, events happen as long as that lasts: a transfer may be over long before it might be.
        self._events_alone = not self._waiting
        self._latest_ns: dict[str, int] = {}
        # By how much transfers were over sooner than they might have been: what is early begins sooner by it.
        self._ahead_ns = 0
        self.counted_from_ns = 0

    def run(self, ready_ns: int) -> None:
        """Run all of it. Raises TrafficError when a program fails."""
        interval_ns = self._plan.sample_interval_ns
        at_ns = 0
        self._begin(ready_ns)
        try:
            while self._waiting or self._running or (self._events_alone and self._events.next_ns is not None):
                # Nothing of what reads counters or starts programs comes before an event at its instant.
                if self._events.next_ns == at_ns:
                    clock.wake_at(ready_ns + at_ns)
                    self._events.carry_out(ready_ns)
                elif at_ns in self._plan.sample_at_ns:
                    clock.wake_at(ready_ns + at_ns)
                else:
                    clock.sleep_until(ready_ns + at_ns)
                self._collect(at_ns)
                self._start_due(at_ns)
                self._probe.sample(at_ns)
                self._on_progress(at_ns + self._ahead_ns)
                at_ns = self._next(at_ns, interval_ns)
        finally:
            for running in (*self._running, *self._waiting):
                running.kill()
        self._drain(ready_ns, at_ns)

    def write(self, folder: Path) -> None:
        """Leave what samples and snapshots hold, and what came of events. Raises SettingsMismatchError."""
        self._probe.write(folder)
        self._events.write(folder)

    def _begin(self, ready_ns: int) -> None:
        """Take the first snapshot while no frame moves: its counters are read one after the other.

        On a path of seconds the pings that made the network ready may still be coming back.
        """
        for look in range(_MOST_LOOKS):
            self.counted_from_ns = clock.now_ns()
            if self._probe.snapshot("start", at_ns=0, only_if=still if look < _MOST_LOOKS - 1 else None):
                return
            clock.sleep_until(ready_ns - (_MOST_LOOKS - look) * _LOOK_NS)

    def _drain(self, ready_ns: int, at_ns: int) -> None:
        """Wait until no frame is on its way any more, and take the last snapshot."""
        for second in range(1, _MOST_DRAINS + 1):
            end_ns = at_ns + second * _DRAIN_NS
            clock.sleep_until(ready_ns + end_ns)
            if self._probe.snapshot("end", at_ns=end_ns, only_if=drained if second < _MOST_DRAINS else None):
                return

    def _next(self, at_ns: int, interval_ns: int) -> int:
        tick = (at_ns // interval_ns + 1) * interval_ns
        if not self._running:
            self._bring_forward(at_ns)
        due = [self._start_ns(running.item) for running in self._waiting]
        due += [edge_ns for edge_ns in self._plan.sample_at_ns if edge_ns > at_ns][:1]
        if self._events.next_ns is not None:
            due.append(self._events.next_ns)
        # While none runs nothing is to be seen until one begins.
        return min([tick, *due] if self._running or not self._waiting else due)

    def _start_ns(self, item: Item) -> int:
        return item.start_ns - (self._ahead_ns if item.early else 0)

    def _bring_forward(self, at_ns: int) -> None:
        """Let what is early begin sooner, by whole seconds, for the phase of a start is part of the Plan."""
        first = min((running.item for running in self._waiting), key=self._start_ns, default=None)
        if first is not None and first.early:
            spare_ns = self._start_ns(first) - (at_ns + _GAP_NS)
            self._ahead_ns += max(spare_ns // clock.NS_PER_S, 0) * clock.NS_PER_S

    def _start_due(self, at_ns: int) -> None:
        due = [running for running in self._waiting if self._start_ns(running.item) <= at_ns]
        if not due:
            return
        self._probe.snapshot(*(f"{running.item.name}:start" for running in due), at_ns=at_ns)
        for running in due:
            self._waiting.remove(running)
            item = running.item
            self._latest_ns[item.name] = at_ns + item.duration_ns + self._grace_ns(item)
            running.start()
            self._running.append(running)

    def _grace_ns(self, item: Item) -> int:
        there, back = (item.sender, item.receiver), (item.receiver, item.sender)
        round_trip_ns = sum(crossing_ns(path(self._plan, *ends)) for ends in (there, back))
        return _GRACE_NS + _ROUND_TRIPS * round_trip_ns

    def _collect(self, at_ns: int) -> None:
        over = []
        for running in tuple(self._running):
            item = running.item
            if not running.done and at_ns > self._latest_ns[item.name]:
                running.interrupt()
            if running.done:
                running.finish()
                self._running.remove(running)
                over.append(item)
        if over:
            self._probe.snapshot(*(f"{item.name}:end" for item in over), at_ns=at_ns)
