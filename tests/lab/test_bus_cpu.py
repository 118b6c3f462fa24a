"""Buses and CPUs: what a frame passes one after the other, between the MAC and the stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.lab.rig import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from tests.lab.rig import Rig

FRAME = 1514
PAYLOAD = 1448
SEGMENT_RATE_10G = 10e9 / 8 / (FRAME + 24)


def flow(rig: Rig, *arguments: str) -> dict[str, Any]:
    """Run one flow; nothing may be unaccounted for."""
    measured = rig.script("one_flow.py", *arguments)
    sender, receiver = measured["sender"], measured["receiver"]
    assert sender["tx_frames"] == receiver["rx_wire_frames"]
    assert receiver["rx_wire_frames"] == receiver["rx_frames"] + receiver["rx_dropped_buffer"]
    return measured


@pytest.mark.parametrize("end", ["sender", "receiver"])
def test_a_slow_bus_is_the_bottleneck(rig: Rig, end: str) -> None:
    """Goodput is payload/frame of the bus's rate, whichever end it is at, and nothing is lost."""
    measured = flow(rig, f"--{end}", "bus_bps=6000000000", "--pause", "on")
    assert measured["goodput_bps"] == pytest.approx(6e9 * PAYLOAD / FRAME, rel=0.001)
    assert measured["retransmits"] == 0


def test_a_bus_takes_a_header_for_each_transaction(rig: Rig) -> None:
    """A frame of 1514 bytes crosses a bus of 128-byte payloads in 12 transactions."""
    settings = ("bus_bps=8000000000", "bus_payload_bytes=128", "bus_overhead_bytes=24", "bus_frame_bytes=40")
    arguments = [part for setting in settings for part in ("--receiver", setting)]
    measured = flow(rig, *arguments, "--pause", "on")
    on_bus = FRAME + 12 * 24 + 40
    assert measured["goodput_bps"] == pytest.approx(8e9 * PAYLOAD / on_bus, rel=0.001)


def test_a_fast_bus_is_not_seen(rig: Rig) -> None:
    """A bus faster than the wire leaves line rate as it is: the two work at the same time."""
    measured = flow(rig, "--sender", "bus_bps=12000000000", "--receiver", "bus_bps=12000000000")
    assert measured["goodput_bps"] == pytest.approx(SEGMENT_RATE_10G * PAYLOAD * 8, rel=0.001)


def test_a_slow_bus_overflows_without_pause(rig: Rig) -> None:
    """UDP at line rate into a slow bus: the buffer fills, what it cannot hold is lost."""
    measured = flow(rig, "--udp", "--speed", "2500", "--time", "1", "--receiver", "bus_bps=1500000000")
    assert measured["receiver"]["rx_dropped_buffer"] > 0
    assert measured["goodput_bps"] == pytest.approx(1.5e9 * 1472 / FRAME, rel=0.01)
    assert measured["receiver"]["buffer_high_water_bytes"] <= 512 * 1024


def test_a_slow_bus_asks_for_a_pause(rig: Rig) -> None:
    """With PAUSE, the buffer in front of the bus loses nothing."""
    speed = ("--speed", "2500", "--time", "1")
    measured = flow(rig, "--udp", *speed, "--pause", "on", "--receiver", "bus_bps=1500000000")
    assert measured["receiver"]["rx_dropped_buffer"] == 0
    assert measured["receiver"]["tx_pause_frames"] > 0
    assert measured["goodput_bps"] == pytest.approx(1.5e9 * 1472 / FRAME, rel=0.001)


@pytest.mark.parametrize("end", ["sender", "receiver"])
@pytest.mark.parametrize("frame_ns", [2000, 5000, 20000])
def test_a_slow_cpu_is_the_bottleneck(rig: Rig, end: str, frame_ns: int) -> None:
    """Goodput is payload over the cost of a frame, and the CPU has worked that long for each frame."""
    direction = {"sender": "tx", "receiver": "rx"}[end]
    measured = flow(
        rig, f"--{end}", "cpu=1", f"--{end}", f"cpu_{direction}_frame_ns={frame_ns}", "--pause", "on"
    )
    assert measured["goodput_bps"] == pytest.approx(PAYLOAD * 8e9 / frame_ns, rel=0.003)
    assert measured[end]["cpu_busy_ns"] == measured[end][f"{direction}_frames"] * frame_ns


@pytest.mark.parametrize("looks", [0, 1, 10])
def test_a_cpu_at_its_limit_does_not_rest_between_batches(rig: Rig, looks: int) -> None:
    """Nor is a frame paid for twice, however often the stack looks by itself before it takes interrupts.

    The ring has less than a whole budget of NAPI: what comes behind that is looked for at once in any case.
    """
    deferred = ("--receiver", "../gro_flush_timeout=20000", "--receiver", f"../napi_defer_hard_irqs={looks}")
    slow = ("--receiver", "cpu=1", "--receiver", "cpu_rx_frame_ns=5000", "--pause", "on")
    measured = flow(rig, "--ring", "32", *slow, *deferred)
    assert measured["goodput_bps"] == pytest.approx(PAYLOAD * 8e9 / 5000, rel=0.003)
    assert measured["receiver"]["cpu_busy_ns"] == measured["receiver"]["rx_frames"] * 5000


