"""Captures as tshark reads them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from tests.tshark import read_by_tshark
from wirelab.report.pcapng import PcapngWriter

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = (
    "frame.interface_name",
    "frame.interface_description",
    "frame.time_epoch",
    "frame.len",
    "frame.cap_len",
    "frame.packet_flags_direction",
    "frame.packet_id",
    "frame.comment",
)
FRAME = bytes.fromhex("ffffffffffff 020000000001 88b5") + bytes(46)


def test_tshark_reads_what_is_written(tmp_path: Path) -> None:
    """Each interface by its name, nanoseconds, direction, number and comment of each packet."""
    path = tmp_path / "a.pcapng"
    with path.open("wb") as file:
        writer = PcapngWriter(file, "wirelab", 96)
        first = writer.interface("switch.p1", "switch-p1", 10_000_000_000)
        second = writer.interface("client", "client-eth0", 2_500_000_000)
        writer.packet(first, 1_000_000_001, FRAME, length_bytes=1514, direction="outbound", number=7)
        writer.packet(
            second,
            2**33,
            FRAME,
            length_bytes=60,
            direction="inbound",
            number=2**40,
            comment="dropped here: x",
        )
    assert read_by_tshark(path, *FIELDS) == [
        ["switch.p1", "switch-p1", "1.000000001", "1514", "60", "0x00000002", "7", ""],
        ["client", "client-eth0", "8.589934592", "60", "60", "0x00000001", str(2**40), "dropped here: x"],
    ]


def test_what_is_before_the_beginning_has_negative_times(tmp_path: Path) -> None:
    """Stamps of the format have no sign: they count from whole seconds before it, which an interface tells.

    By relative times: tshark 4.0 prints an epoch time of -1.5 s as -2.5.
    """
    path = tmp_path / "a.pcapng"
    with path.open("wb") as file:
        writer = PcapngWriter(file, "wirelab", 96, from_ns=-1_500_000_000)
        one = writer.interface("client", "c", 1)
        for at_ns in (-1_500_000_000, -1, 0, 2_000_000_007):
            writer.packet(one, at_ns, FRAME, length_bytes=60, direction="inbound", number=1)
    seen = read_by_tshark(path, "frame.time_relative", "frame.time_epoch")
    assert [Decimal(after_s) for after_s, _ in seen] == [
        *(0, Decimal("1.499999999"), Decimal("1.5"), Decimal("3.500000007")),
    ]
    assert [Decimal(at_s) for _, at_s in seen[2:]] == [0, Decimal("2.000000007")]


def test_a_capture_without_packets_is_one(tmp_path: Path) -> None:
    """A window in which nothing happens."""
    path = tmp_path / "a.pcapng"
    with path.open("wb") as file:
        PcapngWriter(file, "wirelab", 96).interface("client", "c", 1)
    assert read_by_tshark(path, "frame.number") == []
