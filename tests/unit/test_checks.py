"""Expectations against a Result: verdicts, and the sentences that prove them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import G, Recording, iperf3, plan, recording, with_ports

from wirelab.errors import LabError, SkipError
from wirelab.model.expect import Expectation
from wirelab.model.metric import METRICS, SubjectKind, metrics_of
from wirelab.plan.node import Firewall
from wirelab.plan.queue import Queue
from wirelab.plan.traffic import Ping
from wirelab.plan.types import Event, Plan, Pool
from wirelab.results.ping import Echoes, PingResult
from wirelab.results.result import Result, read_result
from wirelab.verdict.checks import Check, broken_lab, check, check_all, check_breaks
from wirelab.verdict.verdict import Verdict, worst

if TYPE_CHECKING:
    from pathlib import Path

FEW = Expectation("download", "retransmits", None, 50, why="nothing is lost on a healthy path")


def result_of(recorded: Recording, folder: Path, the_plan: Plan | None = None) -> Result:
    """The Result of a recording."""
    return read_result(the_plan or plan(), recorded.write(folder))


ECHO = Ping(name="echo", sender="client", receiver="server", start_ns=0, duration_ns=10**9, interval_ns=10**7)


def answered(sent: int, *rtts_us: float) -> PingResult:
    """A ping whose first requests were answered."""
    return Echoes(sent, dict(enumerate(rtts_us, 1))).result(ECHO)


def explained(
    expectation: Expectation, recorded: Recording, folder: Path, the_plan: Plan | None = None
) -> str:
    """The explanation of one check."""
    the_plan = the_plan or plan()
    return check(expectation, the_plan, result_of(recorded, folder, the_plan)).explanation or ""


def paused() -> Recording:
    """A download in which module.host kept switch.p2 silent for half of its 2.1 s."""
    recorded = recording(dropped=0)
    for name in ("download:end", "end"):
        recorded.stats(name, "module-host")["tx_pause_frames"] = 8120
        recorded.stats(name, "switch-p2").update(rx_pause_frames=8120, tx_paused_ns=1_050_000_000)
    return recorded


def blocking(*, at_start: int, at_end: int) -> tuple[Plan, Recording]:
    """The network with a firewall in the place of its switch, and what that blocked of the download."""
    the_plan = replace(plan(), switches=(), firewalls=(Firewall("switch", "linux-router"),))
    recorded = recording()
    for snapshot in recorded.counters["snapshots"]:
        over = snapshot["name"] in ("download:end", "end")
        snapshot["blocked"] = {"switch": {"tcp dport 5201": at_end if over else at_start, "udp": 0}}
    return the_plan, recorded


def test_a_connection_that_a_firewall_blocks_names_the_rule(tmp_path: Path) -> None:
    """That nobody answered is half of it; which rule it was is the other half."""
    the_plan, recorded = blocking(at_start=2, at_end=9)
    recorded.flows["download.client"] = iperf3("refused.client")
    outcome = check(
        Expectation("download", "connects", 0, 0), the_plan, result_of(recorded, tmp_path, the_plan)
    )
    assert outcome.verdict is Verdict.PASS
    assert outcome.explanation == (
        "no connection came about between server and client; "
        "7 frames were blocked by switch (rule tcp dport 5201)"
    )


def test_what_was_blocked_stands_beside_what_was_dropped(tmp_path: Path) -> None:
    """It is counted during the flow, and rules that blocked nothing are not named."""
    the_plan, recorded = blocking(at_start=2, at_end=3)
    said = explained(FEW, recorded, tmp_path / "one", the_plan)
    assert "; 1 frame was blocked by switch (rule tcp dport 5201); 159 frames were dropped at" in said
    the_plan, recorded = blocking(at_start=2, at_end=2)
    assert "blocked" not in explained(FEW, recorded, tmp_path / "none", the_plan)


def test_an_expectation_that_does_not_hold_explains_itself(tmp_path: Path) -> None:
    """A fail says what was expected, what was measured, and where the frames went."""
    outcome = check(FEW, plan(), result_of(recording(), tmp_path))
    assert outcome == Check(
        name="download.retransmits",
        expected="..50",
        measured="161",
        verdict=Verdict.FAIL,
        why="nothing is lost on a healthy path",
        explanation=(
            "expected at most 50 retransmits, measured 161; "
            "159 frames were dropped at module.line (FIFO 16 KiB full)"
        ),
        value=161,
        subject="download",
        metric="retransmits",
    )


def test_an_expectation_that_holds_shows_its_proof(tmp_path: Path) -> None:
    """A pass is no less accountable: the same counters, without the complaint."""
    outcome = check(replace(FEW, low=100, high=200), plan(), result_of(recording(), tmp_path))
    assert outcome.verdict is Verdict.PASS
    assert outcome.explanation == "159 frames were dropped at module.line (FIFO 16 KiB full)"


def test_only_what_happened_during_a_flow_explains_it(tmp_path: Path) -> None:
    """The download's losses are not the upload's."""
    upload = Expectation("upload", "retransmits", None, 50)
    assert explained(upload, recording(), tmp_path) == "nothing was dropped, no port was paused"


def test_goodput_is_explained_by_the_ceiling(tmp_path: Path) -> None:
    """A path that drops nothing and is not paused is as fast as its slowest line, or the hosts are slow."""
    fast = Expectation("upload", "goodput", 2_300_000_000, 2_380_000_000)
    assert explained(fast, recording(), tmp_path) == (
        "expected 2.3..2.38 Gbit/s of goodput, measured 1.16 Gbit/s; "
        "nothing was dropped, no port was paused; the path carries at most 2.35 Gbit/s"
    )


def test_flows_that_ran_together_are_named(tmp_path: Path) -> None:
    """Two flows at the same time share the wire, which may be all there is to explain."""
    flows = plan().flows
    together = replace(plan(), traffic=(replace(flows[0], start_ns=flows[1].start_ns), flows[1]))
    fast = Expectation("upload", "goodput", 2_000_000_000, None)
    assert "download ran at the same time" in explained(fast, recording(), tmp_path, together)


def test_a_pause_is_told_with_its_share_of_the_time(tmp_path: Path) -> None:
    """Who was kept silent, how long, by whom."""
    assert explained(FEW, paused(), tmp_path) == (
        "nothing was dropped; switch.p2 was paused 50 % of download's time by module.host"
        " (8 120 PAUSE frames); what was sent again had not been lost"
    )


def test_a_share_of_the_memory_is_named(tmp_path: Path) -> None:
    """A dynamic threshold is not a size."""
    dynamic = with_ports(plan(), "module-line", queue_alpha_128ths=32, pool=Pool(1, 4_000_000))
    said = "159 frames were dropped at module.line (queue longer than 1/4 of what was free of 4 MB)"
    assert said in explained(FEW, recording(), tmp_path, dynamic)


def test_a_headroom_that_is_too_short_is_named(tmp_path: Path) -> None:
    """What has room above XOFF, what can follow, and how much of it because the peer takes its time."""
    settings = {"pause_tx": True, "pause_rx": True, "xoff_bytes": 100_000, "buffer_bytes": 105_000}
    stopped = with_ports(with_ports(plan(), "switch-p1", **settings), "server-eth0", pause_rx=True)
    slow = with_ports(stopped, "server-eth0", pause_reaction_ns=3072)
    recorded = recording(dropped=0)
    recorded.link_as(slow)
    for name in ("download:end", "end"):
        recorded.stats(name, "switch-p1")["rx_dropped_buffer"] = 5
    said = "switch.p1 has 5000 B above XOFF, but up to 8.58 kB can follow, 3.84 kB of it before server obeys"
    assert said in explained(FEW, recorded, tmp_path / "flow", slow)
    port = Expectation("switch.p1", "drops", None, 0)
    assert explained(port, recorded, tmp_path / "port", slow).endswith(
        f"5 frames were dropped at switch.p1 (packet buffer 105 kB full); {said}"
    )
    roomy = with_ports(slow, "switch-p1", buffer_bytes=110_000)
    assert "above XOFF" not in explained(port, recorded, tmp_path / "roomy", roomy)


def test_the_worst_places_are_named_first(tmp_path: Path) -> None:
    """Two places and causes by their loss, the rest as a sum."""
    recorded = recording()
    for name in ("download:end", "end"):
        recorded.stats(name, "client-eth0").update(rx_dropped_buffer=500, rx_dropped_oversize=1)
        recorded.stats(name, "switch-p1")["rx_dropped_error"] = 2
    assert explained(FEW, recorded, tmp_path).partition("; ")[2] == (
        "500 frames were dropped at client (packet buffer 1533 KiB full); "
        "159 frames were dropped at module.line (FIFO 16 KiB full); 3 more elsewhere"
    )


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        (Queue("bfifo", 16_384), "FIFO 16 KiB full"),
        (Queue("pfifo"), "FIFO full"),
        (Queue("fq_codel"), "by fq_codel"),
        (None, "egress queue full"),
    ],
)
def test_a_full_queue_is_called_by_its_kind(queue: Queue | None, words: str, tmp_path: Path) -> None:
    """A FIFO with its size, any other qdisc by tc's name for it."""
    changed = with_ports(plan(), "module-line", queue=queue)
    assert f"dropped at module.line ({words})" in explained(FEW, recording(), tmp_path, changed)


