"""Wiring: which of several settings holds, and what the parts say without any."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from examples import ROOT, SHIPPED, experiment

from wirelab.model.modes import Mode
from wirelab.model.setting_table import Owner, SettingKind, settings_of
from wirelab.model.settings import read_value
from wirelab.model.topology import PortRef
from wirelab.model.trace_file import Traces
from wirelab.plan.build import build_plan
from wirelab.plan.path import crossing_ns, path

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan, Port


def _plan(folder: Path, settings: str) -> Plan:
    loaded = experiment(folder, settings=settings)
    return build_plan(loaded, loaded.cases[0], 1)


def _port(folder: Path, settings: str, name: str) -> Port:
    return _plan(folder, settings).port(name)


@pytest.mark.parametrize("owner", get_args(Owner))
def test_the_table_of_settings_is_sound(owner: str) -> None:
    """Every owner has settings, and of each the example can be read; what sets a limit is said."""
    settings = settings_of(owner)
    assert settings
    parts, traces = SHIPPED.parts(), Traces(ROOT / "scenarios")
    for setting in settings.values():
        if setting.kind == "trace":
            assert traces.of(setting.example).instants()
        else:
            assert read_value(setting.example.strip("[]"), setting, parts) is not None
        assert (setting.most is None) == (not setting.reason)


def test_a_broken_table_of_settings_is_refused() -> None:
    """An owner that there is not, or a key that no setting has, never becomes a setting that is ignored."""
    good = settings_of("host")["rx_usecs"].model_dump()
    for key, value in (("owners", ["printer"]), ("limit", 1), ("text", None)):
        with pytest.raises(ValueError, match=key):
            SettingKind.model_validate({**good, key: value})


@pytest.mark.parametrize(
    ("settings", "moderation"),
    [
        ("", ("first", "none", 78, 0)),
        ("client.rx_usecs: 50 us", ("first", "none", 50, 0)),
        ("client: ubuntu20, client.nic: rtl8125", ("first", "none", 0, 1)),
        ("client: windows10-rtl8125", ("first", "none", 78, 0)),
        ("client: ubuntu20, client.nic: x550", ("interval", "ixgbe", 0, 0)),
        ("client.nic: x550, client.rx_usecs: 20 us", ("interval", "none", 20, 0)),
    ],
)
def test_moderation_is_the_drivers(
    tmp_path: Path, settings: str, moderation: tuple[str, str, int, int]
) -> None:
    """A setting comes first, then what the system's own driver does with the card, then Linux's driver."""
    port = _port(tmp_path, settings, "client-eth0")
    assert (port.rx_moderation, port.rx_adaptive, port.rx_usecs, port.napi_defer_hard_irqs) == moderation


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("", (0, 0, False)),
        ("server.nic: aqc107, server.tx_usecs: 50 us, server.tx_frames: 32", (50, 32, False)),
        ("server.nic: x550", (0, 0, False)),
        ("server.nic: connectx-5", (0, 0, True)),
        ("server.nic: connectx-5, server.tx_usecs: 16 us", (16, 0, False)),
        ("server.nic: connectx-5, server.rx_usecs: 16 us", (0, 0, False)),
    ],
)
def test_a_sender_is_told_as_its_card_does(
    tmp_path: Path, settings: str, told: tuple[int, int, bool]
) -> None:
    """At once unless somebody says so; DIM adapts both directions, and an interval is for both."""
    port = _port(tmp_path, settings, "server-eth0")
    assert (port.tx_usecs, port.tx_frames, port.tx_adaptive) == told


@pytest.mark.parametrize(
    ("settings", "joined"),
    [
        ("", (True, 2 * 1500)),
        ("client: windows10-aqc107", (True, 65_536)),
        ("client: ubuntu20, client.nic: x550", (True, None)),
        ("client: ubuntu20, client.nic: x550, client.gro: off", (False, None)),
        ("client.gro: off", (False, 2 * 1500)),
    ],
)
def test_as_many_segments_are_joined_as_the_system_acknowledges(
    tmp_path: Path, settings: str, joined: tuple[bool, int | None]
) -> None:
    """Linux joins what comes in together, Windows acknowledges every second one unless its card has RSC."""
    port = _port(tmp_path, settings, "client-eth0")
    assert (port.gro, port.gro_max_bytes) == joined


def test_a_new_host_brings_its_own_card(tmp_path: Path) -> None:
    """Replacing a host replaces its card, unless the scenario names one."""
    plan = _plan(tmp_path, "server: windows10-rtl8125, server.nic: x520")
    assert [(host.part, host.nic) for host in plan.hosts] == [
        ("windows10-rtl8125", "x520"),
        ("windows10-rtl8125", "rtl8125"),
    ]
    assert plan.port("server-eth0").rx_adaptive == "ixgbe"


@pytest.mark.parametrize(
    ("settings", "mtu"),
    [
        ("", 1500),
        ("network.mtu: 1400 B", 1400),
        ("network.mtu: 1400 B, module.mtu: 1300 B", 1300),
        ("network.mtu: 1400 B, module.mtu: 1300 B, module.line.mtu: 1200 B", 1200),
    ],
)
def test_what_is_said_nearest_to_a_port_holds(tmp_path: Path, settings: str, mtu: int) -> None:
    """Port before node before network, in whatever order they are written."""
    assert _port(tmp_path, settings, "module-line").mtu_bytes == mtu


@pytest.mark.parametrize(
    ("settings", "rx", "tx"),
    [
        ("switch.flow_control: on", True, True),
        ("switch.flow_control: on, switch.p2.pause_tx: off", True, False),
        ("switch.pause_rx: on", True, False),
        ("switch.flow_control: on, switch.p2.flow_control: off", False, False),
        ("", False, False),
    ],
)
def test_flow_control_is_both_directions_unless_one_is_named(
    tmp_path: Path,
    settings: str,
    rx: bool,  # noqa: FBT001 - a case of a table
    tx: bool,  # noqa: FBT001 - a case of a table
) -> None:
    """`flow_control` sets both, `pause_rx` and `pause_tx` one each."""
    port = _port(tmp_path, settings, "switch-p2")
    assert (port.pause_rx, port.pause_tx) == (rx, tx)


def test_a_host_obeys_pause_unless_told_otherwise(tmp_path: Path) -> None:
    """Cards and drivers have flow control on by default; switches have not."""
    assert _port(tmp_path, "", "server-eth0").pause_rx
    assert not _port(tmp_path, "server.flow_control: off", "server-eth0").pause_rx
    assert not _port(tmp_path, "", "switch-p1").pause_rx


def test_a_cable_setting_is_about_both_ends(tmp_path: Path) -> None:
    """Speed, length or delay, and loss of a cable."""
    plan = _plan(tmp_path, "patch.speed: 1 Gbit/s, patch.length: 100 m, patch.loss: 0.1 %")
    ends = [plan.port("module-line"), plan.port("client-eth0")]
    assert [port.speed_bps for port in ends] == [10**9, 10**9]
    assert [port.netem and port.netem.loss_ratio for port in ends] == [0.001, 0.001]
    assert plan.cables[2].delay_ns == 500


@pytest.mark.parametrize(
    ("settings", "module", "client"),
    [
        ("", 0, 0),
        ("patch.bit_error_rate: 1e-9", 10**9, 10**9),
        ("patch.bit_error_rate: 1e-9, client.bit_error_rate: 0", 10**9, 0),
        ("module.line.bit_error_rate: 0.000003", 333_333, 0),
    ],
)
def test_bit_errors_are_of_a_cable_or_of_an_end(
    tmp_path: Path, settings: str, module: int, client: int
) -> None:
    """A cable's hold at both ends, what is said of an end comes before them."""
    plan = _plan(tmp_path, settings)
    assert plan.port("module-line").bits_per_error == module
    assert plan.port("client-eth0").bits_per_error == client


