"""What happened on a way: where frames were lost, or blocked by a firewall, and who was kept silent."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from wirelab.model.metric import PRIORITIES
from wirelab.plan.ceiling import headroom_bytes, reaction_bytes
from wirelab.plan.event import during, linkable, opened, relinked, states
from wirelab.plan.path import Hop, flow_path, priority, spanned
from wirelab.plan.physics import ALPHA_ONE
from wirelab.plan.traffic import Flow, Item
from wirelab.plan.types import Plan, Port
from wirelab.results.causes import WORDS
from wirelab.results.counters import PortCounters, window
from wirelab.results.port import PortResult
from wirelab.results.result import Result
from wirelab.units import PPM, RATE, RATIO, SIZE, TIME, Quantity, rounded, show
from wirelab.verdict.words import count_of, frames_were

MOST_NAMED: Final = 2
"""Further places are summed up."""
NO_DROPS: Final = "nothing was dropped"


def happenings(begun: Plan, result: Result, way: Iterable[Hop], flow: str | None) -> list[str]:
    """The drops, then the pauses, on these hops; that there were none is said as well."""
    crossed = tuple(way)
    touched = {port.name for hop in crossed for port in (hop.out, hop.into)}
    losses = blocked(result, crossed, flow)
    losses += dropped(begun, result, [port for port in begun.ports if port.name in touched], flow)
    item = next((item for item in begun.traffic if item.name == flow), None)
    losses += overrun(begun, result, crossed, item)
    losses += uncounted(begun, result, crossed, item)
    silences = pauses(result, crossed, item)[:MOST_NAMED]
    if not losses and not silences:
        return [f"{NO_DROPS}, no port was paused"]
    return [*(losses or [NO_DROPS]), *silences]


def dropped(begun: Plan, result: Result, ports: Iterable[Port], flow: str | None = None) -> list[str]:
    """Where frames were lost during ``flow`` (None: the whole run), largest first; the rest as a sum.

    ``15 980 frames were dropped at module.line (FIFO 16 KiB full)``.
    """
    known = _states(begun, result, flow)
    sites = [
        (frames, f"{frames_were(frames)} dropped at {port.label} ({_cause(port, known, cause)})")
        for port in ports
        for cause, frames in result.change(port.name, flow).drops_by_cause.items()
        if frames > 0
    ]
    sites.sort(key=lambda site: -site[0])
    words = [named for _, named in sites[:MOST_NAMED]]
    rest = sum(frames for frames, _ in sites[MOST_NAMED:])
    return [*words, f"{count_of(rest)} more elsewhere"] if rest else words


def overrun(plan: Plan, result: Result, way: Iterable[Hop], item: Item | None = None) -> list[str]:
    """Which packet buffers ran over though their peers can be told to stop, and why they could.

    Too little is above XOFF, or frames came at a priority that PFC does not stop:
    ``switch.p1 has 5000 B above XOFF, but up to 8.58 kB can follow, 3.84 kB of it before server obeys``.
    """
    words = []
    for hop in way:
        change = result.change(hop.into.name, item.name if item else None)
        stoppable = hop.lossless or set(hop.into.pfc) & set(hop.out.pfc)
        if not stoppable or not change.drops("rx").get("buffer"):
            continue
        silent = hop.into.pfc and not change.get("tx_pfc_frames")
        # Drops are not counted by priority: where PFC stopped anything, only an item knows its own.
        asked = _crossing(plan, hop) if silent else [item] if item else []
        if running := _not_stopped(hop, asked):
            words.append(f"what comes to {hop.into.label} at {running} is not stopped by PFC")
        elif not silent and (room := hop.into.buffer_bytes - hop.into.xoff_bytes) < headroom_bytes(hop):
            words.append(
                f"{hop.into.label} has {show(room, SIZE)} above XOFF, but up to"
                f" {rounded(headroom_bytes(hop), SIZE)} can follow,"
                f" {rounded(reaction_bytes(hop), SIZE)} of it before {hop.out.label} obeys"
            )
    return words


def _crossing(plan: Plan, hop: Hop) -> list[Item]:
    """The traffic that crosses a hop, or is answered over it."""
    crossed = ((item, {one.out.name for one in _sent_over(plan, item)}) for item in plan.traffic)
    return [item for item, names in crossed if hop.out.name in names]


def _not_stopped(hop: Hop, items: Iterable[Item]) -> str:
    """The priorities, as a sentence has them, of what PFC does not stop at the end of a hop."""
    marks = {item.dscp or 0 for item in items} if hop.into.pfc else set()
    running = sorted({priority(hop.into, dscp) for dscp in marks if not hop.stops(dscp)})
    noun = "priority" if len(running) == 1 else "priorities"
    return f"{noun} {', '.join(map(str, running))}" if running else ""


def uncounted(begun: Plan, result: Result, way: Iterable[Hop], item: Item | None = None) -> list[str]:
    """Which ports on these hops lost their link meanwhile, if anything was lost of what leaves by them.

    Linux drops what it has for a port without a carrier, and counts it nowhere.
    """
    from_ns, until_ns = _time_of(result, item.name if item else None)
    away = {
        name
        for name, instants_ns in relinked(begun).items()
        if any(from_ns < at_ns <= until_ns and _carried(begun, name, at_ns) for at_ns in instants_ns)
    }
    lost = [one for one in ([item] if item else begun.traffic) if _has_lost(result, one)] if away else []
    used = {hop.out.name for one in lost for hop in _sent_over(begun, one)}
    ports = dict.fromkeys(hop.out.label for hop in way if hop.out.name in used & away)
    if not ports:
        return []
    return [f"frames that were to leave by {' or '.join(ports)} while its link was down are counted nowhere"]


def _carried(plan: Plan, name: str, at_ns: int) -> bool:
    """Whether frames left by a port until some instant: not by one of a bond that stands by."""
    was = [state for since_ns, state in states(plan) if since_ns < at_ns][-1]
    return all(name in bond.carrying(linkable(was)) for bond in was.bonds if name in bond.ports)


def _has_lost(result: Result, item: Item) -> bool:
    """Whether anything was missing, or was sent again."""
    if item.name in result.pings:
        return bool(result.pings[item.name].lost_ppm)
    measured = result.flows[item.name]
    return bool(measured.retransmits or measured.lost_datagrams or not measured.connected)


def _sent_over(plan: Plan, item: Item) -> tuple[Hop, ...]:
    """The hops that traffic takes, and its answers, if there are any."""
    there = spanned(plan, item.sender, item.receiver)
    if isinstance(item, Flow) and item.protocol == "udp":
        return there
    return (*there, *spanned(plan, item.receiver, item.sender))


def blocked(result: Result, way: Iterable[Hop], flow: str | None) -> list[str]:
    """What the rules of the firewalls on these hops dropped: on purpose, so it counts as no port's drop."""
    passed = {hop.into.node for hop in way}
    return [
        f"{frames_were(frames)} blocked by {firewall} (rule {rule})"
        for firewall, rules in result.blocked(flow).items()
        for rule, frames in rules.items()
        if frames and firewall in passed
    ]


