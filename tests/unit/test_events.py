"""Events: from a scenario to what the lab is told, and the laws that know of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from examples import HEAD, SHIPPED, scenario

from wirelab.errors import InputError
from wirelab.model import cases
from wirelab.model.check.wiring import Conflict, wiring_conflicts
from wirelab.model.experiment import load, load_file
from wirelab.model.setting_table import settings_of
from wirelab.plan.build import build_plan
from wirelab.plan.ceiling import ceiling_bps
from wirelab.plan.commands import commands
from wirelab.plan.event import (
    after,
    changed_lines,
    changed_settings,
    ended,
    is_open,
    opened,
    relinked,
    shutting,
    states,
    ways_again,
)
from wirelab.plan.flows import phase_ns
from wirelab.plan.iproute2 import egress
from wirelab.plan.types import Netem, Plan
from wirelab.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wirelab.model.wiring import Wiring

OWNERS = ("host", "firewall", "switch", "module", "hub", "switch port", "module port", "cable", "network")


CHAIN = """
name: chain
drawing: a -- f1 -- f2 -- b
nodes:
  a: {kind: host, part: ubuntu20, nic: x550}
  f1: {kind: firewall, part: linux-router}
  f2: {kind: firewall, part: linux-router}
  b: {kind: host, part: ubuntu20, nic: x550}
cables:
  - {name: c1, between: [a, f1.p1], length: 3 m}
  - {name: c2, between: [f1.p2, f2.p1], length: 3 m}
  - {name: c3, between: [f2.p2, b], length: 3 m}
"""


def _plan(folder: Path, events: str, *, settings: str = "", rest: str = "", case: int = 0) -> Plan:
    head = f"{HEAD}with: {{{settings}}}\nevents:\n" + "".join(
        f"  - {{{event}}}\n" for event in events.split("; ")
    )
    loaded = load_file(scenario(folder, head=head, rest=rest), SHIPPED)
    return build_plan(loaded, loaded.cases[case], 1)


def test_an_event_is_counted_as_the_traffic_is(tmp_path: Path) -> None:
    """Both are shifted by the seed's phase: what is a second after the start of a flow stays so."""
    plan = _plan(tmp_path, "at: 2 s, with: {patch.link: down}")
    assert plan.events[0].at_ns - plan.flows[0].start_ns == NS_PER_S
    assert plan.events[0].at_ns == 2 * NS_PER_S + phase_ns(1)
    assert plan.sample_interval_ns == 10 * NS_PER_MS


def test_a_flap_ends_as_it_began(tmp_path: Path) -> None:
    """With `for` a setting comes back to what it was, with `every` again and again, to the end of each."""
    plan = _plan(tmp_path, "at: 2 s, for: 300 ms, every: 1 s, until: 4500 ms, with: {patch.link: down}")
    shift_ns = phase_ns(1)
    assert [(event.at_ns - shift_ns) // NS_PER_MS for event in plan.events] == [
        *(2000, 2300, 3000, 3300, 4000, 4300)
    ]
    plugged = [state.cable_of("client-eth0").plugged for _, state in states(plan)]
    assert plugged == [True, False, True, False, True, False, True]
    assert ended(plan) == plan
    assert set(relinked(plan)) == {"client-eth0", "module-line"}


