"""The programs that make the traffic of a Plan, every choice pinned that they or the kernel would make."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from wirelab.guest import clock

if TYPE_CHECKING:
    from wirelab.plan.traffic import Flow, Ping
    from wirelab.plan.types import Plan

# How long to knock where a firewall may have been told to answer nothing.
_CONNECT_MS = 10_000
# iperf3 spins when its bytes are sent and it has no bitrate (iperf_send_mt of 3.18), and in virtual time a
# loop that never reads the clock never ends. With a bitrate it reads the clock; this one is never reached.
_NO_BITRATE_BPS = 10**12
# It sees that its bytes are sent when an interval ends, and goes on sending until then; this is the shortest.
_LOOK_EVERY = "0.1"
# The traffic class of a frame is the upper six bits of its TOS byte (RFC 2474).
_TOS_PER_DSCP = 4


class NoAddressError(Exception):
    """A host that traffic is meant for has no address."""


def address_of(plan: Plan, host: str) -> str:
    """The IPv4 address of a host's first port."""
    address = plan.ports_of(host)[0].address
    if address is None:
        msg = f"host {host} has no address"
        raise NoAddressError(msg)
    return address.partition("/")[0]


def server_argv(flow: Flow) -> list[str]:
    """The receiving end of a flow, there before the sending one."""
    if flow.copy is not None:
        return _copying("take", {"port": flow.port, "write_ps": flow.copy.write_ps})
    return ["iperf3", "-s", "-1", "-J", "-i", "1", "-p", str(flow.port)]


def client_argv(flow: Flow, plan: Plan) -> list[str]:
    """The sending end of a flow."""
    address = address_of(plan, flow.receiver)
    if flow.copy is not None:
        return _copy_client(flow, address)
    return _iperf3_client(flow, address, filtered=bool(plan.routers))


def ping_argv(ping: Ping, plan: Plan) -> list[str]:
    """``ping`` with numbers for names; it waits as long for its last answer as for any other."""
    argv = ["ping", "-n", "-i", f"{ping.interval_ns / clock.NS_PER_S:g}", "-c", str(ping.count), "-W", "5"]
    if ping.dscp is not None:
        argv += ["-Q", str(ping.dscp * _TOS_PER_DSCP)]
    return [*argv, address_of(plan, ping.receiver)]


def _iperf3_client(flow: Flow, address: str, *, filtered: bool) -> list[str]:
    interval = "1" if flow.size_bytes is None else _LOOK_EVERY
    argv = ["iperf3", "-J", "-i", interval, "-c", address, "-p", str(flow.port)]
    argv += ["--cport", str(flow.client_port)]
    if filtered:
        argv += ["--connect-timeout", str(_CONNECT_MS)]
    if flow.size_bytes is None:
        argv += ["-t", f"{flow.duration_ns / clock.NS_PER_S:g}"]
    else:
        argv += ["-n", str(flow.size_bytes)]
    argv += ["-P", str(flow.parallel)]
    bitrate_bps = flow.bitrate_bps
    if flow.protocol == "udp":
        argv += ["-u"]
        bitrate_bps = bitrate_bps or 0
    if flow.size_bytes is not None:
        bitrate_bps = bitrate_bps or _NO_BITRATE_BPS
    if bitrate_bps is not None:
        argv += ["-b", str(bitrate_bps)]
    for option, value in (
        ("-C", flow.congestion),
        ("-l", flow.payload_bytes),
        ("-w", flow.window_bytes),
        ("--dscp", flow.dscp),
        ("--fq-rate", flow.pacing_bps),
    ):
        if value is not None:
            argv += [option, str(value)]
    return argv


def _copy_client(flow: Flow, address: str) -> list[str]:
    copy = flow.copy
    assert copy is not None  # noqa: S101 - client_argv has looked
    asked = {
        "address": address,
        "port": flow.port,
        "client_port": flow.client_port,
        "congestion": flow.congestion,
        "dscp": flow.dscp,
        "size_bytes": flow.size_bytes,
        "block_bytes": copy.block_bytes,
        "sequential": copy.pipeline == "sequential",
        "read_ps": copy.read_ps,
        "process_ps": copy.process_ps,
        "requests": copy.requests,
    }
    return _copying("send", asked)


def _copying(end: str, asked: dict[str, object]) -> list[str]:
    return ["python3", "-B", "-m", "wirelab.guest.copy", end, json.dumps(asked, sort_keys=True)]
