"""What the way changes of a frame (a tag, headers, a mark) a capture has as each port saw it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lab.sessions import SCENARIO, switched_on, told
from tests.lab.test_catalogue import few_frames, main_plan, shortened
from tests.lab.test_record import ALL
from tests.lab.test_tshark import INBOUND, OUTBOUND, captured
from tests.tshark import read_by_tshark
from wirelab.lab.recording import RECORD
from wirelab.report.capture import packets
from wirelab.results.excerpt import write_excerpt
from wirelab.results.headers import read_headers
from wirelab.results.record import read_record
from wirelab.results.result import read_result
from wirelab.results.told import PLACING, told_at_ports

if TYPE_CHECKING:
    from tests.lab.rig import Rig
    from wirelab.lab.select import Lab

VLANS = {"desk": "10", "printer": "10", "server": "10", "visitor": "20", "guest": "20"}
TRUNK = {"ground.p3", "upper.p3"}
TAGGED = TRUNK | {"upper.p4", "server"}
CE = 3
FLOW_BYTES = 10_000_000


def assert_same(recorded: Path, plain: Path) -> None:
    """All that a run leaves is there with a recorder and without, byte for byte, but for the record."""
    files, others = (
        {path.relative_to(raw): path.read_bytes() for path in raw.rglob("*") if path.is_file()}
        for raw in (recorded, plain)
    )
    assert files.pop(Path(RECORD))
    assert files == others


def test_a_tag_is_there_where_frames_have_it(rig: Rig, tmp_path: Path) -> None:
    """On the trunk and at the server, four bytes more; at access ports, and of what is flooded, too.

    And every raw file is the same as without a recorder.
    """
    plan = few_frames("vlan-trunk")
    raw, file = captured(rig, plan, tmp_path)
    assert_same(raw, rig.run(plan))
    rows = read_by_tshark(file, "frame.interface_name", "frame.packet_id", "frame.len", "vlan.id", "tcp.len")
    untagged, tagged = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)
    seen = Counter[tuple[str, bool]]()
    for port, number, length, vlan, payload in rows:
        assert bool(vlan) is (port in TAGGED), (port, number, vlan)
        assert vlan in {"", VLANS.get(port, vlan)}
        if payload:
            seen[port, int(payload) > 1000] += 1
            (tagged if vlan else untagged)[number].add(int(length))
    assert {port for port, is_data in seen if is_data} == {port.label for port in plan.ports} - {
        *("printer", "upper.p1")
    }
    assert all(len(lengths) == 1 for lengths in (*untagged.values(), *tagged.values()))
    both = untagged.keys() & tagged.keys()
    assert len(both) > 1000
    assert {tagged[number].pop() - untagged[number].pop() for number in both} == {4}


@pytest.mark.parametrize("variant", [0, 1])
def test_behind_a_firewall_a_packet_has_its_headers(rig: Rig, tmp_path: Path, variant: int) -> None:
    """A TTL that is one less, and the addresses of its port: all else is as it came, segment by segment."""
    plan = few_frames("firewall-rules", variant)
    raw, file = captured(rig, plan, tmp_path)
    assert_same(raw, rig.run(plan))
    macs = {port.label: port.mac for port in plan.ports}
    fields = ("ip.ttl", "eth.src", "eth.dst", "ip.id", "ip.src", "tcp.seq_raw", "tcp.ack_raw", "tcp.len")
    packets = defaultdict[tuple[str, str], list[list[str]]](list)
    for port, way, *headers in read_by_tshark(
        file, "frame.interface_name", "frame.packet_flags_direction", *fields
    ):
        if headers[-1]:
            packets[port, way].append(headers)
    for sender, near, far, receiver in (
        ("server", "firewall.p2", "firewall.p1", "client"),
        ("client", "firewall.p1", "firewall.p2", "server"),
    ):
        before, behind = packets[sender, OUTBOUND], packets[far, OUTBOUND]
        assert (before, behind) == (packets[near, INBOUND], packets[receiver, INBOUND])
        assert len(before) > 500
        assert {tuple(headers[:3]) for headers in before} == {("64", macs[sender], macs[near])}
        assert {tuple(headers[:3]) for headers in behind} == {("63", macs[far], macs[receiver])}
        assert [headers[3:] for headers in before] == [headers[3:] for headers in behind]


def test_a_mark_is_seen_from_the_queue_on_that_has_set_it(rig: Rig, tmp_path: Path) -> None:
    """As many at the client as the queue has counted; no more acknowledgements echo them than there are.

    A part of the record has the same as the whole.
    """
    long = shortened(main_plan("ecn-threshold"))
    plan = replace(long, traffic=tuple(replace(flow, size_bytes=FLOW_BYTES) for flow in long.flows))
    raw = rig.run(plan, recording=ALL)
    result = read_result(plan, raw)
    ready_ns = result.status.ready_ns
    whole, part = raw / RECORD, tmp_path / "part.bin"
    ports = {port.name: port for port in plan.ports}

    def counted(record: Path, from_ns: int, until_ns: int) -> Counter[str]:
        counts = Counter[str]()
        for packet in packets(told_at_ports(read_record(record, PLACING), plan.cables), ports):
            assert packet.frame is not None
            headers = read_headers(packet.frame.headers)
            at_ns = packet.event.at_ps // 1000 - ready_ns
            if headers is None or headers.protocol != "tcp" or not from_ns <= at_ns < until_ns:
                continue
            where = f"{ports[packet.event.port].label} {packet.direction}"
            if packet.frame.headers[15] & CE == CE:
                counts[f"marked, {where}"] += 1
            if {"ECE", "SYN"} & set(headers.flags.split()) == {"ECE"}:
                counts[f"echo, {where}"] += 1
        return counts

    counts = counted(whole, 0, 10**12)
    marks = counts["marked, client inbound"]
    assert marks == result.ports["switch.p9"].ecn_marks > 500
    assert {name for name in counts if name.startswith("marked")} == {
        *("marked, switch.p9 outbound", "marked, client inbound")
    }
    assert marks // 4 < counts["echo, client outbound"] <= marks
    window_ns = (20_000_000, 40_000_000)
    write_excerpt(whole, part, ((ready_ns + window_ns[0], ready_ns + window_ns[1]),), plan.cables)
    counts = counted(part, *window_ns)
    assert counts == counted(whole, *window_ns)
    assert counts["marked, client inbound"] > 50


def test_a_prompt_says_what_a_frame_became(lab: Lab) -> None:
    """With `where`, which tells a frame again where it has changed: four bytes longer from the trunk on."""
    with switched_on(lab, file=SCENARIO.with_name("vlan-trunk.yaml")) as session:
        told(session, "start office", "run 50 ms")
        seen = told(session, "run until server receives")
        number = re.search(r"frame (\d+)", seen)
        assert number is not None
        way = told(session, f"where {number[1]}")
        lengths = [int(length) for length in re.findall(r"^frame .*, (\d+) B$", way, re.MULTILINE)]
        assert lengths == [lengths[0], lengths[0] + 4]
        before, behind = way.split(f"{lengths[1]} B\n")
        assert "ground.p1: frame" in before
        assert "ground.p3: frame" in behind
        assert "ground.p3: frame" not in before
