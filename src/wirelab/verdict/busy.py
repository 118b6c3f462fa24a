"""What was busy on the way of a flow, and for how much of its time: lines, shapers, buses, CPUs, programs."""

from collections import Counter
from collections.abc import Iterable, Iterator

from wirelab.model import ethernet
from wirelab.plan.event import during
from wirelab.plan.path import Hop, spanned
from wirelab.plan.traffic import Flow, Iperf3
from wirelab.plan.types import Bus, Plan, Port
from wirelab.results.counters import PortCounters, window
from wirelab.results.counting import Counted, at
from wirelab.results.result import Result
from wirelab.units import BITS_PER_BYTE, NS_PER_S, PPM, PS_PER_NS
from wirelab.verdict.clock import rate_bps
from wirelab.verdict.explanation import Busy, Mechanism
from wirelab.verdict.phases import phases


def active_ns(flow: Flow, result: Result) -> int:
    """The virtual time that a flow took: what a transfer needed, or all of its own."""
    first, last = (result.snapshots[name].at_ns for name in window(flow.name))
    taken_ns = result.flows[flow.name].duration_ns if flow.size_bytes is not None else flow.duration_ns
    return max(min(last - first, round(taken_ns or last - first)), 1)


def received_bytes(flow: Flow, result: Result) -> float:
    """The payload that came in that time, by its goodput."""
    return (result.flows[flow.name].goodput_bps or 0) * active_ns(flow, result) / NS_PER_S / BITS_PER_BYTE


def busy(begun: Plan, flow: Flow, result: Result) -> tuple[Busy, ...]:
    """All that serves a flow of a Plan from its sender on to its receiver, in that order."""
    return (*_programs(begun, flow, result), *_serving(begun, flow.sender, flow.receiver, flow, result))


def busy_back(begun: Plan, flow: Flow, result: Result) -> tuple[Busy, ...]:
    """What serves its acknowledgements, from its receiver on to its sender."""
    return tuple(_serving(begun, flow.receiver, flow.sender, flow, result))


_Served = tuple[Mechanism, str, float, int, tuple[str, ...]]
"""What, where, for how many nanoseconds, how many bytes it served (0: not counted), at which ports."""


def _serving(begun: Plan, sender: str, receiver: str, flow: Flow, result: Result) -> Iterator[Busy]:
    way = spanned(result.linked(begun, flow), sender, receiver)
    time_ns = active_ns(flow, result)
    own_bytes = received_bytes(flow, result)
    for mechanism, where, busy_ns, served_bytes, place in _servers(begun, way, flow, result):
        own_ppm = min(round(own_bytes * PPM / served_bytes), PPM) if served_bytes else PPM
        yield Busy(mechanism, where, min(round(busy_ns * PPM / time_ns), PPM), own_ppm, place)


def _servers(begun: Plan, way: Iterable[Hop], flow: Flow, result: Result) -> Iterator[_Served]:
    """What serves frames on a way, each once."""
    cpus: set[str] = set()
    for hop in way:
        yield from _cpu(begun, hop.out, flow, result, cpus)
        sent = result.change(hop.out.name, flow.name)
        if hop.out.bus is not None:
            yield (
                Mechanism.BUS,
                f"the bus of {hop.out.label}",
                _bus_ns(hop.out.bus, sent, "tx"),
                sent["tx_bytes"],
                (hop.out.label,),
            )
        yield from _shaper(begun, hop.out, flow, result)
        line = f"the line from {hop.out.label} to {hop.into.label}"
        ends = (hop.out.label, hop.into.label)
        yield Mechanism.LINE, line, _line_ns(begun, hop, flow, result), sent["tx_bytes"], ends
        if hop.into.bus is not None:
            came = result.change(hop.into.name, flow.name)
            yield (
                Mechanism.BUS,
                f"the bus of {hop.into.label}",
                _bus_ns(hop.into.bus, came, "rx"),
                came["rx_bytes"],
                (hop.into.label,),
            )
        yield from _cpu(begun, hop.into, flow, result, cpus)


def _shaper(begun: Plan, port: Port, flow: Flow, result: Result) -> Iterator[_Served]:
    """A shaper that keeps frames waiting; a policer keeps none, and what it drops is a loss."""
    shape = port.shaper
    if shape is None or shape.noun == "policer":
        return
    name = f"the {shape.noun} of {port.label}"
    if shape.trace:
        # How much a trace allows is in the ceiling of the path.
        measured = result.flows[flow.name]
        share = (measured.goodput_bps or 0) / measured.path_bps if measured.path_bps else 0
        followed = f"{name}, which follows {shape.trace},"
        yield Mechanism.LINE, followed, share * active_ns(flow, result), 0, (port.label,)
    else:
        sent_bytes = result.change(port.name, flow.name)["tx_bytes"]
        yield Mechanism.LINE, name, _shaping_ns(begun, port, flow, result), sent_bytes, (port.label,)


def _shaping_ns(begun: Plan, port: Port, flow: Flow, result: Result) -> float:
    """How long a shaper was busy: with what left by it between two events, at the rate that it had then."""
    sent = result.change(port.name, flow.name)
    counted = [(sample.at_ns, sample.ports[port.name].tx_bytes) for sample in result.samples]
    periods = during(begun, flow.start_ns, flow.end_ns)
    busy_ns = 0.0
    for from_ns, until_ns, state in periods:
        shape = state.port(port.name).shaper
        if shape is None:
            continue
        share = 1.0 if len(periods) == 1 else _share(counted, flow, from_ns, until_ns)
        counted_bytes = share * (sent["tx_bytes"] + sent["tx_frames"] * shape.overhead_bytes)
        busy_ns += counted_bytes * BITS_PER_BYTE * NS_PER_S / shape.rate_bps
    return busy_ns


