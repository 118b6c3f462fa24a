"""The commands: everything in a Plan, as one would type it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from examples import ROOT, SCENARIOS, experiment

from wirelab.model.experiment import load
from wirelab.plan.build import build_plan
from wirelab.plan.commands import commands

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan

TOOLS = {"ip", "ethtool", "ovs-vsctl", "tc", "iperf3", "sysctl"}


def _plan(name: str) -> Plan:
    loaded = load(name, ROOT)
    return build_plan(loaded, loaded.cases[0], 1)


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
    plan = _plan(name)
    ethtool = {(line[1], line[2]): line[3:] for line in _lines(plan, "ethtool")}
    queues = {line[4]: line[6:] for line in _lines(plan, "tc") if line[1] == "qdisc" and line[5] == "root"}
    for port in plan.ports:
        assert ethtool["-s", port.name][:2] == ["speed", str(port.speed_bps // 10**6)]
        assert ethtool["-A", port.name] == [
            "autoneg", "off", "rx", "on" if port.pause_rx else "off", "tx", "on" if port.pause_tx else "off",
        ]  # fmt: skip
        assert port.queue is not None
        assert queues[port.name][0] == port.queue.kind
        if port.queue.limit_bytes is not None:
            assert queues[port.name][1:] == ["limit", str(port.queue.limit_bytes)]
        if port.role == "host":
            assert ethtool["-C", port.name] == [
                "rx-usecs", str(port.rx_usecs), "rx-frames", str(port.rx_frames)
            ]  # fmt: skip
            assert ethtool["-G", port.name] == [
                "rx", str(port.rx_ring_frames), "tx", str(port.tx_ring_frames)
            ]  # fmt: skip


def test_a_flow_is_a_server_and_a_client() -> None:
    """Client on the sender, ports and congestion control pinned, never the reverse mode."""
    plan = _plan("sfp-mismatch")
    lines = _lines(plan, "iperf3")
    assert lines[2:] == [
        ["iperf3", "--server", "--one-off", "--port", "5202", "--json"],
        [
            *("iperf3", "--client", "10.0.0.2", "--port", "5202", "--cport", "40002", "--time", "10"),
            *("--congestion", "cubic", "--json"),
        ],
    ]
    assert not any("--reverse" in line or "-R" in line for line in lines)


def test_a_udp_flow_says_its_rate(tmp_path: Path) -> None:
    """iperf3's own default of 1 Mbit/s is nobody's wish: as fast as possible is 0."""
    loaded = experiment(tmp_path)
    plan = build_plan(loaded, loaded.cases[0], 1)
    udp = replace(plan.flows[0], protocol="udp", congestion=None, payload_bytes=1472, parallel=2)
    client = _lines(replace(plan, flows=(udp,)), "iperf3")[1]
    assert client[9:] == ["--udp", "--bitrate", "0", "--length", "1472", "--parallel", "2", "--json"]


def test_a_long_path_is_netem(tmp_path: Path) -> None:
    """Delay and jitter with their unit, loss in percent: tc's bare numbers mean other things."""
    loaded = experiment(tmp_path, settings="server.delay: 10 ms, server.jitter: 1 ms, server.loss: 0.01 %")
    lines = _lines(build_plan(loaded, loaded.cases[0], 1), "tc")
    assert [
        *("tc", "qdisc", "replace", "dev", "server-eth0", "root", "handle", "1:", "netem"),
        *("limit", "1000000", "delay", "10000000ns", "1000000ns", "loss", "0.0100%"),
    ] in lines
    assert ["tc", "qdisc", "replace", "dev", "server-eth0", "parent", "1:", "fq_codel"] in lines
