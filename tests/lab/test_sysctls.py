"""Sysctls of single hosts, and socket buffers as large as an experiment needs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, get_args

from tests.lab.road import carried_out
from wirelab.model.types import Congestion

if TYPE_CHECKING:
    from tests.lab.rig import Rig

RTT_S = 0.4
GIGABIT_GOODPUT_BPS = 1_000_000_000 * 1448 / 1538


def last_second_bps(rig: Rig, settings: str) -> float:
    """Goodput of Reno's last second of twelve on a gigabit cable to the moon's orbit and back."""
    text = f"""\
topology: back-to-back
with: {{patch.delay: 200 ms{settings}}}
traffic:
  - iperf3: {{name: bulk, from: left, to: right, time: 12 s, congestion: reno}}
expect:
  bulk: {{retransmits: 0}}
"""
    _, result = carried_out(rig, text)
    return result.flows["bulk"].intervals_bps[-1]


def test_what_a_sender_may_buffer_bounds_what_is_on_its_way(rig: Rig) -> None:
    """A window a round trip: with half the buffer it is half as fast, and never faster than the buffer."""
    small_bps = last_second_bps(rig, ", left.tcp_wmem: 4 MB")
    large_bps = last_second_bps(rig, ", left.tcp_wmem: 8 MB")
    assert small_bps < 4e6 * 8 / RTT_S
    assert abs(large_bps / small_bps - 2) < 0.1


def test_a_lab_has_memory_for_what_sockets_may_hold(rig: Rig) -> None:
    """50 MB are on their way at line rate: more than hosts are given unasked, less than may be asked for."""
    assert last_second_bps(rig, "") < 0.75 * GIGABIT_GOODPUT_BPS
    filled_bps = last_second_bps(rig, ", left.tcp_wmem: 512 MB, right.tcp_rmem: 512 MB")
    assert filled_bps > 0.99 * GIGABIT_GOODPUT_BPS


def test_a_host_sends_with_any_congestion_control(rig: Rig) -> None:
    """Also with one that Linux lets no namespace begin with: dctcp. That is Reno where ECN is not agreed on.

    A host that has it marks its SYN, which only one that has it, too, takes for ECN; iperf3 sets it later.
    """
    controls = {f"server{number}": name for number, name in enumerate(get_args(Congestion), start=1)}
    own = {f"of-{host}": (host, "client", "") for host in controls}
    further = {"both": ("server4", "server5", ""), "asked": ("server6", "client", ", congestion: dctcp")}
    settings = "".join(f"{host}.congestion: {name}, " for host, name in controls.items())
    flows = "".join(
        f"  - iperf3: {{name: {name}, from: {sender}, to: {receiver}, time: 1 s{asked}}}\n"
        for name, (sender, receiver, asked) in (own | further).items()
    )
    text = f"""\
topology: eight-servers
with: {{{settings}server5.congestion: dctcp, server6.ecn: on}}
traffic:
{flows}
expect:
  asked: {{goodput: 900..942 Mbit/s}}
"""
    plan, _ = carried_out(rig, text)
    files = {flow.name: rig.folder / "lab-1/results" / flow.sender_file for flow in plan.flows}
    ends = {name: json.loads(file.read_text())["end"] for name, file in files.items()}
    assert {name: end["sender_tcp_congestion"] for name, end in ends.items()} == {
        "of-server1": "cubic",
        "of-server2": "reno",
        "of-server3": "bbr",
        "of-server4": "dctcp-reno",
        "both": "dctcp",
        "asked": "dctcp",
    }