def test_rtt_is_explained_by_the_longest_queue(tmp_path: Path) -> None:
    """15 140 B in front of a 2.5 Gbit/s line are ten frames of 1538 B on it: 49.2 us of waiting."""
    quick = Expectation("download", "rtt", None, 50)
    assert explained(quick, recording(dropped=0), tmp_path) == (
        "expected at most 50 us of mean RTT, measured 102 us; "
        "the queue of module.line held up to 15.1 kB, 49.2 us at line rate; "
        "nothing was dropped, no port was paused"
    )


@pytest.mark.parametrize(
    ("metric", "value", "proof"),
    [
        ("drops", 159, "159 frames were dropped at module.line (FIFO 16 KiB full)"),
        ("pause_sent", 0, "its packet buffer held up to 15.1 kB of 1533 KiB"),
        ("pause_received", 0, "its peer never paused it"),
        ("paused", 0, "its peer never paused it"),
        (
            "queue_high_water",
            15_140,
            "the queue has room for 16 KiB; 159 frames were dropped at module.line (FIFO 16 KiB full)",
        ),
        ("buffer_high_water", 15_140, "its packet buffer held up to 15.1 kB of 1533 KiB"),
    ],
)
def test_every_metric_of_a_port(metric: str, value: int, proof: str, tmp_path: Path) -> None:
    """Each is measured over the whole run and has a proof of its own."""
    expectation = Expectation("module.line", metric, value, value)
    outcome = check(expectation, plan(), result_of(recording(), tmp_path))
    assert (outcome.value, outcome.verdict, outcome.explanation) == (value, Verdict.PASS, proof)


