"""What a flow ran on decides what bounded it, not what an event made of the network when it was over."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from recorded import G, plan, recording, with_ports

from wirelab.model.expect import Expectation
from wirelab.plan.queue import Queue
from wirelab.plan.shape import Shape
from wirelab.plan.types import Event
from wirelab.results.result import read_result
from wirelab.verdict.bottleneck import bottlenecks
from wirelab.verdict.checks import check
from wirelab.verdict.explanation import Mechanism

if TYPE_CHECKING:
    from pathlib import Path

    from recorded import Recording

    from wirelab.plan.types import Plan, Port
    from wirelab.results.result import Result

LINE = ("module-line", "client-eth0")
OVER_NS = 6 * G
LOOKED_NS = OVER_NS + G // 10


def _changed(the_plan: Plan, at_ns: int, *ports: Port) -> Plan:
    return replace(the_plan, events=(Event(at_ns, "something else", ports),))


def _result(folder: Path, the_plan: Plan, recorded: Recording) -> Result:
    raw = recorded.write(folder)
    told = {"events": [{"at_ns": event.at_ns, "settings": []} for event in the_plan.events], "last": []}
    (raw / "events.json").write_text(json.dumps(told), encoding="utf-8")
    return read_result(the_plan, raw)


def _relinked(recorded: Recording, speed_bps: int, *snapshots: str) -> None:
    for snapshot in snapshots:
        for name in LINE:
            recorded.snapshot(snapshot)["links"][name]["speed_bps"] = speed_bps


@pytest.mark.parametrize("at_ns", [OVER_NS, LOOKED_NS - 1, LOOKED_NS + 1])
def test_a_line_that_was_full_is_named_whatever_it_became(at_ns: int, tmp_path: Path) -> None:
    """It may have become faster by the time at which the end of the flow is looked at, or later."""
    slow = with_ports(plan(), *LINE, speed_bps=5 * G // 4)
    faster = [replace(slow.port(name), speed_bps=10 * G) for name in LINE]
    recorded = recording(slow)
    _relinked(recorded, 10 * G, "end", *(["download:end"] if at_ns <= LOOKED_NS else []))
    the_plan = _changed(slow, at_ns, *faster)
    found = {one.flow: one for one in bottlenecks(the_plan, _result(tmp_path, the_plan, recorded))}
    assert found["download"].where == "the line from module.line to client"
    assert found["download"].evidence[0] == "the line from module.line to client was busy 98.4 % of the time"


@pytest.mark.parametrize("at_ns", [OVER_NS, LOOKED_NS - 1, LOOKED_NS + 1])
def test_a_line_that_became_slow_later_is_not_blamed(at_ns: int, tmp_path: Path) -> None:
    """It had room for more while the flow ran."""
    slower = [replace(plan().port(name), speed_bps=G) for name in LINE]
    recorded = recording(dropped=0)
    _relinked(recorded, G, "end", *(["download:end"] if at_ns <= LOOKED_NS else []))
    the_plan = _changed(plan(), at_ns, *slower)
    found = {one.flow: one for one in bottlenecks(the_plan, _result(tmp_path, the_plan, recorded))}
    assert found["download"].mechanism is Mechanism.WINDOW


def test_a_queue_is_as_long_as_it_was(tmp_path: Path) -> None:
    """That it had another limit when all was over explains nothing of what a flow lost."""
    longer = replace(plan().port("module-line"), queue=Queue("bfifo", 2_000_000))
    the_plan = _changed(plan(), OVER_NS, longer)
    result = _result(tmp_path, the_plan, recording())
    told = check(Expectation("download", "retransmits", None, 0), the_plan, result).explanation
    assert told is not None
    assert "dropped at module.line (FIFO 16 KiB full)" in told


def test_a_flow_ran_on_what_came_last_of_its_own_time(tmp_path: Path) -> None:
    """One that was under way when it happened ran on what came of it; the whole run is told as it ended."""
    slow = with_ports(plan(), *LINE, speed_bps=5 * G // 4)
    faster = [replace(slow.port(name), speed_bps=10 * G) for name in LINE]
    recorded = recording(slow)
    _relinked(recorded, 10 * G, "download:end", "end")
    the_plan = _changed(slow, 5 * G, *faster)
    result = _result(tmp_path, the_plan, recorded)
    upload, download = the_plan.flows
    speeds = [
        result.linked(the_plan, item).port("client-eth0").speed_bps for item in (upload, download, None)
    ]
    assert speeds == [5 * G // 4, 10 * G, 10 * G]


@pytest.mark.parametrize("rates_bps", [(5 * G // 4, 10 * G), (10 * G, 5 * G // 4)], ids=["faster", "slower"])
def test_a_shaper_was_busy_at_the_rate_that_it_had(rates_bps: tuple[int, int], tmp_path: Path) -> None:
    """Whatever it became in the middle of a flow: half of the time it was full, and half of it it was not."""
    before, later = (Shape("tbf", rate_bps, 3200) for rate_bps in rates_bps)
    first = with_ports(plan(), "module-line", shape=before)
    the_plan = _changed(first, 5 * G, replace(first.port("module-line"), shape=later))
    flows = {one.flow: one for one in bottlenecks(the_plan, _result(tmp_path, the_plan, recording(first)))}
    [said] = [one for one in flows["download"].evidence if one.startswith("the shaper of module.line")]
    assert float(said.split(" busy ")[1].split()[0]) == pytest.approx((98.4 + 12.3) / 2, abs=3)
    assert flows["download"].where != "the shaper of module.line"


def test_a_queue_that_became_another_is_told_as_both(tmp_path: Path) -> None:
    """Frames were dropped by one or by the other."""
    longer = replace(plan().port("module-line"), queue=Queue("bfifo", 2_000_000))
    the_plan = _changed(plan(), 5 * G, longer)
    result = _result(tmp_path, the_plan, recording())
    told = check(Expectation("download", "retransmits", None, 0), the_plan, result).explanation
    assert told is not None
    assert "dropped at module.line (FIFO 16 KiB to 2 MB full)" in told


def test_what_is_told_of_more_than_a_window_says_so(tmp_path: Path) -> None:
    """The counters behind a sentence know no windows."""
    window = (5 * G, 5 * G + G // 2)
    result = _result(tmp_path, plan(), recording())
    for subject, metric, whole in (
        ("module.line", "drops", "in the whole run: 159 frames were dropped"),
        ("download", "goodput", "in all of its time: 159 frames were dropped"),
    ):
        told = check(Expectation(subject, metric, 0, None, window=window), plan(), result).explanation
        assert told is not None
        assert whole in told