class Shut(NamedTuple):
    """What nobody can pass: a cable or a port, how it came to be so, and the labels of the ports there."""

    what: str
    how: str
    at: tuple[str, ...]


def shut(item: Item, plan: Plan) -> list[Shut]:
    """What nobody could pass when it began: a port on its way that was shut, a cable that was pulled out."""
    begun = next(state for at_ns, state in reversed(states(plan)) if at_ns <= item.start_ns)
    found = []
    for hop in flow_path(opened(plan), item):
        if not begun.cable_of(hop.out.name).plugged:
            ends = (hop.out.label, hop.into.label)
            found.append(Shut(f"the cable between {' and '.join(ends)}", "pulled out", ends))
        ports = (begun.port(end.name) for end in (hop.out, hop.into))
        found += [Shut(port.label, "shut", (port.label,)) for port in ports if not port.up]
    return found


def silences_ns(port: Port, change: PortCounters, item: Item | None = None) -> dict[int | None, int]:
    """How long a port was silent: for PAUSE (None), or at each priority that PFC stops; an item's alone."""
    if not port.pfc:
        return {None: change["tx_paused_ns"]}
    asked = range(PRIORITIES) if item is None else [priority(port, item.dscp or 0)]
    return {of: change.get(f"tx_paused_ns_prio{of}") for of in asked}


def at_priority(of: int | None) -> str:
    """`` at priority 3``, nothing for None: PAUSE stops all of them."""
    return "" if of is None else f" at priority {of}"


def pauses(result: Result, way: Iterable[Hop], item: Item | None) -> list[str]:
    """Who was paused during ``item`` (None: the whole run), the longest first.

    ``switch.p2 was paused 74 % of download's time by module.host (8 120 PAUSE frames)``.
    """
    flow = item.name if item else None
    first_ns, last_ns = _time_of(result, flow)
    of_which = f"of {flow}'s time" if flow else "of the whole run"
    silences = []
    for hop in way:
        change = result.change(hop.out.name, flow)
        count, kind = change["rx_pause_frames"], "PAUSE"
        if hop.out.pfc:
            count, kind = change.get("rx_pfc_frames"), "PFC"
        frames = f"{count_of(count)} {kind} frame{'s' if count != 1 else ''}"
        for of, paused_ns in silences_ns(hop.out, change, item).items():
            if paused_ns > 0:
                ppm = paused_ns * PPM // max(last_ns - first_ns, 1)
                ends = f"{hop.out.label} was paused {rounded(ppm, RATIO, 2)} {of_which} by {hop.into.label}"
                silences.append((ppm, f"{ends}{at_priority(of)} ({frames})"))
    silences.sort(key=lambda silence: -silence[0])
    return [words for _, words in silences]


