"""What must be true of every run, whatever the network is like. A run that breaks a law is an error.

Each law is a function (Plan, Result) -> violations. The counters come from two snapshots, before the
first flow and after the last one has drained; a law says what the frames counted between them were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wirelab.plan.ceiling import ceiling_bps
from wirelab.plan.path import hops
from wirelab.results.counters import END
from wirelab.units import COUNT, RATE, TIME, rounded
from wirelab.verdict.lossless import buffer, lossless, priorities
from wirelab.verdict.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wirelab.plan.types import Plan
    from wirelab.results.change import Change
    from wirelab.results.result import Result

    Law = Callable[[Plan, Result], Iterator[Violation]]

# iperf3 stamps its times in microseconds; a second or more of them is what goodput is divided by.
_CLOCK_TOLERANCE: Final = 1e-5


def check_laws(plan: Plan, result: Result) -> tuple[Violation, ...]:
    """Every violation of every law, in the laws' order; empty for a sound run."""
    linked = result.linked(plan)
    return tuple(violation for law in LAWS for violation in law(linked, result))


def settings(_plan: Plan, result: Result) -> Iterator[Violation]:
    """Every setting that was read back is the one that was asked for."""
    for setting in result.readbacks:
        if setting.differs:
            asked, actual = f"{setting.name} {setting.asked}", f"{setting.name} {setting.actual}"
            message = f"{setting.port}: asked for {asked}, read back {setting.actual}"
            yield Violation("settings", asked, actual, message)


def link(plan: Plan, result: Result) -> Iterator[Violation]:
    """Two ends of a cable have a link together or not at all, and at one speed, whenever they are asked."""
    for snapshot in result.snapshots.values():
        for port in plan.ports:
            if snapshot.ports[port.name].link != result.snapshots[END].ports[port.name].link:
                message = f"{port.label}: its link has changed between {snapshot.name} and {END}"
                yield Violation("link", "the same link", "another", message)
    for hop in hops(plan):
        ends = [result.ports[port.label].link for port in (hop.out, hop.into)]
        if ends == [True, False]:
            message = f"{hop}: one end of the cable has a link, the other has none"
            yield Violation("link", "a link at both ends", "one", message)
        elif hop.out.speed_bps != hop.into.speed_bps:
            one, other = (rounded(port.speed_bps, RATE) for port in (hop.out, hop.into))
            message = f"{hop}: one end of the cable is at {one}, the other at {other}"
            yield Violation.of("link", hop.out.speed_bps, hop.into.speed_bps, message)


def drained(plan: Plan, result: Result) -> Iterator[Violation]:
    """After the last flow nothing is left in a queue, a ring, a buffer or on a cable."""
    for port in plan.ports:
        counted = result.snapshots[END].ports[port.name]
        root = counted.root
        left = {
            "frames in the egress queue": root.backlog_frames if root else 0,
            "frames in the TX ring": counted["tx_ring_frames"],
            "frames on the cable": counted["tx_flight_frames"],
            "frames in the RX ring": counted["rx_ring_frames"],
            "bytes in the packet buffer": counted["buffer_bytes"],
            "bytes in the shared packet memory": counted.get("pool_used_bytes"),
        }
        for kind, amount in left.items():
            if amount:
                message = f"{port.label}: {_n(amount)} {kind} when all was over"
                yield Violation.of("drained", 0, amount, message)


def cable(plan: Plan, result: Result) -> Iterator[Violation]:
    """Frames that left one end of a cable = frames that reached the other + frames on the way."""
    for hop in hops(plan):
        out, into = result.change(hop.out.name), result.change(hop.into.name)
        flight = out["tx_flight_frames"]
        sent, arrived = out["tx_frames"], into["rx_wire_frames"]
        if sent != arrived + flight:
            message = f"{hop}: {_n(sent)} frames left, {_n(arrived)} arrived and {_n(flight)} are on the way"
            yield Violation.of("cable", sent, arrived + flight, message)
        for kind in ("pause", "pfc"):
            sent, arrived = out.get(f"tx_{kind}_frames"), into.get(f"rx_{kind}_frames")
            if sent != arrived and not flight:
                message = f"{hop}: {_n(sent)} {kind.upper()} frames left, {_n(arrived)} arrived"
                yield Violation.of("cable", sent, arrived, message)


