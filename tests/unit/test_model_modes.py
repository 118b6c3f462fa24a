"""Link modes: how they are written, and what a port that negotiates offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from examples import SHIPPED, scenario
from hypothesis import given
from hypothesis import strategies as st

from wirelab.model.experiment import load_file
from wirelab.model.linking import forced_mode, leader, offered_modes
from wirelab.model.modes import MODE_OF, MODES, Mode, parse_mode, parse_modes
from wirelab.model.topology import PortRef

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.model.wiring import Wiring

LINE, SLOT = PortRef("module", "line"), PortRef("module", "host")
UPLINK, CLIENT = PortRef("switch", "p2"), PortRef("client", "eth0")
NO_TRAFFIC = "traffic: []\n"
EXPECT = "expect:\n  client: {link: up}\n"
MBPS = 1_000_000


def wiring(folder: Path, settings: str, topology: str = "sfp-auto") -> Wiring:
    """The wiring of a scenario that only asks for links, with ``settings`` (the inside of ``with: {}``)."""
    head = f"name: example\nsource: {{title: a test}}\ntopology: {topology}\nwith: {{{settings}}}\n"
    path = scenario(folder, head=head, traffic=NO_TRAFFIC, expect=EXPECT)
    return load_file(path, SHIPPED).cases[0].wiring


@given(st.sampled_from(MODES))
def test_a_mode_is_read_as_it_is_printed(mode: Mode) -> None:
    """What a message says can be put into a scenario; the kernel's name leads back as well."""
    assert parse_mode(str(mode)) == mode
    assert MODE_OF[mode.ethtool] == mode


@given(st.lists(st.sampled_from(MODES), min_size=1, unique=True))
def test_modes_are_separated_by_commas(modes: list[Mode]) -> None:
    """In any order, and each once."""
    text = ", ".join(map(str, modes))
    assert parse_modes(text) == tuple(modes)
    assert parse_modes(f"{text}, {modes[0]}") == tuple(modes)


def test_a_range_has_every_mode_in_it() -> None:
    """10 and 100 Mbit/s are in it twice, in half and in full duplex; both ends belong to it."""
    assert parse_modes("100..2500 Mbit/s") == (
        Mode(100 * MBPS, "half"),
        Mode(100 * MBPS),
        Mode(1000 * MBPS),
        Mode(2500 * MBPS),
    )
    assert parse_modes("10 Gbit/s..") == (Mode(10_000 * MBPS), Mode(25_000 * MBPS))


@pytest.mark.parametrize(
    "text", ["1 Gbit/s half", "40 Gbit/s", "half", "100 Mbit/s, 3 Gbit/s", "6..9 Gbit/s"]
)
def test_what_no_port_has_is_refused(text: str) -> None:
    """Half duplex ends at 100 Mbit/s; speeds are those of 802.3."""
    with pytest.raises(ValueError, match=r"\w"):
        parse_modes(text)


def test_a_cable_without_speed_lets_both_ends_negotiate(tmp_path: Path) -> None:
    """Each offers what its part has."""
    wired = wiring(tmp_path, "")
    assert forced_mode(wired, CLIENT) is None
    assert max(offered_modes(wired, CLIENT)).speed_bps == 2500 * MBPS
    assert {mode.speed_bps for mode in offered_modes(wired, UPLINK)} == {1000 * MBPS, 10_000 * MBPS}


def test_a_cable_with_a_speed_forces_both_ends(tmp_path: Path) -> None:
    """As a person does who writes the speed on both sides; `auto` takes it back."""
    wired = wiring(tmp_path, "", "sfp-home")
    assert forced_mode(wired, CLIENT) == forced_mode(wired, LINE) == Mode(2500 * MBPS)
    wired = wiring(tmp_path, "patch.speed: auto", "sfp-home")
    assert forced_mode(wired, CLIENT) is forced_mode(wired, LINE) is None
    wired = wiring(tmp_path, "client.speed: auto", "sfp-home")
    assert forced_mode(wired, CLIENT) is None
    assert forced_mode(wired, LINE) == Mode(2500 * MBPS)


@pytest.mark.parametrize(
    ("settings", "offered"),
    [
        ("client.advertise: 100 Mbit/s half", ["100 Mbit/s half"]),
        ("client.advertise: [100 Mbit/s, 1 Gbit/s]", ["100 Mbit/s", "1 Gbit/s"]),
        ("client.advertise: 1..10 Gbit/s", ["1 Gbit/s", "2.5 Gbit/s"]),
        ("client.duplex: half", ["10 Mbit/s half", "100 Mbit/s half"]),
        ("client.advertise: 10..100 Mbit/s, client.duplex: full", ["10 Mbit/s", "100 Mbit/s"]),
    ],
)
def test_a_port_offers_what_it_has_as_far_as_it_may(
    tmp_path: Path, settings: str, offered: list[str]
) -> None:
    """`advertise` and `duplex` take away from what the card has, they add nothing."""
    wired = wiring(tmp_path, settings)
    assert [str(mode) for mode in offered_modes(wired, CLIENT)] == offered


def test_half_duplex_can_be_forced(tmp_path: Path) -> None:
    """On one end only, if one likes to see what becomes of it."""
    wired = wiring(tmp_path, "client.speed: 100 Mbit/s, client.duplex: half")
    assert forced_mode(wired, CLIENT) == Mode(100 * MBPS, "half")
    assert forced_mode(wired, LINE) is None


def test_a_module_that_matches_rates_is_forced_towards_the_switch(tmp_path: Path) -> None:
    """Its slot side runs at 10G whatever the line has, but only while the line has a link."""
    wired = wiring(tmp_path, "module: asf-10g-t")
    assert forced_mode(wired, SLOT) == Mode(10_000 * MBPS)
    assert leader(wired, SLOT) == LINE
    assert leader(wired, LINE) is leader(wired, UPLINK) is None


def test_a_module_that_follows_its_line_negotiates_towards_the_switch(tmp_path: Path) -> None:
    """Even where the switch is forced: a module takes no settings."""
    wired = wiring(tmp_path, "module: 2g5base-t, switch: sfp-2g5, slot.speed: 2.5 Gbit/s")
    assert forced_mode(wired, SLOT) is None
    assert forced_mode(wired, UPLINK) == Mode(2500 * MBPS)
    assert leader(wired, SLOT) == LINE


def test_where_everything_is_forced_nothing_follows(tmp_path: Path) -> None:
    """There is a link on both sides whatever happens."""
    assert leader(wiring(tmp_path, "", "sfp-home"), SLOT) is None


def test_a_hub_knows_one_mode(tmp_path: Path) -> None:
    """Half duplex at its one speed, and it does not negotiate."""
    head = "name: example\nsource: {title: a test}\ntopology: hub\n"
    path = scenario(tmp_path, head=head, traffic=NO_TRAFFIC, expect="expect:\n  one: {link: up}\n")
    wired = load_file(path, SHIPPED).cases[0].wiring
    assert forced_mode(wired, PortRef("hub", "p1")) == Mode(10 * MBPS, "half")
    assert forced_mode(wired, PortRef("one", "eth0")) is None
