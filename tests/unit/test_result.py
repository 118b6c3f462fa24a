"""Raw files -> Result."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import DROPPED, SEGMENTS, G, Json, Recording, iperf3, plan, recording

from wirelab.errors import LabError
from wirelab.model.expect import Expectation
from wirelab.plan.traffic import Ping
from wirelab.results.counters import parse_snapshots
from wirelab.results.iperf3 import parse_flow
from wirelab.results.rawjson import Field
from wirelab.results.result import NETWORK_FIGURES, Result, read_result

if TYPE_CHECKING:
    from pathlib import Path

TCP = plan().flows[0]
UDP = replace(TCP, protocol="udp", congestion=None)


def result_of(recorded: Recording, folder: Path) -> Result:
    """The Result of a recording."""
    return read_result(plan(), recorded.write(folder))


def test_goodput_is_what_the_receiver_got_by_its_own_clock() -> None:
    """Bytes and seconds both come from the server's file: 12 582 912 B in 2.002481 s."""
    flow = parse_flow(TCP, Field("c", "", iperf3("tcp.client")), Field("s", "", iperf3("tcp.server")))
    assert flow.goodput_bps == pytest.approx(12_582_912 * 8 / 2.002481)
    assert flow.retransmits == 0
    assert flow.lost_datagrams is None
    assert flow.rtt is not None
    assert (flow.rtt.min_us, flow.rtt.mean_us, flow.rtt.max_us) == (101, 102, 104)


def test_parallel_streams_are_added_up() -> None:
    """With -P 2 goodput is the sum of both streams, and the RTT range spans both."""
    flow = parse_flow(
        replace(TCP, parallel=2),
        Field("c", "", iperf3("tcp-parallel.client")),
        Field("s", "", iperf3("tcp-parallel.server")),
    )
    assert flow.goodput_bps == pytest.approx(10_223_616 * 8 / 2.001691)
    assert flow.rtt is not None
    assert (flow.rtt.min_us, flow.rtt.mean_us, flow.rtt.max_us) == (61, 68.5, 77)


def test_udp_goodput_has_no_lost_datagrams_in_it() -> None:
    """The server's bytes are those that arrived. 30 165 of 443 110 were lost, and the last 60."""
    flow = parse_flow(
        UDP, Field("c", "", iperf3("udp-lossy.client")), Field("s", "", iperf3("udp-lossy.server"))
    )
    assert flow.goodput_bps == pytest.approx((443_110 - 30_165) * 200 * 8 / 1.001478)
    assert flow.lost_datagrams == 30_165 + 60
    assert flow.retransmits is None
    assert flow.rtt is None


def test_the_stub_of_an_interval_at_the_end_is_left_out() -> None:
    """The server of that test reports 0.4 ms more after the first second: that is no interval."""
    flow = parse_flow(
        UDP, Field("c", "", iperf3("udp-lossy.client")), Field("s", "", iperf3("udp-lossy.server"))
    )
    assert len(flow.intervals_bps) == 1


def test_seconds_after_a_flow_are_none_of_its_own() -> None:
    """A server whose client's last word is lost looks on for seconds in which nothing comes."""
    server = iperf3("udp-lossy.server")
    own = server["intervals"][0]
    late = {"sum": {**own["sum"], "start": 1.0, "end": 2.0, "seconds": 1.0, "bits_per_second": 0}}
    server["intervals"] = [own, late]
    second = replace(UDP, duration_ns=1_000_000_000)
    flow = parse_flow(second, Field("c", "", iperf3("udp-lossy.client")), Field("s", "", server))
    assert flow.intervals_bps == (own["sum"]["bits_per_second"],)


def test_a_warning_of_iperf3_is_no_damage(tmp_path: Path) -> None:
    """It stands in front of the JSON; anything else there is a file that is not what it should be."""
    file = recording().write(tmp_path) / "flows" / "upload.client.json"
    report = file.read_text(encoding="utf-8")
    warning = "warning: UDP block size 1472 exceeds TCP MSS 1448, may result in fragmentation / drops\n"
    file.write_text(warning + report, encoding="utf-8")
    assert read_result(plan(), tmp_path).flows["upload"].retransmits == 0
    file.write_text(f"iperf3: something else\n{report}", encoding="utf-8")
    with pytest.raises(LabError, match=r"flows/upload\.client\.json: does not parse"):
        read_result(plan(), tmp_path)