def receive(plan: Plan, result: Result) -> Iterator[Violation]:
    """Frames that reached a port = frames handed on + dropped by a named cause + in the RX ring."""
    for port in plan.ports:
        change = result.change(port.name)
        arrived, taken, waiting = change["rx_wire_frames"], change["rx_frames"], change["rx_ring_frames"]
        dropped = sum(change.drops("rx").values())
        if arrived != taken + dropped + waiting:
            gone = f"{_n(taken)} were handed on, {_n(dropped)} dropped and {_n(waiting)} wait"
            message = f"{port.label}: {_n(arrived)} frames arrived, {gone}"
            yield Violation.of("receive", arrived, taken + dropped + waiting, message)


def transmit(plan: Plan, result: Result) -> Iterator[Violation]:
    """Frames that a qdisc released = frames that left + dropped by a named cause + in the TX ring.

    A qdisc counts a GSO packet as the segments that the port will make of it. A repeater has none.
    """
    for port in plan.ports:
        change = result.change(port.name)
        released = None if port.role == "repeat" else _released(change)
        if released is None:
            continue
        left, waiting = change["tx_frames"], change["tx_ring_frames"]
        dropped = sum(change.drops("tx").values())
        if released != left + dropped + waiting:
            gone = f"{_n(left)} left, {_n(dropped)} were dropped and {_n(waiting)} wait"
            message = f"{port.label}: the qdisc released {_n(released)} frames, {gone}"
            yield Violation.of("transmit", released, left + dropped + waiting, message)


def module(plan: Plan, result: Result) -> Iterator[Violation]:
    """What a module takes in at one port, it sends, drops or still holds at the other."""
    for node in plan.modules:
        for into, out in ((node.host_port, node.line_port), (node.line_port, node.host_port)):
            entered, leaving = result.change(into), result.change(out)
            released = _released(leaving)
            if released is None:
                continue
            taken, dropped = entered["rx_frames"], sum(leaving.queue_drops.values())
            first, last = leaving.first.root, leaving.last.root
            waiting = (last.backlog_frames if last else 0) - (first.backlog_frames if first else 0)
            if taken != released + dropped + waiting:
                gone = f"{_n(released)} were sent, {_n(dropped)} dropped and {_n(waiting)} wait"
                came = f"{node.name}: {_n(taken)} frames entered by {plan.port(into).label}"
                message = f"{came}; at {plan.port(out).label} {gone}"
                yield Violation.of("module", taken, released + dropped + waiting, message)


def hub(plan: Plan, result: Result) -> Iterator[Violation]:
    """What comes into a hub by one port leaves it by all the others."""
    for node in plan.hubs:
        ports = [port for port in plan.ports_of(node.name) if result.ports[port.label].link]
        for out in ports:
            left = result.change(out.name)["tx_frames"]
            entered = sum(result.change(port.name)["rx_frames"] for port in ports if port is not out)
            if left != entered:
                came = f"{_n(entered)} had entered {node.name} elsewhere"
                yield Violation.of("hub", entered, left, f"{out.label}: {_n(left)} frames left, {came}")


def ceiling(plan: Plan, result: Result) -> Iterator[Violation]:
    """No flow is faster than the slowest line on its path can carry payload."""
    for flow in plan.flows:
        most = ceiling_bps(plan, flow)
        goodput = result.flows[flow.name].goodput_bps
        if most is not None and goodput > most * (1 + _CLOCK_TOLERANCE):
            measured, allowed = rounded(goodput, RATE, 5), f"at most {rounded(most, RATE, 5)}"
            message = f"{flow.name}: {measured} of payload, the path carries {allowed}"
            yield Violation("ceiling", allowed, measured, message)


def cpu(plan: Plan, result: Result) -> Iterator[Violation]:
    """A CPU serves one frame after the other: it is not busy for longer than the time that has passed."""
    for port in plan.ports:
        busy_ns = result.change(port.name).get("cpu_busy_ns")
        if busy_ns > result.elapsed_ns:
            busy, elapsed = rounded(busy_ns, TIME), rounded(result.elapsed_ns, TIME)
            message = f"{port.label}: its CPU was busy for {busy} of {elapsed}"
            yield Violation("cpu", f"at most {elapsed}", busy, message)


LAWS: Final[tuple[Law, ...]] = (
    settings,
    link,
    drained,
    cable,
    receive,
    transmit,
    module,
    hub,
    buffer,
    lossless,
    priorities,
    cpu,
    ceiling,
)


def _released(change: Change) -> int | None:
    """Frames that the root qdisc handed to the port, None where no qdisc counts them."""
    first, last = change.first.root, change.last.root
    return last.sent_frames - (first.sent_frames if first else 0) if last else None


def _n(amount: int) -> str:
    return rounded(amount, COUNT)
