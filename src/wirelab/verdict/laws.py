"""What must be true of every run, whatever the network is like. A run that breaks a law is an error.

Each law is a function of a Plan and a Result, which yields what breaks it; its name is the law's. It is about
what was counted between two snapshots: one before the first flow, one after the last has drained.
"""

from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from typing import Final

from wirelab.plan.event import NEGOTIATIONS
from wirelab.plan.path import hops
from wirelab.plan.types import Plan
from wirelab.results.counters import END, NO_QUEUE
from wirelab.results.result import Result
from wirelab.units import NS_PER_MS, RATE, TIME, rounded
from wirelab.verdict.lossless import buffer, lossless, priorities
from wirelab.verdict.violation import Violation, unless_equal
from wirelab.verdict.words import count_of

Law = Callable[[Plan, Result], Iterator[Violation]]

# iperf3 stamps its times in microseconds; a second or more of them is what goodput is divided by.
_CLOCK_TOLERANCE: Final = 1e-5
_READING_NS: Final = 1000
"""Reading the clock takes virtual time: 52 ns."""


def settings(_plan: Plan, result: Result) -> Iterator[Violation]:
    """Every setting that was read back is the one that was asked for."""
    for readback in (*result.readbacks, *result.happened.readbacks):
        if readback.differs:
            asked, actual = f"{readback.setting} {readback.asked}", f"{readback.setting} {readback.actual}"
            message = f"{readback.port}: asked for {asked}, read back {readback.actual}"
            yield asked, actual, message


def link(plan: Plan, result: Result) -> Iterator[Violation]:
    """Two ends of a cable have a link together or not at all, and at one speed, whenever they are asked.

    It changes only by an event, and while its ends negotiate what comes of that.
    """
    changes = result.happened.relinked
    settling_ns = NEGOTIATIONS * NS_PER_MS * max((port.autoneg_ms for port in plan.ports), default=0)
    snapshots = sorted(result.snapshots.values(), key=lambda snapshot: (snapshot.at_ns, snapshot.name == END))
    for snapshot, following in pairwise(snapshots):
        for port in plan.ports:
            events_ns = changes.get(port.name, ())
            later = following if events_ns else snapshots[-1]
            if any(snapshot.at_ns - settling_ns <= at_ns <= later.at_ns for at_ns in events_ns):
                continue
            if snapshot.ports[port.name].link != later.ports[port.name].link:
                message = f"{port.label}: its link has changed between {snapshot.name} and {later.name}"
                yield "the same link", "another", message
    for hop in hops(plan):
        ends = [result.ports[port.label].link for port in (hop.out, hop.into)]
        if ends == [True, False]:
            message = f"{hop}: one end of the cable has a link, the other has none"
            yield "a link at both ends", "one", message
        elif all(ends):
            one, other = (rounded(port.speed_bps, RATE) for port in (hop.out, hop.into))
            message = f"{hop}: one end of the cable is at {one}, the other at {other}"
            yield from unless_equal(hop.out.speed_bps, hop.into.speed_bps, message)


def drained(plan: Plan, result: Result) -> Iterator[Violation]:
    """After the last flow nothing is left in a queue, a ring, a buffer or on a cable."""
    for port in plan.ports:
        counted = result.snapshots[END].ports[port.name]
        left = {
            "frames in the egress queue": counted.queue().backlog_frames,
            "frames in the TX ring": counted["tx_ring_frames"],
            "frames on the cable": counted["tx_flight_frames"],
            "frames in the RX ring": counted["rx_ring_frames"],
            "bytes in the packet buffer": counted["buffer_bytes"],
            "bytes in the shared packet memory": counted.get("pool_used_bytes"),
        }
        for kind, amount in left.items():
            yield from unless_equal(0, amount, f"{port.label}: {count_of(amount)} {kind} when all was over")


