"""Which figure of a flow is in trouble: what is worse than expected, else the first that is bad."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from recorded import G, plan, recording, with_ports

from wirelab.model.expect import Expectation
from wirelab.plan.traffic import Iperf3, Ping
from wirelab.results.ping import PingResult
from wirelab.results.result import Result, read_result
from wirelab.results.rtt import Rtt
from wirelab.verdict.explanation import Bottleneck, Mechanism
from wirelab.verdict.trouble import Trouble, in_trouble, trouble

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan

FULL_BPS = 2.37 * G
PING = Ping(
    name="echo", sender="client", receiver="server", start_ns=4 * G, duration_ns=2 * G, interval_ns=G // 5
)
PLAN = replace(plan(), traffic=(*plan().traffic, PING))


@pytest.fixture
def fine(tmp_path: Path) -> Result:
    """A result in which nothing is bad: the download has all of its line, an echo takes 1 ms."""
    result = read_result(plan(), recording(dropped=0).write(tmp_path / "raw"))
    result = replace(result, pings={"echo": PingResult("echo", "client", "server", 10, 10, Rtt.of([1000.0]))})
    return measured(result, goodput_bps=FULL_BPS, retransmits=0, rtt=Rtt.of([1000.0]))


def measured(result: Result, **figures: Any) -> Result:  # noqa: ANN401 - any figures of a flow
    """The same with other figures of the download."""
    flows = {**result.flows, "download": replace(result.flows["download"], **figures)}
    return replace(result, flows=flows)


def echoed(result: Result, least_us: float, median_us: float) -> Result:
    """The same with other echoes."""
    rtt = Rtt.of([least_us, *[median_us] * 9])
    return replace(result, pings={"echo": replace(result.pings["echo"], rtt=rtt)})


def of(result: Result, *expectations: Expectation, the_plan: Plan = PLAN) -> Trouble:
    """What is to be helped of the download."""
    return trouble(the_plan, the_plan.flows[1], result, expectations)


def named(result: Result, *expectations: Expectation) -> str:
    """Its name."""
    return of(result, *expectations).name("download")


def test_where_nothing_is_bad_it_is_goodput_all_the_same(fine: Result) -> None:
    """And the flow is not in trouble."""
    assert named(fine) == "download"
    assert not in_trouble(PLAN, PLAN.flows[1], fine)


def test_goodput_comes_first(fine: Result) -> None:
    """Less than 95 % of what the lines carry, whatever else is bad."""
    slow = echoed(measured(fine, goodput_bps=2.2 * G, retransmits=100_000), 1000, 90_000)
    assert of(slow) == replace(of(slow), subject="download", metric="goodput", value=2.2 * G)
    assert in_trouble(PLAN, PLAN.flows[1], slow)


def test_a_cpu_that_is_busy_all_the_time_is_no_excuse(fine: Result) -> None:
    """The most that its path carries takes that into account; what its lines carry does not."""
    slow = measured(fine, goodput_bps=1.6 * G, path_bps=1.6 * G)
    assert of(slow).why == "download has 68 % of what it could have"


def test_who_sends_no_faster_has_no_trouble(fine: Result) -> None:
    """It was told so."""
    download = PLAN.flows[1]
    assert isinstance(download, Iperf3)
    told = replace(download, pacing_bps=G)

    def suffers(flow: Iperf3, goodput_bps: float) -> bool:
        the_plan = replace(PLAN, traffic=(PLAN.traffic[0], flow, PING))
        return in_trouble(the_plan, flow, measured(fine, goodput_bps=goodput_bps))

    assert not suffers(told, 0.96 * G)
    assert suffers(told, 0.94 * G)
    # A slower pacing holds back who was told to be faster; with two connections it is twice as much.
    assert not suffers(replace(told, bitrate_bps=2 * G), 0.96 * G)
    assert suffers(replace(told, parallel=2), 0.96 * G)


def test_what_an_application_asks_for_is_for_each_connection(fine: Result) -> None:
    """Also where nobody knows what the path carries: nothing had a way over it."""
    download = PLAN.flows[1]
    assert isinstance(download, Iperf3)
    told = replace(download, pacing_bps=G, parallel=2)
    nowhere = replace(PLAN, cables=(), traffic=(PLAN.traffic[0], told))
    why = trouble(nowhere, told, measured(fine, goodput_bps=0.96 * G)).why
    assert why == "download has 48 % of what it could have"


def test_of_transfers_beside_each_other_it_is_the_last_one(fine: Result) -> None:
    """What one gains another may lose."""
    first, second = (replace(one, start_ns=G, size_bytes=10**9) for one in PLAN.flows)
    the_plan = replace(PLAN, traffic=(first, second))
    flows = {name: replace(one, duration_s=4.0) for name, one in fine.flows.items()}
    slow = measured(replace(fine, flows=flows), goodput_bps=G, duration_s=8.0)
    found = of(slow, the_plan=the_plan)
    assert (found.subject, found.metric, found.value) == ("network", "duration", 8 * G)


def test_then_what_is_sent_again(fine: Result) -> None:
    """From 1 % on: less is how TCP finds its rate."""
    segments = FULL_BPS * 2 / 8 / 1448
    assert named(measured(fine, retransmits=round(segments * 0.0099))) == "download"
    assert named(measured(fine, retransmits=round(segments * 0.0101))) == "download.retransmits"


def test_then_what_does_not_arrive(fine: Result) -> None:
    """Of datagrams."""
    lost = {"retransmits": None, "protocol": "udp", "sent_datagrams": 1000}
    assert named(measured(fine, lost_datagrams=9, **lost)) == "download"
    assert named(measured(fine, lost_datagrams=10, **lost)) == "download.lost"


def test_then_what_flow_control_does_not_save(fine: Result) -> None:
    """Few as they are: a buffer that stops the sender should drop nothing. Other drops are no such thing."""
    the_plan = with_ports(PLAN, "switch-p1", "server-eth0", pause_tx=True, pause_rx=True)

    def dropping(pauses: int, cause: str) -> Result:
        port = replace(fine.ports["switch.p1"], tx_pause_frames=pauses, drops={cause: 3})
        return replace(fine, ports={**fine.ports, "switch.p1": port})

    overrun = of(dropping(5, "rx_buffer"), the_plan=the_plan)
    assert (overrun.name("download"), overrun.value) == ("switch.p1.drops", 3)
    assert overrun.why == "switch.p1 loses frames although it stops server"
    for none in (dropping(0, "rx_buffer"), dropping(5, "rx_fcs")):
        assert not in_trouble(the_plan, the_plan.flows[1], none)
    assert not in_trouble(PLAN, PLAN.flows[1], dropping(5, "rx_buffer"))


def test_then_the_round_trip_of_who_waits_with_it(fine: Result) -> None:
    """Twice the least, and 5 ms longer, which is what a queue may keep a frame."""
    assert named(echoed(fine, 1000, 5_900)) == "download"
    assert named(echoed(fine, 1000, 6_000)) == "echo.rtt_p50"
    assert of(echoed(fine, 1000, 90_000)).why == (
        "the round trip of echo is 90.0 ms instead of 1.00 ms: it waits behind download"
    )


def test_without_an_echo_it_is_its_own(fine: Result) -> None:
    """What TCP sees."""
    alone = replace(PLAN, traffic=PLAN.flows)
    waits = measured(fine, rtt=Rtt.of([1000.0, *[90_000.0] * 9]))
    assert of(waits, the_plan=alone).name("download") == "download.rtt_p50"


def test_what_is_worse_than_expected_comes_before_all_that(fine: Result) -> None:
    """The flow's own first, then of what runs beside it; and says what was expected."""
    slow = echoed(measured(fine, goodput_bps=G), 1000, 3000)
    echo = Expectation("echo", "rtt_p50", None, 2000)
    again = Expectation("download", "retransmits", None, 0)
    assert named(slow, echo) == "echo.rtt_p50"
    assert named(measured(slow, retransmits=7), echo, again) == "download.retransmits"
    assert of(slow, echo).why == ("echo.rtt_p50: expected at most 2 ms of median RTT, measured 3.00 ms")


