"""What must be true of every run, whatever the network is like. A run that breaks a law is an error.

Each law is a function (Plan, Result) -> breaches. The counters come from two snapshots, before the
first flow and after the last one has drained; a law says what the frames counted between them were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wirelab.plan.ceiling import ceiling_bps
from wirelab.plan.path import hops
from wirelab.results.counters import END
from wirelab.units import COUNT, RATE, TIME, rounded
from wirelab.verdict.lossless import buffer, lossless, priorities
from wirelab.verdict.violation import LawBreach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wirelab.plan.types import Plan
    from wirelab.results.result import Change, Result

    Law = Callable[[Plan, Result], Iterator[LawBreach]]

# iperf3 stamps its times in microseconds; a second or more of them is what goodput is divided by.
_CLOCK_TOLERANCE: Final = 1e-5


def check_laws(plan: Plan, result: Result) -> tuple[LawBreach, ...]:
    """Every breach of every law, in the laws' order; empty for a sound run."""
    linked = result.linked(plan)
    return tuple(breach for law in LAWS for breach in law(linked, result))


def settings(_plan: Plan, result: Result) -> Iterator[LawBreach]:
    """Every setting that was read back is the one that was asked for."""
    for each in result.settings:
        if each.asked != each.actual:
            yield LawBreach(
                "settings",
                f"{each.name} {each.asked}",
                f"{each.name} {each.actual}",
                f"{each.port}: asked for {each.name} {each.asked}, read back {each.actual}",
            )


def link(plan: Plan, result: Result) -> Iterator[LawBreach]:
    """Two ends of a cable have a link together or not at all, and at one speed, whenever they are asked."""
    for snapshot in result.snapshots.values():
        for port in plan.ports:
            if snapshot.ports[port.name].link != result.snapshots[END].ports[port.name].link:
                message = f"{port.label}: its link has changed between {snapshot.name} and {END}"
                yield LawBreach("link", "the same link", "another", message)
    for hop in hops(plan):
        ends = [result.ports[port.label].link for port in (hop.out, hop.into)]
        if ends == [True, False]:
            message = f"{hop}: one end of the cable has a link, the other has none"
            yield LawBreach("link", "a link at both ends", "one", message)
        elif hop.out.speed_bps != hop.into.speed_bps:
            yield LawBreach.of(
                "link",
                hop.out.speed_bps,
                hop.into.speed_bps,
                f"{hop}: one end of the cable is at {rounded(hop.out.speed_bps, RATE)}, "
                f"the other at {rounded(hop.into.speed_bps, RATE)}",
            )


def drained(plan: Plan, result: Result) -> Iterator[LawBreach]:
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
        for what, amount in left.items():
            if amount:
                yield LawBreach.of(
                    "drained", 0, amount, f"{port.label}: {_n(amount)} {what} when all was over"
                )


def cable(plan: Plan, result: Result) -> Iterator[LawBreach]:
    """Frames that left one end of a cable = frames that reached the other + frames on the way."""
    for hop in hops(plan):
        out, into = result.change(hop.out.name), result.change(hop.into.name)
        flight = out["tx_flight_frames"]
        sent, arrived = out["tx_frames"], into["rx_wire_frames"]
        if sent != arrived + flight:
            yield LawBreach.of(
                "cable",
                sent,
                arrived + flight,
                f"{hop}: {_n(sent)} frames left, {_n(arrived)} arrived and {_n(flight)} are on the way",
            )
        for kind in ("pause", "pfc"):
            sent, arrived = out.get(f"tx_{kind}_frames"), into.get(f"rx_{kind}_frames")
            if sent != arrived and not flight:
                message = f"{hop}: {_n(sent)} {kind.upper()} frames left, {_n(arrived)} arrived"
                yield LawBreach.of("cable", sent, arrived, message)


def receive(plan: Plan, result: Result) -> Iterator[LawBreach]:
    """Frames that reached a port = frames handed on + dropped by a named cause + in the RX ring."""
    for port in plan.ports:
        change = result.change(port.name)
        arrived, taken, waiting = change["rx_wire_frames"], change["rx_frames"], change["rx_ring_frames"]
        dropped = sum(change.drops("rx").values())
        if arrived != taken + dropped + waiting:
            yield LawBreach.of(
                "receive",
                arrived,
                taken + dropped + waiting,
                f"{port.label}: {_n(arrived)} frames arrived, {_n(taken)} were handed on, "
                f"{_n(dropped)} dropped and {_n(waiting)} wait",
            )


def transmit(plan: Plan, result: Result) -> Iterator[LawBreach]:
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
            yield LawBreach.of(
                "transmit",
                released,
                left + dropped + waiting,
                f"{port.label}: the qdisc released {_n(released)} frames, {_n(left)} left, "
                f"{_n(dropped)} were dropped and {_n(waiting)} wait",
            )


def module(plan: Plan, result: Result) -> Iterator[LawBreach]:
    """What a module takes in at one port, it sends, drops or still holds at the other."""
    for each in plan.modules:
        for into, out in ((each.host_port, each.line_port), (each.line_port, each.host_port)):
            entered, leaving = result.change(into), result.change(out)
            released = _released(leaving)
            if released is None:
                continue
            taken, dropped = entered["rx_frames"], sum(leaving.queue_drops.values())
            first, last = leaving.first.root, leaving.last.root
            waiting = (last.backlog_frames if last else 0) - (first.backlog_frames if first else 0)
            if taken != released + dropped + waiting:
                yield LawBreach.of(
                    "module",
                    taken,
                    released + dropped + waiting,
                    f"{each.name}: {_n(taken)} frames entered by {plan.port(into).label}; at "
                    f"{plan.port(out).label} {_n(released)} were sent, "
                    f"{_n(dropped)} dropped and {_n(waiting)} wait",
                )


def hub(plan: Plan, result: Result) -> Iterator[LawBreach]:
    """What comes into a hub by one port leaves it by all the others."""
    for each in plan.hubs:
        ports = [port for port in plan.ports_of(each.name) if result.ports[port.label].link]
        for out in ports:
            left = result.change(out.name)["tx_frames"]
            entered = sum(result.change(port.name)["rx_frames"] for port in ports if port is not out)
            if left != entered:
                yield LawBreach.of(
                    "hub",
                    entered,
                    left,
                    f"{out.label}: {_n(left)} frames left, {_n(entered)} had entered {each.name} elsewhere",
                )


def ceiling(plan: Plan, result: Result) -> Iterator[LawBreach]:
    """No flow is faster than the slowest line on its path can carry payload."""
    for flow in plan.flows:
        most = ceiling_bps(plan, flow)
        goodput = result.flows[flow.name].goodput_bps
        if most is not None and goodput > most * (1 + _CLOCK_TOLERANCE):
            yield LawBreach(
                "ceiling",
                f"at most {rounded(most, RATE, 5)}",
                rounded(goodput, RATE, 5),
                f"{flow.name}: {rounded(goodput, RATE, 5)} of payload, the path carries at most "
                f"{rounded(most, RATE, 5)}",
            )


def cpu(plan: Plan, result: Result) -> Iterator[LawBreach]:
    """A CPU serves one frame after the other: it is not busy for longer than the time that has passed."""
    for port in plan.ports:
        busy_ns = result.change(port.name).get("cpu_busy_ns")
        if busy_ns > result.elapsed_ns:
            busy, elapsed = rounded(busy_ns, TIME), rounded(result.elapsed_ns, TIME)
            message = f"{port.label}: its CPU was busy for {busy} of {elapsed}"
            yield LawBreach("cpu", f"at most {elapsed}", busy, message)


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
