"""Shapers and policers: what a frame counts, what tc is told, what is read back and what they dropped."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from examples import SHIPPED, experiment, scenario
from recorded import DROPPED, recording, with_ports
from recorded import plan as recorded_plan

from wirelab.errors import InputError
from wirelab.guest import shapers
from wirelab.model.experiment import load_file
from wirelab.plan.build import build_plan
from wirelab.plan.ceiling import ceiling
from wirelab.plan.iproute2 import egress
from wirelab.plan.queue import Queue
from wirelab.plan.shape import Shape
from wirelab.plan.traffic import Iperf3
from wirelab.plan.types import Netem, Plan, Port
from wirelab.results.result import read_result
from wirelab.verdict.happenings import dropped

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.guest.readback import Readback

MBPS = 1_000_000


def plan(folder: Path, settings: str, topology: str = "sfp-home") -> Plan:
    """The Plan of a scenario with a download, with ``settings`` (the inside of ``with: {}``)."""
    head = f"name: example\nsource: {{title: a test}}\ntopology: {topology}\nwith: {{{settings}}}\n"
    loaded = load_file(scenario(folder, head=head), SHIPPED)
    return build_plan(loaded, loaded.cases[0], 1)


def port(folder: Path, shape: str, more: str = "") -> Port:
    """A port of a switch with a shape."""
    settings = f"module: asf-10g-t, switch: sfp-2g5, switch.p2.shape: {{{shape}}}{more}"
    return plan(folder, settings).port("switch-p2")


@pytest.mark.parametrize(
    ("said", "full", "shortest"),
    [
        ("layer: 1", 1538, 84),
        ("layer: 2", 1518, 64),
        ("layer: 3", 1500, 40),
        ("layer: 2, overhead: 4 B", 1522, 68),
        ("layer: 3, overhead: 34 B", 1534, 74),
    ],
)
def test_a_line_counts_bytes_of_a_layer(tmp_path: Path, said: str, full: int, shortest: int) -> None:
    """Of a full frame and of a TCP acknowledgement, which Linux has with 1514 and 54 bytes."""
    shape = port(tmp_path, f"rate: 50 Mbit/s, {said}").shape
    assert shape is not None
    assert (shape.counted_bytes(1514), shape.counted_bytes(54)) == (full, shortest)
    assert shape.burst_bytes == 2 * full


def test_a_tag_counts_where_ethernet_counts_it(tmp_path: Path) -> None:
    """Linux has no tag in a frame's length, for the hardware puts it in; an IP packet has none."""
    for layer, full in ((1, 1542), (2, 1522), (3, 1500)):
        shaped = f"with: {{server.shape: {{rate: 50 Mbit/s, layer: {layer}}}}}\n"
        head = f"name: example\nsource: {{title: a test}}\ntopology: two-floors\n{shaped}"
        traffic = "traffic:\n  - iperf3: {name: pages, from: server, to: printer, time: 2 s}\n"
        expect = "expect: {pages: {goodput: ..1 Gbit/s}}\n"
        loaded = load_file(scenario(tmp_path, head=head, traffic=traffic, expect=expect), SHIPPED)
        shape = build_plan(loaded, loaded.cases[0], 1).port("server-eth0").shape
        assert shape is not None
        assert shape.counted_bytes(1514) == full


