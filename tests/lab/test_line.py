"""A line of any rate: `shape`, as tc has it, counting what it is told to count."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.lab.rig import GBPS, MBPS, NS_PER_MS, NS_PER_S, SCRIPTS, flow, host_port, plan
from tests.lab.road import carried_out
from wirelab.model.ethernet import counted
from wirelab.model.expect import Expectation
from wirelab.plan.iproute2 import egress
from wirelab.plan.queue import Queue
from wirelab.plan.shape import Shape
from wirelab.plan.traffic.iperf3 import NO_FIRST_DATAGRAM
from wirelab.plan.types import Cable, Netem
from wirelab.results.result import read_result
from wirelab.verdict.checks import check_laws
from wirelab.verdict.evidence import evidence

if TYPE_CHECKING:
    from tests.lab.rig import Rig
    from wirelab.plan.shape import ShapeKind
    from wirelab.results.result import Result

RATES_BPS = (
    *(256_000, 1 * MBPS, 4 * MBPS, 10 * MBPS, 16 * MBPS, 50 * MBPS),
    *(100 * MBPS, 250 * MBPS, 500 * MBPS, 1 * GBPS, 2500 * MBPS, 5 * GBPS),
)
PAYLOAD, FRAME = 1472, 1514
"""Of a full datagram over IPv4, as iperf3 counts it and as Linux does."""


def shaped(kind: ShapeKind, rate_bps: int, layer: int) -> Shape:
    """A shape with two frames of burst; a policer has more, as iperf3 sends what is due every millisecond."""
    overhead, least = counted(layer, 0)
    bursts = {"cake": 0, "police": max(4 * (FRAME + overhead), pauses_bytes(rate_bps))}
    return Shape(kind, rate_bps, bursts.get(kind, 2 * (FRAME + overhead)), overhead, least)


def pauses_bytes(rate_bps: int) -> int:
    """What a line lets pass in five pauses of iperf3: less would be over before the next datagram comes."""
    return rate_bps * 5 // (8 * 1000)


SAMPLE_NS = 50 * NS_PER_MS


def sent_ns(kind: ShapeKind, rate_bps: int) -> int:
    """How long a line is kept full: as long as 500 frames take, and a quarter of that before them.

    But whole seconds, which iperf3 counts in; 500 Mbit/s are 41 000 frames in one. From there on it sends so
    many bytes instead, for a quarter of a second, of which 0.2 s are measured. A policer gets half a second:
    it passes every millisecond, as iperf3 sends, what it has saved since the last, and one more or less is
    0.25 % of 0.4 s, half of what a line may be off.
    """
    if rate_bps >= 500 * MBPS:
        return NS_PER_S // (2 if kind == "police" else 4)
    return max(1, math.ceil(500 * FRAME * 8 / rate_bps * 1.25)) * NS_PER_S


def passed_bps(result: Result, port: str, begin_ns: int, end_ns: int) -> float:
    """What a second of the time between two instants brought a port, as its counters were sampled."""
    inside = [sample for sample in result.samples if begin_ns <= sample.at_ns <= end_ns]
    first, last = inside[0], inside[-1]
    octets = last.ports[port].rx_bytes - first.ports[port].rx_bytes
    return octets * 8 * NS_PER_S / (last.at_ns - first.at_ns)


@pytest.mark.parametrize("kind", ["tbf", "htb", "cake", "police"])
def test_a_line_lets_pass_what_the_counted_bytes_allow(rig: Rig, kind: ShapeKind) -> None:
    """Within 0.5 %, at twelve rates and each of three layers; a twentieth more comes than may pass."""
    ports, cables, flows = [], [], []
    start_s = 0
    for number, rate_bps in enumerate(RATES_BPS):
        shape = shaped(kind, rate_bps, number % 3 + 1)
        fifo = Queue("bfifo", max(10 * FRAME, pauses_bytes(rate_bps)))
        queue = Queue("cake") if kind == "cake" else fifo
        one, other = f"s{number}", f"r{number}"
        sender = host_port(one, 10 * number + 1, 10 * GBPS, shape=shape, queue=queue, gso_max_segs=1)
        receiver = host_port(other, 10 * number + 2, 10 * GBPS)
        ports += [sender, receiver]
        cables.append(Cable(sender.name, receiver.name, 15))
        bitrate_bps = rate_bps * 21 // 20
        # One thread sends 400 000 datagrams a second.
        parallel = 1 + bitrate_bps // (4 * GBPS)
        flood = {"protocol": "udp", "congestion": None, "parallel": parallel}
        flood["bitrate_bps"] = bitrate_bps // parallel
        lasts_s, part_ns = divmod(sent_ns(kind, rate_bps), NS_PER_S)
        if part_ns:
            lasts_s = 1
            flood["size_bytes"] = bitrate_bps * part_ns // (8 * NS_PER_S)
        flows.append(
            flow(f"flow-{number}", one, other, number, lasts_s, start_ns=start_s * NS_PER_S, **flood)
        )
        start_s += lasts_s + 3
    built = plan(ports, cables, flows, sample_interval_ns=SAMPLE_NS)
    result = read_result(built, rig.run(built))
    assert [violation.explanation for violation in check_laws(built, result)] == []
    lost = "police" if kind == "police" else "queue"
    for number, rate_bps in enumerate(RATES_BPS):
        port = built.port(f"s{number}-eth0")
        assert port.shape is not None
        # What passes at once passes at the beginning.
        start_ns, lasts_ns = built.flows[number].start_ns, sent_ns(kind, rate_bps)
        window_ns = (start_ns + lasts_ns // 5, start_ns + lasts_ns)
        measured_bps = passed_bps(result, f"r{number}-eth0", *window_ns)
        allowed_bps = rate_bps * FRAME / port.shape.counted_bytes(FRAME)
        assert measured_bps == pytest.approx(allowed_bps, rel=0.005), (rate_bps, port.shape)
        drops = result.ports[f"s{number}"].drops
        assert drops[lost] == result.ports[f"s{number}"].dropped_frames
        # Where the queue is long the sender waits for its socket buffer, and nothing is lost.
        assert drops[lost] > 0 or rate_bps > 10 * MBPS


def test_each_direction_has_a_rate_of_its_own(rig: Rig) -> None:
    """Up and down at the same time, each by its own shaper; TCP, whose acknowledgements pass beside."""
    text = """\
