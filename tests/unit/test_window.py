"""What samples tell of a part of the time: rates, gaps, and how soon a flow is itself again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from examples import SHIPPED, TRAFFIC, scenario
from recorded import plan as recorded_plan

from wirelab.errors import InputError
from wirelab.model.expect import Expectation
from wirelab.model.experiment import load_file
from wirelab.plan.build import build_plan
from wirelab.plan.flows import phase_ns
from wirelab.plan.traffic import Ping
from wirelab.plan.types import Event
from wirelab.results.counting import at
from wirelab.results.datagrams import Received, received_in_window
from wirelab.results.flow import FlowResult
from wirelab.results.ping import Echoes
from wirelab.results.samples import FlowSample, PortSample, Sample
from wirelab.results.window import (
    acknowledged,
    flow_in_window,
    in_window,
    longest_gap_ns,
    own_time_ns,
    ping_in_window,
    port_in_window,
    recovery_ns,
)
from wirelab.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from pathlib import Path

PLAN = recorded_plan()
FLOW = replace(PLAN.flows[0], start_ns=NS_PER_S, duration_ns=9 * NS_PER_S)
BYTES_PER_S = 125_000_000


def _acked(at_ms: int, out_ms: range) -> int:
    """What a flow of 1 Gbit/s from 1 s on has brought by then, with nothing while ``out_ms``."""
    passed = at_ms - 1000 - max(min(at_ms, out_ms.stop) - out_ms.start, 0)
    return passed * BYTES_PER_S // 1000


def _samples(out_ms: range, *, after: float = 1.0) -> list[Sample]:
    """Every 10 ms until 10 s; after the gap it is ``after`` times as fast."""
    samples = []
    for at_ms in range(1000, 10_001, 10):
        bytes_acked = _acked(at_ms, out_ms)
        if at_ms > out_ms.stop:
            at_stop = _acked(out_ms.stop, out_ms)
            bytes_acked = at_stop + int((bytes_acked - at_stop) * after)
        flow = FlowSample(cwnd_segments=10, rtt_us=1000.0, bytes_acked=bytes_acked, retransmits=at_ms // 100)
        port = PortSample(0, 0, 0, dropped_frames=at_ms // 10, tx_bytes=0, rx_bytes=0)
        samples.append(Sample(at_ms * NS_PER_MS, {"p": port}, {FLOW.name: flow}))
    return samples


def test_goodput_of_a_window_is_what_was_acknowledged_in_it() -> None:
    """Before, in and across a gap, and between two samples in proportion."""
    samples = _samples(range(5000, 6000))
    windows_ms = [(2000, 3000, 1e9), (5000, 6000, 0), (4500, 5500, 5e8), (2001, 2013, 1e9)]
    for from_ms, to_ms, bps in windows_ms:
        window = (from_ms * NS_PER_MS, to_ms * NS_PER_MS)
        assert flow_in_window("goodput", FLOW, samples, *window) == pytest.approx(bps)


def test_a_window_counts_retransmits_and_drops() -> None:
    """The growth of a counter between the ends of the window."""
    samples, window = _samples(range(5000, 6000)), (2 * NS_PER_S, 3 * NS_PER_S)
    assert flow_in_window("retransmits", FLOW, samples, *window) == 10
    assert port_in_window("p", samples, *window) == 100


def test_windows_leave_out_no_retransmit() -> None:
    """Those of before the first sample and after the last count, too: all windows have what the flow has."""
    # The flow runs from 1 s to 10 s; its connection is seen from 2 s on, until it is through at 7 s.
    seen = [
        replace(sample, flows=sample.flows if sample.at_ns < 7 * NS_PER_S else {})
        for sample in _samples(range(5000, 6000))
        if sample.at_ns >= 2 * NS_PER_S
    ]

    def of(from_s: int, to_s: int, total: int | None = 75) -> float | None:
        window = (from_s * NS_PER_S, to_s * NS_PER_S)
        return flow_in_window("retransmits", FLOW, seen, *window, retransmits=total)

    assert of(0, 2) == 20
    assert (of(0, 10), of(0, 7), of(6, 9), of(7, 10)) == (75, 75, 15, 0)
    # Nothing but samples is known of a connection that was lost.
    assert of(0, 10, None) == 69


def test_a_window_is_cut_to_its_flow() -> None:
    """Before it begins and after its end a flow has no rate that would count."""
    samples = _samples(range(5000, 6000))
    assert flow_in_window("goodput", FLOW, samples, 0, 2 * NS_PER_S) == pytest.approx(1e9)


def test_the_longest_gap_is_between_two_acknowledgements() -> None:
    """As long as the counter stands still, also at the end; nothing without samples."""
    assert longest_gap_ns(acknowledged(FLOW, _samples(range(5000, 6000)))) == NS_PER_S
    assert longest_gap_ns(acknowledged(FLOW, _samples(range(7000, 10_000)))) == 3 * NS_PER_S
    assert longest_gap_ns(acknowledged(FLOW, _samples(range(1000, 1000)))) == 0
    assert longest_gap_ns([]) is None
    gap_ns = flow_in_window("longest_gap", FLOW, _samples(range(5000, 6000)), 0, 4 * NS_PER_S)
    assert gap_ns == 0


def test_nobody_follows_several_connections_or_udp() -> None:
    """Samples have the first connection alone, and none of UDP."""
    samples = _samples(range(5000, 6000))
    assert acknowledged(replace(FLOW, parallel=2), samples) == []
    assert flow_in_window("goodput", replace(FLOW, protocol="udp"), samples, 0, NS_PER_S) is None


def _counted(*of_seconds: tuple[int, int]) -> tuple[Received, ...]:
    """What a receiver counts of 100 datagrams of 1000 B a second: how many are lost, and ms, of each part."""
    counted = [Received(0, 0, 0, 0)]
    for lost, lasts_ms in of_seconds:
        last = counted[-1]
        sent = 100 * lasts_ms // 1000
        counted.append(
            Received(
                last.after_ns + lasts_ms * NS_PER_MS,
                last.payload_bytes + (sent - lost) * 1000,
                last.sent_datagrams + sent,
                last.lost_datagrams + lost,
            )
        )
    return tuple(counted)


def test_a_window_of_udp_is_what_its_receiver_counted() -> None:
    """Goodput and losses of its seconds, also where the last one is cut short; nothing where nothing came."""
    flow = replace(FLOW, protocol="udp", duration_ns=3 * NS_PER_S)
    received = _counted((0, 1000), (50, 1000), (0, 1000), (0, 20))

    def of(metric: str, from_s: int, to_s: int) -> float | None:
        return received_in_window(metric, flow, received, from_s * NS_PER_S, to_s * NS_PER_S)

    assert (of("goodput", 1, 2), of("lost", 1, 2)) == (800_000, 0)
    assert (of("goodput", 2, 3), of("lost", 2, 3)) == (400_000, 500_000)
    assert of("goodput", 0, 9) == pytest.approx(2_000_000 / 3)
    assert of("lost", 0, 9) == pytest.approx(5e5 / 3)
    assert received_in_window("lost", flow, _counted((0, 1000)), 3 * NS_PER_S, 4 * NS_PER_S) is None
    assert received_in_window("goodput", flow, _counted(), NS_PER_S, 2 * NS_PER_S) is None


@pytest.mark.parametrize(("after", "recovers_ms"), [(1.0, 500), (0.95, 500), (0.5, None)])
def test_a_flow_recovers_when_it_is_as_fast_as_before(after: float, recovers_ms: int | None) -> None:
    """Nine tenths of the rate before the first event, counted from the last; half of it is no recovery."""
    events = (Event(5 * NS_PER_S, "out"), Event(5 * NS_PER_S + 500 * NS_PER_MS, "in"))
    plan = replace(PLAN, events=events)
    found = recovery_ns(plan, FLOW, acknowledged(FLOW, _samples(range(5000, 6000), after=after)))
    if recovers_ms is None:
        assert found is None
    else:
        assert found is not None
        # The 100 ms that bring enough may begin while the last of the gap is still going on.
        assert recovers_ms * NS_PER_MS - 10 * NS_PER_MS <= found <= recovers_ms * NS_PER_MS


def test_nothing_to_recover_from() -> None:
    """Without an event in its time a flow recovers from nothing."""
    counted = acknowledged(FLOW, _samples(range(5000, 6000)))
    assert recovery_ns(PLAN, FLOW, counted) is None
    assert recovery_ns(replace(PLAN, events=(Event(11 * NS_PER_S, "late"),)), FLOW, counted) is None


def test_a_counter_is_level_beyond_its_ends() -> None:
    """Before the first reading as the first, after the last as the last."""
    counted = [(10, 5), (20, 15)]
    assert [at(counted, at_ns) for at_ns in (0, 10, 15, 20, 30)] == [5, 5, 10, 15, 15]


def test_a_control_may_break_what_holds_in_a_window(tmp_path: Path) -> None:
    """It names the window as verdicts do."""
    expect = "expect: {download: {windows: [{from: 3.2 s, to: 5 s, goodput: 1..2 Gbit/s}]}}\n"
    breaks = "download.goodput from 3.2 s to 5 s"
    rest = f"controls:\n  - {{with: {{switch.flow_control: on}}, breaks: {breaks}}}\n"
    loaded = load_file(scenario(tmp_path, expect=expect, rest=rest), SHIPPED)
    assert loaded.cases[0].expectations[0].name == breaks == loaded.cases[1].breaks


def test_recovery_needs_something_that_happens(tmp_path: Path) -> None:
    """An expectation that nothing could ever fulfil is none."""
    expect = "expect: {download: {recovers_within: ..1 s}}\n"
    with pytest.raises(InputError, match=r"download\.recovers_within: nothing happens in `main`"):
        load_file(scenario(tmp_path, expect=expect), SHIPPED)


def _echoes(lost: range, slow: range) -> Echoes:
    """A hundred requests from 1 s on, one each 50 ms, answered after 1 ms; after 9 ms while ``slow``."""
    return Echoes(100, {n: 9000.0 if n in slow else 1000.0 for n in range(1, 101) if n not in lost})


PING = Ping(
    name="echo",
    sender="client",
    receiver="server",
    start_ns=NS_PER_S,
    duration_ns=5 * NS_PER_S,
    interval_ns=50 * NS_PER_MS,
)


def test_a_window_of_a_ping_has_the_echoes_that_were_asked_for_in_it() -> None:
    """From its first instant on, and before its last: request 21 is that of 2 s, 41 that of 3 s."""
    echoes = _echoes(range(26, 31), range(21, 41))
    window = (2 * NS_PER_S, 3 * NS_PER_S)
    assert ping_in_window("lost", PING, echoes, *window) == 250_000
    assert ping_in_window("rtt_p50", PING, echoes, *window) == 9000
    assert ping_in_window("rtt_p99", PING, echoes, 3 * NS_PER_S, 9 * NS_PER_S) == 1000
    assert ping_in_window("lost", PING, echoes, 2 * NS_PER_S + 1, 3 * NS_PER_S + 1) == 250_000
    assert ping_in_window("rtt_p99", PING, echoes, 3 * NS_PER_S - 1, 3 * NS_PER_S) is None
    assert ping_in_window("lost", PING, echoes, 0, NS_PER_S) is None


def test_a_ping_is_as_fast_as_it_was_and_not_as_it_was_told() -> None:
    """It waits in ticks of its kernel: every 80 ms in the place of 50 the 26th request is that of 3 s."""
    echoes = replace(_echoes(range(26, 39), range(0)), span_ns=99 * 80 * NS_PER_MS)
    assert ping_in_window("lost", PING, echoes, 3 * NS_PER_S, 4 * NS_PER_S) == 1_000_000
    assert ping_in_window("lost", PING, echoes, 2 * NS_PER_S, 3 * NS_PER_S) == 0
    assert [echoes.asked_ns(PING, number) for number in (1, 26)] == [NS_PER_S, 3 * NS_PER_S]
    assert replace(echoes, sent=1).asked_ns(PING, 1) == NS_PER_S


def test_a_flow_that_cannot_connect_stands_still() -> None:
    """No sample has it until it does; and there was no rate that it could have again."""
    connected_ns = 3 * NS_PER_S
    samples = [
        sample if sample.at_ns >= connected_ns else replace(sample, flows={})
        for sample in _samples(range(1000, 3000))
    ]
    counted = acknowledged(FLOW, samples)
    assert longest_gap_ns(counted) == 2 * NS_PER_S
    assert flow_in_window("goodput", FLOW, samples, 2 * NS_PER_S, connected_ns) == 0
    out = replace(PLAN, events=(Event(2 * NS_PER_S, "x"),))
    assert recovery_ns(out, FLOW, counted) is None


def test_a_window_has_the_rtt_that_its_samples_have() -> None:
    """The percentiles of what the sender took the round trip for."""
    samples = _samples(range(5000, 6000))
    assert flow_in_window("rtt_p99", FLOW, samples, 2 * NS_PER_S, 3 * NS_PER_S) == 1000


def test_a_plan_has_the_ends_of_windows_that_samples_tell(tmp_path: Path) -> None:
    """Each once, moved as the traffic is; those of pings and datagrams are told by others, and add none."""
    traffic = TRAFFIC + (
        "  - iperf3: {name: stream, from: server, to: client, time: 2 s, protocol: udp, bitrate: 1 Mbit/s}\n"
        "  - ping: {name: echo, from: server, to: client, time: 2 s}\n"
    )
    expect = (
        "expect:\n"
        "  switch.p1: {windows: [{from: 1250 ms, to: 2 s, drops: 0}]}\n"
        "  download: {windows: [{from: 2 s, to: 3 s, retransmits: 0}]}\n"
        "  stream: {windows: [{from: 14 s, to: 15 s, lost: 0 %}]}\n"
        "  echo: {windows: [{from: 17500 ms, to: 18 s, lost: 0 %}]}\n"
    )
    loaded = load_file(scenario(tmp_path, traffic=traffic, expect=expect), SHIPPED)
    plan = build_plan(loaded, loaded.cases[0], 1)
    shift_ns = phase_ns(1)
    assert [at_ns - shift_ns for at_ns in plan.sample_at_ns] == [1250 * NS_PER_MS, 2 * NS_PER_S, 3 * NS_PER_S]
    plain = load_file(scenario(tmp_path), SHIPPED)
    assert "sample_at_ns" not in build_plan(plain, plain.cases[0], 1).to_json()


def test_a_window_is_cut_where_a_transfer_was_done() -> None:
    """It brings all of its bytes, at its rate, however late the window ends, and nothing after that."""
    size = 4 * BYTES_PER_S + BYTES_PER_S // 100
    transfer = replace(FLOW, size_bytes=size)
    over_ns = 5010 * NS_PER_MS
    # Looked at each tenth of a second: the last look that has it is at 5 s.
    seen = [
        replace(sample, flows=sample.flows if sample.at_ns < over_ns else {})
        for sample in _samples(range(9000, 9000))
        if sample.at_ns % (100 * NS_PER_MS) == 0
    ]
    done = {
        transfer.name: replace(FlowResult.unconnected(transfer, ""), connected=True, duration_s=4.01),
    }

    def of(from_s: int, to_s: int) -> tuple[float | None, tuple[int, int] | None]:
        one = Expectation(transfer.name, "goodput", 0, None, window=(from_s * NS_PER_S, to_s * NS_PER_S))
        moved = replace(PLAN, traffic=(transfer,))
        own = own_time_ns(one, moved, seen, done, {})
        return in_window(one, moved, seen, done, {}, {}), own

    for window in ((2, 9), (4, 6), (1, 60)):
        goodput, own = of(*window)
        assert goodput == pytest.approx(1e9, rel=1e-3)
        assert own == (NS_PER_S, over_ns)
    assert of(6, 9)[0] is None


def test_a_window_of_datagrams_is_cut_where_they_end() -> None:
    """A transfer of them is over when the receiver has nothing more to tell."""
    flow = replace(FLOW, protocol="udp", size_bytes=200_000)
    received = _counted((0, 1000), (0, 1000))
    whole = (flow.start_ns, flow.start_ns + 9 * NS_PER_S)
    assert received_in_window("goodput", flow, received, *whole) == pytest.approx(100 * 1000 * 8)
    after = (flow.start_ns + 3 * NS_PER_S, flow.start_ns + 4 * NS_PER_S)
    assert received_in_window("goodput", flow, received, *after) is None


@pytest.mark.parametrize(
    ("from_ms", "to_ms", "sound"), [(1200, 1299, False), (1200, 1300, True), (2950, 4000, False)]
)
def test_a_window_of_a_ping_has_a_request(from_ms: int, to_ms: int, sound: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a case
    """Between two of them nothing could come back, and whatever is expected of it would fail."""
    traffic = "traffic:\n  - ping: {name: echo, from: server, to: client, time: 2 s, interval: 100 ms}\n"
    expect = f"expect:\n  echo: {{windows: [{{from: {from_ms} ms, to: {to_ms} ms, lost: 0 %}}]}}\n"
    path = scenario(tmp_path, traffic=traffic, expect=expect)
    if sound:
        load_file(path, SHIPPED)
        return
    with pytest.raises(InputError, match="no echo may be asked for in it: `echo` asks every 100 ms"):
        load_file(path, SHIPPED)


def test_the_ends_of_a_window_are_samples_of_it() -> None:
    """However short it is between two intervals: it has two looks, which tell of a gap and of round trips."""
    edges_ns = (2001 * NS_PER_MS, 2003 * NS_PER_MS)
    looks = {*range(1000, 10_001, 100), 2001, 2003}
    samples = [
        replace(sample, at_ns=at_ms * NS_PER_MS)
        for at_ms, sample in (
            (at_ms, _samples(range(9000, 9000))[(at_ms - 1000) // 10]) for at_ms in sorted(looks)
        )
    ]
    assert flow_in_window("rtt_p50", FLOW, samples, *edges_ns) == 1000
    assert flow_in_window("longest_gap", FLOW, samples, *edges_ns) is not None
