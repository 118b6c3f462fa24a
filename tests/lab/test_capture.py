"""A host that captures its own frames: the disk is slower than the line, and the CPU feels it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig

FRAME, PAYLOAD = 1514, 1472
DISK_BYTES_PER_S = 60_000_000
BACKLOG_BYTES = 1_000_000
LINE_BPS = 2.5e9 * PAYLOAD / (FRAME + 24)


def captured(rig: Rig, end: str, frame_ns: int, bytes_per_s: int = DISK_BYTES_PER_S) -> dict[str, Any]:
    """UDP at 2.5 Gbit/s, as fast as it goes, which one of the ends captures."""
    settings = {
        "cpu": 1,
        "capture_frame_ns": frame_ns,
        "capture_backlog_bytes": BACKLOG_BYTES,
        "capture_bytes_per_s": bytes_per_s,
    }
    arguments = [part for name, value in settings.items() for part in (f"--{end}", f"{name}={value}")]
    return rig.script("one_flow.py", "--udp", "--speed", "2500", "--time", "1", "--pause", "on", *arguments)


@pytest.mark.parametrize("end", ["sender", "receiver"])
def test_no_more_comes_than_the_disk_takes(rig: Rig, end: str) -> None:
    """With half a backlog a frame costs 25 us, as long as its copy takes to be written: there it stays."""
    measured = captured(rig, end, frame_ns=50_000)
    assert measured["goodput_bps"] == pytest.approx(DISK_BYTES_PER_S * 8 * PAYLOAD / FRAME, rel=0.02)


def test_a_full_backlog_takes_no_more(rig: Rig) -> None:
    """Where the CPU can pay the whole price the line stays full, and what finds no room is not captured."""
    measured = captured(rig, "receiver", frame_ns=2_000)
    receiver = measured["receiver"]
    assert measured["goodput_bps"] == pytest.approx(LINE_BPS, rel=0.003)
    assert receiver["cpu_busy_ns"] == pytest.approx(receiver["rx_frames"] * 2_000, rel=0.01)


def test_a_fast_disk_costs_nothing(rig: Rig) -> None:
    """What is written before the next frame comes never waits."""
    measured = captured(rig, "receiver", frame_ns=50_000, bytes_per_s=10 * DISK_BYTES_PER_S)
    receiver = measured["receiver"]
    assert measured["goodput_bps"] == pytest.approx(LINE_BPS, rel=0.003)
    assert receiver["cpu_busy_ns"] < receiver["rx_frames"] * 2_000