def cable(plan: Plan, result: Result) -> Iterator[Violation]:
    """Frames that left one end of a cable = frames that reached the other + frames on the way."""
    for hop in hops(plan):
        out, into = result.change(hop.out.name), result.change(hop.into.name)
        sent, arrived, flight = out["tx_frames"], into["rx_wire_frames"], out["tx_flight_frames"]
        came = f"{count_of(arrived)} arrived and {count_of(flight)} are on the way"
        yield from unless_equal(sent, arrived + flight, f"{hop}: {count_of(sent)} frames left, {came}")
        # Of a MAC control frame with a bit error nobody can say which kind it was.
        damaged = into.get("rx_damaged_control_frames")
        for kind in ("pause", "pfc") if not flight else ():
            sent, arrived = out.get(f"tx_{kind}_frames"), into.get(f"rx_{kind}_frames")
            damaged -= (lost := min(max(sent - arrived, 0), damaged))
            left = f"{hop}: {count_of(sent)} {kind.upper()} frames left, {count_of(arrived)} arrived"
            message = f"{left} and {count_of(lost)} had bit errors" if lost else left
            yield from unless_equal(sent, arrived + lost, message)
        if damaged > (sent := out.get("tx_unknown_control_frames")) and not flight:
            message = f"{hop}: {count_of(damaged)} MAC control frames had bit errors that nobody had sent"
            yield sent, damaged, message


def receive(plan: Plan, result: Result) -> Iterator[Violation]:
    """Frames that reached a port = handed on + for others + dropped by a named cause + in the RX ring."""
    for port in plan.ports:
        change = result.change(port.name)
        arrived, taken, waiting = change["rx_wire_frames"], change["rx_frames"], change["rx_ring_frames"]
        dropped, others = sum(change.drops("rx").values()), change.get("rx_filtered_frames")
        gone = f"{count_of(taken)} were handed on, {count_of(dropped)} dropped and {count_of(waiting)} wait"
        if others:
            gone = f"{count_of(others)} were for somebody else, {gone}"
        message = f"{port.label}: {count_of(arrived)} frames arrived, {gone}"
        yield from unless_equal(arrived, taken + others + dropped + waiting, message)


def transmit(plan: Plan, result: Result) -> Iterator[Violation]:
    """Frames that a qdisc released = frames that left + dropped by a named cause + in the TX ring.

    A qdisc counts a GSO packet as the segments that the port will make of it. A repeater has none. Without a
    link a port drops what it is handed as it comes, a GSO packet as one: where an event took that away more
    was released than is known of.
    """
    forgetful = result.happened.relinked
    for port in plan.ports:
        change = result.change(port.name)
        queue = change.queue()
        if port.role == "repeat" or queue is NO_QUEUE:
            continue
        released, waiting = queue.sent_frames, change["tx_ring_frames"]
        left = change["tx_frames"] + change.get("tx_injected_frames")
        dropped = sum(change.drops("tx").values())
        gone = f"{count_of(left)} left, {count_of(dropped)} were dropped and {count_of(waiting)} wait"
        message = f"{port.label}: the qdisc released {count_of(released)} frames, {gone}"
        known = left + dropped + waiting
        if port.name not in forgetful or known > released:
            yield from unless_equal(released, known, message)


def module(plan: Plan, result: Result) -> Iterator[Violation]:
    """What a module takes in at one port, it sends, drops or still holds at the other.

    A port whose link went away has forgotten what was in its queue, and what came until it had one again.
    """
    forgetful = result.happened.relinked
    for node in plan.modules:
        for into, out in ((node.host_port, node.line_port), (node.line_port, node.host_port)):
            taken, leaving = result.change(into)["rx_frames"], result.change(out)
            queue = leaving.queue()
            if queue is NO_QUEUE:
                continue
            sent, waiting = queue.sent_frames, queue.backlog_frames
            dropped = sum(leaving.queue_drops.values())
            gone = f"{count_of(sent)} were sent, {count_of(dropped)} dropped and {count_of(waiting)} wait"
            came = f"{node.name}: {count_of(taken)} frames entered by {plan.port(into).label}"
            message = f"{came}; at {plan.port(out).label} {gone}"
            known = sent + dropped + waiting
            if out not in forgetful or known > taken:
                yield from unless_equal(taken, known, message)


