"""Autonegotiation: what two ports agree on, by IEEE 802.3 clause 28 and Annex 28B."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig

PAIR = "ip link add name p1 type etherport; ip link add link p1 name p2 type etherport; "
UP = "ip link set p1 up; ip link set p2 up; "
SHOW = "for p in p1 p2; do ethtool $p | grep -E 'Speed|Duplex|Link detected'; done"
NO_LINK = "Unknown! Unknown! (255) no"


def state(stdout: str) -> list[str]:
    """Of each port its speed, duplex and link, as ethtool words them."""
    words = re.findall(r"(?:Speed|Duplex|Link detected): (.*)", stdout)
    return [" ".join(words[start : start + 3]) for start in range(0, len(words), 3)]


M10H, M10F, M100H, M100F, M1000F = 0x001, 0x002, 0x004, 0x008, 0x020
M2500F, M5000F, M10000F = 1 << 47, 1 << 48, 1 << 12


def auto(*bits: int) -> str:
    """Autonegotiation with these modes on offer."""
    return f"autoneg on advertise {sum(bits):#x}"


def forced(speed_mbps: int, duplex: str = "full") -> str:
    """One mode and no negotiation."""
    return f"autoneg off speed {speed_mbps} duplex {duplex}"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (auto(M100F, M1000F), auto(M100F, M1000F), ["1000Mb/s Full yes"] * 2),
        (auto(M1000F, M2500F, M5000F, M10000F), auto(M1000F, M2500F), ["2500Mb/s Full yes"] * 2),
        (auto(M10H, M10F, M100H), auto(M10H, M10F, M100H), ["100Mb/s Half yes"] * 2),
        (auto(M10H, M10F), auto(M10H, M10F, M100F), ["10Mb/s Full yes"] * 2),
        (auto(M1000F, M10000F), auto(M2500F, M5000F), [NO_LINK] * 2),
        (auto(M100H), auto(M100F), [NO_LINK] * 2),
        (auto(M10H, M10F, M100H, M100F), forced(100), ["100Mb/s Half yes", "100Mb/s Full yes"]),
        (forced(10, "half"), auto(M10H, M10F, M100H, M100F), ["10Mb/s Half yes"] * 2),
        (auto(M100F, M1000F), forced(100), [NO_LINK, "100Mb/s Full no"]),
        (auto(M1000F), forced(1000), [NO_LINK, "1000Mb/s Full no"]),
        (forced(100), forced(100, "half"), ["100Mb/s Full yes", "100Mb/s Half yes"]),
        (forced(1000), forced(100), ["1000Mb/s Full no", "100Mb/s Full no"]),
    ],
    ids=[
        "best common",
        "2.5G between 10G and 2.5G",
        "100 half is better than 10 full",
        "10 full is better than 10 half",
        "nothing in common",
        "same speed, other duplex",
        "parallel detection takes half: duplex mismatch",
        "parallel detection of half",
        "parallel detection without half on offer",
        "no parallel detection at 1000",
        "forced mismatch of duplex",
        "forced mismatch of speed",
    ],
)
def test_ends_agree_by_the_standard(rig: Rig, one: str, other: str, expected: list[str]) -> None:
    """The best common mode, parallel detection where one end is forced, or no link."""
    set_ = f"ethtool -s p1 {one} && ethtool -s p2 {other} && "
    output = rig.execute("sh", "-c", PAIR + set_ + UP + SHOW)
    assert output.code == 0, output.stderr
    assert state(output.stdout) == expected


@pytest.mark.parametrize(
    "setting",
    ["autoneg off speed 1000 duplex half", "autoneg off speed 2500 duplex half", "autoneg on advertise 0x10"],
)
def test_a_mode_that_no_port_has_is_refused(rig: Rig, setting: str) -> None:
    """Half duplex is for 10 and 100 Mbit/s; a port that would offer nothing is refused."""
    output = rig.execute("sh", "-c", PAIR + f"ethtool -s p1 {setting}")
    assert output.code != 0
    assert "Invalid argument" in output.stderr


# IEEE 802.3 Table 28B-3, in words of rx and tx: what each end asks for, what holds at each.
PAUSE_CASES = [
    ("rx off tx off", "rx on tx on", "0 0", "0 0"),
    ("rx on tx on", "rx on tx on", "1 1", "1 1"),
    ("rx on tx off", "rx on tx on", "1 1", "1 1"),
    ("rx off tx on", "rx on tx on", "0 0", "0 0"),
    ("rx off tx on", "rx on tx off", "0 1", "1 0"),
    ("rx off tx on", "rx off tx on", "0 0", "0 0"),
]


@pytest.mark.parametrize(("one", "other", "one_holds", "other_holds"), PAUSE_CASES)
def test_pause_is_negotiated(rig: Rig, one: str, other: str, one_holds: str, other_holds: str) -> None:
    """Two bits say who may pause whom: symmetric and towards the partner (Table 28B-3)."""
    set_ = (
        "ethtool -s p1 autoneg on && ethtool -s p2 autoneg on && "
        f"ethtool -A p1 autoneg on {one}; ethtool -A p2 autoneg on {other}; "
    )
    show = "for p in p1 p2; do ethtool -S $p | grep -oE 'pause_.x_active: .'; done"
    output = rig.execute("sh", "-c", PAIR + set_ + UP + show)
    held = re.findall(r": (.)", output.stdout)
    assert [" ".join(held[:2]), " ".join(held[2:])] == [one_holds, other_holds]


def test_pause_that_is_not_negotiated_holds_as_asked(rig: Rig) -> None:
    """`ethtool -A autoneg off` is for partners that cannot say what they want."""
    set_ = "ethtool -A p1 autoneg off rx off tx on; ethtool -A p2 autoneg off rx off tx off; "
    show = "ethtool -S p1 | grep -oE 'pause_.x_active: .'"
    output = rig.execute("sh", "-c", PAIR + set_ + UP + show)
    assert re.findall(r": (.)", output.stdout) == ["0", "1"]


def test_half_duplex_has_no_pause(rig: Rig) -> None:
    """MAC control frames are for full duplex only (clause 31.1)."""
    half = (
        "ethtool -s p1 autoneg off speed 100 duplex half; ethtool -s p2 autoneg off speed 100 duplex half; "
    )
    show = "ethtool -S p1 | grep -oE 'pause_.x_active: .'"
    output = rig.execute("sh", "-c", PAIR + half + "ethtool -A p1 rx on tx on; " + UP + show)
    assert re.findall(r": (.)", output.stdout) == ["0", "0"]


# A switch's cage p1, and a module of two ports: p2 in the cage, p3 with the line to p4.
MODULE = (
    PAIR
    + "ip link add name p3 type etherport; ip link add link p3 name p4 type etherport; "
    + "echo p3 > /sys/class/net/p2/etherport/follow; "
)
ALL_UP = "for p in p1 p2 p3 p4; do ip link set $p up; done; "
ALL_SHOW = "for p in p1 p2 p3 p4; do ethtool $p | grep -E 'Speed|Duplex|Link detected'; done"


@pytest.mark.parametrize(
    ("cage", "host", "line", "client", "expected"),
    [
        (auto(M1000F, M10000F), forced(10000), auto(M2500F, M10000F), auto(M2500F), "10000 10000 2500 2500"),
        (forced(10000), forced(10000), auto(M2500F, M10000F), auto(M2500F), "10000 10000 2500 2500"),
        (auto(M1000F, M2500F, M10000F), auto(M2500F, M10000F), auto(M2500F), auto(M2500F), "2500 " * 4),
        (auto(M1000F, M10000F), auto(M2500F, M10000F), auto(M2500F), auto(M2500F), "- - 2500 2500"),
        (forced(10000), forced(10000), auto(M2500F, M10000F), auto(M1000F), "- - - -"),
    ],
    ids=[
        "rate matching, cage auto",
        "rate matching, cage forced",
        "the cage knows the speed of the line",
        "the cage does not",
        "no line, no signal in the cage",
    ],
)
def test_a_module_follows_its_line(  # noqa: PLR0913, PLR0917 - four ports and what they come to
    rig: Rig, cage: str, host: str, line: str, client: str, expected: str
) -> None:
    """The slot has a link only while the line has one, at its speed unless the module matches rates."""
    ports = zip(("p1", "p2", "p3", "p4"), (cage, host, line, client), strict=True)
    set_ = " && ".join(f"ethtool -s {port} {mode}" for port, mode in ports) + " && "
    output = rig.execute("sh", "-c", MODULE + set_ + ALL_UP + ALL_SHOW)
    assert output.code == 0, output.stderr
    speeds = [word.partition("Mb/s")[0] if word.endswith("yes") else "-" for word in state(output.stdout)]
    assert speeds == expected.split()