topology: home-line
with: {line.delay: 1 ms, provider.p2.queue: fq_codel, modem.p1.queue: fq_codel}
traffic:
  - iperf3: {name: down, from: server, to: client, time: 5 s, start: 0 s}
  - iperf3: {name: up, from: client, to: server, time: 5 s, start: 0 s}
expect:
  down: {goodput: 85..93 Mbit/s}
  up: {goodput: 32..37.2 Mbit/s}
"""
    built, result = carried_out(rig, text)
    assert [violation.explanation for violation in check_laws(built, result)] == []


@pytest.mark.parametrize("kind", ["tbf", "htb", "cake", "police"])
def test_a_firewall_counts_every_frame_that_it_passes_on(rig: Rig, kind: str) -> None:
    """Its stack joins nothing while a port of it has a shape; TCP over a long path fills what counts."""
    burst = ", burst: 64 kB" if kind == "police" else ""
    # A policer may starve TCP, but lets no more pass.
    least_mbps = 1 if kind == "police" else 10
    text = f"""\
topology: firewall
with:
  firewall: linux-router
  client: ubuntu20
  server: ubuntu20
  client.flow_control: off
  server.flow_control: off
  firewall.flow_control: off
  firewall.p2.shape: {{kind: {kind}, rate: 20 Mbit/s, layer: 1{burst}}}
  firewall.p2.delay: 2 ms
traffic:
  - iperf3: {{name: bulk, from: client, to: server, time: 10 s, congestion: reno}}
  - iperf3: {{name: flood, from: client, to: server, time: 4 s, protocol: udp, bitrate: 30 Mbit/s}}
expect:
  bulk: {{goodput: {least_mbps}..18.9 Mbit/s}}
"""
    built, result = carried_out(rig, text)
    assert [violation.explanation for violation in check_laws(built, result)] == []
    _, *middle_bps, _, _ = result.flows["flood"].intervals_bps
    allowed_bps = 20 * MBPS * PAYLOAD / 1538
    assert sum(middle_bps) / len(middle_bps) == pytest.approx(allowed_bps, rel=0.005)
    # Whatever came in left or was dropped by name: nothing else is lost in a firewall.
    came = result.change("firewall-p1")["rx_frames"]
    lost = result.ports["firewall.p2"].dropped_frames
    assert came == pytest.approx(result.change("firewall-p2")["tx_frames"] + lost, abs=10)


def test_a_policer_keeps_nobody_waiting(rig: Rig) -> None:
    """A shaper with 100 ms of queue answers late, a policer at once; what it drops has its name."""
    text = """\
topology: home-line
with:
  line.delay: 1 ms
  provider.p2.shape: {KIND}
  provider.p2.queue_limit: 100 ms
traffic:
  - iperf3: {name: flood, from: server, to: client, time: 4 s, protocol: udp, bitrate: 30 Mbit/s}
  - ping: {name: echo, from: server, to: client, with: flood, time: 4 s}
expect:
  echo: {EXPECTED}
  provider.p2: {drops: 1..}
