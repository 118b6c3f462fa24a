"""Each law holds in a sound run, and fires as soon as a counter says otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from broken_laws import dropped_by_buffer, names, violations
from recorded import DROPPED, Recording, plan, recording, with_ports

from wirelab.plan.ceiling import headroom_bytes
from wirelab.plan.path import flow_path
from wirelab.plan.queue import Queue

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan


def with_pause(**settings: int) -> Plan:
    """PAUSE on in both directions on every port."""
    return with_ports(plan(), pause_rx=True, pause_tx=True, **settings)


def test_a_sound_run_breaks_no_law(tmp_path: Path) -> None:
    """A module that drops frames for want of room is a slow network, not a broken lab."""
    assert violations(recording(), tmp_path) == ()


def test_a_setting_that_was_not_taken(tmp_path: Path) -> None:
    """What was read back must be what was asked for."""
    recorded = recording()
    recorded.settings[0]["actual"] = 1_000_000_000
    (violation,) = violations(recorded, tmp_path)
    assert violation.name == "law.settings"
    assert violation.explanation == "server-eth0: asked for speed_bps 10000000000, read back 1000000000"


@pytest.mark.parametrize(
    ("stat", "what"),
    [
        ("tx_ring_frames", "frames in the TX ring"),
        ("tx_flight_frames", "frames on the cable"),
        ("rx_ring_frames", "frames in the RX ring"),
        ("buffer_bytes", "bytes in the packet buffer"),
        ("pool_used_bytes", "bytes in the shared packet memory"),
    ],
)
def test_something_left_behind(stat: str, what: str, tmp_path: Path) -> None:
    """After a second of silence every queue, ring, buffer and cable is empty."""
    recorded = recording()
    recorded.stats("end", "switch-p2")[stat] = 3
    found = violations(recorded, tmp_path)
    assert "drained" in names(found)
    assert f"switch.p2: 3 {what} when all was over" in [violation.explanation for violation in found]


def test_frames_left_in_a_queue(tmp_path: Path) -> None:
    """A backlog that nothing drains is a lab that stands still."""
    recorded = recording()
    recorded.qdisc("end", "switch-p2")["qlen"] = 2
    assert "drained" in names(violations(recorded, tmp_path))


def test_a_frame_lost_on_the_cable(tmp_path: Path) -> None:
    """Cables lose nothing."""
    recorded = recording()
    for stat in ("rx_wire_frames", "rx_frames"):
        recorded.stats("end", "client-eth0")[stat] -= 1
    (violation,) = violations(recorded, tmp_path)
    assert violation.name == "law.cable"
    assert (
        violation.explanation
        == "module.line to client: 219 841 frames left, 219 840 arrived and 0 are on the way"
    )


def test_a_frame_that_nobody_sent(tmp_path: Path) -> None:
    """Nor do they make any."""
    recorded = recording()
    for stat in ("rx_wire_frames", "rx_frames"):
        recorded.stats("end", "client-eth0")[stat] += 1
    assert names(violations(recorded, tmp_path)) == {"cable"}


def test_a_frame_under_way_is_not_lost(tmp_path: Path) -> None:
    """What is on the cable when it is counted is accounted for; that it is still there is another law."""
    recorded = recording()
    for stat in ("rx_wire_frames", "rx_frames"):
        recorded.stats("end", "client-eth0")[stat] -= 1
    recorded.stats("end", "module-line")["tx_flight_frames"] = 1
    assert names(violations(recorded, tmp_path)) == {"drained"}


def test_a_pause_frame_lost_on_the_cable(tmp_path: Path) -> None:
    """A PAUSE frame arrives as well, or an XOFF would go unheard."""
    recorded = recording()
    recorded.stats("end", "module-host")["tx_pause_frames"] = 5
    recorded.stats("end", "switch-p2")["rx_pause_frames"] = 4
    (violation,) = violations(recorded, tmp_path)
    assert violation.explanation == "module.host to switch.p2: 5 PAUSE frames left, 4 arrived"


def test_a_pause_frame_with_a_bit_error(tmp_path: Path) -> None:
    """One that was damaged is accounted for, whatever it said; one more than was sent is not."""
    recorded = recording()
    recorded.stats("end", "module-host")["tx_pause_frames"] = 5
    recorded.stats("end", "switch-p2").update(rx_pause_frames=3, rx_damaged_control_frames=1)
    (violation,) = violations(recorded, tmp_path / "one")
    assert violation.explanation == (
        "module.host to switch.p2: 5 PAUSE frames left, 3 arrived and 1 had bit errors"
    )
    recorded.stats("end", "switch-p2")["rx_damaged_control_frames"] = 2
    assert violations(recorded, tmp_path / "both") == ()
    recorded.stats("end", "switch-p2")["rx_damaged_control_frames"] = 3
    (violation,) = violations(recorded, tmp_path / "more")
    assert violation.explanation == (
        "module.host to switch.p2: 1 MAC control frames had bit errors that nobody had sent"
    )


def test_a_frame_with_a_bit_error(tmp_path: Path) -> None:
    """It has arrived, and its cause of loss has a name."""
    recorded = recording()
    recorded.stats("end", "client-eth0")["rx_frames"] -= 1
    recorded.stats("end", "client-eth0")["rx_dropped_fcs"] = 1
    assert violations(recorded, tmp_path) == ()


def test_a_frame_that_vanished_in_a_port(tmp_path: Path) -> None:
    """A frame that arrived was handed on, dropped by a named cause, or waits."""
    recorded = recording()
    recorded.stats("end", "client-eth0")["rx_frames"] -= 1
    (violation,) = violations(recorded, tmp_path)
    assert violation.name == "law.receive"
    recorded.stats("end", "client-eth0")["rx_dropped_oversize"] += 1
    assert violations(recorded, tmp_path / "named") == ()


def test_a_frame_that_vanished_between_qdisc_and_cable(tmp_path: Path) -> None:
    """A frame that a qdisc released left, was dropped by a named cause, or waits."""
    recorded = recording()
    recorded.qdisc("end", "server-eth0")["packets"] += 1
    (violation,) = violations(recorded, tmp_path)
    assert violation.name == "law.transmit"
    recorded.stats("end", "server-eth0")["tx_dropped_error"] += 1
    assert violations(recorded, tmp_path / "named") == ()


def test_a_frame_that_is_none_of_data_has_left_too(tmp_path: Path) -> None:
    """Control frames of a packet socket come by the qdisc, and are counted apart from those of data."""
    recorded = recording()
    recorded.qdisc("end", "server-eth0")["packets"] += 3
    (violation,) = violations(recorded, tmp_path / "vanished")
    assert violation.name == "law.transmit"
    recorded.stats("end", "server-eth0")["tx_injected_frames"] = 3
    assert violations(recorded, tmp_path / "injected") == ()
    recorded.qdisc("end", "server-eth0")["packets"] -= 3
    (violation,) = violations(recorded, tmp_path / "from nowhere")
    assert violation.name == "law.transmit"


def test_a_port_without_a_qdisc_is_not_judged_by_one(tmp_path: Path) -> None:
    """`noqueue` counts nothing: there is nothing to compare."""
    recorded = recording()
    for name in ("start", "upload:start", "upload:end", "download:start", "download:end", "end"):
        recorded.qdisc(name, "server-eth0").update(kind="noqueue", packets=0)
    assert violations(recorded, tmp_path) == ()


def test_a_frame_that_vanished_in_a_module(tmp_path: Path) -> None:
    """What a module took in at one port it sent, dropped or holds at the other."""
    recorded = recording()
    recorded.qdisc("end", "module-line")["drops"] -= 1
    (violation,) = violations(recorded, tmp_path)
    assert violation.name == "law.module"
    assert violation.explanation == (
        "module: 220 000 frames entered by module.host; at module.line 219 841 were sent, "
        f"{DROPPED - 1} dropped and 0 wait"
    )


def test_a_module_invents_no_frames_towards_its_switch(tmp_path: Path) -> None:
    """The law holds in both directions."""
    recorded = recording()
    for stat in ("rx_frames", "rx_wire_frames"):
        recorded.stats("end", "module-line")[stat] -= 1
    recorded.stats("end", "client-eth0")["tx_frames"] -= 1
    recorded.qdisc("end", "client-eth0")["packets"] -= 1
    (violation,) = violations(recorded, tmp_path)
    assert violation.name == "law.module"


def test_a_buffer_larger_than_itself(tmp_path: Path) -> None:
    """A packet buffer never holds more bytes than it has."""
    recorded = recording()
    recorded.stats("end", "switch-p1")["buffer_high_water_bytes"] = 1_569_793
    assert names(violations(recorded, tmp_path)) == {"buffer"}


def test_a_buffer_beyond_its_headroom(tmp_path: Path) -> None:
    """With PAUSE on, XOFF and what was under way then is all that a buffer may ever hold."""
    the_plan = with_pause(xoff_bytes=20_000)
    allowed = 20_000 + headroom_bytes(flow_path(the_plan, the_plan.flows[1])[0])
    recorded = recording(dropped=0)
    recorded.stats("end", "switch-p1")["buffer_high_water_bytes"] = allowed
    assert violations(recorded, tmp_path / "a", the_plan) == ()
    recorded.stats("end", "switch-p1")["buffer_high_water_bytes"] = allowed + 1
    assert names(violations(recorded, tmp_path / "b", the_plan)) == {"buffer"}
    assert violations(recorded, tmp_path / "c", with_ports(the_plan, "server-eth0", pause_rx=False)) == ()


def test_a_buffer_that_overflowed_in_spite_of_pause(tmp_path: Path) -> None:
    """With PAUSE on at both ends and room for the headroom, nothing is lost for want of buffer."""
    assert violations(dropped_by_buffer(), tmp_path / "off") == ()
    (violation,) = violations(dropped_by_buffer(), tmp_path / "on", with_pause())
    assert violation.name == "law.lossless"
    assert violation.explanation == (
        "server to switch.p1: PAUSE is on at both ends, but frames found the packet buffer full: 1"
    )


def unread(recorded: Recording, *port_names: str) -> Recording:
    """A PAUSE frame that each of some ports got with a bit error; their peer had sent it."""
    peers = {"server-eth0": "switch-p1", "module-host": "switch-p2", "client-eth0": "module-line"}
    for name in port_names:
        recorded.stats("end", name)["rx_damaged_control_frames"] = 1
        recorded.stats("end", peers[name])["tx_pause_frames"] += 1
    return recorded


def test_who_could_not_read_a_pause_does_not_obey_it(tmp_path: Path) -> None:
    """A buffer behind a PAUSE frame with a bit error may overflow, and so may the queue that it feeds."""
    assert violations(unread(dropped_by_buffer(), "server-eth0"), tmp_path / "buffer", with_pause()) == ()
    deep = with_pause(xoff_bytes=11_000)
    assert violations(unread(recording(), "module-host"), tmp_path / "other", deep) != ()
    recorded = recording(dropped=0)
    recorded.stats("end", "switch-p1")["buffer_high_water_bytes"] = 1_000_000
    assert names(violations(recorded, tmp_path / "high", deep)) == {"buffer"}
    assert violations(unread(recorded, "server-eth0"), tmp_path / "unread", deep) == ()


def test_a_buffer_without_headroom_may_overflow(tmp_path: Path) -> None:
    """XOFF set so high that a frame under way finds no room: hardware drops it too."""
    tight = with_ports(with_pause(), "switch-p1", buffer_bytes=110_000, xoff_bytes=109_000)
    assert violations(dropped_by_buffer(), tmp_path, tight) == ()


def test_a_queue_that_dropped_in_spite_of_pause(tmp_path: Path) -> None:
    """Where every port that feeds a queue is lossless and the queue is deep enough, it drops nothing."""
    deep = with_pause(xoff_bytes=11_000)
    found = violations(recording(), tmp_path / "deep", deep)
    assert names(found) == {"lossless"}
    assert "module.line: every port that feeds its queue has PAUSE on, but the queue dropped frames: 159" in [
        violation.explanation for violation in found
    ]
    assert violations(recording(), tmp_path / "fed", with_ports(deep, "module-host", pause_tx=False)) == ()


def test_a_queue_shorter_than_what_feeds_it_may_drop(tmp_path: Path) -> None:
    """A FIFO that is full before its port says XOFF drops, as on real hardware."""
    short = with_ports(with_pause(xoff_bytes=11_000), "module-line", queue=Queue("bfifo", 8_000))
    assert violations(recording(), tmp_path, short) == ()


def test_a_queue_that_has_a_share_of_what_is_free_may_drop(tmp_path: Path) -> None:
    """However long it may be, others may have taken the memory."""
    share = with_ports(with_pause(xoff_bytes=11_000), "module-line", queue_alpha_128ths=128)
    assert violations(recording(), tmp_path, share) == ()


def test_a_queue_that_drops_before_it_is_full(tmp_path: Path) -> None:
    """CoDel drops what has waited too long, whoever could have been stopped."""
    codel = with_ports(with_pause(xoff_bytes=11_000), "module-line", queue=Queue("fq_codel"))
    assert violations(recording(), tmp_path, codel) == ()


def test_faster_than_the_line(tmp_path: Path) -> None:
    """Payload beyond 1448/1538 of 2.5 Gbit/s cannot have come through that cable."""
    recorded = recording()
    received = recorded.flows["download.server"]["end"]["sum_received"]
    most = int(1448 / 1538 * 2.5e9 * received["seconds"] / 8)
    received["bytes"] = most
    assert violations(recorded, tmp_path / "at") == ()
    received["bytes"] = int(most * 1.0001)
    (violation,) = violations(recorded, tmp_path / "above")
    assert violation.name == "law.ceiling"
    assert violation.explanation == (
        "download: 2.3539 Gbit/s of payload, the path carries at most 2.3537 Gbit/s"
    )
    without = replace(plan(), sysctls={"net.ipv4.tcp_timestamps": "0"})
    assert violations(recorded, tmp_path / "without", without) == ()