def test_the_paused_share_is_of_the_whole_run(tmp_path: Path) -> None:
    """1.05 s of 7.2 s are 145 833 ppm."""
    result = result_of(paused(), tmp_path)
    assert result.measured(Expectation("switch.p2", "paused", 0, 0)) == pytest.approx(1.05e6 / 7.2)


@pytest.mark.parametrize(("metric", "value"), [("drops", 159), ("pause_sent", 0), ("retransmits", 161)])
def test_the_network_is_the_sum_of_its_parts(metric: str, value: int, tmp_path: Path) -> None:
    """All ports, or all flows, together."""
    outcome = check(Expectation("network", metric, value, value), plan(), result_of(recording(), tmp_path))
    assert (outcome.value, outcome.verdict) == (value, Verdict.PASS)


def test_every_metric_can_be_measured(tmp_path: Path) -> None:
    """There is none in the model that the judging side does not know."""
    result = result_of(recording(), tmp_path)
    udp = replace(result.flows["upload"], protocol="udp", lost_datagrams=1, sent_datagrams=4)
    result = replace(
        result,
        flows={**result.flows, "udp": udp, "sized": replace(result.flows["download"], duration_s=2.5)},
        pings={"echo": answered(4, 900.0, 1000.0, 2000.0)},
    )
    subjects: dict[SubjectKind, str] = {
        "flow": "sized",
        "UDP flow": "udp",
        "copy": "sized",
        "ping": "echo",
        "port": "module.line",
        "network": "network",
    }
    for kind, subject in subjects.items():
        for metric in metrics_of(kind):
            value = result.measured(Expectation(subject, metric.name, 0, None))
            # Nothing has happened there that one could recover from.
            assert (value is None) == (metric.name == "recovers_within")
    assert set().union(*(metric.subjects for metric in METRICS.values())) == set(subjects)


def test_percentiles_and_loss_of_a_ping(tmp_path: Path) -> None:
    """Always a value that was measured: half of three are not above the second."""
    result = replace(result_of(recording(), tmp_path), pings={"echo": answered(4, 2000.0, 900.0, 1000.0)})
    measured = {
        metric: result.measured(Expectation("echo", metric, 0, None))
        for metric in ("rtt", "rtt_p50", "rtt_p90", "lost")
    }
    assert measured == {"rtt": 1300.0, "rtt_p50": 1000.0, "rtt_p90": 2000.0, "lost": 250_000.0}


def test_a_flow_of_no_size_is_not_said_to_have_come_short_of_it(tmp_path: Path) -> None:
    """One that was interrupted and never recovered, and a figure that nothing tells."""
    result = result_of(recording(), tmp_path)
    cut = replace(result.flows["download"], reached_bytes=237_000_000, goodput_bps=None, recovery_ns=None)
    result = replace(result, flows={**result.flows, "download": cut})
    within, after = (replace(plan(), events=(Event(at_s * G, "something"),)) for at_s in (5, 6))
    for metric, happens, words in (
        ("recovers_within", within, "it was never again as fast as before the first event"),
        ("recovers_within", after, "nothing happened in its time that it could recover from"),
        ("recovers_within", plan(), "nothing happened in its time that it could recover from"),
        ("goodput", plan(), "nothing came through that would tell goodput"),
    ):
        told = check(Expectation("download", metric, 0, None), happens, result).explanation
        assert told is not None
        assert told.startswith(words)
        assert "had come" not in told.partition(";")[0].replace("nothing had come", "")