def test_an_error_of_iperf3_is_told_in_its_own_words(tmp_path: Path) -> None:
    """A client that failed says so in its file; the lab broke, and these are the words."""
    recorded = recording()
    recorded.flows["upload.client"] = {"start": {}, "error": "unable to create thread: no memory"}
    with pytest.raises(LabError, match=r"upload\.client\.json: iperf3 stopped: unable to create thread"):
        result_of(recorded, tmp_path)


def test_a_flow_that_found_nobody_is_a_finding(tmp_path: Path) -> None:
    """A client that could not connect sent nothing, and its server need not have written anything."""
    recorded = recording()
    recorded.flows["upload.client"] = iperf3("refused.client")
    recorded.flows["upload.server"] = {}
    flow = result_of(recorded, tmp_path).flows["upload"]
    assert (flow.connected, flow.goodput_bps, flow.retransmits) == (False, None, None)


def test_files_of_two_runs_do_not_make_a_result(tmp_path: Path) -> None:
    """Client and server of one iperf3 test share its cookie."""
    recorded = recording()
    recorded.flows["upload.server"]["start"]["cookie"] = "of another run"
    with pytest.raises(LabError, match=r"upload\.server\.json: start\.cookie: belongs to another run"):
        result_of(recorded, tmp_path)


def test_ports_are_counted_over_the_whole_run(tmp_path: Path) -> None:
    """A port's figures are the growth from the first snapshot to the last, drops by cause."""
    recorded = recording()
    for snapshot in recorded.counters["snapshots"]:
        snapshot["ports"]["module-line"]["tx_frames"] += 1000
    line = result_of(recorded, tmp_path).ports["module.line"]
    assert line.tx_frames == SEGMENTS + 20_000 - DROPPED
    assert line.drops["queue"] == DROPPED
    assert sum(line.drops.values()) == DROPPED


def test_netem_is_not_blamed_on_the_queue_below_it(tmp_path: Path) -> None:
    """The root netem counts its child's drops too: what is left is what it lost itself."""
    recorded = recording()
    root = recorded.qdisc("end", "module-line")
    below = root | {"kind": "bfifo", "root": None, "drops": 100}
    del below["root"]
    for name in ("start", "end"):
        recorded.qdisc(name, "module-line")["kind"] = "netem"
    recorded.snapshot("end")["qdiscs"]["module-line"].append(below)
    drops = result_of(recorded, tmp_path).ports["module.line"].drops
    assert (drops["queue"], drops["netem"]) == (100, DROPPED - 100)


def test_a_status_of_error_is_the_labs_own_message(tmp_path: Path) -> None:
    """What the lab says of its end is passed on, with its hint."""
    recorded = recording()
    recorded.status = {"status": "error", "message": "client: no carrier", "hint": "look at the speeds"}
    with pytest.raises(LabError, match="client: no carrier") as caught:
        result_of(recorded, tmp_path)
    assert caught.value.hint == "look at the speeds"


