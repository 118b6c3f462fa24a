"""Bonds: from a topology to what the lab is told, and the ways and ceilings that know of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from examples import SHIPPED, scenario

from wirelab.errors import InputError
from wirelab.model.experiment import load_file
from wirelab.plan.build import build_plan
from wirelab.plan.ceiling import ceiling
from wirelab.plan.commands import commands
from wirelab.plan.event import ended
from wirelab.plan.path import flow_path, spanned, ways
from wirelab.plan.types import Plan

if TYPE_CHECKING:
    from pathlib import Path

BACKUP, SHARED = "two-cables", "two-by-two"
MBPS = 1_000_000


def _plan(folder: Path, topology: str, *, settings: str = "", events: str = "", parallel: int = 1) -> Plan:
    head = f"name: example\nsource: {{title: a test}}\ntopology: {topology}\nwith: {{{settings}}}\n"
    traffic = (
        f"traffic:\n  - iperf3: {{name: up, from: client, to: server, time: 4 s, parallel: {parallel}}}\n"
    )
    expect = "expect: {up: {goodput: 1..2 Gbit/s}}\n"
    loaded = load_file(
        scenario(folder, head=head, traffic=traffic, expect=expect, rest=f"events: [{events}]\n"), SHIPPED
    )
    return build_plan(loaded, loaded.cases[0], 1)


def _labels(plan: Plan) -> list[str]:
    return [str(hop) for hop in flow_path(plan, plan.flows[0])]


def test_a_bond_has_the_address_of_its_host(tmp_path: Path) -> None:
    """Its ports have none; all have the MAC address of the first, as Linux gives it to them."""
    plan = _plan(tmp_path, BACKUP)
    (bond,) = plan.bonds
    ports = [plan.port(name) for name in bond.ports]
    assert (bond.name, bond.address, plan.address_of("server")) == ("server-bond0", "10.0.0.2/24", "10.0.0.2")
    assert {(port.address, port.mac) for port in ports} == {(None, bond.mac)}
    assert [port.label for port in ports] == ["server.eth0", "server.eth1"]
    assert Plan.from_json(plan.to_json()) == plan


def test_the_port_that_is_left_carries_on(tmp_path: Path) -> None:
    """A cable is pulled out: the way is by the other one, and stays there when the first is back."""
    pulled = "{at: 2 s, with: {first.link: down}}"
    plan = _plan(tmp_path, BACKUP, events=pulled)
    assert _labels(plan)[-1] == "switch.p2 to server.eth0"
    assert _labels(ended(plan))[-1] == "switch.p3 to server.eth1"
    back = "{at: 2 s, for: 1 s, with: {first.link: down}}"
    assert _labels(ended(_plan(tmp_path, BACKUP, events=back)))[-1] == "switch.p3 to server.eth1"


def test_a_primary_port_carries_whenever_it_can(tmp_path: Path) -> None:
    """From the beginning, and again when its cable is back."""
    back = "{at: 2 s, for: 1 s, with: {second.link: down}}"
    plan = _plan(tmp_path, BACKUP, settings="server.bond0.primary: eth1", events=back)
    assert plan.bonds[0].active == "server-eth1"
    assert _labels(ended(plan))[-1] == "switch.p3 to server.eth1"


def test_a_bond_that_never_looks_takes_nothing_over(tmp_path: Path) -> None:
    """What Linux does where nobody says miimon."""
    pulled = "{at: 2 s, with: {first.link: down}}"
    plan = _plan(tmp_path, BACKUP, settings="server.bond0.miimon: 0 ms", events=pulled)
    assert _labels(ended(plan))[-1] == "switch.p2 to server.eth0"


def test_laws_know_of_every_way(tmp_path: Path) -> None:
    """Whatever may carry belongs to them, each way once."""
    for topology in (BACKUP, SHARED):
        plan = _plan(tmp_path, topology)
        ends = [[hop.into.label for hop in way][-1] for way in ways(plan, "client", "server")]
        assert ends == ["server.eth0", "server.eth1"]
        assert len(ways(plan, "server", "client")) == 2


@pytest.mark.parametrize(
    ("topology", "parallel", "lines"), [(BACKUP, 4, 1), (SHARED, 1, 1), (SHARED, 2, 2), (SHARED, 4, 2)]
)
def test_a_connection_never_exceeds_one_line(
    tmp_path: Path, topology: str, parallel: int, lines: int
) -> None:
    """Several may together, as many as there are lines that share; those of active-backup do not."""
    plan = _plan(tmp_path, topology, parallel=parallel)
    limit = ceiling(plan, plan.flows[0])
    assert limit is not None
    assert limit.bps == pytest.approx(lines * 1000 * MBPS * 1448 / 1538)
    assert limit.bottleneck.startswith("2 lines from switch.p2" if lines > 1 else "the line from ")


@pytest.mark.parametrize(("policy", "lines"), [("layer2", 1), ("layer2+3", 1), ("layer3+4", 2)])
def test_only_a_hash_of_ports_spreads_connections(tmp_path: Path, policy: str, lines: int) -> None:
    """Those between two hosts have the same addresses; the hash of the bond that sends is what counts."""
    for bond, carried in (("switch", lines), ("server", 2)):
        settings = f"{bond}.bond0.xmit_hash_policy: {policy}"
        plan = _plan(tmp_path, SHARED, settings=settings, parallel=4)
        limit = ceiling(plan, plan.flows[0])
        assert limit is not None
        assert limit.bps == pytest.approx(carried * 1000 * MBPS * 1448 / 1538)


def test_one_line_is_left_of_two(tmp_path: Path) -> None:
    """A pulled cable shares nothing any more."""
    plan = ended(_plan(tmp_path, SHARED, events="{at: 2 s, with: {first.link: down}}", parallel=4))
    limit = ceiling(plan, plan.flows[0])
    assert limit is not None
    assert limit.bps == pytest.approx(1000 * MBPS * 1448 / 1538)
    assert _labels(plan)[-1] == "switch.p3 to server.eth1"


def test_what_makes_a_bond_can_be_typed(tmp_path: Path) -> None:
    """The very lines that the lab carries out: ports first, then the bond, then its address."""
    lines = commands(_plan(tmp_path, SHARED))
    made = next(line for line in lines if "server-bond0" in line and "type bond" in line)
    assert made.endswith(
        "mode 802.3ad miimon 100 downdelay 0 updelay 0 xmit_hash_policy layer3+4 lacp_rate slow"
    )
    order = [
        made,
        "ip link set server-eth0 master server-bond0",
        "ip link set server-eth1 master server-bond0",
        "ip address add 10.0.0.2/24 dev server-bond0",
        "ip link set server-bond0 up",
    ]
    assert [line for line in lines if line in order] == order
    assert "ovs-vsctl add-port switch switch-bond0" in lines
    assert "ovs-vsctl add-port switch switch-p2" not in lines


def test_a_port_of_a_bond_has_settings_of_its_own(tmp_path: Path) -> None:
    """What is said of one holds for it alone, what is said of the host for both."""
    plan = _plan(tmp_path, BACKUP, settings="server.queue: fq, server.eth1.queue: bfifo")
    queues = [plan.port(f"server-eth{number}").queue for number in (0, 1)]
    assert [queue and queue.kind for queue in queues] == ["fq", "bfifo"]
    with pytest.raises(InputError, match="more ports are those of its bond"):
        _plan(tmp_path, BACKUP, settings="client.eth1.queue: fq")


def test_whatever_may_carry_is_looked_at(tmp_path: Path) -> None:
    """What an explanation counts drops at: each cable of all the ways, once."""
    hops = [str(hop) for hop in spanned(_plan(tmp_path, SHARED), "client", "server")]
    assert hops == ["client to switch.p1", "switch.p2 to server.eth0", "switch.p3 to server.eth1"]
