"""The laws of flow control: who can say stop in time loses nothing, of a link (PAUSE) or of a priority (PFC).

Priorities are told apart by halves. tc counts the queue of each; the driver counts what a packet buffer
dropped, and the most that it held, for all together. So where only some of the priorities that arrive
are stopped, its drops say nothing, and the switch as a whole is asked: what entered with a priority
has to leave with it.

Of a port whose settings or whose cable an event changes while frames are on their way nobody can say how
much was too much: such ports are left out, and for queues and switches all of the node's.
"""

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Final

from wirelab.plan.ceiling import headroom_bytes
from wirelab.plan.event import touched
from wirelab.plan.path import Hop, hops, priority, ways
from wirelab.plan.queue import OWN_QUEUE
from wirelab.plan.types import Plan, Port
from wirelab.results.counters import END
from wirelab.results.result import Result
from wirelab.verdict.violation import Violation
from wirelab.verdict.words import count_of

_UNMARKED: Final = 0
"""The DSCP, and the priority, of what belongs to no flow: ARP, what iperf3's ends tell each other."""

_TAIL_DROP: Final = ("bfifo", OWN_QUEUE)
"""The queues that drop only when they are full. Others drop sooner, or count frames."""


def buffer(plan: Plan, result: Result) -> Iterator[Violation]:
    """A packet buffer never holds more than it has room for, nor, with PAUSE, than XOFF + headroom.

    With PFC that is so for each priority. What is known is the most that all of them held together:
    no more than the sum of what each may hold that arrives there.
    """
    arriving, changed = _marks(plan), touched(plan)
    for hop in hops(plan):
        port = hop.into
        if {hop.out.name, port.name} & changed:
            continue
        highest = result.snapshots[END].ports[port.name]["buffer_high_water_bytes"]
        held = f"{port.label}: the packet buffer held {count_of(highest)} bytes"
        room, most, heard = port.buffer_bytes, _most_held(hop), _is_heard(hop, result)
        after_xoff = f"at {count_of(port.xoff_bytes)}, and at most {count_of(headroom_bytes(hop))} can follow"
        if port.pfc:
            together = _most_together(hop, arriving.get(port.name, set()), heard=heard)
            if highest > together:
                message = f"{held}, its priorities may hold {count_of(together)}; it sends PFC {after_xoff}"
                yield together, highest, message
            continue
        if highest > room:
            yield room, highest, f"{held}, it has {count_of(room)}"
        if hop.lossless and heard and highest > most:
            yield most, highest, f"{held}; it sends PAUSE {after_xoff}"


def lossless(plan: Plan, result: Result) -> Iterator[Violation]:
    """Where flow control is on, nothing is dropped: not behind the buffer, not in the queues it fills.

    With PFC a queue is judged by priority, a buffer where PFC stops every flow that arrives there.
    Who did not get a PAUSE or PFC frame whole, for bit errors, cannot obey it.
    A buffer without room for its headroom, and a queue shorter than what may lie in the buffers of
    the ports that feed it, can overflow on real hardware too: those are no violation.
    """
    arriving, changed = _marks(plan), touched(plan)
    for hop in hops(plan):
        if {hop.out.name, hop.into.name} & changed:
            continue
        stopped = all(map(hop.stops, arriving.get(hop.into.name, ()))) if hop.into.pfc else hop.lossless
        dropped = result.change(hop.into.name).drops("rx").get("buffer", 0)
        if dropped and stopped and _is_heard(hop, result) and hop.into.buffer_bytes >= _most_held(hop):
            how = "PFC stops every flow" if hop.into.pfc else "PAUSE is on at both ends"
            message = f"{hop}: {how}, but frames found the packet buffer full: {count_of(dropped)}"
            yield 0, dropped, message
    for (name, of), feeding in _fed(plan).items():
        port, change = plan.port(name), result.change(name)
        if any(other.name in changed for other in plan.ports_of(port.node)):
            continue
        stopped = all(hop.stops(dscp) and _is_heard(hop, result) for hop, dscp in feeding)
        if not stopped or not _deep_enough(port, feeding):
            continue
        dropped = change.queue(of).dropped_frames if port.pfc else change.queue_drops["queue"]
        if dropped:
            queue = f"queue of priority {of}" if port.pfc else "queue"
            kinds = " or ".join(sorted({"PFC" if hop.into.pfc else "PAUSE" for hop, _ in feeding}))
            feeders = f"{port.label}: every port that feeds its {queue} has {kinds} on"
            message = f"{feeders}, but the queue dropped frames: {count_of(dropped)}"
            yield 0, dropped, message


