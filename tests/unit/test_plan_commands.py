"""The commands: everything in a Plan, as one would type it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from examples import SCENARIOS, SHIPPED, experiment, plans, scenario

from wirelab.model.experiment import load_file
from wirelab.plan.build import build_plan
from wirelab.plan.commands import commands
from wirelab.plan.traffic import Iperf3

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan

TOOLS = {"ping", "ip", "ethtool", "ovs-vsctl", "tc", "iperf3", "sysctl", "nft", "dcb"}


def _plan(name: str) -> Plan:
    return next(iter(plans(name).values()))


def _lines(plan: Plan, tool: str) -> list[list[str]]:
    lines = [shlex.split(line, comments=True) for line in commands(plan)]
    return [line for line in lines if line and line[0] == tool]


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_line_is_a_command_or_a_comment(name: str) -> None:
    """It can be pasted into a shell as it is."""
    lines = [shlex.split(line, comments=True) for line in commands(_plan(name))]
    assert {line[0] for line in lines if line} <= TOOLS


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_setting_of_every_port_is_in_the_commands(name: str) -> None:
    """Speed, PAUSE, MTU, moderation, rings and queue: what is left out would be somebody's default."""
    # What events change comes after all that.
    plan = replace(_plan(name), events=())
    ethtool = {(line[1], line[2]): line[3:] for line in _lines(plan, "ethtool")}
    queues = {line[4]: line[6:] for line in _lines(plan, "tc") if line[1] == "qdisc" and line[5] == "root"}
    for port in plan.ports:
        autoneg = "on" if port.autoneg else "off"
        if port.autoneg:
            offered = [word.replace("/", "_") for word in ethtool["-s", port.name][3::2]]
            assert ethtool["-s", port.name][:3] == ["autoneg", "on", "advertise"]
            assert tuple(offered) == port.advertise
        else:
            speed = str(port.speed_bps // 10**6)
            assert ethtool["-s", port.name] == ["speed", speed, "duplex", port.duplex, "autoneg", "off"]
        rx, tx = ("on" if pause else "off" for pause in (port.pause_rx, port.pause_tx))
        assert ethtool["-A", port.name] == ["autoneg", autoneg, "rx", rx, "tx", tx]
        assert (port.queue is None) == (port.role == "repeat")
        behind_a_shaper = port.shape is not None and port.shape.kind != "cake"
        if port.queue is not None and not port.pfc and port.netem is None and not behind_a_shaper:
            assert queues[port.name][0] == port.queue.kind
            if port.queue.kind == "bfifo":
                assert queues[port.name][1:] == ["limit", str(port.queue.limit_bytes)]
        if port.role == "host":
            fixed = ["off", "rx-usecs", str(port.rx_usecs), "rx-frames", str(port.rx_frames)]
            assert ethtool["-C", port.name] == ["adaptive-rx", *(["on"] if port.adapts else fixed)]
            assert ethtool["-K", port.name] == ["gro", "on" if port.gro else "off"]
            assert ethtool["-G", port.name] == [
                "rx", str(port.rx_ring_frames), "tx", str(port.tx_ring_frames)
            ]  # fmt: skip


def test_a_flow_is_a_server_and_a_client() -> None:
    """Client on the sender, ports and congestion control pinned, never the reverse mode."""
    plan = _plan("sfp-mismatch")
    lines = _lines(plan, "iperf3")
    assert lines[2:] == [
        ["iperf3", "-s", "-1", "-J", "-i", "1", "-p", "5202"],
        [
            *("iperf3", "-J", "-i", "1", "-c", "10.0.0.2", "-p", "5202", "--cport", "40002"),
            *("-t", "10", "-P", "1", "-C", "cubic"),
        ],
    ]
    assert not any("--reverse" in line or "-R" in line for line in lines)


def test_a_udp_flow_says_its_rate(tmp_path: Path) -> None:
    """iperf3's own default of 1 Mbit/s is nobody's wish: as fast as possible is 0."""
    loaded = experiment(tmp_path)
    plan = build_plan(loaded, loaded.cases[0], 1)
    flow = plan.flows[0]
    assert isinstance(flow, Iperf3)
    udp = replace(flow, protocol="udp", congestion=None, payload_bytes=1472, parallel=2)
    client = _lines(replace(plan, traffic=(udp,)), "iperf3")[1]
    assert client[10:] == ["-t", "10", "-P", "2", "-u", "-b", "0", "-l", "1472"]


def test_a_long_path_is_netem(tmp_path: Path) -> None:
    """Delay and jitter with their unit, loss in percent: tc's bare numbers mean other things."""
    loaded = experiment(tmp_path, settings="server.delay: 10 ms, server.jitter: 1 ms, server.loss: 0.01 %")
    lines = _lines(build_plan(loaded, loaded.cases[0], 1), "tc")
    assert [
        *("tc", "qdisc", "replace", "dev", "server-eth0", "root", "handle", "1:", "netem"),
        *("limit", "1000000", "delay", "10000000ns", "1000000ns", "loss", "0.0100%"),
    ] in lines
    assert ["tc", "qdisc", "replace", "dev", "server-eth0", "parent", "1:", "fq_codel"] in lines


def test_a_firewalls_rules_are_commands(tmp_path: Path) -> None:
    """One nft command a rule, addresses and routes for both networks."""
    head = "name: example\nsource: {title: a test}\ntopology: firewall\nwith: {firewall.block: udp}\n"
    loaded = load_file(scenario(tmp_path, head=head), SHIPPED)
    plan = build_plan(loaded, loaded.cases[0], 1)
    assert ["nft", "add rule inet firewall forward meta l4proto udp counter drop"] in _lines(plan, "nft")
    routes = [line[3:6] for line in _lines(plan, "ip") if line[1:3] == ["route", "add"]]
    assert routes == [["10.0.1.0/24", "via", "10.0.0.254"], ["10.0.0.0/24", "via", "10.0.1.254"]]


def test_lossless_priorities_are_commands(tmp_path: Path) -> None:
    """`dcb pfc` names those that are on and switches off all others; `dcb apptrust` what tells them."""
    loaded = experiment(tmp_path, settings="server.pfc: [3, 5], server.trust: dscp")
    assert _lines(build_plan(loaded, loaded.cases[0], 1), "dcb") == [
        [*("dcb", "pfc", "set", "dev", "server-eth0", "prio-pfc"), "all:off", "3:on", "5:on"],
        ["dcb", "apptrust", "set", "dev", "server-eth0", "order", "dscp"],
    ]


def test_what_no_command_sets_stands_in_comments(tmp_path: Path) -> None:
    """Bus, CPU, shared memory, what follows what: it is part of the Plan, so it is shown."""
    settings = (
        "patch.speed: auto, client.bus: pcie-3 x1, client.rx_frame: 7 us, switch.buffer: 200 kB, "
        "server.pfc: 3"
    )
    loaded = experiment(tmp_path, settings=settings)
    text = "\n".join(commands(build_plan(loaded, loaded.cases[0], 1)))
    for line in (
        "# client-eth0: bus: rate in each direction 7.87692 Gbit/s, largest payload 128 B, overhead of each",
        "# client-eth0: CPU: number 4, a frame received takes 7 us, a byte received 0 ps, ",
        "# switch-p1: shared packet memory: number 2, size 200 kB",
        "# module-host: link: only while there is one at module-line",
    ):
        assert line in text


def test_no_line_of_a_drawing_is_a_command(tmp_path: Path) -> None:
    """Whatever a topology draws, and in however many lines, a shell that is fed with it ignores."""
    loaded = experiment(tmp_path)
    plan = replace(build_plan(loaded, loaded.cases[0], 1), drawing="a -- b\nreboot")
    assert commands(plan)[:2] == ["# a -- b", "# reboot"]