def test_a_flap_within_a_change_comes_back_to_that(tmp_path: Path) -> None:
    """What holds after an event is what its predecessors have left, not what the scenario began with."""
    words = "at: 2 s, with: {server.delay: 20 ms}; at: 3 s, for: 1 s, with: {server.delay: 50 ms}"
    plan = _plan(tmp_path, words, settings="server.delay: 5 ms")
    delays = [state.port("server-eth0").netem.delay_ns // NS_PER_MS for _, state in states(plan)]  # type: ignore[union-attr]
    assert delays == [5, 20, 50, 20]


def test_an_event_that_begins_as_another_ends_comes_back_to_the_beginning(tmp_path: Path) -> None:
    """Two that follow each other do not overlap, nor do two that end at once."""
    words = "at: 2 s, for: 1 s, with: {server.delay: 20 ms}; at: 3 s, for: 2 s, with: {server.delay: 50 ms}; "
    words += "at: 4 s, for: 1 s, with: {server.delay: 70 ms}"
    plan = _plan(tmp_path, words, settings="server.delay: 5 ms")
    delays = [state.port("server-eth0").netem.delay_ns // NS_PER_MS for _, state in states(plan)]  # type: ignore[union-attr]
    assert delays == [5, 20, 50, 70, 5]


def test_a_path_that_comes_later_is_there_from_the_beginning(tmp_path: Path) -> None:
    """A qdisc that came into the place of another would lose what waits in that: netem is there, and idle."""
    plan = _plan(tmp_path, "at: 2 s, for: 1 s, with: {server.loss: 1 %}")
    server = plan.port("server-eth0")
    assert server.netem == Netem()
    assert server.gso_max_segs == 1
    (lossy,) = plan.events[0].ports
    assert changed_lines(server, lossy) == [
        "qdisc replace dev server-eth0 root handle 1: netem limit 1000000 loss 1.0000%"
    ]
    assert plan.events[1].ports == (server,)


def test_a_cpu_that_gets_slower_is_there_from_the_beginning(tmp_path: Path) -> None:
    """A port is joined to its CPU while it is down, so it has one that takes no time until then."""
    plan = _plan(tmp_path, "at: 2 s, with: {server.rx_frame: 7 us}", settings="server.rx_frame: 0 us")
    before, after = plan.port("server-eth0").cpu, ended(plan).port("server-eth0").cpu
    assert before is not None
    assert after == replace(before, rx_frame_ns=7000)


def test_nothing_begins_early_that_an_instant_is_said_of(tmp_path: Path) -> None:
    """An item that moved forward would meet another network, and a window another part of it."""
    traffic = "traffic:\n  - copy: {name: a, from: server, to: client, bytes: 1 MB, within: 5 s}\n"
    traffic += "  - ping: {name: download, from: server, to: client, time: 5 s}\n"
    whole, part = "lost: 0 %", "windows: [{from: 7 s, to: 9 s, lost: 0 %}]"
    event = "events: [{at: 9 s, with: {patch.link: down}}]\n"
    early = [
        build_plan(loaded, loaded.cases[0], 1).traffic[1].early
        for bounds, rest in ((whole, ""), (whole, event), (part, ""))
        for expect in [f"expect: {{download: {{{bounds}}}}}\n"]
        for loaded in [load_file(scenario(tmp_path, traffic=traffic, expect=expect, rest=rest), SHIPPED)]
    ]
    assert early == [True, False, False]


def test_a_case_has_events_of_its_own(tmp_path: Path) -> None:
    """Those of a variant or a control stand in the place of those that it would have."""
    rest = "controls:\n  - {events: [], breaks: download.goodput}\n"
    rest += "  - {events: [{at: 3 s, with: {dac.link: down}}], breaks: download.goodput}\n"
    whats = [
        [
            event.what
            for event in _plan(tmp_path, "at: 2 s, with: {patch.link: down}", rest=rest, case=case).events
        ]
        for case in range(3)
    ]
    assert whats == [["patch.link down"], [], ["dac.link down"]]


def test_the_plan_is_printed_with_its_events(tmp_path: Path) -> None:
    """What a person would type at the instant, by the same lines as in the beginning."""
    words = "at: 2 s, with: {switch.p1.link: down}; at: 3 s, with: {switch.p2.flow_control: on}; "
    words += "at: 4 s, with: {switch.p2.queue_limit: 50 kB}"
    lines = commands(_plan(tmp_path, words, settings="switch.p2.queue_limit: 100 kB"))
    at = next(
        number for number, line in enumerate(lines) if line.endswith("after the start: switch.p1.link down")
    )
    assert lines[at + 1] == "ip link set switch-p1 down"
    assert "ethtool -A switch-p2 rx on tx on" in lines[at:]
    assert lines[-1] == "# switch-p2: egress queue: limit 50 kB"


def test_a_shut_port_has_no_way(tmp_path: Path) -> None:
    """A cable with an end that is shut carries as little as one that is pulled out."""
    plan = _plan(tmp_path, "at: 2 s, with: {switch.p1.link: down}")
    assert is_open(plan, plan.cable_of("switch-p1"))
    assert not is_open(ended(plan), ended(plan).cable_of("switch-p1"))


def test_a_plan_with_events_is_read_back_equal(tmp_path: Path) -> None:
    """The lab gets the very ports and cables of each event."""
    plan = _plan(tmp_path, "at: 2 s, for: 1 s, with: {patch.link: down, server.delay: 5 ms}")
    assert Plan.from_json(plan.to_json()) == plan


def test_each_setting_can_change_or_says_why_not(tmp_path: Path) -> None:
    """Whatever cannot change at an instant is refused by name, with the reason; the rest has no reason."""
    for name, kind in settings_of("host").items():
        if kind.fixed and not name.startswith("tcp_"):
            with pytest.raises(InputError, match=f"server.{name}: cannot change while the network runs: "):
                _plan(tmp_path, f"at: 2 s, with: {{server.{name}: {kind.example}}}")
    can = {name for owner in OWNERS for name, kind in settings_of(owner).items() if not kind.fixed}
    assert can == {
        *("link", "speed", "duplex", "advertise", "autoneg_time", "bit_error_rate", "length"),
        *("delay", "jitter", "loss", "reorder", "rate", "shape.rate", "shape.burst", "queue_limit"),
        *("flow_control", "pause_rx", "pause_tx", "pause_reaction", "xoff", "xon", "headroom", "fifo"),
        *("rx_usecs", "rx_frames", "tx_usecs", "tx_frames"),
        *("forward_latency", "rx_frame", "rx_byte", "tx_frame", "tx_byte", "frame", "byte"),
    }


def test_what_happens_again_and_again_is_checked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case with ten thousand events and two networks is looked at as one with two events is."""
    looked = []

    def noted(wiring: Wiring) -> Iterator[Conflict]:
        looked.append(wiring)
        return wiring_conflicts(wiring)

    monkeypatch.setattr(cases, "wiring_conflicts", noted)
    rest = "controls: [{with: {server.delay: 1 ms}, breaks: download.goodput}]\n"
    rest += "events: [{at: 1 s, for: 1 us, every: 2001 us, with: {patch.link: down}}]\n"
    loaded = load_file(scenario(tmp_path, rest=rest), SHIPPED)
    assert [len(case.events) > 9_000 for case in loaded.cases] == [True, True]
    assert len(looked) == 2 * 3


def test_no_traffic_has_no_end(tmp_path: Path) -> None:
    """Without traffic every event is after the end of it."""
    text = scenario(
        tmp_path,
        traffic="traffic: []\n",
        expect="expect: {client: {link: up}}\n",
        rest="events: [{at: 1 s, with: {patch.link: down}}]\n",
    )
    with pytest.raises(InputError, match="is not before the end of the traffic"):
        load_file(text, SHIPPED)


def test_a_cable_may_be_unplugged_in_the_beginning(tmp_path: Path) -> None:
    """The network is set up with all its links, then loses those; an event brings one back."""
    words = "at: 2 s, with: {patch.link: up}"
    plan = _plan(tmp_path, words, settings="patch.link: down, switch.p1.link: down")
    shut = shutting(plan)
    assert shut is not None
    assert [port.name for port in shut.ports] == ["switch-p1"]
    assert [(cable.a, cable.b) for cable in shut.cables] == [("module-line", "client-eth0")]
    assert after(opened(plan), shut) == plan
    assert [state.cable_of("client-eth0").plugged for _, state in states(plan)] == [False, True]
    assert relinked(plan)["client-eth0"] == [0, plan.events[0].at_ns]
    lines = commands(plan)
    at = lines.index("# when all is set up")
    assert lines[at + 1 : at + 3] == [
        "# cable module-line to client-eth0: pulled out",
        "ip link set switch-p1 down",
    ]


def test_a_port_that_is_opened_finds_no_ways_by_one_that_is_shut(tmp_path: Path) -> None:
    """Those come back with that: of a firewall between two, of which both ports are shut for a while."""
    (tmp_path / "topologies").mkdir()
    (tmp_path / "topologies" / "chain.yaml").write_text(CHAIN)
    file = tmp_path / "both.yaml"
    file.write_text(
        "name: both\nsource: {title: a test}\ntopology: chain\n"
        "traffic:\n  - ping: {name: echo, from: a, to: b, time: 4 s}\n"
        "events:\n  - {at: 1 s, for: 1 s, with: {f1.p1.link: down}}\n"
        "  - {at: 1.5 s, for: 1 s, with: {f1.p2.link: down}}\n"
        "expect: {echo: {lost: ..90 %}}\n"
    )
    experiment = load(str(file), tmp_path)
    plan = build_plan(experiment, experiment.cases[0], 1)
    *_, first_opened, both = [state for _, state in states(plan)]
    gateway = first_opened.interfaces_of("f1")
    assert [one.name for one in gateway] == ["f1-p1", "f1-p2"]
    assert not any(" via " in line for line in ways_again(first_opened, first_opened.port("f1-p1")))
    assert any(" via " in line for line in ways_again(both, both.port("f1-p2")))


def test_nothing_is_shut_where_nobody_says_so(tmp_path: Path) -> None:
    """Then the network is set up as it begins."""
    plan = _plan(tmp_path, "at: 2 s, with: {patch.link: down}")
    assert shutting(plan) is None
    assert opened(plan) == plan


def test_what_is_unplugged_already_cannot_be_pulled_out(tmp_path: Path) -> None:
    """An event that changes nothing is a mistake."""
    with pytest.raises(InputError, match="changes nothing: it is so already"):
        _plan(tmp_path, "at: 2 s, with: {patch.link: down}", settings="patch.link: down")


def test_a_policer_is_changed_in_its_place(tmp_path: Path) -> None:
    """A filter takes no other action; that has a number by which it gets other figures."""
    policed = "switch.p2.shape: {kind: police, rate: 50 Mbit/s, burst: 20 kB}"
    plan = _plan(tmp_path, "at: 2 s, with: {switch.p2.shape.rate: 80 Mbit/s}", settings=policed)
    before, later = plan.port("switch-p2"), ended(plan).port("switch-p2")
    (filtered,) = [line for line in egress(before) if line.startswith("filter ")]
    assert filtered.endswith("index 3")
    assert changed_lines(before, later) == [
        "actions replace action police rate 80000000bit burst 20000b mtu 1518b conform-exceed drop/ok index 3"
    ]


def test_a_shaper_without_a_plug_is_not_kicked(tmp_path: Path) -> None:
    """As at a prompt, whose plan has no events."""
    plan = _plan(
        tmp_path, "at: 2 s, with: {server.link: down}", settings="switch.p2.shape: {rate: 50 Mbit/s}"
    )
    before = plan.port("switch-p2")
    assert before.shape is not None
    assert not before.shape.kicked
    faster = replace(before, shape=replace(before.shape, rate_bps=80_000_000))
    lines = changed_lines(before, faster)
    assert any("rate 80000000bit" in line for line in lines)
    assert not any("plug" in line for line in lines)


def test_a_port_looks_again_at_a_shaper_that_has_changed(tmp_path: Path) -> None:
    """By the plug beside it, which is there where an event changes it, and nowhere else."""
    shaped = "switch.p2.shape: {rate: 50 Mbit/s, burst: 20 kB}"
    plan = _plan(tmp_path, "at: 2 s, with: {switch.p2.shape.rate: 80 Mbit/s}", settings=shaped)
    assert any("plug" in line for line in egress(plan.port("switch-p2")))
    assert changed_lines(plan.port("switch-p2"), ended(plan).port("switch-p2")) == [
        "qdisc replace dev switch-p2 parent 1:1 handle a: tbf rate 80000000bit burst 20000b limit 20000",
        "qdisc replace dev switch-p2 parent a:1 etherfifo",
        "qdisc change dev switch-p2 parent 1:2 handle b: plug release_indefinite",
    ]
    plan = _plan(tmp_path, "at: 2 s, with: {switch.p2.queue_limit: 80 kB}", settings=shaped)
    assert not any("plug" in line for line in egress(plan.port("switch-p2")))


def test_an_algorithm_of_moderation_ends_where_somebody_says_a_time(tmp_path: Path) -> None:
    """And it is there again when that is over."""
    nic = "server.nic: x520"
    plan = _plan(tmp_path, "at: 2 s, for: 1 s, with: {server.rx_usecs: 100 us}", settings=nic)
    was, port, again = (state.port("server-eth0") for _, state in states(plan))
    cable = plan.cable_of("server-eth0")
    told = {setting.name: value for setting, value in changed_settings(was, cable, port, cable)}
    assert told == {"rx_adaptive": "none", "adapts": False, "rx_usecs": 100, "rx_frames": 0}
    told = {setting.name: value for setting, value in changed_settings(port, cable, again, cable)}
    assert told == {"rx_adaptive": "ixgbe", "adapts": True, "rx_usecs": 0, "rx_frames": 0}


def test_a_changed_shaper_may_let_a_burst_pass_again(tmp_path: Path) -> None:
    """Linux fills the bucket of one whose figures change: the ceiling of a flow has one more each time."""
    limits = []
    for events in ("at: 2 s, with: {client.bit_error_rate: 1e-15}", "at: 2 s, for: 1 s, with: {RATE}"):
        words = events.replace("RATE", "server.shape.rate: 49 Mbit/s")
        plan = _plan(tmp_path, words, settings="server.shape: {rate: 50 Mbit/s, burst: 100 kB, layer: 2}")
        limits.append(ceiling_bps(plan, plan.flows[0]))
    least, most = limits
    assert least is not None
    assert most is not None
    lasts_s = plan.flows[0].duration_ns / NS_PER_S
    assert most - least == pytest.approx(2 * 100_000 * 8 / lasts_s * 1460 / 1518)
