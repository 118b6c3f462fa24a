"""What the rest of the kernel may do with a port: pktgen's buffers, tc's queues, VLANs, time stamps, GRO."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.road import carried_out

if TYPE_CHECKING:
    from tests.lab.rig import Rig


def test_pktgen_does_not_send_one_buffer_twice_at_a_time(rig: Rig) -> None:
    """A port keeps a frame until it has left, and may not be handed the same buffer again meanwhile."""
    output = rig.execute("sh", "pktgen.sh")
    assert (output.stdout.split(), output.code) == (["refused", "100", "100"], 0)


@pytest.mark.parametrize("queue", ["2", "7"])
def test_tc_may_choose_any_queue(rig: Rig, queue: str) -> None:
    """What skbedit puts into a TX queue leaves by it: there are as many queues as the port looks after."""
    counted = rig.script("queue_mapping.py", queue)
    assert counted["p1"]["tx_frames"] == counted["p2"]["rx_frames"] == counted["asked"]


def test_vlan_has_the_offloads_of_its_port(rig: Rig) -> None:
    """TCP hands a VLAN device as large a buffer as its port, which cuts it into frames."""
    measured = rig.script("vlan.py")
    assert measured["on"] == ["scatter-gather", "tx-checksumming", "tcp-segmentation-offload"]
    assert measured["came"] == measured["sent"]
    assert measured["buffers"] < measured["frames"] / 2


def test_hash_of_the_sender_does_not_cross_the_cable(rig: Rig) -> None:
    """What tells flows apart at a switch is in their frames; a number of the sender's kernel is not."""
    counted = rig.script("hash.py")
    assert counted["p1_hashed"] == counted["p1_all"] == counted["p2_all"] > 1
    assert counted["p2_hashed"] == 0


def test_when_the_sender_wanted_it_to_leave_does_not_cross_the_cable(rig: Rig) -> None:
    """SO_TXTIME is between a host and its own queue: fq in a switch knows nothing of it."""
    assert 0 < rig.script("txtime.py")["after_ns"] < 10_000_000


def test_sender_is_told_when_its_frame_was_handed_over(rig: Rig) -> None:
    """SO_TIMESTAMPING by software, which is up to each driver."""
    told = rig.script("timestamp.py")
    assert told["able"]
    assert told["after_ns"] is not None
    assert 0 <= told["after_ns"] < 1_000_000


def test_sender_has_its_pages_back_when_its_frame_has_left(rig: Rig) -> None:
    """However long the cable is, and whenever the other host looks at what came."""
    near, far = (rig.script("zerocopy.py", *of) for of in (("0", "0"), ("25000000", "40000")))
    for told in (near, far):
        assert told["whole"]
        assert told["free_ns"] < 100_000
        assert told["told_ns"] < 100_000


@pytest.mark.parametrize(("longest", "at_once"), [("12000", 8), ("3000", 2)])
def test_no_more_segments_are_joined_than_a_host_is_told(rig: Rig, longest: str, at_once: int) -> None:
    """`gro_max_size`, as the lab sets it for `gro_max_segs`: so many full segments, with one header."""
    assert rig.script("joined.py", longest)["longest"] == 14 + 20 + 32 + at_once * 1448


ACKNOWLEDGED = """
topology: one-switch
with:
  client.flow_control: on
  switch.flow_control: on
  server.flow_control: on
  server.nic: x520
  client.nic: rtl8125
  client.quickack: QUICKACK
  client.gro_max_segs: 2
traffic: [{iperf3: {name: down, from: server, to: client, time: 1 s}}]
expect: {down: {goodput: 2.3..2.38 Gbit/s, retransmits: 0}}
"""


@pytest.mark.parametrize(("quickack", "fewest", "most"), [("on", 0.49, 0.53), ("off", 0.0, 0.25)])
def test_quickack_acknowledges_what_was_joined(rig: Rig, quickack: str, fewest: float, most: float) -> None:
    """Every second segment where two are joined; else, with a grown window, what a program has read.

    Where nothing is lost: behind a loss each segment is acknowledged that comes.
    """
    _, result = carried_out(rig, ACKNOWLEDGED.replace("QUICKACK", quickack))
    client = result.ports["client"]
    assert fewest <= client.tx_frames / client.rx_frames <= most