def test_what_tc_is_told(tmp_path: Path) -> None:
    """The root qdisc knows what a frame counts; the egress queue is below, and counts as the line does."""
    root = "qdisc replace dev switch-p2 root handle 1:"
    table = "stab overhead 24 mpu 84 mtu 2047 tsize 2048 linklayer ethernet"
    queue = "qdisc replace dev switch-p2 parent 1:1 bfifo limit 107500"
    assert list(egress(port(tmp_path, "rate: 50 Mbit/s, layer: 1"))) == [
        f"{root} {table} tbf rate 50000000bit burst 3076b limit 3076",
        queue,
    ]
    assert list(egress(port(tmp_path, "rate: 50 Mbit/s, layer: 1, kind: htb"))) == [
        f"{root} {table} htb default 1",
        "class replace dev switch-p2 parent 1: classid 1:1 htb rate 50000000bit burst 3076b cburst 3076b",
        queue,
    ]
    police = "rate: 50 Mbit/s, layer: 3, kind: police, burst: 20 kB"
    policer = "police rate 50000000bit burst 20000b mtu 1514b conform-exceed drop/ok index 3"
    assert list(egress(port(tmp_path, police))) == [
        f"{root} stab overhead -14 prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
        f"filter replace dev switch-p2 parent 1: matchall classid 1:1 action {policer}",
        queue,
    ]
    cake = "rate: 50 Mbit/s, layer: 3, overhead: 34 B, kind: cake"
    assert list(egress(port(tmp_path, cake))) == [
        "qdisc replace dev switch-p2 root cake bandwidth 50000000bit overhead 34 mpu 0"
    ]


def test_a_policer_takes_a_frame_for_as_long_as_it_counts(tmp_path: Path) -> None:
    """Its mtu is held against that: with 1514 bytes it would drop full frames that count 1538."""
    _, policer, _ = egress(port(tmp_path, "rate: 50 Mbit/s, layer: 1, kind: police, burst: 20 kB"))
    assert "mtu 1538b" in policer


def test_a_long_path_counts_for_the_shaper_below_it(tmp_path: Path) -> None:
    """Linux counts at the root alone; cake counts by itself, wherever it is."""
    delayed = ", switch.p2.delay: 1 ms"
    netem, shaper, _ = egress(port(tmp_path, "rate: 50 Mbit/s, layer: 3", delayed))
    assert netem.startswith("qdisc replace dev switch-p2 root handle 1: stab overhead -14 netem limit")
    assert shaper.startswith("qdisc replace dev switch-p2 parent 1: handle 2: tbf rate 50000000bit")
    netem, cake = egress(port(tmp_path, "rate: 50 Mbit/s, kind: cake", delayed))
    assert "stab" not in netem
    assert cake == "qdisc replace dev switch-p2 parent 1: cake bandwidth 50000000bit overhead 18 mpu 64"


def test_the_table_of_a_jumbo_frame_has_an_entry_for_each_length(tmp_path: Path) -> None:
    """With fewer entries lengths would be rounded up."""
    shaper, _ = egress(port(tmp_path, "rate: 50 Mbit/s, layer: 1", ", network.mtu: 9000 B"))
    assert "mtu 16383 tsize 16384" in shaper


def test_frames_come_one_by_one(tmp_path: Path) -> None:
    """Neither a host's stack nor a firewall's hands a shaper, or netem, more than one frame at once."""
    assert port(tmp_path, "rate: 50 Mbit/s").gso_max_segs == 1
    built = plan(tmp_path, "firewall: linux-router, firewall.p2.shape: {rate: 50 Mbit/s}", "firewall")
    assert [built.port(f"firewall-p{number}").gro for number in (1, 2)] == [False, False]
    assert built.port("client-eth0").gro
    lossy = plan(tmp_path, "firewall: linux-router, firewall.p2.loss: 1 %", "firewall")
    assert not lossy.port("firewall-p1").gro
    assert plan(tmp_path, "firewall: linux-router", "firewall").port("firewall-p1").gro


def test_a_queue_may_be_as_long_as_a_time(tmp_path: Path) -> None:
    """In which the shaper lets it pass: 100 ms of 50 Mbit/s are 625 kB, as the shaper counts."""
    limited = port(tmp_path, "rate: 50 Mbit/s, layer: 3", ", switch.p2.queue_limit: 100 ms")
    assert limited.queue == Queue("bfifo", 625_000)
    short = plan(tmp_path, "module: asf-10g-t, switch.p2.rate: 8 Mbit/s, switch.p2.queue_limit: 50 ms")
    assert short.port("switch-p2").queue == Queue("etherfifo", 50_000)


