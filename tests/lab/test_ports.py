"""Ports as devices: made, plugged, refused, deleted, as `ip` and `ethtool` do it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig

PAIR = "ip link add name p1 type etherport; ip link add link p1 name p2 type etherport; "
UP = "ip link set p1 up; ip link set p2 up; "


def test_link_needs_the_same_speed_at_both_ends(rig: Rig) -> None:
    """Two ends forced to different speeds have no carrier; at the same speed they do."""
    slow, fast = (
        "ethtool -s p1 speed 2500 duplex full autoneg off; ",
        "ethtool -s p2 speed 2500 duplex full autoneg off; ",
    )
    carrier = "sleep 2; cat /sys/class/net/p1/carrier; "
    output = rig.execute(
        "sh", "-c", PAIR + UP + slow + carrier + fast + carrier + "ip link del p2; " + carrier
    )
    assert output.stdout.split() == ["0", "1", "0"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("ip link add link p1 name p3 type etherport", "the other end has a cable already"),
        ("ip link add link lo name p3 type etherport", "the other end of the cable is not an etherport"),
        ("ip link add name p3 address 01:00:00:00:00:01 type etherport", "Cannot assign requested address"),
        ("ip link add name p3 numtxqueues 4 type etherport", "a port has 1 TX queue, or 8"),
        ("ip link add name p3 numtxqueues 16 type etherport", "a port has 1 TX queue, or 8"),
        ("ip link set p1 mtu 9217", "mtu greater than device maximum"),
        ("ethtool -s p1 speed 3000", "Invalid argument"),
        ("ethtool -G p1 rx 0", "Invalid argument"),
        ("echo 0 > /sys/class/net/p1/etherport/pause_quanta", "Invalid argument"),
        ("echo sixteen-letters-x > /sys/class/net/p1/etherport/follow", "Invalid argument"),
        ("echo switch > /sys/class/net/p1/etherport/role", "Invalid argument"),
    ],
)
def test_what_no_hardware_can_do_is_refused(rig: Rig, command: str, message: str) -> None:
    """A setting that is not possible fails with a word on why, and nothing changes."""
    output = rig.execute("bash", "-c", PAIR + command)
    assert output.code != 0
    assert message in output.stderr


def test_a_port_begins_without_carrier(rig: Rig) -> None:
    """A new port has no carrier, so the first carrier change is the link coming up."""
    command = "cat /sys/class/net/p1/carrier_changes; "
    output = rig.execute("sh", "-c", PAIR + command + UP + "sleep 2; " + command)
    assert output.stdout.split() == ["0", "1"]


def test_settings_are_read_back_by_the_tools_that_set_them(rig: Rig) -> None:
    """What `ethtool -A -C -G` set is what `-a -c -g` show, with the PAUSE frames beside it (`-I`)."""
    set_ = "ethtool -A p1 rx off tx on; ethtool -C p1 rx-usecs 50 rx-frames 10; ethtool -G p1 rx 100 tx 20; "
    output = rig.execute("sh", "-c", PAIR + set_ + "ethtool -I -a p1; ethtool -c p1; ethtool -g p1")
    shown = [" ".join(line.split()) for line in output.stdout.splitlines()]
    for line in (
        "RX: off",
        "TX: on",
        "tx_pause_frames: 0",
        "rx-usecs: 50",
        "rx-frames: 10",
        "RX: 100",
        "TX: 20",
    ):
        assert line in shown


@pytest.mark.parametrize("name", ["p2", "fifteen-letters"])
def test_a_port_follows_one_with_any_name(rig: Rig, name: str) -> None:
    """A name has up to 15 characters; the newline that a shell appends does not count."""
    command = f"ip link add name {name} type etherport; cd /sys/class/net/p1/etherport; echo {name} >follow; "
    output = rig.execute("bash", "-ec", "ip link add name p1 type etherport; " + command + "cat follow")
    assert (output.stdout, output.stderr) == (f"{name}\n", "")


def test_port_is_deleted_while_its_settings_are_written(rig: Rig) -> None:
    """Who deletes a port waits for who writes to it, and so who writes may not wait for who deletes."""
    output = rig.execute("python3", "-B", "delete_busy.py", wall_limit_s=60)
    assert (output.stdout, output.stderr, output.code) == ("10\n", "", 0)


@pytest.mark.parametrize("port", ["pa", "pb"])
def test_port_is_deleted_under_traffic(rig: Rig, port: str) -> None:
    """A switch port that goes while frames charged to it wait elsewhere harms nobody and is gone."""
    output = rig.execute("sh", "unplug.sh", port)
    assert output.code == 0, output.stderr
    charged = re.search(r"buffer_bytes: (\d+)", output.stdout)
    assert charged
    assert int(charged[1]) > 0
    assert f'Device "{port}" does not exist.' in output.stdout
    assert output.stdout.rstrip().endswith("\n0")