def priorities_paused(port: PortResult, elapsed_ns: int) -> str:
    """How long each priority of a port was silent."""
    silences = [
        f"priority {priority} was paused for {rounded(paused_ns, TIME)} of {rounded(elapsed_ns, TIME)}"
        for priority, paused_ns in enumerate(port.priority_paused_ns)
        if paused_ns
    ]
    frames = f"{count_of(port.rx_pfc_frames)} PFC frames came"
    return "; ".join([*silences, frames]) if silences else "its peer never paused a priority"


def _time_of(result: Result, flow: str | None) -> tuple[int, int]:
    """When counters were read for ``flow``, before it and after it."""
    before, after = window(flow)
    return result.snapshots[before].at_ns, result.snapshots[after].at_ns


def _states(begun: Plan, result: Result, flow: str | None) -> list[Plan]:
    """What the network was while ``flow`` ran, one state after the other."""
    from_ns, until_ns = _time_of(result, flow)
    # Counters are read a little later than it is over: what changes meanwhile explains nothing.
    ends_ns = [item.end_ns for item in begun.traffic if item.name == flow]
    return [state for _, _, state in during(begun, from_ns, max(min([until_ns, *ends_ns]), from_ns + 1))]


def _cause(port: Port, known: Iterable[Plan], cause: str) -> str:
    """Why frames were lost at a port, which was as each of these states has it."""
    lives = [state.port(port.name) for state in known]
    words = {
        "queue": _full_queue(lives),
        "netem": "lost by netem, as asked",
        "police": _policed(lives),
        "rx_buffer": f"{WORDS['rx_dropped_buffer']} {show(port.buffer_bytes, SIZE)} full",
        "rx_oversize": f"longer than MTU {port.mtu_bytes} allows",
    }
    if port.pool:
        words["rx_pool"] = f"{WORDS['rx_dropped_pool']} {show(port.pool.size_bytes, SIZE)} full"
    counter = cause.replace("_", "_dropped_", 1)
    return words.get(cause) or WORDS.get(counter, cause.replace("_", " "))


def memory_share(port: Port) -> str:
    """What a dynamic threshold leaves to an egress queue, if it has one: ``1/4 of what was free of 4 MB``."""
    return _share_of_memory(port, port.queue_alpha_128ths)


def xoff(port: Port) -> str:
    """From where on a port says stop: ``108.7 kB``, ``1/64 of what was free of 4 MB, at most 108.7 kB``."""
    share = _share_of_memory(port, port.xoff_alpha_128ths)
    return f"{share}, at most {show(port.xoff_bytes, SIZE)}" if share else show(port.xoff_bytes, SIZE)


def _share_of_memory(port: Port, alpha_128ths: int) -> str:
    if not alpha_128ths or port.pool is None:
        return ""
    return f"{Fraction(alpha_128ths, ALPHA_ONE)} of what was free of {show(port.pool.size_bytes, SIZE)}"


def _range(settings: Iterable[int], quantity: Quantity) -> str:
    """``20 kB``, or ``20 kB to 1 MB`` of what events had changed; empty for none."""
    known = sorted(settings)
    return " to ".join(show(end, quantity) for end in sorted({*known[:1], *known[-1:]}))


def _policed(lives: Sequence[Port]) -> str:
    rates_bps = [one.shape.rate_bps for one in lives if one.shape]
    return f"policed to {_range(rates_bps, RATE)}" if rates_bps else "police"


def _full_queue(lives: Sequence[Port]) -> str:
    port = lives[-1]
    queue = port.queue
    if queue is None:
        return "egress queue full"
    if not queue.kind.endswith("fifo"):
        # It drops on purpose, long before it is full.
        return f"by {queue.kind}"
    if share := memory_share(port):
        return f"queue longer than {share}"
    rates_bps = [one.shaper.rate_bps for one in lives if one.shaper]
    mean = " in the mean" if port.shape and port.shape.trace else ""
    behind = f" behind a shaper of {_range(rates_bps, RATE)}{mean}" if rates_bps else ""
    limits_bytes = [one.queue.limit_bytes for one in lives if one.queue and one.queue.limit_bytes is not None]
    room = f" {_range(limits_bytes, SIZE)}" if limits_bytes else ""
    return f"FIFO{room}{behind} full"
