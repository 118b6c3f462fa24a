"""From YAML to the port and back: what a scenario asks for is what the lab does, and what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.road import carried_out
from wirelab.errors import LabError

if TYPE_CHECKING:
    from tests.lab.rig import Rig

DOWNLOAD = "traffic:\n  - iperf3: {name: download, from: server, to: client, time: 1 s}\n"


@pytest.mark.parametrize(
    ("settings", "line", "slot"),
    [
        ("module: asf-10g-t", "2.5 Gbit/s", "10 Gbit/s"),
        ("module: asf-10g-t, client.advertise: 100 Mbit/s", "100 Mbit/s", "10 Gbit/s"),
        ("module: asf-10g-t, switch.p2.speed: 10 Gbit/s", "2.5 Gbit/s", "10 Gbit/s"),
        ("module: asf-10g-t, client.speed: 2.5 Gbit/s", None, None),
        ("module: 2g5base-t", "2.5 Gbit/s", None),
        ("module: 2g5base-t, client.advertise: 1 Gbit/s", "1 Gbit/s", "1 Gbit/s"),
        ("module: 2g5base-t, switch: sfp-2g5", "2.5 Gbit/s", "2.5 Gbit/s"),
        ("module: 2g5base-t, switch: sfp-2g5, switch.p2.speed: 1 Gbit/s", "2.5 Gbit/s", None),
    ],
)
def test_a_module_links_with_what_it_finds(
    rig: Rig, settings: str, line: str | None, slot: str | None
) -> None:
    """Its line with the client, and its other side with the switch: each at its own speed, or not at all."""
    ports = {"client": line, "module.line": line, "module.host": slot, "switch.p2": slot}
    expected = "".join(
        f"  {port}: {{link: up, speed: {speed}, duplex: full}}\n" if speed else f"  {port}: {{link: down}}\n"
        for port, speed in ports.items()
    )
    text = f"topology: sfp-auto\nwith: {{{settings}}}\ntraffic: []\nexpect:\n{expected}"
    _, result = carried_out(rig, text)
    assert {port for port in ports if not result.ports[port].link} == {
        port for port, speed in ports.items() if speed is None
    }


def test_flow_control_is_negotiated(rig: Rig) -> None:
    """Table 28B-3: two that offer PAUSE have it, one alone has not."""
    for settings, holds in (("left.flow_control: on", True), ("right.flow_control: off", False)):
        text = f"topology: back-to-back\nwith: {{{settings}}}\ntraffic: []\n"
        plan, result = carried_out(rig, f"{text}expect:\n  left: {{link: up, speed: 1 Gbit/s}}\n")
        assert {port.pause_tx for port in result.linked(plan).ports} == {holds}


def test_the_classic_duplex_mismatch(rig: Rig) -> None:
    """One end forced to full duplex, the other left to find out: it takes half, and collides late."""
    text = (
        "topology: back-to-back\nwith: {left.speed: 100 Mbit/s}\n"
        "traffic:\n  - iperf3: {name: down, from: right, to: left, time: 1 s}\n"
        "expect:\n  left: {duplex: full, collisions: 0}\n  right: {duplex: half, late_collisions: 1..}\n"
        "  down: {goodput: ..90 Mbit/s}\n"
    )
    carried_out(rig, text)


def test_a_hub_is_one_medium(rig: Rig) -> None:
    """Two that send at once collide and share what 10 Mbit/s leaves."""
    text = (
        "topology: hub\ntraffic:\n"
        "  - iperf3: {name: first, from: one, to: two, time: 2 s}\n"
        "  - iperf3: {name: other, from: three, to: two, time: 2 s, with: first}\n"
        "expect:\n  hub.p1: {speed: 10 Mbit/s, duplex: half}\n  first: {goodput: 1..9.4 Mbit/s}\n"
    )
    plan, result = carried_out(rig, text)
    # By what arrives while both send: the rates that iperf3 tells of each are of times that differ.
    (name,) = [port.name for port in plan.ports if port.label == "two"]
    from_ns, to_ns = plan.flows[0].start_ns, plan.flows[0].end_ns
    seen = [sample for sample in result.samples if from_ns <= sample.at_ns <= to_ns]
    first, last = seen[0], seen[-1]
    both_bps = (last.ports[name].rx_bytes - first.ports[name].rx_bytes) * 8e9 / (last.at_ns - first.at_ns)
    assert 4e6 < both_bps < 10e6 * 1514 / 1538
    assert result.ports["one"].collisions > 0


def test_a_slot_with_one_lane_is_the_bottleneck(rig: Rig) -> None:
    """PCI Express 3.0 x1 under a 10G card: its card's buffer fills and the line is never full.

    The window is larger than that buffer: one that grows by itself may end below it.
    """
    text = "topology: one-switch\nwith: {client.bus: pcie-3 x1, switch.flow_control: on}\n"
    text += DOWNLOAD.replace("time: 1 s", "time: 1 s, window: 1 MB")
    text += "expect:\n  download: {goodput: 5.7..6.1 Gbit/s, retransmits: 0}\n  client: {pause_sent: 1..}\n"
    carried_out(rig, text)


@pytest.mark.parametrize(("cost", "goodput"), [("3 us", "2.33..2.38 Gbit/s"), ("6 us", "1.2..1.31 Gbit/s")])
def test_the_knee_of_a_firewall(rig: Rig, cost: str, goodput: str) -> None:
    """A frame takes 4.9 us on a 2.5G line, and every second one has an ACK that costs as much as itself.

    So a firewall that needs 3.3 us or less is not seen, and one that needs 6 us carries a frame every 9 us.
    """
    settings = f"firewall.frame: {cost}, firewall.rule: 0 us, client.rx_usecs: 100 us"
    text = (
        f"topology: firewall\nwith: {{{settings}}}\n{DOWNLOAD}expect:\n  download: {{goodput: {goodput}}}\n"
    )
    carried_out(rig, text)


@pytest.mark.parametrize(
    "settings",
    [
        "switch.p1.queue: cake, switch.p1.queue_limit: 1 MB",
        "switch.p1.queue: fq_codel, switch.p1.queue_limit: 500 frames, switch.p1.ecn: on, server.ecn: on",
        "switch.queue: pfifo, switch.queue_limit: 300 frames",
        "server.queue: fq, server.queue_limit: 9000 frames",
        "server.delay: 2 ms, server.reorder: 1 %, server.queue: pfifo_fast",
    ],
)
def test_queues_are_set_and_read_back(rig: Rig, settings: str) -> None:
    """Whatever is asked of a queue or a path is in force, or the lab stops with an error."""
    text = f"topology: one-switch\nwith: {{client.advertise: 100 Mbit/s, {settings}}}\n"
    _, result = carried_out(rig, f"{text}{DOWNLOAD}expect:\n  client: {{speed: 100 Mbit/s}}\n")
    assert {readback.setting for readback in result.readbacks} >= {"qdisc", "autoneg", "advertise"}


def test_pfc_stops_one_priority(rig: Rig) -> None:
    """The slow client's frames are of priority 0: it is paused, loses nothing, and 3 is left alone."""
    settings = (
        "server.pfc: [0, 3], server.trust: dscp, switch.pfc: [0, 3], switch.trust: dscp, "
        "client.advertise: 1 Gbit/s"
    )
    text = f"topology: one-switch\nwith: {{{settings}}}\n{DOWNLOAD}expect:\n"
    text += (
        "  download: {goodput: 0.9..0.95 Gbit/s, retransmits: 0}\n"
        "  server: {paused_priority_0: 5..100 %, paused_priority_3: 0 %}\n"
        "  switch.p2: {pfc_sent: 1.., pause_sent: 0}\n"
        "  network: {drops: 0}\n"
    )
    carried_out(rig, text)


def test_a_flow_without_a_link_is_told_why(rig: Rig) -> None:
    """It is not left to time out: the message names the cable and what to write instead."""
    text = "topology: sfp-auto\nwith: {module: 2g5base-t}\n" + DOWNLOAD + "expect:\n  client: {link: up}\n"
    with pytest.raises(LabError, match=r"no link between switch\.p2 and module\.host.*traffic: \[\]"):
        carried_out(rig, text)
