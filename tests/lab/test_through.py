"""A module by itself: what comes in by one side leaves by the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig

CABLE_NS = 15
# Each timer of the lab fires on a whole nanosecond, and up to one later.
CLOCK_NS = 3
DOWN = "for port in p2 p3; do ip link set $port down; done"
LEAVE = "echo forward | tee /sys/class/net/p[23]/etherport/role > /dev/null"
TAKE = "echo through | tee /sys/class/net/p[23]/etherport/role > /dev/null"
BRIDGE, FREE = "ip link add br0 type bridge", "ip link set p2 nomaster"
RAISE = "for port in p2 p3; do ip link set $port up; done; sleep 1"


def wire_ns(frame: str) -> float:
    """What a frame takes on a line of 10 Gbit/s, padded to the minimum."""
    return (8 + max(len(bytes.fromhex(frame)), 60) + 4) * 0.8


def test_frames_leave_by_the_other_side_as_they_came(rig: Rig) -> None:
    """In both directions, with a VLAN tag or without, after two lines and two cables."""
    told = rig.script("through.py")
    for port in ("p1", "p4"):
        assert [frame for frame, _ in told["arrived"][port]] == told["sent"]
        for frame, took_ns in told["arrived"][port]:
            assert 0 <= took_ns - 2 * (wire_ns(frame) + CABLE_NS) <= CLOCK_NS
    assert (told["p2"]["rx_frames"], told["p2"]["tx_frames"]) == (len(told["sent"]), len(told["sent"]))
    assert (told["p2"]["buffer_bytes"], told["no_handler"]) == (0, 0)


def test_a_tap_sees_each_frame_and_delays_none(rig: Rig) -> None:
    """A packet socket gets what comes before it goes on, and what leaves."""
    plain, tapped = (rig.script("through.py", *words) for words in ((), ("tap",)))
    assert tapped["arrived"] == plain["arrived"]
    there, back = ([[frame, outgoing] for frame in plain["sent"]] for outgoing in (False, True))
    assert tapped["tapped"] == {"p2": there + back, "p3": back + there}


def test_a_filter_comes_first(rig: Rig) -> None:
    """What tc drops on its way in does not leave; the other direction does."""
    told = rig.script(
        "through.py", "tc qdisc add dev p2 clsact; tc filter add dev p2 ingress matchall action drop"
    )
    assert told["arrived"]["p4"] == []
    assert [frame for frame, _ in told["arrived"]["p1"]] == told["sent"]


@pytest.mark.parametrize(
    "command", ["ip link set p3 down; echo host > /sys/class/net/p3/etherport/role", "ip link del p3"]
)
def test_a_side_alone_passes_nothing_on(rig: Rig, command: str) -> None:
    """What comes is counted as for nobody, and holds no memory."""
    told = rig.script("through.py", command)
    assert told["arrived"]["p4"] == []
    assert told["no_handler"] == told["p2"]["rx_frames"] == len(told["sent"])
    assert told["p2"]["buffer_bytes"] == 0


@pytest.mark.parametrize(
    "command",
    [
        f"{BRIDGE}; ip link set p2 master br0 && exit 1 || :",
        f"{DOWN}; {LEAVE}; {BRIDGE}; ip link set p2 master br0; {TAKE} && exit 1; {FREE}; {TAKE}; {RAISE}",
    ],
)
def test_a_port_has_one_who_passes_its_frames_on(rig: Rig, command: str) -> None:
    """A bridge gets no side of a module, and a bridge's port does not become one before it is free."""
    told = rig.script("through.py", command)
    assert [frame for frame, _ in told["arrived"]["p4"]] == told["sent"]


def test_another_role_ends_it(rig: Rig) -> None:
    """A port that is a bridge's passes on what the bridge passes on: with none, nothing."""
    told = rig.script("through.py", f"{DOWN}; {LEAVE}; {RAISE}")
    assert told["arrived"] == {"p1": [], "p4": []}