def hub(plan: Plan, result: Result) -> Iterator[Violation]:
    """What comes into a hub by one port leaves it by all the others, as long as all of them have a link."""
    changes = result.happened.relinked
    for node in plan.hubs:
        if any(port.name in changes for port in plan.ports_of(node.name)):
            continue
        ports = [port for port in plan.ports_of(node.name) if result.ports[port.label].link]
        for out in ports:
            left = result.change(out.name)["tx_frames"]
            entered = sum(result.change(port.name)["rx_frames"] for port in ports if port is not out)
            came = f"{count_of(entered)} had entered {node.name} elsewhere"
            yield from unless_equal(entered, left, f"{out.label}: {count_of(left)} frames left, {came}")


def ceiling(plan: Plan, result: Result) -> Iterator[Violation]:
    """No flow is faster than the slowest line on its path can carry payload."""
    for flow in plan.flows:
        most, goodput = result.flows[flow.name].path_bps, result.flows[flow.name].goodput_bps or 0
        if most is not None and goodput > most * (1 + _CLOCK_TOLERANCE):
            measured, allowed = rounded(goodput, RATE, 5), f"at most {rounded(most, RATE, 5)}"
            message = f"{flow.name}: {measured} of payload, the path carries {allowed}"
            yield allowed, measured, message


def cpu(plan: Plan, result: Result) -> Iterator[Violation]:
    """A CPU serves one frame after the other: it is not busy for longer than the time that has passed."""
    for port in plan.ports:
        busy_ns = result.change(port.name).get("cpu_busy_ns")
        if busy_ns > result.elapsed_ns:
            busy, elapsed = rounded(busy_ns, TIME), rounded(result.elapsed_ns, TIME)
            message = f"{port.label}: its CPU was busy for {busy} of {elapsed}"
            yield f"at most {elapsed}", busy, message


def events(plan: Plan, result: Result) -> Iterator[Violation]:
    """Each event has taken place at its instant, but for those that come when all traffic is over."""
    took_place, due = result.happened.at_ns, result.due(plan)
    yield from unless_equal(len(due), len(took_place), f"{count_of(len(took_place))} events took place")
    for event, at_ns in zip(due, took_place, strict=False):
        if not 0 <= at_ns - event.at_ns <= _READING_NS:
            message = f"{event.what}: took place at {at_ns} ns, was to at {event.at_ns} ns"
            yield event.at_ns, at_ns, message


def traces(plan: Plan, result: Result) -> Iterator[Violation]:
    """Each opportunity of a trace was there at its instant, to the end of the run."""
    # Where several are due at once, one comes after the other.
    most_ns = _READING_NS * len(result.followed)
    for name, done in result.followed.items():
        port = plan.port(name)
        trace = plan.trace(port.shape) if port.shape else None
        for filled, (at_ns, opportunities) in zip(done, trace.instants() if trace else (), strict=False):
            if not 0 <= filled.at_ns - at_ns <= most_ns or filled.opportunities != opportunities:
                had = f"{filled.opportunities} opportunities at {filled.at_ns} ns"
                asked = f"{opportunities} at {at_ns} ns"
                yield asked, had, f"{port.label}: had {had}, was to have {asked}"
                break
        else:
            next_ns = next(at_ns for at_ns, _ in islice(trace.instants(), len(done), None)) if trace else None
            if next_ns is not None and next_ns < result.snapshots[END].at_ns:
                yield "all", len(done), f"{port.label}: had no opportunity any more from {next_ns} ns on"


LAWS: Final[tuple[Law, ...]] = (
    *(settings, events, traces, link, drained, cable, receive, transmit, module, hub),
    *(buffer, lossless, priorities, cpu, ceiling),
)
