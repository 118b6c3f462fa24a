"""The arithmetic of the wire, against figures everybody in the field knows."""

from __future__ import annotations

import pytest

from wirelab.model.ethernet import (
    cable_delay_ns,
    frame_bytes,
    memory_bytes,
    pause_reaction_ns,
    tcp_payload_bytes,
    udp_payload_bytes,
    wire_bytes,
)

GBIT_PER_S = 10**9


def test_a_full_frame_takes_1538_bytes_of_wire() -> None:
    """1500 of payload, 14 of header and 24 that no capture shows."""
    assert wire_bytes(frame_bytes(1500)) == 1538


def test_a_short_frame_is_padded_to_84_bytes_of_wire() -> None:
    """The shortest frame makes 1 488 095 a second on gigabit Ethernet."""
    assert wire_bytes(1) == 84
    assert GBIT_PER_S // (8 * wire_bytes(1)) == 1_488_095


@pytest.mark.parametrize(
    ("timestamps", "gbps", "ceiling"), [(True, 2.5, 2.354), (False, 2.5, 2.373), (True, 10, 9.415)]
)
def test_tcp_reaches_what_the_frames_leave(timestamps: bool, gbps: float, ceiling: float) -> None:  # noqa: FBT001 - a case of a table
    """1448 or 1460 B of payload in each 1538 B, the ceilings of hardware and textbooks."""
    payload = tcp_payload_bytes(1500, timestamps=timestamps)
    reached = gbps * payload / wire_bytes(frame_bytes(1500))
    assert reached == pytest.approx(ceiling, abs=0.0005)


def test_udp_fills_a_packet_with_1472_bytes() -> None:
    """What `ping -s` and `iperf3 -l` are given to fill one frame."""
    assert udp_payload_bytes(1500) == 1472


def test_three_metres_take_15_ns() -> None:
    """5 ns a metre."""
    assert cable_delay_ns(3_000) == 15


@pytest.mark.parametrize(
    ("mbps", "reaction_ns"),
    [
        (10, 51_200),
        (100, 5_120),
        (1000, 1_024),
        (2500, 12_288),
        (5000, 6_144),
        (10_000, 3_072),
        (25_000, 1_639),
    ],
)
def test_a_pause_takes_effect_within_what_the_standard_allows(mbps: int, reaction_ns: int) -> None:
    """IEEE 802.3 Annex 31B.3.7: 1, 2, 60 and 80 quanta of 512 bit times."""
    assert pause_reaction_ns(mbps * 10**6) == reaction_ns


@pytest.mark.parametrize(
    ("frame", "cell", "taken"), [(1, 0, 60), (60, 384, 384), (385, 384, 768), (1514, 384, 1536)]
)
def test_a_frame_takes_whole_cells(frame: int, cell: int, taken: int) -> None:
    """In an RTL9303 the longest ordinary one four of them."""
    assert memory_bytes(frame, cell) == taken