def test_a_cable_is_shaped_at_both_ends_and_a_port_comes_first(tmp_path: Path) -> None:
    """Each direction by itself: what the port says holds there, what the cable says for the rest."""
    settings = "dac.shape: {rate: 50 Mbit/s, layer: 1}, switch.p1.shape.rate: 10 Mbit/s, module: asf-10g-t"
    built = plan(tmp_path, settings)
    rates = {p.name: (p.shape.rate_bps, p.shape.least_bytes) for p in built.ports if p.shape}
    assert rates == {"server-eth0": (50 * MBPS, 84), "switch-p1": (10 * MBPS, 84)}


def test_a_line_is_slower_up_than_down(tmp_path: Path) -> None:
    """The first end of its cable is the provider's; half of the round trip passes on each way."""
    built = plan(tmp_path, "", "home-line")
    provider, modem = built.port("provider-p2"), built.port("modem-p1")
    assert provider.shape == Shape("tbf", 98_460_000, 2 * 1534, 20)
    assert modem.shape == Shape("tbf", 39_384_000, 2 * 1534, 20)
    assert (provider.queue, modem.queue) == (Queue("bfifo", 1_200_000), Queue("bfifo", 1_200_000))
    assert built.cable_of("modem-p1").delay_ns == 7_500_015
    other = plan(tmp_path, "line.line: fibre-500, modem.p1.queue_limit: 20 kB", "home-line")
    assert other.port("modem-p1").shape == Shape("tbf", 500 * MBPS, 2 * 1522, 8, 68)
    assert other.port("modem-p1").queue == Queue("bfifo", 20_000)
    assert plan(tmp_path, "line.delay: 1 ms", "home-line").cable_of("modem-p1").delay_ns == 1_000_000


def test_every_line_can_be_had(tmp_path: Path) -> None:
    """Each part is sound where it is used, and its queue holds a frame."""
    for name in SHIPPED.parts().lines:
        built = plan(tmp_path, f"line.line: {name}", "home-line")
        assert all(built.port(end).shape for end in ("provider-p2", "modem-p1"))


def test_the_other_ports_of_a_topology_are_as_they_were(tmp_path: Path) -> None:
    """A Plan says nothing of a shape where there is none."""
    assert '"shape"' not in plan(tmp_path, "module: asf-10g-t").to_json()
    shaped = plan(tmp_path, "", "home-line")
    assert Plan.from_json(shaped.to_json()) == shaped


def test_a_shaper_bounds_what_a_path_can_carry(tmp_path: Path) -> None:
    """1448 of 1534 bytes at 39.384 Mbit/s, and a burst of two frames on top within the ten seconds."""
    built = plan(tmp_path, "", "home-line")
    (flow,) = built.flows
    down = ceiling(built, flow)
    assert down is not None
    assert down.bottleneck == "the shaper of provider.p2"
    burst_bps = 2 * 1534 * 8 / 10
    assert down.bps == pytest.approx((98_460_000 + burst_bps) * 1448 / 1534)
    short = ceiling(built, replace(flow, size_bytes=14_480))
    assert short is not None
    assert short.bps == pytest.approx(98_460_000 * 14_480 / (10 * 1534 - 2 * 1534))


TRANSFER = """\
traffic:
  - iperf3: {name: download, from: server, to: client, bytes: 20 MB, within: 60 s}
"""


