"""When a sender hears that its frames have left: `tx-usecs`, `tx-frames`, an interval of both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wirelab.units import NS_PER_US

if TYPE_CHECKING:
    from tests.lab.rig import Rig

WIRE_NS = 1538 * 8 / 10
"""Of 1514 octets, with what is around it, at 10 Gbit/s."""
CLOCK_NS = 3000
"""What a process is late that looks every microsecond."""
NEVER = None


@pytest.mark.parametrize(
    ("settings", "late_us"),
    [
        ((), 0),
        (("tx-usecs=100",), 100),
        (("tx-usecs=100", "tx-frames=1"), 0),
        (("tx-usecs=0", "tx-frames=2"), NEVER),
        (("rx_moderation=interval", "rx-usecs=62"), 0),
    ],
    ids=str,
)
def test_a_sender_hears_of_a_frame(rig: Rig, settings: tuple[str, ...], late_us: int | None) -> None:
    """So long after it has left: at once by default, and after a pause where an interval counts."""
    told = rig.script("completions.py", "10000", "0", *settings)
    if late_us is NEVER:
        assert told["alone_ns"] is NEVER
    else:
        assert 0 <= told["alone_ns"] - late_us * NS_PER_US - WIRE_NS < CLOCK_NS


def test_so_many_frames_are_told_of_at_once(rig: Rig) -> None:
    """`tx-frames 3`: the third ends the wait of all three."""
    told = rig.script("completions.py", "10000", "6", "tx-usecs=1000000", "tx-frames=3")
    assert told["after_each"] == [True, True, False, True, True, False]


def test_a_full_ring_is_told_of(rig: Rig) -> None:
    """Frames keep their descriptors until then: where no more of them fit, none could come any more."""
    told = rig.script("completions.py", "10000", "4", "tx-usecs=0", "tx-frames=9", "tx=2")
    assert told["after_each"] == [True, False, True, False]


def test_a_received_frame_tells_as_well(rig: Rig) -> None:
    """The vector is one: whichever direction raises it, the host looks at both."""
    told = rig.script("completions.py", "10000", "0", "tx-usecs=1000000")
    assert told["alone_ns"] is NEVER
    assert told["after_received_ns"] < CLOCK_NS + 2 * WIRE_NS


def test_frames_that_have_left_go_by_the_new_rule(rig: Rig) -> None:
    """What is set while a sender waits to hear of a frame holds for that, too."""
    first = "ethtool -C p1 tx-usecs 0 tx-frames 64"
    rules = [
        f"{first} then ethtool -C p1 tx-frames 1",
        f"{first} then ethtool -C p1 tx-usecs 50",
        f"{first} then p1 rx_moderation interval",
    ]
    for rule, told in zip(rules, rig.each("other_rules.py", map(str.split, rules)), strict=True):
        assert told["charged"] == [True, False], rule


def test_a_port_that_goes_down_lets_its_senders_off(rig: Rig) -> None:
    """Or a socket could never be closed."""
    assert not rig.script("completions.py", "10000", "0", "tx-usecs=1000000")["after_down"]


def test_dim_adapts_sending_too(rig: Rig) -> None:
    """By its table for sending, of which it tries more than it begins with."""
    chosen = rig.script("adaptive_tx.py")["chosen"]
    assert chosen[0] == [8, 128]
    assert {usecs for usecs, _ in chosen} <= {1, 8, 32, 64, 128}
    assert len({usecs for usecs, _ in chosen}) > 1


def test_only_dim_adapts_sending(rig: Rig) -> None:
    """Other drivers' algorithms are for an interval, which is for both directions."""
    told = "ip link add p1 type etherport; echo igb >/sys/class/net/p1/etherport/rx_adaptive"
    refused = rig.execute("sh", "-c", f"{told}; ethtool -C p1 adaptive-tx on")
    assert refused.code != 0
    assert "dim" in refused.stderr
