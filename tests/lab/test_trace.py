"""A line whose rate follows a trace: what passes, when, and that nothing else decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.road import carried_out
from wirelab.model.trace import OPPORTUNITY_BYTES, Trace
from wirelab.units import NS_PER_MS
from wirelab.verdict.checks import check_laws

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.lab.rig import Rig
    from wirelab.plan.types import Plan
    from wirelab.results.result import Result

# Reading the clock takes virtual time.
READING_NS = 100
PAYLOAD, PACKET = 1472, 1500
"""Of a full datagram."""

# Flooded with twice what the trace allows in its best second.
FLOODED = """\
topology: home-line
with: {line.line: lte, provider.p2.shape.trace: own.trace, provider.p2.queue_limit: 100 kB, SETTINGS}
traffic:
  - iperf3: {name: flood, from: server, to: client, time: 6 s, protocol: udp, bitrate: 48 Mbit/s}
expect:
  provider.p2: {drops: 1..}
"""
ECHOES = "  - ping: {name: echo, from: server, to: client, with: flood, time: 6 s}\nexpect:"


def of_all_kinds() -> list[int]:
    """Three seconds: one a millisecond, a tenth of that, half a second of nothing, five at once."""
    slow = [ms for ms in range(1000, 2000) if ms % 10 == 0]
    return [*range(1000), *slow, *(ms for ms in range(2500, 3001, 2) for _ in range(5))]


def write(folder: Path, instants_ms: Iterable[int]) -> None:
    """The trace of a scenario."""
    (folder / "own.trace").write_text("".join(f"{ms}\n" for ms in instants_ms), encoding="utf-8")


def passed(result: Result, port: str) -> list[tuple[int, int]]:
    """What a port had received by each sample, in bytes of IP packets and 4 more for each."""
    read = [(sample.at_ns, sample.ports[port].rx_bytes) for sample in result.samples]
    begun = read[0][1]
    # Ethernet has 14 bytes more than IP: a packet of 1500 counts 1504 of 1514.
    return [(at_ns, (octets - begun) * (PACKET + 4) // (PACKET + 14)) for at_ns, octets in read]


def allowed(trace: Trace, from_ns: int, to_ns: int) -> int:
    """What a trace lets pass after one instant and up to another."""
    return trace.bytes_by(to_ns) - trace.bytes_by(from_ns)


def settled(plan: Plan, result: Result) -> list[tuple[int, int]]:
    """What came during the flood, from its third of a second on: the queue is full by then."""
    flood = plan.flows[0]
    first_ns = flood.start_ns + 300 * NS_PER_MS
    return [reading for reading in passed(result, "modem-p1") if first_ns <= reading[0] <= flood.end_ns]


def test_what_passes_is_what_the_trace_says(rig: Rig) -> None:
    """Between any two samples, to two packets, whatever the trace does; and all of it twice the same.

    One may be in the cable at either end.
    """
    write(rig.folder, of_all_kinds())
    text = FLOODED.replace("SETTINGS", "line.delay: 0 ms")
    plan, result = carried_out(rig, text)
    assert [violation.explanation for violation in check_laws(plan, result)] == []
    (trace,) = plan.traces
    readings = settled(plan, result)
    begin_ns, begun = readings[0]
    off = [octets - begun - allowed(trace, begin_ns, at_ns) for at_ns, octets in readings]
    assert len(off) > 500
    assert max(off) - min(off) <= 2 * OPPORTUNITY_BYTES
    # Nothing at all where there is no opportunity: half a second in each round.
    turns = [((at_ns - trace.start_ns) / NS_PER_MS % 3000, octets) for at_ns, octets in readings]
    assert len({octets for at_ms, octets in turns if 2010 <= at_ms < 2490}) == 2
    assert carried_out(rig, text)[1].digest == result.digest


def test_small_packets_share_an_opportunity(rig: Rig) -> None:
    """What one has left over the next frame gets, as in mahimahi: with echoes between no byte is lost."""
    write(rig.folder, of_all_kinds())
    text = FLOODED.replace("SETTINGS", "line.delay: 0 ms").replace("expect:", ECHOES)
    plan, result = carried_out(rig, text)
    (trace,) = plan.traces
    begin, end = (result.snapshots[f"flood:{name}"].at_ns for name in ("start", "end"))
    counted = result.change("provider-p2", "flood")
    # Of a frame what is Ethernet's does not count, and 4 bytes more do.
    passed_bytes = counted["tx_bytes"] - (14 - 4) * counted["tx_frames"]
    assert result.pings["echo"].received > 100
    assert passed_bytes == pytest.approx(allowed(trace, begin, end), abs=6 * OPPORTUNITY_BYTES)


def test_each_opportunity_is_at_its_nanosecond(rig: Rig) -> None:
    """Every one of the trace, from its beginning until all queues are empty, and in no other order."""
    write(rig.folder, of_all_kinds())
    plan, result = carried_out(rig, FLOODED.replace("SETTINGS", "modem.p1.shape.trace: own.trace"))
    (trace,) = plan.traces
    assert result.followed.keys() == {"provider-p2", "modem-p1"}
    for done in result.followed.values():
        wanted = [at for at, _ in zip(trace.instants(), done, strict=False)]
        assert [filled.opportunities for filled in done] == [opportunities for _, opportunities in wanted]
        late_ns = {filled.at_ns - at_ns for filled, (at_ns, _) in zip(done, wanted, strict=True)}
        assert min(late_ns) >= 0
        # One after the other where both are due.
        assert max(late_ns) < 10 * READING_NS * len(result.followed)
        assert done[-1].at_ns > plan.flows[0].end_ns
        assert max(filled.kept_bytes for filled in done) < OPPORTUNITY_BYTES


@pytest.mark.parametrize("queue", ["pfifo", "fq_codel", "cake", "bfifo"])
def test_any_queue_is_emptied_as_the_trace_says(rig: Rig, queue: str) -> None:
    """Whoever looks after the queue, and with a long path in front: in the long run to 0.5 %."""
    write(rig.folder, of_all_kinds())
    limit = "" if queue != "pfifo" else ", provider.p2.queue_limit: 60 frames"
    text = FLOODED.replace(", provider.p2.queue_limit: 100 kB", limit)
    text = text.replace("SETTINGS", f"provider.p2.queue: {queue}, provider.p2.delay: 3 ms")
    plan, result = carried_out(rig, text)
    assert [violation.explanation for violation in check_laws(plan, result)] == []
    (trace,) = plan.traces
    (begin_ns, begun), *_, (end_ns, ended) = settled(plan, result)
    assert ended - begun == pytest.approx(allowed(trace, begin_ns, end_ns), rel=0.005)


def test_tcp_gets_the_bytes_of_the_trace(rig: Rig) -> None:
    """Its payload of them, less the start: acknowledgements of the other direction pass beside."""
    write(rig.folder, [ms for ms in range(1, 1001) if ms % 7])
    text = """\