def test_a_transfer_is_long_enough_for_what_it_is_shaped_to(tmp_path: Path) -> None:
    """20 MB last a second and more at 100 Mbit/s, and no tenth of one at a line's rate, or after an event."""
    shaped = "switch.p2.shape: {rate: 100 Mbit/s}, module: asf-10g-t"
    rest = "events:\n  - {at: 2 s, with: {switch.p2.shape.rate: RATE}}\n"
    assert experiment(tmp_path, settings=shaped, traffic=TRANSFER).cases
    assert experiment(
        tmp_path, settings=shaped, traffic=TRANSFER, rest=rest.replace("RATE", "50 Mbit/s")
    ).cases
    for settings, more in (("module: asf-10g-t", ""), (shaped, rest.replace("RATE", "2 Gbit/s"))):
        with pytest.raises(
            InputError, match="iperf3 looks 10 times a second whether all is sent: at up to 2"
        ):
            experiment(tmp_path, settings=settings, traffic=TRANSFER, rest=more)


def test_what_is_lost_has_no_share_of_a_burst(tmp_path: Path) -> None:
    """Of 1 Gbit/s for half a second 98.46 Mbit/s pass, and the burst: none of it goes to what was lost."""
    built = plan(tmp_path, "", "home-line")
    (flow,) = built.flows
    assert isinstance(flow, Iperf3)
    flood = replace(flow, protocol="udp", size_bytes=62_500_000, bitrate_bps=1000 * MBPS)
    down = ceiling(built, flood)
    assert down is not None
    assert down.bps == pytest.approx((98_460_000 + 2 * 1534 * 8 / 0.5) * 1472 / 1534)
    # As fast as it can: nobody knows how soon it is over, and only the lines bound it.
    at_once = ceiling(built, replace(flood, bitrate_bps=None))
    assert at_once is not None
    assert at_once.bottleneck.startswith("the line from ")


TBF = Shape("tbf", 50 * MBPS, 3076, 24, 84)
STAB = {"linklayer": "ethernet", "overhead": 24, "mpu": 84, "mtu": 2047, "tsize": 2048}


def differing(shape: Shape, *told: list[dict[str, object]], netem: Netem | None = None) -> list[Readback]:
    """What was not read back as it was asked for."""
    shaped = replace(recorded_plan().port("switch-p1"), netem=netem)
    return wrong(shapers.shaper(shaped, shape, *told))


def wrong(readbacks: list[Readback]) -> list[Readback]:
    """Those of them in which the two differ."""
    return [readback for readback in readbacks if readback.asked != readback.actual]


def test_a_shaper_is_read_back() -> None:
    """Tc tells a rate in bytes a second, a burst to some 64 ns, and with details what a frame counts."""
    root: dict[str, object] = {"kind": "tbf", "root": True, "options": {"rate": 6_250_000, "burst": 3075}}
    assert differing(TBF, [root], [], [{**root, "stab": STAB}]) == []
    below = {**root, "parent": "1:", "root": None}
    del below["root"]
    path: dict[str, object] = {"kind": "netem", "root": True}
    assert differing(TBF, [path, below], [], [{**path, "stab": STAB}], netem=Netem(delay_ns=1)) == []
    htb: dict[str, object] = {"kind": "htb", "root": True}
    of: dict[str, object] = {"class": "htb", "handle": "1:1", "rate": 6_250_000, "burst": 3076}
    assert differing(replace(TBF, kind="htb"), [htb], [of], [{**htb, "stab": STAB}]) == []
    options = {"bandwidth": 6_250_000, "overhead": 38, "mpu": 84}
    cake: dict[str, object] = {"kind": "cake", "root": True, "options": options}
    assert differing(Shape("cake", 50 * MBPS, 0, 24, 84), [cake], [], [cake]) == []


def test_a_shaper_that_is_not_what_it_should_be_is_noticed() -> None:
    """Another qdisc, no table, another rate: each is told apart."""
    root: dict[str, object] = {"kind": "tbf", "root": True, "options": {"rate": 6_000_000, "burst": 4000}}
    assert {readback.setting for readback in differing(TBF, [root], [], [root])} == {
        *("shape_rate_bps", "shape_burst_bytes", "shape_overhead_bytes", "shape_least_bytes"),
    }
    (kind, *_) = differing(TBF, [{"kind": "bfifo", "root": True}], [], [])
    assert (kind.setting, kind.asked, kind.actual) == ("shape", "tbf", "bfifo")