def test_a_ping_that_nobody_answers_fails(tmp_path: Path) -> None:
    """There is no RTT to judge, and that is not what was expected; what is told is where frames went."""
    changed = replace(plan(), traffic=(*plan().traffic, ECHO))
    result = result_of(recording(), tmp_path)
    snapshots = {f"echo:{end}": result.snapshots[f"download:{end}"] for end in ("start", "end")}
    result = replace(result, pings={"echo": answered(4)}, snapshots={**result.snapshots, **snapshots})
    outcome = check(Expectation("echo", "rtt_p50", 0, None), changed, result)
    assert (outcome.verdict, outcome.measured) == (Verdict.FAIL, "nothing")
    assert outcome.explanation == (
        "nothing came through that would tell rtt_p50; "
        "the queue of module.line held up to 15.1 kB, 49.2 us at line rate; "
        "159 frames were dropped at module.line (FIFO 16 KiB full)"
    )


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (None, 50, "expected at most 50 retransmits, measured 7 000"),
        (8000, None, "expected at least 8000 retransmits, measured 7 000"),
        (1, 50, "expected 1..50 retransmits, measured 7 000"),
        (0, 0, "expected no retransmits, measured 7 000"),
        (None, 0, "expected no retransmits, measured 7 000"),
        (5, 5, "expected 5 retransmits, measured 7 000"),
        (1, None, "expected at least 1 retransmit, measured 7 000"),
        (1, 1, "expected 1 retransmit, measured 7 000"),
    ],
)
def test_a_range_in_words(low: int | None, high: int | None, words: str) -> None:
    """What was expected is said as a person would."""
    assert Expectation("download", "retransmits", low, high).sentence(7000) == words


def test_a_broken_law_is_an_error_whatever_holds(tmp_path: Path) -> None:
    """Expectations are still told, but the law's error decides."""
    recorded = recording()
    recorded.stats("end", "client-eth0")["rx_frames"] -= 1
    checks = check_all((replace(FEW, high=200),), plan(), result_of(recorded, tmp_path))
    assert [outcome.verdict for outcome in checks] == [Verdict.ERROR, Verdict.PASS]
    assert checks[0].name == "law.receive"
    assert worst(outcome.verdict for outcome in checks) is Verdict.ERROR


def test_a_control_that_fails_its_expectation_is_right(tmp_path: Path) -> None:
    """The check proves something: with the control's settings it fails."""
    outcome = check_breaks(FEW.name, check_all((FEW,), plan(), result_of(recording(), tmp_path)))
    assert outcome.verdict is Verdict.PASS
    assert outcome.name == "breaks download.retransmits"
    assert outcome.explanation is not None
    assert outcome.explanation.startswith("expected at most 50 retransmits, measured 161; 159 frames")


def test_a_control_that_breaks_nothing_fails(tmp_path: Path) -> None:
    """An expectation that holds with and without the cause says nothing about the cause."""
    checks = check_all((FEW,), plan(), result_of(recording(dropped=0), tmp_path))
    outcome = check_breaks(FEW.name, checks)
    assert outcome.verdict is Verdict.FAIL
    assert outcome.explanation == "control breaks nothing: download.retransmits still holds, measured 2"


def test_a_control_of_an_unknown_expectation_fails() -> None:
    """Nothing was broken if there was nothing to break."""
    assert check_breaks("download.rtt", ()).verdict is Verdict.FAIL


def test_a_broken_lab_is_an_error_and_a_skip_a_skip() -> None:
    """Both come as checks, so that the message is kept with the result."""
    broken = broken_lab(LabError("no carrier", hint="look at the speeds"))
    assert (broken.verdict, broken.explanation, broken.why) == (
        Verdict.ERROR,
        "no carrier",
        "look at the speeds",
    )
    assert broken_lab(SkipError("no such kernel")).verdict is Verdict.SKIP


@given(st.lists(st.sampled_from(Verdict)))
def test_the_worst_verdict_decides(verdicts: list[Verdict]) -> None:
    """Error before fail before skip before pass; nothing at all passes."""
    order = (Verdict.ERROR, Verdict.FAIL, Verdict.SKIP, Verdict.PASS)
    assert worst(verdicts) is next((verdict for verdict in order if verdict in verdicts), Verdict.PASS)


def test_exit_codes() -> None:
    """The numbers that CI relies on."""
    assert {str(verdict): verdict.exit_code for verdict in Verdict} == {
        "pass": 0,
        "fail": 1,
        "skip": 3,
        "error": 4,
    }