@pytest.mark.parametrize(
    ("frame_ns", "bound"), [(4000, "line"), (4500, "line"), (5500, "cpu"), (7000, "cpu")]
)
def test_the_knee_between_line_and_cpu(rig: Rig, frame_ns: int, bound: str) -> None:
    """At 2.5G a frame takes 4.92 us: cheaper ones are bound by the line, dearer ones by the CPU."""
    line_bps = 2.5e9 * PAYLOAD / (FRAME + 24)
    expected = line_bps if bound == "line" else PAYLOAD * 8e9 / frame_ns
    settings = ("--receiver", "cpu=1", "--receiver", f"cpu_rx_frame_ns={frame_ns}", "--pause", "on")
    measured = flow(rig, "--speed", "2500", *settings)
    assert measured["goodput_bps"] == pytest.approx(expected, rel=0.003)


def test_a_sending_host_hears_its_acknowledgements(rig: Rig) -> None:
    """A CPU at its limit serves both directions: data at 20 us a frame, and an acknowledgement for two."""
    costs = ("cpu=1", "cpu_tx_frame_ns=20000", "cpu_rx_frame_ns=20000")
    arguments = [part for cost in costs for part in ("--sender", cost)]
    measured = flow(rig, *arguments)
    sender = measured["sender"]
    assert sender["rx_dropped_buffer"] == 0
    assert measured["retransmits"] == 0
    assert sender["cpu_busy_ns"] == 20_000 * (sender["tx_frames"] + sender["rx_frames"])
    assert measured["goodput_bps"] == pytest.approx(PAYLOAD * 8e9 / 30_000, rel=0.1)


def test_bytes_cost_beside_frames(rig: Rig) -> None:
    """Payload inspection costs by the byte: 2 us and 2 ns for each of 1514 bytes."""
    settings = ("cpu=1", "cpu_rx_frame_ns=2000", "cpu_rx_byte_ps=2000")
    arguments = [part for setting in settings for part in ("--receiver", setting)]
    measured = flow(rig, *arguments, "--pause", "on")
    assert measured["goodput_bps"] == pytest.approx(PAYLOAD * 8e9 / (2000 + 2 * FRAME), rel=0.003)


def test_a_slow_cpu_overflows_its_ring(rig: Rig) -> None:
    """UDP at line rate into a slow CPU: the ring and the buffer fill, then frames are lost."""
    slow = ("--receiver", "cpu=1", "--receiver", "cpu_rx_frame_ns=10000")
    measured = flow(rig, "--udp", "--speed", "2500", "--time", "1", *slow)
    assert measured["receiver"]["rx_dropped_buffer"] > 0
    assert measured["goodput_bps"] == pytest.approx(1472 * 8e9 / 10_000, rel=0.02)


@pytest.mark.parametrize("setting", ["cpu", "bus_bps"])
def test_a_card_is_not_moved_while_it_runs(rig: Rig, setting: str) -> None:
    """Bus and CPU are chosen before the port is up."""
    command = "ip link add name p1 type etherport; ip link set p1 up; echo 1 > /sys/class/net/p1/etherport/"
    output = rig.execute("bash", "-c", command + setting)
    assert output.code != 0
    assert "Device or resource busy" in output.stderr


LIMITS = {
    "bus_bps": 1_000_000,
    "bus_payload_bytes": 64 * 1024,
    "bus_overhead_bytes": 64 * 1024,
    "bus_frame_bytes": 64 * 1024,
    **{f"cpu_{way}_frame_ns": 60 * NS_PER_S for way in ("rx", "tx")},
    **{f"cpu_{way}_byte_ps": 10**12 for way in ("rx", "tx")},
}
"""As slow as a bus or a CPU may be told to be."""


def test_a_bus_or_cpu_that_is_never_done_is_refused(rig: Rig) -> None:
    """What is beyond a limit is out of range and changes nothing: a time overflows nowhere."""
    beyond = [f"{name}={limit + (-1 if name == 'bus_bps' else 1)}" for name, limit in LIMITS.items()]
    overflowing = [f"bus_overhead_bytes={2**60}"]
    calls = [("cpu=1", *beyond), ("bus_bps=10000000000", *overflowing)]
    for refused, told in zip((beyond, overflowing), rig.each("costs.py", calls), strict=True):
        assert told["refused"] == refused
        assert told["took_ns"] < NS_PER_MS


def test_the_slowest_bus_and_cpu_carry_a_frame(rig: Rig) -> None:
    """It is under way for as long as follows from their figures, be it an hour."""
    choices = [{**LIMITS, "bus_payload_bytes": payload} for payload in (LIMITS["bus_payload_bytes"], 1)]
    calls = [("cpu=1", *(f"{name}={value}" for name, value in choice.items())) for choice in choices]
    for choice, told in zip(choices, rig.each("costs.py", calls), strict=True):
        transactions = -(-FRAME // choice["bus_payload_bytes"])
        on_bus = FRAME + transactions * choice["bus_overhead_bytes"] + choice["bus_frame_bytes"]
        bus_s = on_bus * 8 / choice["bus_bps"]
        cpu_s = (choice["cpu_rx_frame_ns"] * 1000 + FRAME * choice["cpu_rx_byte_ps"]) / 1e12
        assert told["refused"] == []
        assert told["took_ns"] == pytest.approx(2 * (bus_s + cpu_s) * NS_PER_S, rel=1e-6)