def told_policer(rate: int, action: int = 2, burst_ticks: int = 50_000) -> bytes:
    """TCA_POLICE_TBF as the kernel dumps it: struct tc_police, whose rate is in bytes a second."""
    fields = (1, action, 0, burst_ticks, 1514, 3, 1, 0, -1, 0, rate)
    police = struct.pack("=IiIIIBBHhHI", *fields).ljust(56, b"\0")
    return struct.pack("=HH", 4 + len(police), 1) + police


def test_a_policer_is_read_back_from_the_kernel() -> None:
    """What tc's JSON leaves out: rate and burst, and that it drops what is too much."""
    switch = recorded_plan().port("switch-p1")
    asked = Shape("police", 50 * MBPS, 20_000)
    readbacks = shapers.policer(switch, asked, told_policer(6_250_000))
    assert [readback for readback in readbacks if readback.asked != readback.actual] == []
    for told in (b"", told_policer(6_250_000, action=3), told_policer(6_000_000)):
        assert any(readback.asked != readback.actual for readback in shapers.policer(switch, asked, told))
    eight = told_policer(6_250_000) + struct.pack("=HHQ", 12, 8, 6_250_000)
    assert all(readback.asked == readback.actual for readback in shapers.policer(switch, asked, eight))


def test_a_policer_is_not_blamed_on_the_queue_below_it(tmp_path: Path) -> None:
    """It counts what the queue drops, too, and netem above it both; each has its name."""
    recorded = recording()
    root = recorded.qdisc("end", "module-line")
    policer = {key: of for key, of in root.items() if key != "root"} | {"kind": "prio", "drops": 150}
    queue = policer | {"kind": "bfifo", "parent": "2:1", "drops": 100}
    for name in ("start", "end"):
        recorded.qdisc(name, "module-line")["kind"] = "netem"
    recorded.snapshot("end")["qdiscs"]["module-line"] += [policer | {"parent": "1:"}, queue]
    result = read_result(recorded_plan(), recorded.write(tmp_path))
    drops = result.ports["module.line"].drops
    assert {"queue": 100, "police": 50, "netem": DROPPED - 150}.items() <= drops.items()
    policed = with_ports(recorded_plan(), "module-line", shape=Shape("police", 50 * MBPS, 20_000))
    told = " ".join(dropped(policed, result, [policed.port("module-line")]))
    assert "50 frames were dropped at module.line (policed to 50 Mbit/s)" in told


def test_a_shape_is_written_in_one_piece_or_line_by_line(tmp_path: Path) -> None:
    """Both are the same, and later lines change single figures."""
    one = experiment(tmp_path, settings="switch.p2.shape: {rate: 50 Mbit/s, layer: 1}, module: asf-10g-t")
    other = experiment(
        tmp_path, settings="switch.p2.shape.layer: 1, switch.p2.shape.rate: 50 Mbit/s, module: asf-10g-t"
    )
    assert build_plan(one, one.cases[0], 1) == build_plan(other, other.cases[0], 1)


def test_what_is_wrong_in_one_piece_is_told_at_its_own_line(tmp_path: Path) -> None:
    """Not at the line where the piece begins."""
    head = "name: example\nsource: {title: a test}\ntopology: sfp-home\nwith:\n  switch.p2.shape:\n"
    path = scenario(tmp_path, head=f"{head}    rate: 50 Mbit/s\n    burst: 1 kB\n  module: asf-10g-t\n")
    with pytest.raises(InputError) as caught:
        load_file(path, SHIPPED)
    (problem,) = caught.value.problems
    assert (problem.line, problem.field) == (7, "with.switch.p2.shape.burst")