@pytest.mark.parametrize(
    ("settings", "phys_ns"),
    [
        ("", 0),
        ("client.nic: i225", 2810 // 2),
        ("client.nic: i225, client.phy_latency: 1 us", 500),
        ("client.nic: i225, module.line.phy_latency: 1 us", (2810 + 1000) // 2),
        ("client.nic: i225, patch.speed: 1 Gbit/s", 380 // 2),
        ("client.nic: i225, patch.speed: auto, client.advertise: 100..1000 Mbit/s", 380 // 2),
        ("client.nic: i225, patch.speed: auto, client.duplex: half", 0),
    ],
)
def test_a_bit_takes_its_time_through_phys(tmp_path: Path, settings: str, phys_ns: int) -> None:
    """Of each end half of what its PHY takes at the speed of the link; nothing where there is none."""
    cable = _plan(tmp_path, settings).cables[2]
    assert (cable.phys_ns, cable.delay_ns) == (phys_ns, 15 + phys_ns)


def test_half_duplex_has_room_for_phys(tmp_path: Path) -> None:
    """A part's latency is that of full duplex; the slot time of half duplex has it already."""
    wiring = experiment(tmp_path, settings="client.nic: i225").cases[0].wiring
    modes = (Mode(100_000_000), Mode(100_000_000, "half"))
    assert [wiring.phy_latency_ns(PortRef("client", "eth0"), mode) for mode in modes] == [243, 0]


@pytest.mark.parametrize(
    ("settings", "times_ms"),
    [
        ("patch.speed: auto", (4000, 4000)),
        ("patch.speed: auto, client.autoneg_time: 1.5 s", (4000, 1500)),
        ("patch.speed: auto, module.line.autoneg_time: 100 ms, client.autoneg_time: 0 ms", (100, 0)),
        ("", (0, 0)),
    ],
)
def test_who_negotiates_takes_his_time(tmp_path: Path, settings: str, times_ms: tuple[int, int]) -> None:
    """What a setting says, else the part, else none; who is forced takes none."""
    plan = _plan(tmp_path, f"client.nic: i225{settings and ', '}{settings}")
    assert tuple(plan.port(name).autoneg_ms for name in ("module-line", "client-eth0")) == times_ms


def test_a_switch_passes_on_later(tmp_path: Path) -> None:
    """At each of its ports; what is on its way takes room in a memory that they share."""
    plan = _plan(tmp_path, "switch.forward_latency: 2 us")
    assert {port.forward_latency_ns for port in plan.ports if port.node == "switch"} == {2000}
    assert {port.forward_latency_ns for port in plan.ports if port.node != "switch"} == {0}
    plain = _plan(tmp_path, "")
    later_ns, sooner_ns = (crossing_ns(path(the_plan, "server", "client")) for the_plan in (plan, plain))
    assert later_ns - sooner_ns == 2000


def test_the_later_of_length_and_delay_holds(tmp_path: Path) -> None:
    """Both say how far apart two ports are: a control's one replaces the scenario's other."""
    rest = "controls:\n  - {with: {patch.delay: 5 ms}, breaks: download.goodput}\n"
    rest += "  - {with: {patch.length: 2 m}, breaks: download.goodput}\n"
    loaded = experiment(tmp_path, settings="patch.length: 100 m", rest=rest)
    delays = [build_plan(loaded, case, 1).cables[2].delay_ns for case in loaded.cases]
    assert delays == [500, 5_000_000, 10]
    rest = "controls:\n  - {with: {patch.length: 2 m}, breaks: download.goodput}\n"
    loaded = experiment(tmp_path, settings="patch.delay: 5 ms", rest=rest)
    assert [build_plan(loaded, case, 1).cables[2].delay_ns for case in loaded.cases] == [5_000_000, 10]


def test_a_module_nobody_listens_to_holds_less(tmp_path: Path) -> None:
    """The fitted FIFO where PAUSE is sent and not heeded, the datasheet's where it is, or if asked for."""

    def limit(settings: str) -> int | None:
        queue = _port(tmp_path, f"module: aqr113c{settings}", "module-line").queue
        assert queue is not None
        return queue.limit_bytes

    assert limit("") == 20 * 1024
    assert limit(", switch.flow_control: on") == 64 * 1024
    assert limit(", switch.flow_control: on, switch.p2.pause_rx: off") == 20 * 1024
    assert limit(", module.fifo: 64 KiB") == 64 * 1024