def _share(counted: Counted, flow: Flow, from_ns: int, until_ns: int) -> float:
    """The part of what was counted while a flow ran that was counted between two instants of that.

    Of what came and went between two samples it is the part of its time.
    """
    all_of_it = at(counted, flow.end_ns) - at(counted, flow.start_ns)
    if not all_of_it:
        return (until_ns - from_ns) / max(flow.end_ns - flow.start_ns, 1)
    return (at(counted, until_ns) - at(counted, from_ns)) / all_of_it


def _line_ns(begun: Plan, hop: Hop, flow: Flow, result: Result) -> float:
    """How long frames were on a line; on a shared medium those of both directions."""
    ends = (hop.out, hop.into) if hop.out.duplex == "half" else (hop.out,)
    changes = [result.change(port.name, flow.name) for port in ends]
    overhead_bytes = ethernet.OVERHEAD_BYTES + hop.tag_bytes
    sent = sum(change["tx_bytes"] + change["tx_frames"] * overhead_bytes for change in changes)
    return sent * BITS_PER_BYTE * NS_PER_S * _time_a_bit(begun, hop, flow, result)


def _time_a_bit(begun: Plan, hop: Hop, flow: Flow, result: Result) -> float:
    """Seconds for a bit of a flow, in the mean of what was sent at each speed that the line had."""
    known = phases(begun, hop, flow, result)
    if len({phase.rate_bps for phase in known}) == 1:
        return 1 / hop.rate_bps
    counted = _sent_by(hop, result)
    return sum(_share(counted, flow, one.from_ns, one.until_ns) / one.rate_bps for one in known)


def full_while_slower(begun: Plan, hop: Hop, flow: Flow, result: Result, full_ppm: int) -> dict[int, int]:
    """For how long a line was at a speed below its best and full, that is, busy for so much of this time.

    By the speed, in bit/s.
    """
    known = phases(begun, hop, flow, result)
    best_bps = max(phase.rate_bps for phase in known)
    counted, sent = _sent_by(hop, result), result.change(hop.out.name, flow.name)
    overhead_bytes = sent["tx_frames"] * (ethernet.OVERHEAD_BYTES + hop.tag_bytes)
    taken = 1 + overhead_bytes / max(sent["tx_bytes"], 1)
    full: Counter[int] = Counter()
    for from_ns, until_ns, now_bps in known:
        bits = taken * (at(counted, until_ns) - at(counted, from_ns)) * BITS_PER_BYTE
        if now_bps < best_bps and bits * NS_PER_S * PPM >= now_bps * (until_ns - from_ns) * full_ppm:
            full[now_bps] += until_ns - from_ns
    return full


def _sent_by(hop: Hop, result: Result) -> Counted:
    return [(sample.at_ns, sample.ports[hop.out.name].tx_bytes) for sample in result.samples]


def _bus_ns(bus: Bus, change: PortCounters, direction: str) -> float:
    """How long one direction of a bus was taken, as if all frames had been of one size."""
    frames, size_bytes = change[f"{direction}_frames"], change[f"{direction}_bytes"]
    if not frames:
        return 0.0
    taken_bytes = frames * bus.taken_bytes(size_bytes / frames)
    return taken_bytes * BITS_PER_BYTE * NS_PER_S / bus.bps


def _cpu(plan: Plan, port: Port, flow: Flow, result: Result, known: set[str]) -> Iterator[_Served]:
    """The CPU of a node, with the frames of all its ports."""
    if port.cpu is None or port.node in known:
        return
    known.add(port.node)
    spent_ns = sum(result.change(one.name, flow.name).get("cpu_busy_ns") for one in plan.ports_of(port.node))
    if port.capture is not None:
        change = result.change(port.name, flow.name)
        written_s = (change["rx_bytes"] + change["tx_bytes"]) / port.capture.bytes_per_s
        disk = f"the disk that {port.node} captures to"
        yield Mechanism.STORAGE, disk, written_s * NS_PER_S, 0, (port.node,)
    yield Mechanism.CPU, f"the CPU of {port.node}", float(spent_ns), 0, (port.node,)


def _programs(begun: Plan, flow: Flow, result: Result) -> Iterator[Busy]:
    """The stages of a copy, and a program that is told how fast to send."""
    goodput_bps = result.flows[flow.name].goodput_bps or 0.0
    if flow.blocks:
        bytes_s = goodput_bps / BITS_PER_BYTE
        for stage in flow.blocks.stages:
            share = bytes_s * stage.byte_ps / (PS_PER_NS * NS_PER_S)
            mechanism = Mechanism.STORAGE if stage.is_storage else Mechanism.APPLICATION
            yield Busy(mechanism, str(stage), min(round(share * PPM), PPM), at=(stage.node,))
    if isinstance(flow, Iperf3):
        came_bps = rate_bps(begun, flow, result)
        for asked_bps, what in ((flow.bitrate_bps, "bitrate"), (flow.pacing_bps, "pacing")):
            if asked_bps:
                share_ppm = round(came_bps * PPM / (asked_bps * flow.parallel))
                where = f"the {what} of {flow.sender}"
                yield Busy(Mechanism.APPLICATION, where, min(share_ppm, PPM), at=(flow.sender,))