topology: home-line
with: {line.line: lte, line.delay: 2 ms, line.shape.trace: own.trace}
traffic:
  - iperf3: {name: down, from: server, to: client, time: 5 s, congestion: cubic}
expect:
  down: {goodput: 9.7..9.94 Mbit/s}
"""
    plan, result = carried_out(rig, text)
    assert [violation.explanation for violation in check_laws(plan, result)] == []


def test_an_event_may_change_what_else_there_is(rig: Rig) -> None:
    """Its queue, its path, its cable: each is read back, and the trace goes on."""
    write(rig.folder, [*range(1, 1001)])
    text = FLOODED.replace("SETTINGS", "provider.p2.delay: 3 ms")
    text += """\
events:
  - {at: 2 s, with: {provider.p2.queue_limit: 50 kB}}
  - {at: 3 s, with: {provider.p2.delay: 10 ms}}
  - {at: 4 s, for: 100 ms, with: {line.link: down}}
"""
    plan, result = carried_out(rig, text)
    last = {(one.port, one.setting): one.actual for one in result.happened.readbacks}
    assert last["provider-p2", "queue_limit_bytes"] == 50_000
    (trace,) = plan.traces
    readings = [reading for reading in settled(plan, result) if reading[0] > plan.events[-1].at_ns]
    (begin_ns, begun), *_, (end_ns, ended) = readings[10:]
    assert ended - begun == pytest.approx(allowed(trace, begin_ns, end_ns), rel=0.005)