def test_better_than_expected_is_no_trouble(fine: Result) -> None:
    """Nor is what is neither good nor bad, nor another flow's, nor that of a part of the time."""
    for one in (
        Expectation("download", "retransmits", 7000, 35_000),
        Expectation("download", "goodput", None, G),
        Expectation("switch.p2", "pause_sent", 1, None),
        Expectation("upload", "goodput", 9 * G, None),
        Expectation("download", "goodput", 9 * G, None, window=(0, G)),
    ):
        assert not in_trouble(PLAN, PLAN.flows[1], fine, [one])


@pytest.mark.parametrize(
    ("metric", "mechanism", "words"),
    [
        ("goodput", Mechanism.FIFO, ("FIFO",)),
        ("retransmits", Mechanism.FIFO, ("FIFO", "loss")),
        ("rtt_p50", Mechanism.LINE, ("wait",)),
        ("rtt_p50", Mechanism.CPU, ("wait", "CPU")),
    ],
)
def test_what_may_help_follows_from_the_figure_and_the_bottleneck(
    metric: str, mechanism: Mechanism, words: tuple[str, ...]
) -> None:
    """Where frames wait for a full line, all that is asked is how many of them do."""
    found = Bottleneck("download", mechanism, "somewhere", (), ())
    assert Trouble("download", metric, 1, "").words(found) == words
