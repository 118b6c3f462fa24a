"""Line rate: a port that has something to send sends all the time, and what TCP makes of that."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from tests.lab.rig import GBPS, MBPS, NS_PER_MS, NS_PER_S, flow, forward_port, host_port, plan
from wirelab.plan.node import Switch
from wirelab.plan.types import Cable

if TYPE_CHECKING:
    from tests.lab.rig import Rig

HEADER, OVERHEAD = 14, 24
IP_TCP = 20 + 20 + 12  # with timestamps
MTUS = (576, 1500, 9000)

# Speed, how long a flow runs and how long it is left alone first: slow links need many seconds for a
# thousand frames, on fast ones a second is millions.
SPEEDS = [
    pytest.param(10 * MBPS, 40, 10, id="10M"),
    pytest.param(100 * MBPS, 12, 2, id="100M"),
    pytest.param(1 * GBPS, 2, 1, id="1G"),
    pytest.param(2_500 * MBPS, 1, 0.5, id="2.5G"),
    pytest.param(5 * GBPS, 1, 0.5, id="5G"),
    pytest.param(10 * GBPS, 1, 0.5, id="10G"),
    pytest.param(25 * GBPS, 1, 0.5, id="25G"),
]


def ceiling_bps(speed_bps: int, mtu: int) -> float:
    """What TCP can deliver: payload / (frame + 24) x line rate; ACKs go the other way."""
    return speed_bps * (mtu - IP_TCP) / (mtu + HEADER + OVERHEAD)


def steady_goodput_bps(
    samples: list[dict[str, Any]], name: str, mtu: int, begin_ns: int, end_ns: int
) -> float:
    """Payload per second that arrived at ``name``'s port between two instants, from its own counters."""
    inside = [sample for sample in samples if begin_ns <= sample["at_ns"] <= end_ns]
    first, last = inside[0], inside[-1]
    octets: int = last["ports"][name]["rx_bytes"] - first["ports"][name]["rx_bytes"]
    payload = octets * (mtu - IP_TCP) / (mtu + HEADER)
    elapsed_ns: int = last["at_ns"] - first["at_ns"]
    return payload * 8 * NS_PER_S / elapsed_ns


@pytest.mark.parametrize(("speed_bps", "seconds", "settle_s"), SPEEDS)
def test_goodput_is_the_share_of_the_line_that_payload_has(
    rig: Rig, speed_bps: int, seconds: float, settle_s: float
) -> None:
    """A long TCP flow gets payload/(frame+24) of the line rate within 0.05 %, at every MTU."""
    ports, cables, flows = [], [], []
    for number, mtu in enumerate(MTUS):
        sender = host_port(f"s{mtu}", 10 * number + 1, speed_bps, mtu_bytes=mtu)
        receiver = host_port(f"r{mtu}", 10 * number + 2, speed_bps, mtu_bytes=mtu)
        ports += [sender, receiver]
        cables.append(Cable(sender.name, receiver.name, 15))
        start_ns = int(number * (seconds + 2) * NS_PER_S)
        flows.append(flow(f"mtu-{mtu}", f"s{mtu}", f"r{mtu}", number, seconds, start_ns=start_ns))
    raw = rig.run(plan(ports, cables, flows, sample_interval_ns=50 * NS_PER_MS))

    samples = [json.loads(line) for line in (raw / "samples.jsonl").read_text().splitlines()]
    for mtu, measured_flow in zip(MTUS, flows, strict=True):
        begin_ns = measured_flow.start_ns + int(settle_s * NS_PER_S)
        end_ns = measured_flow.start_ns + measured_flow.duration_ns
        measured = steady_goodput_bps(samples, f"r{mtu}-eth0", mtu, begin_ns, end_ns)
        assert measured == pytest.approx(ceiling_bps(speed_bps, mtu), rel=0.0005)


@pytest.mark.parametrize("mbps", [10, 100, 1000, 2500, 5000, 10_000, 25_000])
def test_a_busy_line_is_never_idle(rig: Rig, mbps: int) -> None:
    """Frames with their 24 octets around fill the line within 0.01 %, at every speed and MTU.

    Of the goodput's deviation above most is TCP's, which now and then sends a shorter segment.
    """
    calls = []
    for mtu in MTUS:
        frame_s = (mtu + HEADER + OVERHEAD) * 8 / (mbps * 1e6)
        settle_s = 0.5 + 100 * frame_s
        end_s = settle_s + max(0.1, 12_000 * frame_s)
        flow_of = ("--speed", mbps, "--mtu", mtu, "--time", math.ceil(end_s))
        calls.append((*flow_of, "--watch", settle_s, end_s))
    for mtu, measured in zip(MTUS, rig.each("one_flow.py", calls), strict=True):
        (from_ns, *first), (to_ns, *last) = measured["watched"]
        frames, octets = (after - before for before, after in zip(first, last, strict=True))
        sending_ns = (octets + frames * OVERHEAD) * 8 * 1000 / mbps
        assert sending_ns == pytest.approx(to_ns - from_ns, rel=0.0001), mtu


def test_a_switch_between_equal_rates_queues_nothing(rig: Rig) -> None:
    """What comes in at line rate goes out at line rate: one frame leaves as another one comes.

    An egress that loses a nanosecond between two frames has a queue that grows as long as the flow lasts.
    """
    speed_bps, mtu = 10 * GBPS, 1500
    ports = [host_port(name, number, speed_bps) for number, name in enumerate(("left", "right"), start=1)]
    ports += [forward_port("s1", f"p{number}", number, speed_bps) for number in (1, 2)]
    cables = [Cable("left-eth0", "s1-p1", 15), Cable("right-eth0", "s1-p2", 15)]
    through = flow("through", "left", "right", 0, 1)
    raw = rig.run(plan(ports, cables, [through], switches=(Switch("s1", "test"),)))

    last = json.loads((raw / "counters.json").read_text())["snapshots"][-1]["ports"]
    assert last["left-eth0"]["queue_high_water_bytes"] > 10 * mtu
    assert last["s1-p2"]["tx_bytes"] > 0.9 * speed_bps / 8
    assert last["s1-p2"]["queue_high_water_bytes"] <= 2 * (mtu + HEADER)
