"""What must be true of every run, whatever the network is like. A run that breaks a law is an error.

Each law is a function (Plan, Result) -> breaches. The counters come from two snapshots, before the
first flow and after the last one has drained; a law says what the frames counted between them were.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from wirelab.counters import END
from wirelab.model.expect import PRIORITIES
from wirelab.path import Hop, ceiling_bps, hops, path
from wirelab.units import COUNT, RATE, TIME, rounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wirelab.plan.types import Plan, Port
    from wirelab.result import Change, Result

    Law = Callable[[Plan, Result], Iterator["LawBreach"]]

# iperf3 stamps its times in microseconds; a second or more of them is what goodput is divided by.
_CLOCK_TOLERANCE: Final = 1e-5


@dataclass(frozen=True, slots=True)
class LawBreach:
    """A law that a run has broken: its name, what it asks, what was found, and the sentence."""

    law: str
    expected: str
    measured: str
    message: str


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
            message = f"{_of(hop)}: one end of the cable has a link, the other has none"
            yield LawBreach("link", "a link at both ends", "one", message)
        elif hop.out.speed_bps != hop.into.speed_bps:
            yield _breach(
                "link",
                hop.out.speed_bps,
                hop.into.speed_bps,
                f"{_of(hop)}: one end of the cable is at {rounded(hop.out.speed_bps, RATE)}, "
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
                yield _breach("drained", 0, amount, f"{port.label}: {_n(amount)} {what} when all was over")


def cable(plan: Plan, result: Result) -> Iterator[LawBreach]:
    """Frames that left one end of a cable = frames that reached the other + frames on the way."""
    for hop in hops(plan):
        out, into = result.change(hop.out.name), result.change(hop.into.name)
        flight = out["tx_flight_frames"]
        sent, arrived = out["tx_frames"], into["rx_wire_frames"]
        if sent != arrived + flight:
            yield _breach(
                "cable",
                sent,
                arrived + flight,
                f"{_of(hop)}: {_n(sent)} frames left, {_n(arrived)} arrived and {_n(flight)} are on the way",
            )
        sent, arrived = out["tx_pause_frames"], into["rx_pause_frames"]
        if sent != arrived and not flight:
            yield _breach(
                "cable", sent, arrived, f"{_of(hop)}: {_n(sent)} PAUSE frames left, {_n(arrived)} arrived"
            )


def receive(plan: Plan, result: Result) -> Iterator[LawBreach]:
    """Frames that reached a port = frames handed on + dropped by a named cause + in the RX ring."""
    for port in plan.ports:
        change = result.change(port.name)
        arrived, taken, waiting = change["rx_wire_frames"], change["rx_frames"], change["rx_ring_frames"]
        dropped = sum(change.drops("rx").values())
        if arrived != taken + dropped + waiting:
            yield _breach(
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
            yield _breach(
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
                yield _breach(
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
                yield _breach(
                    "hub",
                    entered,
                    left,
                    f"{out.label}: {_n(left)} frames left, {_n(entered)} had entered {each.name} elsewhere",
                )


def buffer(plan: Plan, result: Result) -> Iterator[LawBreach]:
    """A packet buffer never holds more than it has room for, nor, with PAUSE, than XOFF + headroom."""
    for hop in hops(plan):
        port = hop.into
        highest = result.snapshots[END].ports[port.name]["buffer_high_water_bytes"]
        if highest > port.buffer_bytes * (PRIORITIES if port.pfc else 1):
            yield _breach(
                "buffer",
                port.buffer_bytes,
                highest,
                f"{port.label}: the packet buffer held {_n(highest)} bytes, it has {_n(port.buffer_bytes)}",
            )
        # With PFC the thresholds are those of each priority.
        limit = port.xoff_bytes + hop.headroom_bytes
        if hop.lossless and highest > limit:
            yield _breach(
                "buffer",
                limit,
                highest,
                f"{port.label}: the packet buffer held {_n(highest)} bytes; it sends PAUSE at "
                f"{_n(port.xoff_bytes)}, and at most {_n(hop.headroom_bytes)} can follow",
            )


def lossless(plan: Plan, result: Result) -> Iterator[LawBreach]:
    """Where PAUSE is on, nothing is dropped: not behind the buffer, not in the queues it fills.

    A buffer without room for its headroom, and a queue shorter than what may lie in the buffers of
    the ports that feed it, can overflow on real hardware too: those are no breach.
    """
    for hop in hops(plan):
        if not hop.lossless:
            continue
        change = result.change(hop.into.name)
        dropped = change.drops("rx").get("buffer", 0)
        if dropped and hop.into.buffer_bytes >= hop.into.xoff_bytes + hop.headroom_bytes:
            yield _breach(
                "lossless",
                0,
                dropped,
                f"{_of(hop)}: PAUSE is on at both ends, but frames found the packet buffer full: "
                f"{_n(dropped)}",
            )
    for port, feeding in _fed(plan).items():
        if not all(hop.lossless for hop in feeding):
            continue
        held = sum(hop.into.xoff_bytes + hop.headroom_bytes for hop in feeding)
        if port.queue and port.queue.limit_bytes is not None and port.queue.limit_bytes < held:
            continue
        dropped = result.change(port.name).queue_drops["queue"]
        if dropped:
            yield _breach(
                "lossless",
                0,
                dropped,
                f"{port.label}: every port that feeds its queue has PAUSE on, but the queue dropped "
                f"frames: {_n(dropped)}",
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
    cpu,
    ceiling,
)


def _released(change: Change) -> int | None:
    """Frames that the root qdisc handed to the port, None where no qdisc counts them."""
    first, last = change.first.root, change.last.root
    return last.sent_frames - (first.sent_frames if first else 0) if last else None


def _fed(plan: Plan) -> dict[Port, tuple[Hop, ...]]:
    """The egress ports of switches and modules, each with the hops by which flows reach it.

    A flow's acknowledgements count as what they are, traffic in the other direction.
    """
    ways = [
        path(plan, *ends)
        for flow in plan.flows
        for ends in ((flow.sender, flow.receiver), (flow.receiver, flow.sender))
    ]
    feeding: dict[str, dict[str, Hop]] = {}
    for way in ways:
        for hop, after in pairwise(way):
            feeding.setdefault(after.out.name, {})[hop.into.name] = hop
    return {plan.port(name): tuple(found.values()) for name, found in feeding.items()}


def _n(amount: int) -> str:
    return rounded(amount, COUNT)


def _of(hop: Hop) -> str:
    return f"{hop.out.label} to {hop.into.label}"


def _breach(law: str, expected: int, measured: int, message: str) -> LawBreach:
    return LawBreach(law, str(expected), str(measured), message)