@pytest.mark.parametrize(
    "name",
    [
        "status.json",
        "settings.json",
        "counters.json",
        "samples.jsonl",
        "flows/upload.client.json",
        "flows/download.server.json",
    ],
)
def test_a_missing_or_broken_file_is_named(name: str, tmp_path: Path) -> None:
    """Missing, empty, cut short, binary, of another kind: always a LabError that names the file."""
    file = recording().write(tmp_path) / name
    whole = file.read_bytes()
    for damage in (b"", whole[: len(whole) // 2 + 1], b"\xff\xfe\x00", b"[1]", b'"x"', b"NaN", b"["):
        file.write_bytes(damage)
        with pytest.raises(LabError) as caught:
            read_result(plan(), tmp_path)
        assert str(caught.value).startswith(f"{name}: ")
    file.unlink()
    with pytest.raises(LabError, match=f"^{name}: the lab did not write it"):
        read_result(plan(), tmp_path)


def fields_of(document: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of every value in a JSON document."""
    paths = [path] if path else []
    if isinstance(document, dict):
        for key, value in document.items():
            paths += fields_of(value, (*path, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            paths += fields_of(value, (*path, index))
    return paths


@given(st.data())
def test_no_damage_to_counters_is_a_traceback(data: st.DataObject) -> None:
    """Any value of counters.json may be replaced by anything: a Result or a LabError, nothing else."""
    recorded = recording()
    field = data.draw(st.sampled_from(fields_of(recorded.counters)))
    junk: object = data.draw(
        st.none() | st.booleans() | st.integers() | st.text() | st.just([]) | st.just({})
    )
    target: Json = recorded.counters
    for step in field[:-1]:
        target = target[step]  # type: ignore[index]
    target[field[-1]] = junk  # type: ignore[index]
    with contextlib.suppress(LabError):
        parse_snapshots(plan(), Field("counters.json", "", recorded.counters))


def test_a_field_is_named_with_its_place(tmp_path: Path) -> None:
    """A wrong value is named by the way to it."""
    recorded = recording()
    recorded.stats("upload:start", "switch-p1")["tx_frames"] = "many"
    with pytest.raises(LabError) as caught:
        result_of(recorded, tmp_path)
    assert str(caught.value) == (
        "counters.json: snapshots[1].ports.switch-p1.tx_frames: "
        "expected a whole number, found the text 'many'"
    )


def test_a_missing_snapshot_is_named(tmp_path: Path) -> None:
    """Without the snapshot at a flow's end nothing can be said about the flow."""
    recorded = recording()
    recorded.counters["snapshots"] = [
        snapshot for snapshot in recorded.counters["snapshots"] if snapshot["name"] != "download:end"
    ]
    with pytest.raises(LabError, match="the snapshot download:end is missing"):
        result_of(recorded, tmp_path)


def test_a_bad_line_of_samples_is_named_by_its_number(tmp_path: Path) -> None:
    """A line that was cut short is named."""
    folder = recording().write(tmp_path)
    lines = (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    lines[2] = lines[2][:20]
    (folder / "samples.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(LabError, match=r"^samples\.jsonl: line 3: does not parse"):
        read_result(plan(), folder)


def test_a_port_that_is_left_out_of_a_sample_is_as_before(tmp_path: Path) -> None:
    """The lab writes what has changed: samples and digest are those of all of it."""
    short = recording()
    whole = copy.deepcopy(short.samples)
    for before, sample in itertools.pairwise(whole):
        sample["ports"] |= {name: before["ports"][name] for name in ("switch-p1", "client-eth0")}
    for sample in short.samples[1:]:
        del sample["ports"]["switch-p1"], sample["ports"]["client-eth0"]
    told = result_of(short, tmp_path / "short")
    assert told == result_of(replace(short, samples=whole), tmp_path / "whole")
    assert len({sample.ports["switch-p1"] for sample in told.samples}) == 1


def test_a_port_that_is_in_no_sample_is_missing(tmp_path: Path) -> None:
    """There is no line before the first."""
    recorded = recording()
    del recorded.samples[0]["ports"]["switch-p1"]
    with pytest.raises(LabError, match=r"^samples\.jsonl: line 1\.ports: switch-p1 is missing"):
        result_of(recorded, tmp_path)


def test_equal_runs_have_equal_digests(tmp_path: Path) -> None:
    """Two folders with the same measurements have the same digest, of 64 hexadecimal digits."""
    digest = result_of(recording(), tmp_path / "a").digest
    assert digest == result_of(recording(), tmp_path / "b").digest
    assert len(bytes.fromhex(digest)) == 32


def test_nothing_of_the_host_is_in_the_digest(tmp_path: Path) -> None:
    """CPU use, kernel build, tool version, settings, console and spacing may differ."""
    other = recording()
    for document in other.flows.values():
        document["end"]["cpu_utilization_percent"]["host_total"] = 99.0
        document["start"]["system_info"] = "Linux elsewhere 6.1.0"
        document["start"]["version"] = "iperf 3.12"
        document["start"]["cookie"] = "z" * 36
    other.status["virtual_s"] = 99.0
    folder = other.write(tmp_path / "b")
    (folder / "console.log").write_text("something else", encoding="utf-8")
    counters = folder / "counters.json"
    counters.write_text(
        json.dumps(json.loads(counters.read_text(encoding="utf-8")), indent=2, sort_keys=True),
        encoding="utf-8",
    )
    digest = read_result(plan(), folder).digest
    assert digest == result_of(recording(), tmp_path / "a").digest


@pytest.mark.parametrize("what", ["counter", "qdisc", "sample", "interval", "retransmits"])
def test_everything_measured_is_in_the_digest(what: str, tmp_path: Path) -> None:
    """One frame or one interval of difference is another digest."""
    other = recording()
    match what:
        case "counter":
            other.stats("upload:end", "client-eth0")["interrupts"] += 1
        case "qdisc":
            other.qdisc("end", "switch-p1")["requeues"] += 1
        case "sample":
            other.samples[7]["ports"]["switch-p1"]["tx_bytes"] += 1
        case "interval":
            other.flows["upload.server"]["intervals"][0]["sum"]["bits_per_second"] += 1
        case "retransmits":
            other.flows["upload.client"]["end"]["sum_sent"]["retransmits"] += 1
    assert result_of(other, tmp_path / "b").digest != result_of(recording(), tmp_path / "a").digest


def test_several_connections_have_no_percentiles(tmp_path: Path) -> None:
    """Samples have the round trips of the first alone; least, mean and most are iperf3's, of all."""
    upload, download = plan().flows
    both = replace(plan(), traffic=(upload, replace(download, parallel=2)))
    flows = read_result(both, recording().write(tmp_path)).flows
    one, two = flows["upload"].rtt, flows["download"].rtt
    assert one is not None
    assert two is not None
    assert (one.p50_us, one.p90_us, one.p99_us) == (312, 312, 312)
    assert (two.p50_us, two.p90_us, two.p99_us) == (None, None, None)
    assert two.mean_us == one.mean_us


@pytest.mark.parametrize(
    "counted", [{"ecn_mark": 5}, {"marked": 5}, {"tins": [{"ecn_mark": 2}, {"ecn_mark": 3}]}], ids=str
)
def test_a_mark_is_no_drop(counted: Json, tmp_path: Path) -> None:
    """fq_codel, RED and CAKE each have their own word for frames that they marked; a FIFO has none."""
    recorded = recording()
    recorded.qdisc("end", "switch-p2").update(counted)
    ports = result_of(recorded, tmp_path).ports
    assert (ports["switch.p2"].ecn_marks, sum(ports["switch.p2"].drops.values())) == (5, 0)
    assert ports["switch.p1"].ecn_marks == 0


def test_a_lost_echo_is_in_the_digest(tmp_path: Path) -> None:
    """How many requests were sent, and which were answered, even where the times are the same."""
    echo = Ping(name="echo", sender="client", receiver="server", start_ns=0, duration_ns=G, interval_ns=G)
    pinging = replace(plan(), traffic=(*plan().traffic, echo))
    raw = recording(pinging).write(tmp_path)

    def digest(sent: int, *answered: int) -> str:
        lines = [f"64 bytes from 10.0.0.1: icmp_seq={number} ttl=64 time=0.500 ms" for number in answered]
        summary = f"{sent} packets transmitted, {len(answered)} received, 0% packet loss, time 1ms"
        (raw / "flows" / "echo.ping.txt").write_text("\n".join([*lines, "", summary]), encoding="utf-8")
        return read_result(pinging, raw).digest

    digests = [digest(3, 1, 2), digest(3, 1, 3), digest(4, 1, 2), digest(3, 1, 2, 3)]
    assert len(set(digests)) == len(digests)
    assert digest(3, 1, 2) == digests[0]


def test_a_connection_on_which_nothing_came_has_a_goodput_of_nothing() -> None:
    """60 % were lost: the server ends that after a while, with an error and whole figures."""
    sides = (Field(side, "", iperf3(f"nothing-came.{side}")) for side in ("client", "server"))
    flow = parse_flow(TCP, *sides)
    assert (flow.connected, flow.goodput_bps, flow.retransmits) == (True, 0, 22)


@pytest.mark.parametrize("metric", ["goodput", "retransmits", "duration"])
def test_a_sum_over_nothing_is_no_figure(metric: str) -> None:
    """A 0 would be one, and would pass."""
    assert NETWORK_FIGURES[metric]((), ()) is None


def test_flows_for_a_time_take_no_time(tmp_path: Path) -> None:
    """Only a transfer has a duration: beside none there is none of the network."""
    assert result_of(recording(), tmp_path).measured(Expectation("network", "duration", None, 1)) is None
