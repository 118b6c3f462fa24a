"""What a record is written as beside captures: qlog, Perfetto, and the graphs of tcptrace."""

from __future__ import annotations

import io
import json
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from recorded import plan, with_ports

from wirelab.report.graphs import graphs_page, sender_charts
from wirelab.report.perfetto import varint, write_perfetto
from wirelab.report.qlog import write_qlog
from wirelab.results.connections import end_of, read_connections
from wirelab.results.record import Connection, Dropped, Event, Fill, Frame, Kind, Sent
from wirelab.results.segments import Ack, Segment, Sender, sack_blocks

SCHEMA = json.loads((Path(__file__).parent / "data" / "qlog.schema.json").read_text(encoding="utf-8"))
READY_NS = 30_000_000_000
PLAN = with_ports(plan(), "client-eth0", address="10.0.0.2/24")
SERVER, CLIENT = IPv4Address("10.0.0.1"), IPv4Address("10.0.0.2")


def state(at_ns: int, *, local_port: int = 40_000, **figures: int) -> Connection:
    """The state of the download's sender, so long after the network was ready."""
    values = dict.fromkeys(
        ("una", "next", "received", "send_window_bytes", "receive_window_bytes", "retransmitted_frames",
         "retransmissions", "rto_us", "lost_frames", "state", "srtt_8us", "in_flight_frames"), 0
    ) | {"mss_bytes": 1448, "cwnd_frames": 10, "ssthresh_frames": 0x7FFFFFFF}  # fmt: skip
    at_ps = (READY_NS + at_ns) * 1_000
    return Connection(
        at_ps, Kind.TCP, "", 0, local=SERVER, remote=CLIENT, local_port=local_port, remote_port=5201,
        **values | figures,
    )  # fmt: skip


STATES = [
    state(1_000_000),
    state(2_000_000, cwnd_frames=20, in_flight_frames=12, srtt_8us=8_000),
    state(3_000_000, cwnd_frames=20, in_flight_frames=12, srtt_8us=8_000, lost_frames=2, state=3),
    state(4_000_000, cwnd_frames=10, in_flight_frames=9, srtt_8us=8_000, ssthresh_frames=10, state=3),
]


def qlog(record: list[Frame | Event]) -> Any:  # noqa: ANN401 - a JSON document
    """What is written of a record, read back and held by the schema."""
    out = io.StringIO()
    count = write_qlog(out, PLAN, read_connections(PLAN, record, READY_NS), READY_NS)
    document = json.loads(out.getvalue())
    jsonschema.validate(document, SCHEMA)
    assert count == sum(len(trace["events"]) for trace in document["traces"])
    return document


def test_qlog_has_each_change_and_no_more() -> None:
    """In bytes and milliseconds, by the fields of QUIC's recovery; two lost segments are two events."""
    (trace,) = qlog([*STATES])["traces"]
    assert trace["vantage_point"] == {"name": "server", "type": "client"}
    told = [(event["time"], event["name"].removeprefix("quic:"), event["data"]) for event in trace["events"]]
    assert told[0][2]["congestion_window"] == 14_480
    assert "ssthresh" not in told[0][2]
    assert told[1:] == [
        (1.0, "congestion_state_updated", {"new": "open"}),
        (
            2.0,
            "recovery_metrics_updated",
            {"congestion_window": 28_960, "bytes_in_flight": 17_376, "packets_in_flight": 12,
             "smoothed_rtt": 1.0},
        ),
        (3.0, "packet_lost", {}),
        (3.0, "packet_lost", {}),
        (3.0, "congestion_state_updated", {"old": "open", "new": "recovery"}),
        (
            4.0,
            "recovery_metrics_updated",
            {"congestion_window": 14_480, "bytes_in_flight": 13_032, "packets_in_flight": 9,
             "ssthresh": 14_480},
        ),
    ]  # fmt: skip


def test_connections_that_are_no_flows_are_left_out() -> None:
    """iperf3 speaks with itself by another port; and what was before the network was ready is no traffic."""
    assert end_of(PLAN, state(0, local_port=40_001)) is None
    assert not read_connections(PLAN, [state(0, local_port=40_001), state(-5)], READY_NS).states
    full = Event((READY_NS + 7) * 1_000, Kind.END, "", 0)
    assert read_connections(PLAN, [*STATES, full], READY_NS).cut_ns == 7


def at(ns: int) -> int:
    """The instant as a record has it."""
    return (READY_NS + ns) * 1_000


