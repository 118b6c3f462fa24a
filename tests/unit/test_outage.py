"""Events that take a link, or change its speed, bound a flow for as long as samples say that they did."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from examples import SHIPPED, scenario
from recorded import FRAME_BYTES, SEGMENTS, G, plan, recording, with_ports

from wirelab.model.experiment import load_file
from wirelab.plan.build import build_plan
from wirelab.plan.event import relinked
from wirelab.plan.types import Event
from wirelab.results.counters import Snapshot
from wirelab.results.events import Happened
from wirelab.results.result import Result, read_result
from wirelab.results.samples import FlowSample, Sample
from wirelab.verdict.bottleneck import bottlenecks
from wirelab.verdict.explanation import Bottleneck, Mechanism
from wirelab.verdict.outage import outage

if TYPE_CHECKING:
    from pathlib import Path

    from recorded import Recording

    from wirelab.plan.types import Plan

LINE = ("module-line", "client-eth0")
MS = 1_000_000
BOND = """name: example
source: {title: a test}
topology: two-cables
"""
TRAFFIC = "traffic:\n  - iperf3: {name: up, from: client, to: server, time: 2 s}\n"


def _offering(modes: str, speed_bps: int) -> Plan:
    return with_ports(plan(), *LINE, autoneg=True, advertise=tuple(modes.split()), speed_bps=speed_bps)


def _events(the_plan: Plan, *changes: tuple[int, Plan]) -> Plan:
    events = (
        Event(at_ns, "another offer", tuple(other.port(name) for name in LINE)) for at_ns, other in changes
    )
    return replace(the_plan, events=tuple(events))


def _download(folder: Path, the_plan: Plan, recorded: Recording) -> Bottleneck:
    raw = recorded.write(folder)
    told = {"events": [{"at_ns": event.at_ns, "settings": []} for event in the_plan.events], "last": []}
    (raw / "events.json").write_text(json.dumps(told), encoding="utf-8")
    return next(one for one in bottlenecks(the_plan, read_result(the_plan, raw)) if one.flow == "download")


def _sent(recorded: Recording, share_by_ns: dict[int, float]) -> None:
    """Of what module.line sends so much has left by these instants, in proportion between them."""
    known = sorted(share_by_ns.items())
    for sample in recorded.samples:
        before = max((one for one in known if one[0] <= sample["at_ns"]), default=(0, 0.0))
        after = min((one for one in known if one[0] > sample["at_ns"]), default=(8 * G, 1.0))
        passed = (sample["at_ns"] - before[0]) / (after[0] - before[0])
        share = before[1] + passed * (after[1] - before[1])
        sample["ports"]["module-line"]["tx_bytes"] = round(share * SEGMENTS * FRAME_BYTES)


def test_a_line_that_was_slow_for_a_while_was_busy_at_the_speed_of_then(tmp_path: Path) -> None:
    """It came back at its first speed: what it sent in between took longer, and it is named for that."""
    fast = _offering("1000baseT_Full 2500baseT_Full 10000baseT_Full", 10 * G)
    slow = _offering("1000baseT_Full", G)
    the_plan = _events(fast, (4 * G + G // 2, slow), (5 * G + G // 2, fast))
    recorded = recording(fast, dropped=0)
    total_bits = SEGMENTS * (FRAME_BYTES + 24) * 8
    # For one of two seconds it is full, and sends as much as 1 Gbit/s does.
    slow_share = G / total_bits
    rest = (1 - slow_share) / 2
    _sent(recorded, {4 * G: 0, 4 * G + G // 2: rest, 5 * G + G // 2: rest + slow_share, 6 * G: 1})
    found = _download(tmp_path, the_plan, recorded)
    where = "the line from module.line to client, at 1 Gbit/s for 1.00 s of 2.00 s"
    assert (found.mechanism, found.where) == (Mechanism.LINE, where)
    [said] = [one for one in found.evidence if one.startswith("the line from module.line to client was busy")]
    busy = float(said.split(" busy ")[1].split()[0])
    assert busy == pytest.approx(100 * (1 + (total_bits - G) / (10 * G)) / 2, abs=0.2)


def test_a_line_that_is_slower_for_a_while_and_idle_bounds_nothing(tmp_path: Path) -> None:
    """It could have carried all that there was."""
    fast, slow = _offering("10000baseT_Full", 10 * G), _offering("5000baseT_Full", 5 * G)
    the_plan = _events(fast, (4 * G + G // 2, slow), (5 * G + G // 2, fast))
    recorded = recording(fast, dropped=0)
    _sent(recorded, {4 * G: 0, 6 * G: 1})
    _acknowledged_until(recorded, 7 * G)
    assert _download(tmp_path, the_plan, recorded).mechanism is Mechanism.WINDOW


def _acknowledged_until(recorded: Recording, at_ns: int, again_ns: int = 7 * G) -> None:
    for sample in recorded.samples:
        for flow in sample["flows"].values():
            silent_ns = min(max(sample["at_ns"] - at_ns, 0), again_ns - at_ns)
            flow["bytes_acked"] = sample["at_ns"] - silent_ns


def test_a_link_that_is_looked_for_again_is_an_interruption(tmp_path: Path) -> None:
    """Nobody shut a port or pulled a cable out, but there was no link while the ends negotiated."""
    fast, slow = _offering("10000baseT_Full", 10 * G), _offering("5000baseT_Full", 5 * G)
    the_plan = _events(fast, (4 * G + G // 2, slow), (4 * G + 6 * G // 10, fast))
    recorded = recording(fast, dropped=0)
    _acknowledged_until(recorded, 4 * G + G // 2, 5 * G + G // 2)
    found = _download(tmp_path, the_plan, recorded)
    where = "an interruption between module.line and client"
    assert (found.mechanism, found.where) == (Mechanism.LOSS, where)


def _bonded(folder: Path, event: str, silent: range) -> tuple[str | None, int]:
    """What interrupted a flow of 2 s to a bonded server that got nothing new in some milliseconds of it."""
    expect = "expect: {up: {retransmits: 0}}\n"
    loaded = load_file(
        scenario(folder, head=BOND, traffic=TRAFFIC, expect=expect, rest=f"events: [{event}]\n"), SHIPPED
    )
    the_plan = build_plan(loaded, loaded.cases[0], 1)
    [flow] = the_plan.flows
    acked = 0
    samples = []
    for after_ms in range(0, 2000, 10):
        acked += 0 if after_ms in silent else 1000
        seen = FlowSample(10, 1000.0, acked, 0)
        samples.append(Sample(flow.start_ns + after_ms * MS, {}, {"up": seen}))
    measured = read_result(plan(), recording().write(folder / "raw"))
    result: Result = replace(
        measured,
        samples=tuple(samples),
        snapshots={
            name: Snapshot(name, at_ns, {})
            for name, at_ns in (("up:start", flow.start_ns), ("up:end", flow.end_ns))
        },
        flows={"up": replace(measured.flows["upload"], name="up")},
        happened=Happened(relinked=relinked(the_plan)),
    )
    found = outage(the_plan, flow, result)
    return (str(found[1]), found[0] // MS) if found else (None, 0)


FIRST = "{at: 1500 ms, for: 200 ms, with: {first.link: down}}"
SECOND = "{at: 1500 ms, for: 200 ms, with: {second.link: down}}"


def test_a_cable_that_stands_by_interrupts_nothing(tmp_path: Path) -> None:
    """Whatever else had nothing come for a while; the one that carries does, until the bond goes over."""
    assert _bonded(tmp_path, SECOND, range(500, 700)) == (None, 0)


@pytest.mark.parametrize(
    ("silent", "lasts_ms"), [(range(500, 610), 110), (range(500, 530), 0), (range(1900, 2000), 0)]
)
def test_an_interruption_is_a_time_in_which_nothing_came(
    tmp_path: Path, silent: range, lasts_ms: int
) -> None:
    """It begins with the event, and what is hardly any of a flow's time did not bound it."""
    where, found_ms = _bonded(tmp_path, FIRST, silent)
    assert found_ms == lasts_ms
    assert where == ("switch.p2 to server.eth0" if lasts_ms else None)
