"""What the guest makes of what tools tell it; that needs no lab."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import pytest
from recorded import flow, plan, with_ports

from wirelab.guest import clock, links, queues
from wirelab.guest.measure import blocked
from wirelab.guest.readback import Readback
from wirelab.guest.running import Running, TrafficError
from wirelab.guest.shortcuts import Shortcuts
from wirelab.plan.node import Firewall
from wirelab.plan.path import path
from wirelab.plan.queue import Queue
from wirelab.plan.traffic import Iperf3

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wirelab.plan.types import Plan

OWN = {"dev": "switch-p1", "handle": "8001:", "options": {}}


def test_a_link_must_be_where_both_ends_are_forced() -> None:
    """One end that negotiates, or follows, may be left without."""
    assert all(links.is_forced(plan(), port) for port in plan().ports)
    negotiating = with_ports(plan(), "client-eth0", autoneg=True)
    assert not links.is_forced(negotiating, negotiating.port("module-line"))
    assert links.is_forced(negotiating, negotiating.port("module-host"))
    following = with_ports(plan(), "module-host", follow="module-line")
    assert not links.is_forced(following, following.port("switch-p2"))


@dataclass
class Negotiating:
    """A network of ports that negotiate until an instant, and a clock that is asked and slept by."""

    plan: Plan
    until_ns: int
    now_ns: int = 0

    @property
    def tools(self) -> dict[str, Negotiating]:
        """What reads the counters of each node."""
        return {node.name: self for node in self.plan.nodes}

    def stats(self, port: str) -> dict[str, int]:
        """One end of a cable says that both are at it."""
        return {"link_negotiating": int(port == "client-eth0" and self.now_ns < self.until_ns)}

    def sleep_until(self, instant_ns: int) -> None:
        """Time passes."""
        self.now_ns = instant_ns


@pytest.mark.parametrize(
    ("autoneg_ms", "until_ms", "slept_ms"),
    [(0, 10**9, 0), (2000, 0, 0), (2000, 2000, 2000), (2000, 5555, 5600)],
)
def test_links_that_negotiate_are_waited_for(
    monkeypatch: pytest.MonkeyPatch, autoneg_ms: int, until_ms: int, slept_ms: int
) -> None:
    """As long as it takes, to a tenth of a second; not at all where nobody takes his time."""
    network = _negotiating(monkeypatch, autoneg_ms, until_ms)
    links.await_links(network)
    assert network.now_ns == slept_ms * 10**6


def test_ports_that_never_end_negotiating_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three times what the slowest takes is more than a module and its slot one after the other."""
    network = _negotiating(monkeypatch, 2000, 10**9)
    with pytest.raises(links.NoLinkError, match=r"^client: still negotiating after 3 times the 2000 ms that"):
        links.await_links(network)
    assert 6 * 10**9 <= network.now_ns <= 6.1 * 10**9


def _negotiating(monkeypatch: pytest.MonkeyPatch, autoneg_ms: int, until_ms: int) -> Any:  # noqa: ANN401 - a Network
    network = Negotiating(with_ports(plan(), "module-line", autoneg_ms=autoneg_ms), until_ms * 10**6)
    monkeypatch.setattr(clock, "now_ns", lambda: network.now_ns)
    monkeypatch.setattr(clock, "sleep_until", network.sleep_until)
    return network


def test_an_echo_may_be_lost_to_bit_errors() -> None:
    """Where they are, no answer is no broken lab."""
    way = path(plan(), "server", "client")
    assert links.must_answer(plan(), way)
    dirty = with_ports(plan(), "client-eth0", bits_per_error=10**6)
    assert not links.must_answer(dirty, path(dirty, "server", "client"))
    assert links.must_answer(dirty, path(dirty, "client", "server"))


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


