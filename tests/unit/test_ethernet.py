"""The arithmetic of the wire, against figures everybody in the field knows."""

from __future__ import annotations

import pytest

from wirelab.model.ethernet import (
    cable_delay_ns,
    frame_bytes,
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
