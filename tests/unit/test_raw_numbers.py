"""Numbers in raw files that no result could keep, and those of pings: a figure, or a broken lab."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from recorded import G, plan, recording

from wirelab.errors import LabError
from wirelab.plan.traffic import Ping
from wirelab.results.datagrams import parse_received, received_in_window, sent_and_lost
from wirelab.results.ping import read_echoes
from wirelab.results.rawjson import Field
from wirelab.results.result import read_result
from wirelab.units import NS_PER_S, PPM

if TYPE_CHECKING:
    from pathlib import Path

ECHO = Ping(name="echo", sender="client", receiver="server", start_ns=0, duration_ns=G, interval_ns=G)
UDP = replace(plan().flows[0], protocol="udp", start_ns=0, duration_ns=4 * NS_PER_S)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, f"-{'9' * 400}", "1e300", "-1", "-0.5"])
def test_a_number_that_no_result_can_keep_is_named(number: str, tmp_path: Path) -> None:
    """Python makes infinity of some, and fails at others later: wherever one stands, its file is named."""
    raw = recording().write(tmp_path)
    for name, key in (
        ("status.json", "virtual_s"),
        ("counters.json", "tx_frames"),
        ("samples.jsonl", "rtt_us"),
        ("flows/upload.client.json", "min_rtt"),
        ("flows/download.server.json", "bytes"),
    ):
        whole = (raw / name).read_text(encoding="utf-8")
        damaged = re.sub(rf'("{key}": )[0-9.]+', rf"\g<1>{number}", whole)
        (raw / name).write_text(damaged, encoding="utf-8")
        with pytest.raises(LabError, match=f"^{re.escape(name)}: "):
            read_result(plan(), raw)
        (raw / name).write_text(whole, encoding="utf-8")
    assert read_result(plan(), raw).flows


def test_a_number_out_of_range_is_named_with_its_place(tmp_path: Path) -> None:
    """As one of another kind is."""
    recorded = recording()
    recorded.flows["upload.client"]["end"]["sum_sent"]["retransmits"] = 10**400
    with pytest.raises(LabError, match=r"^flows/upload\.client\.json: end\.sum_sent\.retransmits: expected"):
        read_result(plan(), recorded.write(tmp_path))


def test_a_counter_that_became_less_is_named(tmp_path: Path) -> None:
    """What a port did would be less than nothing, which no result has."""
    recorded = recording()
    recorded.stats("start", "module-line")["tx_dropped_error"] = 3
    recorded.stats("end", "module-line")["tx_dropped_error"] = 1
    with pytest.raises(LabError, match=r"^counters\.json: module\.line: tx_error became less, by 2$"):
        read_result(plan(), recorded.write(tmp_path))


def test_a_ping_may_have_more_requests_than_there_are_numbers(tmp_path: Path) -> None:
    """``icmp_seq`` goes on at 0 after 65 535; an answer that comes late is still that to its own request."""

    def answered(sent: int, *told: int) -> list[int]:
        lines = [f"64 bytes from 10.0.0.1: icmp_seq={number} ttl=64 time=0.500 ms\n" for number in told]
        summary = f"{sent} packets transmitted, {len(told)} received, 0% packet loss, time 1ms\n"
        (tmp_path / "flows").mkdir(exist_ok=True)
        (tmp_path / ECHO.sender_file).write_text("".join([*lines, summary]), encoding="utf-8")
        return list(read_echoes(ECHO, tmp_path).rtt_us)

    assert answered(140_000, *(number % 65_536 for number in range(1, 140_001))) == [*range(1, 140_001)]
    assert answered(70_000, 65_534, 0, 1, 65_535, 2) == [65_534, 65_535, 65_536, 65_537, 65_538]
    # Two thirds of them were lost.
    assert answered(60_000, 1, 40_001, 3) == [1, 3, 40_001]


@pytest.mark.parametrize("between", ["", "+3 errors, "])
def test_the_pace_of_a_ping_is_in_its_summary(between: str, tmp_path: Path) -> None:
    """500 requests that were to be 10 ms apart, as iputils prints them; without answers there are errors."""
    (tmp_path / "flows").mkdir()
    (tmp_path / ECHO.sender_file).write_text(
        "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.500 ms\n\n--- 10.0.0.1 ping statistics ---\n"
        f"500 packets transmitted, 1 received, {between}99.8% packet loss, time 7984ms\n"
        "rtt min/avg/max/mdev = 0.500/0.500/0.500/0.000 ms, pipe 3\n",
        encoding="utf-8",
    )
    echoes = read_echoes(ECHO, tmp_path)
    assert [echoes.asked_ns(ECHO, number) for number in (1, 2, 500)] == [0, 16_000_000, 7_984_000_000]


@pytest.mark.parametrize("answer", ["70000 0.5", "1 0.5.5", f"1 {'9' * 400}", f"{'9' * 5000} 0.5"])
def test_an_answer_to_a_ping_that_makes_no_sense_is_named(answer: str, tmp_path: Path) -> None:
    """Numbers that are none, or too large: the lab broke."""
    number, ms = answer.split()
    (tmp_path / "flows").mkdir()
    (tmp_path / ECHO.sender_file).write_text(
        f"64 bytes from 10.0.0.1: icmp_seq={number} ttl=64 time={ms} ms\n"
        "1 packets transmitted, 1 received, 0% packet loss, time 1ms\n",
        encoding="utf-8",
    )
    with pytest.raises(LabError, match=r"^flows/echo\.ping\.txt: .* is no answer"):
        read_echoes(ECHO, tmp_path)


def ends(sent: tuple[int, ...], came: tuple[tuple[int, int], ...]) -> tuple[Field, Field]:
    """The files of both: what was sent in each second, and what the receiver counted, and missed, in each."""
    client = {
        "intervals": [{"sum": {"end": end, "packets": count}} for end, count in enumerate(sent, 1)],
        "end": {"sum_sent": {"packets": sum(sent)}},
    }
    server = {
        "intervals": [
            {"sum": {"end": end, "bytes": 1000, "packets": count, "lost_packets": lost}}
            for end, (count, lost) in enumerate(came, 1)
        ],
        "end": {
            "sum_received": {
                "packets": sum(count for count, _ in came),
                "lost_packets": sum(lost for _, lost in came),
            }
        },
    }
    return Field("c", "", client), Field("s", "", server)


def test_datagrams_that_come_late_are_taken_off_what_is_missing() -> None:
    """In the second in which they come: none of it may be missing, and fewer than none."""
    late = ends((10, 10), ((10, 3), (10, -2)))
    assert [one.lost_datagrams for one in parse_received(*late)] == [0, 3, 1]
    endless = ends((10, 10), ((10, 3), (10, -(10**30))))
    with pytest.raises(LabError, match=r"^s: .*lost_packets: expected"):
        parse_received(*endless)


def test_datagrams_after_the_last_that_came_are_lost() -> None:
    """The receiver does not know of them. A cable that is out after 2.4 s of 4 s, and one that always was."""
    out = ends((10, 10, 10, 10), ((10, 1), (10, 0), (4, 0), (0, 0)))
    assert sent_and_lost(*out) == (40, 17)
    told = [(one.sent_datagrams, one.lost_datagrams) for one in parse_received(*out)]
    assert told[:5] == [(0, 0), (10, 1), (20, 1), (30, 7), (40, 17)]
    assert received_in_window("lost", UDP, parse_received(*out), 3 * NS_PER_S, 4 * NS_PER_S) == PPM
    assert received_in_window("lost", UDP, parse_received(*out), NS_PER_S, 2 * NS_PER_S) == 0
    nothing = ends((10, 10), ((0, 0), (0, 0)))
    assert sent_and_lost(*nothing) == (20, 20)
    assert received_in_window("lost", UDP, parse_received(*nothing), 0, NS_PER_S) == PPM