def test_a_shaper_is_read_back_with_its_rate_and_burst() -> None:
    """Below the root is the queue; tc tells the rate in bytes a second, and a burst to some 64 ns of it."""
    port = replace(plan().port("switch-p1"), rate_bps=50_000_000, queue=Queue("bfifo", 9000))
    told: list[dict[str, object]] = [
        {**OWN, "kind": "htb", "root": True},
        {**OWN, "kind": "bfifo", "parent": "1:1", "options": {"limit": 9000}},
    ]
    shaper = {"class": "htb", "handle": "1:1", "rate": 6_250_000}
    cases: list[tuple[list[dict[str, object]], int, int]] = [
        ([{**shaper, "burst": 1600}], 50_000_000, 1600),
        ([{**shaper, "burst": 1599}], 50_000_000, 1600),
        ([{**shaper, "burst": 26_600}], 50_000_000, 26_600),
        ([], 0, 0),
    ]
    for classes, rate_bps, burst_bytes in cases:
        readbacks = queues.read_back(port, told, classes)
        assert [(readback.setting, readback.actual) for readback in readbacks] == [
            ("rate_bps", rate_bps),
            ("rate_burst_bytes", burst_bytes),
            ("qdisc", "bfifo"),
            ("queue_limit_bytes", 9000),
        ]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Played(Iperf3):
    """iperf3 played by two pieces of Python."""

    server: str
    client: str

    def receiver_argv(self) -> list[str]:
        """The server's piece."""
        return [sys.executable, "-c", self.server]

    def sender_argv(self, address: str, *, filtered: bool = False) -> list[str]:
        """The client's piece."""
        return [sys.executable, "-c", self.client, address, str(filtered)]


class OneMachine:
    """A network without any: all programs run here."""

    plan = plan()

    def inside(self, _node: str) -> contextlib.AbstractContextManager[None]:
        """There is nowhere else to be."""
        return contextlib.nullcontext()


def started(folder: Path, server: str, client: str) -> Running:
    """A server and its client, both under way."""
    (folder / "flows").mkdir()
    figures = {own.name: getattr(plan().flows[0], own.name) for own in fields(Iperf3)}
    network: Any = OneMachine()
    running = Running(Played(**figures, server=server, client=client), network, folder, Shortcuts())
    running.start()
    return running


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait for something that will happen."""
    while not happened():
        time.sleep(0.01)


LOST = {"error": "control socket has closed unexpectedly"}


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ("print(json.dumps({'error': 'error - no memory'})); sys.exit(1)", "ended with 1: error - no memory"),
        ("sys.exit('no such library')", "ended with 1: no such library"),
        ("os.kill(os.getpid(), 9)", "ended with 137: it said nothing"),
    ],
)
def test_a_server_that_fails_is_no_connection_that_was_lost(
    server: str, message: str, tmp_path: Path
) -> None:
    """Its client says the same of both, but the server had ended before, and not well: its words are told."""
    go, pid = tmp_path / "go", tmp_path / "pid"
    os.mkfifo(go)
    server = f"import json, os, sys; print(os.getpid(), file=open({str(pid)!r}, 'w'), flush=True); {server}"
    client = f"import sys; open({str(go)!r}).read(); print({json.dumps(LOST)!r}); sys.exit(1)"
    running = started(tmp_path, server, client)
    wait_until(lambda: pid.exists() and pid.read_text(encoding="utf-8").endswith("\n"))
    os.waitid(os.P_PID, int(pid.read_text(encoding="utf-8")), os.WEXITED | os.WNOWAIT)
    go.write_text("", encoding="utf-8")
    wait_until(lambda: running.done)
    with pytest.raises(TrafficError, match=f"iperf3 upload {message}"):
        running.finish()


def test_a_server_that_waits_for_its_client_is_ended(tmp_path: Path) -> None:
    """It has not failed: that its client lost the connection is what was measured."""
    running = started(
        tmp_path, "import time; time.sleep(99)", f"import sys; print({json.dumps(LOST)!r}); sys.exit(1)"
    )
    wait_until(lambda: running.done)
    running.finish()
    assert (tmp_path / "flows" / "upload.server.json").read_text(encoding="utf-8") == ""


def test_who_is_told_to_end_has_not_failed(tmp_path: Path) -> None:
    """Whatever the code that it ends with: a copy that nobody has reached ends by the signal itself."""
    said = json.dumps({"error": "interrupt - the client has terminated"})
    code = (
        f"import signal, time; signal.signal(2, signal.SIG_DFL); print({said!r}, flush=True); time.sleep(99)"
    )
    running = started(tmp_path, code, code)
    wait_until(lambda: all(file.stat().st_size for file in (tmp_path / "flows").glob("*.json")))
    running.interrupt()
    assert running.done
    running.finish()
