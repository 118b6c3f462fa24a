"""Each frame is counted once by each end that has seen it, whatever becomes of the link meanwhile."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig

COUNT = 5

# A frame takes 1230 us: three of five have left, and the fourth is half way out.
HALF_WAY_US = 4300
ALL_ON_CABLE_US = 50_000


def dropped(port: dict[str, int], direction: str) -> int:
    """What a port dropped, whatever the cause."""
    return sum(number for name, number in port.items() if name.startswith(f"{direction}_dropped_"))


@pytest.mark.parametrize("at_us", [HALF_WAY_US, ALL_ON_CABLE_US])
@pytest.mark.parametrize("end", ["p1", "p2"])
def test_no_frame_is_forgotten_when_a_port_is_set_down(rig: Rig, end: str, at_us: int) -> None:
    """What is in the ring is dropped, and counted, with the port; what is on the cable arrives."""
    counted = rig.script("link_down.py", f"set {end} down", str(at_us))
    p1, p2 = counted["p1"], counted["p2"]
    assert p1["tx_frames"] + dropped(p1, "tx") + p1["tx_ring_frames"] == COUNT
    assert 0 < p1["tx_frames"] == p2["rx_wire_frames"] == p2["rx_frames"] + dropped(p2, "rx")
    assert (p1["tx_frames"] == COUNT) == (at_us == ALL_ON_CABLE_US)
    assert dropped(p2, "rx") == (p1["tx_frames"] if end == "p2" else 0)


@pytest.mark.parametrize("at_us", [HALF_WAY_US, ALL_ON_CABLE_US])
def test_no_frame_is_forgotten_when_the_cable_is_pulled(rig: Rig, at_us: int) -> None:
    """What is on the cable then is lost, and who sent it counts that."""
    p1 = rig.script("link_down.py", "del p2", str(at_us))["p1"]
    assert p1["tx_frames"] + dropped(p1, "tx") + p1["tx_ring_frames"] == COUNT
    assert 0 < p1["tx_frames"] == p1["tx_lost_frames"]
    assert (p1["tx_frames"] == COUNT) == (at_us == ALL_ON_CABLE_US)


def test_frame_that_ends_a_pause_of_its_own_port_is_counted(rig: Rig) -> None:
    """A frame leaves by the port it came by, and the room that it gives back there is an XON to send."""
    counted = rig.script("hairpin.py")
    p1, p2 = counted["p1"], counted["p2"]
    assert p2["tx_pause_frames"] == p1["rx_pause_frames"] > 2
    assert p1["tx_frames"] == p2["rx_frames"] == counted["sent"]
    assert p2["tx_frames"] == p1["rx_wire_frames"] == counted["sent"]
    assert counted["inflight"] == 0


@pytest.mark.parametrize("address", ["reserved", "0200000000ee"])
@pytest.mark.parametrize(
    ("opcode", "names"),
    [
        (0x0001, ("tx_pause_frames", "rx_pause_frames")),
        (0x0101, ("tx_pfc_frames", "rx_pfc_frames")),
        (0x0002, ("tx_unknown_control_frames", "UnsupportedOpcodesReceived")),
    ],
)
@pytest.mark.parametrize("length", [18, 60])
def test_both_ends_count_a_control_frame_in_the_same_way(
    rig: Rig, address: str, opcode: int, names: tuple[str, str], length: int
) -> None:
    """Whoever made it, and whether it is obeyed: by its opcode, and never as a frame of data."""
    counted = rig.script("inject.py", address, str(opcode), str(length))
    sender, receiver, sent = counted["p2"], counted["p1"], counted["sent"]
    assert (sender[names[0]], receiver[names[1]], sender["tx_injected_frames"]) == (sent, sent, sent)
    assert sender["tx_frames"] == receiver["rx_wire_frames"] == counted["tx_packets"] == 0


# The least length of an RMON range (RFC 2819, with FCS): the frames at its two edges, without FCS.
EDGES = {0: (14, 60), 65: (61, 123), 128: (124, 251), 256: (252, 507), 512: (508, 1019)}
LENGTHS = {
    length: low
    for low, lengths in (EDGES | {1024: (1020, 1514), 1519: (1515, 9014)}).items()
    for length in lengths
}
HEADER, SHORTEST = 14, 60


def test_standard_statistics_know_every_frame(rig: Rig) -> None:
    """`ethtool -S --groups`: by length, data and control, what is too long, octets without header."""
    counted = rig.script("standard.py", *map(str, LENGTHS))
    sender, receiver = counted["p1"], counted["p2"]
    ranges = Counter(LENGTHS.values()) + Counter({0: 1})  # the PAUSE frame
    for low in set(LENGTHS.values()):
        assert sender[f"tx_{low}"] == receiver[f"rx_{low}"] == ranges[low]
    octets = [max(length, SHORTEST) - HEADER for length in LENGTHS]
    assert sender["FramesTransmittedOK"] == len(octets)
    assert sender["OctetsTransmittedOK"] == sum(octets)
    assert sender["MACControlFramesTransmitted"] == receiver["MACControlFramesReceived"] == 1
    assert receiver["FrameTooLongErrors"] == receiver["rx_dropped_oversize"] == 1
    assert receiver["FramesReceivedOK"] == len(octets) - 1
    assert receiver["OctetsReceivedOK"] == sum(octets) - max(octets)


def test_ethtool_has_no_second_name_for_a_standard_statistic(rig: Rig) -> None:
    """Frames, bytes, collisions and PAUSE have one name each."""
    output = rig.execute("sh", "-c", "ip link add name p1 type etherport; ethtool -S p1")
    names = {line.partition(":")[0].strip() for line in output.stdout.splitlines()[1:]}
    assert "rx_wire_frames" in names
    standard = {"frames", "bytes", "collisions", "deferred", "pause_frames", "late_collisions"}
    assert not names & {f"{way}_{name}" for way in ("tx", "rx") for name in standard}