"""
    late = text.replace("KIND", "rate: 20 Mbit/s").replace("EXPECTED", "rtt_p99: 100..120 ms")
    _, result = carried_out(rig, late)
    assert "police" not in result.ports["provider.p2"].drops
    soon = text.replace("KIND", "kind: police, burst: 20 kB, rate: 20 Mbit/s")
    built, result = carried_out(rig, soon.replace("EXPECTED", "rtt_p99: ..13 ms"))
    assert [violation.explanation for violation in check_laws(built, result)] == []
    drops = result.ports["provider.p2"].drops
    assert (drops["police"] > 0, drops["queue"]) == (True, 0)
    sent = result.change("server-eth0", "flood")["tx_frames"]
    passed = result.change("provider-p2", "flood")["tx_frames"]
    assert sent == pytest.approx(passed + drops["police"], abs=5)


def test_a_long_path_and_a_shaper_count_their_own_drops(rig: Rig) -> None:
    """Netem loses some on purpose, the policer below it others, the queue below that none."""
    shape = shaped("police", 10 * MBPS, 3)
    sender = host_port("s", 1, GBPS, shape=shape, netem=Netem(1000, loss_ratio=0.1), gso_max_segs=1)
    sender = replace(sender, queue=Queue("bfifo", 200_000))
    receiver = host_port("r", 2, GBPS)
    flood = {"protocol": "udp", "congestion": None, "bitrate_bps": 20 * MBPS}
    built = plan([sender, receiver], [Cable("s-eth0", "r-eth0", 15)], [flow("f", "s", "r", 1, 3, **flood)])
    # iperf3 begins with one datagram, which it does not repeat: on older kernels the first seed loses it.
    result = read_result(built, rig.run(built, seed=2))
    assert [violation.explanation for violation in check_laws(built, result)] == []
    drops = result.ports["s"].drops
    sent = result.ports["s"].tx_frames + sum(drops.values())
    assert drops["netem"] == pytest.approx(0.1 * sent, rel=0.1)
    assert drops["police"] == pytest.approx(sent * (0.9 - 0.5), rel=0.1)
    assert drops["queue"] == 0


def test_a_first_datagram_that_is_lost_breaks_no_lab(rig: Rig) -> None:
    """What is asked of that flow fails, for the network lost it: iperf3 sends it once, and that is said."""
    sender = host_port("s", 1, GBPS, netem=Netem(1000, loss_ratio=0.3))
    trickle = {"protocol": "udp", "congestion": None, "bitrate_bps": MBPS}
    receiver, cable = host_port("r", 2, GBPS), Cable("s-eth0", "r-eth0", 15)
    built = plan([sender, receiver], [cable], [flow("f", "s", "r", 1, 1, **trickle)])
    # Three in ten seeds lose it; of those that keep it some lose the connection beside it.
    results = (read_result(built, rig.run(built, seed=seed)) for seed in range(1, 31))
    lost = next(one for one in results if one.flows["f"].lost_connection.startswith(NO_FIRST_DATAGRAM))
    said = evidence(Expectation("f", "goodput", 1, None), built, lost)
    assert said.startswith("the datagram with which iperf3 begins, or its answer, was lost between s and r: ")
    assert [violation.explanation for violation in check_laws(built, lost)] == []


LENGTHS = (0, 1, 17, 18, 19, 100, 512, 1000, 1471, 1472)
"""Payloads of datagrams: below the shortest frame, at it, and up to the longest."""


def on_loopback(shape: Shape) -> str:
    """What the script is told that sends these datagrams over a shaped loopback device."""
    port = replace(host_port("lo", 1, GBPS), name="lo", shape=shape, queue=Queue("bfifo", 100_000))
    return json.dumps([list(egress(port)), LENGTHS])


def test_tc_counts_the_same_on_the_machines_own_kernel(rig: Rig) -> None:
    """The same commands there: as many frames pass at once, and as many bytes wait, as counted."""
    kinds: tuple[ShapeKind, ...] = ("tbf", "htb")
    shapes = [replace(shaped(kind, 8000, layer), burst_bytes=3200) for kind in kinds for layer in (1, 2, 3)]
    told = [on_loopback(shape) for shape in shapes]
    labs = rig.each("shaped_loopback.py", [(text,) for text in told])
    frames = [14 + 20 + 8 + length for length in LENGTHS]
    for shape, lab in zip(shapes, labs, strict=True):
        assert lab["bytes"] + lab["backlog"] == sum(map(shape.counted_bytes, frames)), shape
        assert lab["packets"] + lab["qlen"] == len(LENGTHS), shape
        assert lab["qlen"] > 0, shape
    unshare = shutil.which("unshare")
    if unshare is None or shutil.which("tc") is None:
        pytest.skip("no tc or unshare on this machine")
    own = [unshare, "--user", "--map-root-user", "--net", sys.executable, "shaped_loopback.py"]
    for text, lab in zip(told, labs, strict=True):
        done = subprocess.run(
            [*own, text], cwd=SCRIPTS, capture_output=True, text=True, check=False, timeout=30
        )
        if done.returncode:
            pytest.skip(f"this machine's kernel: {done.stderr.strip().splitlines()[-1]}")
        assert json.loads(done.stdout) == lab
