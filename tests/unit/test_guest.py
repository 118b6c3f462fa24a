"""What the guest makes of what tools tell it; that needs no lab."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from recorded import flow, plan, with_ports

from wirelab.guest import links, queues
from wirelab.guest.measure import blocked
from wirelab.guest.readback import Readback
from wirelab.plan.types import Firewall, Queue

OWN = {"dev": "switch-p1", "handle": "8001:", "options": {}}


def test_a_link_must_be_where_both_ends_are_forced() -> None:
    """One end that negotiates, or follows, may be left without."""
    assert all(links.is_forced(plan(), port) for port in plan().ports)
    negotiating = with_ports(plan(), "client-eth0", autoneg=True)
    assert not links.is_forced(negotiating, negotiating.port("module-line"))
    assert links.is_forced(negotiating, negotiating.port("module-host"))
    following = with_ports(plan(), "module-host", follow="module-line")
    assert not links.is_forced(following, following.port("switch-p2"))


def test_the_first_cable_without_a_link_is_named() -> None:
    """In the order in which the flow comes by."""
    linked = frozenset(port.name for port in plan().ports)
    assert links.broken_cable(plan(), linked, flow("download", "server", "client", 1)) is None
    cable = links.broken_cable(plan(), linked - {"module-host"}, flow("upload", "client", "server", 1))
    assert cable is not None
    assert [port.label for port in cable] == ["module.host", "switch.p2"]


def test_a_queue_is_read_back_with_its_limit() -> None:
    """Some count bytes and some frames, and tc calls their limits by different names."""
    port = plan().port("switch-p1")
    cases: list[tuple[Queue, dict[str, int], dict[str, int | str | bool]]] = [
        (Queue("bfifo", 9000), {"limit": 9000}, {"qdisc": "bfifo", "queue_limit_bytes": 9000}),
        (Queue("cake", 9000), {"memlimit": 9000}, {"qdisc": "cake", "queue_limit_bytes": 9000}),
        (
            Queue("fq_codel", limit_frames=500, ecn=True),
            {"limit": 500, "ecn": True},
            {"qdisc": "fq_codel", "queue_limit_frames": 500, "queue_ecn": True},
        ),
    ]
    for queue, options, settings in cases:
        told = [{**OWN, "kind": queue.kind, "root": True, "options": options}]
        readbacks = queues.read_back(replace(port, queue=queue), told)
        assert readbacks == [Readback("switch-p1", name, value, value) for name, value in settings.items()]


def test_what_a_rule_has_blocked_is_counted_by_what_it_matches() -> None:
    """Only rules that count and drop; a rule set of another length is somebody else's."""
    rules = ("ct state established,related accept", "tcp dport 5202 counter drop", "counter accept")
    added = "".join(f"add rule inet firewall forward {rule}\n" for rule in rules)
    firewall = Firewall("firewall", "linux-router", nft=f"add table inet firewall\n{added}")
    accept: list[dict[str, object]] = [{"accept": None}]
    counter = {"counter": {"packets": 7, "bytes": 420}}
    listed = [accept, [{"match": {}}, counter, {"drop": None}], [counter, *accept]]
    told = {"nftables": [{"table": {"name": "firewall"}}, *({"rule": {"expr": rule}} for rule in listed)]}
    assert blocked(firewall, json.dumps(told)) == {"tcp dport 5202": 7}
    del told["nftables"][-1]
    with pytest.raises(ValueError, match="shorter"):
        blocked(firewall, json.dumps(told))


def test_each_priority_has_its_queue() -> None:
    """With PFC there are eight below one mq, and one that is missing is noticed."""
    port = replace(plan().port("switch-p1"), pfc=(3,))
    told: list[dict[str, object]] = [{**OWN, "kind": "mq", "root": True}]
    told += [{**OWN, "kind": "bfifo", "parent": f"1:{n}", "options": {"limit": 107_520}} for n in range(1, 8)]
    wrong = [readback for readback in queues.read_back(port, told) if readback.asked != readback.actual]
    assert [(readback.setting, readback.actual) for readback in wrong] == [
        ("qdisc", "none"),
        ("queue_limit_bytes", 0),
    ]