def test_perfetto_reads_the_trace() -> None:
    """By Perfetto's own description of its format: a track for each port and flow, and what is on each."""
    pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="pip: perfetto")
    record: list[Frame | Event] = [
        Frame(at(10), 7, 1514, bytes(60)),
        Fill(at(10), Kind.QUEUED, "module-line", 7, 1514, 1),
        Fill(at(90), Kind.TX_RING, "module-line", 7, 0, 2),
        Sent(
            at(1_300), Kind.SENT, "module-line", 7, at(100), is_control=False, is_damaged=False, ring_frames=1
        ),
        Fill(at(1_310), Kind.RX_RING, "client-eth0", 7, 0, 3),
        Fill(at(1_320), Kind.HANDED, "client-eth0", 7, 0, 0),
        Fill(at(1_330), Kind.HANDED, "module-line", 7, 0, 0),
        Fill(at(1_400), Kind.QUEUED, "module-line", 8, 1514, 1),
        Dropped(at(2_000), Kind.DROPPED, "module-line", 9, None, 15_140, 16_384),
        *STATES,
        Event(at(9_000_000), Kind.END, "", 0),
        Sent(at(9_000_001), Kind.SENT, "module-line", 7, at(9_000_000), is_control=False, is_damaged=False),
    ]
    out = io.BytesIO()
    assert write_perfetto(out, PLAN, record, READY_NS) == 9_000_000
    trace = pb2.Trace()
    trace.ParseFromString(out.getvalue())
    tracks = {
        p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")
    }

    def told(port: str, name: str) -> list[tuple[int, Any]]:
        (parent,) = [uuid for uuid, track in tracks.items() if track.name == port and not track.parent_uuid]
        (uuid,) = [u for u, track in tracks.items() if (track.parent_uuid, track.name) == (parent, name)]
        events = [p for p in trace.packet if p.HasField("track_event") and p.track_event.track_uuid == uuid]
        return [(p.timestamp, p.track_event) for p in events]

    begin, end = told("module.line", "on the wire")
    assert (begin[0], end[0]) == (100, 1_300)
    assert list(begin[1].flow_ids) == [7]
    for port, name, values in (
        ("module.line", "egress queue", [(10, 1514), (90, 0), (1_400, 1514)]),
        ("module.line", "transmit ring", [(90, 2), (1_300, 1)]),
        ("client", "receive ring", [(1_310, 3), (1_320, 0)]),
    ):
        assert [(t, e.counter_value) for t, e in told(port, name)] == values
    # What forwards has no ring for what comes in.
    assert [track.name for track in tracks.values()].count("receive ring") == 1
    ((instant, drop),) = told("module.line", "drops")
    assert (instant, drop.name) == (2_000, "FIFO 16 KiB full, 15 140 B waiting: frame 9")
    cwnd = told("download at server", "congestion window")
    assert [(t, e.counter_value) for t, e in cwnd] == [
        (1_000_000, 14_480),
        (2_000_000, 28_960),
        (4_000_000, 14_480),
    ]


@pytest.mark.parametrize(("value", "wire"), [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02")])
def test_numbers_are_those_of_protobuf(value: int, wire: str) -> None:
    """Seven bits a byte, the lowest first."""
    assert varint(value).hex() == wire


def test_sequence_numbers_never_wrap() -> None:
    """And what has left before is sent again."""
    sender = Sender()
    sender.sent(1, 2**32 - 1448, 1448)
    sender.sent(2, 0, 1448)
    sender.sent(3, 2**32 - 1448, 1448)
    sender.acked(4, 1448, [(2**32 - 1448, 0)])
    assert sender.segments == [
        Segment(1, 0, 1448, is_retransmission=False),
        Segment(2, 1448, 2896, is_retransmission=False),
        Segment(3, 0, 1448, is_retransmission=True),
    ]
    assert sender.acks == [Ack(4, 2896, ((0, 1448),))]


def test_what_a_sender_has_last_holds_to_the_end_of_its_graphs() -> None:
    """What is acknowledged, in flight and allowed does not end with the last change of it."""
    sender = Sender()
    for number in range(3):
        sender.sent(number * 1_000_000, number * 1448, 1448)
    sender.acked(2_500_000, 2896, [])
    connections = [(one.at_ps // 1_000 - READY_NS, one) for one in STATES]
    sender.states += [(at_ns, one) for at_ns, one in connections if at_ns < 3_000_000]
    ends = {
        (chart.title, line.name): line.points[-1]
        for chart in sender_charts(sender, 0, 10_000_000)
        for line in chart.lines
        if line.step and line.points
    }
    assert {at_ns for at_ns, _ in ends.values()} == {10_000_000}
    assert ends["Time-sequence", "acknowledged"][1] == 2896
    assert ends["Window", "congestion window"][1] == 20 * 1448
    assert len(ends) == 7


def test_sack_blocks_are_read() -> None:
    """Behind other options; an option that is cut short or has no length ends it."""
    block = (5_000).to_bytes(4) + (6_448).to_bytes(4)
    assert list(sack_blocks(b"\x01\x01\x05\x0a" + block)) == [(5_000, 6_448)]
    assert list(sack_blocks(b"\x01\x01\x05\x12" + block + block)) == [(5_000, 6_448)] * 2
    for damaged in (b"\x05\x00\x00\x00", b"\x01\x01\x01\x05", b"\x05\x0a\x00\x00", b"\x00\x05\x0a\x00", b""):
        assert list(sack_blocks(damaged)) == []


def test_a_window_without_segments_says_so() -> None:
    """It is a page all the same."""
    page, cut_ns = graphs_page(PLAN, [*STATES], READY_NS, (0, 10_000_000))
    assert "No TCP sender has sent anything" in page
    assert cut_ns is None