def priorities(plan: Plan, result: Result) -> Iterator[Violation]:
    """What entered a switch with a priority that PFC stops has left it with that priority.

    It can be told where every port of the switch, and every port one is joined to, has the priority
    for PFC and reads it from the same mark: there tc counts it on each way in and out. Of priority 0
    more leaves than entered: broadcasts have it. What a queue dropped is the law above this one.
    """
    changed = touched(plan)
    for switch in plan.switches:
        if any(port.name in changed for port in plan.ports_of(switch.name)):
            continue
        entering = [hop for hop in hops(plan) if hop.into.node == switch.name]
        both = [port for hop in entering for port in (hop.out, hop.into)]
        if len({port.trust for port in both}) != 1 or not all(_is_heard(hop, result) for hop in entering):
            continue
        own = [result.change(hop.into.name) for hop in entering]
        peers = [result.change(hop.out.name) for hop in entering]
        named = sum(sum(change.drops("tx").values()) for change in (*own, *peers))
        named += sum(n for change in own for cause, n in change.drops("rx").items() if cause != "buffer")
        for of in sorted(set.intersection(*(set(port.pfc) for port in both)) - {_UNMARKED}):
            entered = sum(change.queue(of).sent_frames for change in peers)
            queues = [change.queue(of) for change in own]
            left = sum(queue.sent_frames + queue.dropped_frames for queue in queues)
            if entered > left + named:
                came = (
                    f"{count_of(entered)} frames of priority {of} entered, {count_of(left)} came to a queue"
                )
                lost = f"PFC stops that priority, but {count_of(entered - left)} were lost in between"
                yield entered, left, f"{switch.name}: {came}: {lost}"


def _is_heard(hop: Hop, result: Result) -> bool:
    """Whether bit errors spared whatever the end of a hop has told its beginning: stop may be among it."""
    return not result.snapshots[END].ports[hop.out.name].get("rx_damaged_control_frames")


def _most_held(hop: Hop) -> int:
    return hop.into.xoff_bytes + headroom_bytes(hop)


def _most_together(hop: Hop, marks: Collection[int], *, heard: bool) -> int:
    """The most that the priorities hold together which arrive at a port with PFC; ``heard`` if it is."""
    rooms: dict[int, int] = {}
    for dscp in {_UNMARKED, *marks}:
        of, room = priority(hop.into, dscp), hop.into.buffer_bytes
        rooms[of] = max(rooms.get(of, 0), min(room, _most_held(hop)) if heard and hop.stops(dscp) else room)
    return sum(rooms.values())


def _deep_enough(port: Port, feeding: Collection[tuple[Hop, int]]) -> bool:
    """Whether a queue has room for all that may lie in the buffers of the ports that feed it."""
    queue = port.queue
    if queue is None or queue.kind not in _TAIL_DROP or port.queue_alpha_128ths:
        return False
    held = {(hop.into.name, priority(hop.into, dscp)): _most_held(hop) for hop, dscp in feeding}
    return queue.limit_bytes is None or queue.limit_bytes >= sum(held.values())


def _ways(plan: Plan) -> Iterator[tuple[tuple[Hop, ...], int]]:
    """The ways of everything that is sent, and of its answers, each with the DSCP that both carry."""
    for item in plan.traffic:
        for ends in ((item.sender, item.receiver), (item.receiver, item.sender)):
            yield from ((way, item.dscp or _UNMARKED) for way in ways(plan, *ends))


def _marks(plan: Plan) -> dict[str, set[int]]:
    """The DSCPs of what arrives at each port, by the port's name."""
    arriving: dict[str, set[int]] = {}
    for way, dscp in _ways(plan):
        for hop in way:
            arriving.setdefault(hop.into.name, set()).add(dscp)
    return arriving


def _fed(plan: Plan) -> dict[tuple[str, int], set[tuple[Hop, int]]]:
    """The egress queues of what passes frames on, by port and priority, and what feeds each: hop and DSCP.

    A firewall is not among them: what it has taken in belongs to its stack, and is no longer charged to a
    packet buffer.
    """
    firewalls = {firewall.name for firewall in plan.firewalls}
    feeding: dict[tuple[str, int], set[tuple[Hop, int]]] = {}
    for way, dscp in _ways(plan):
        for hop, after in pairwise(way):
            if after.out.node in firewalls:
                continue
            feeding.setdefault((after.out.name, priority(after.out, dscp)), set()).add((hop, dscp))
    return feeding
