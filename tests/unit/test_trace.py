"""Traces of mobile links: what a file may say, what becomes of it in a Plan, and what it lets pass."""

from __future__ import annotations

import itertools
import runpy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from examples import ROOT, SHIPPED
from hypothesis import given
from hypothesis import strategies as st
from recorded import plan as recorded_plan

from wirelab.errors import InputError, LabError
from wirelab.guest import shapers
from wirelab.model.experiment import load, load_file
from wirelab.model.trace import OPPORTUNITY_BYTES, Trace, instants_of, written
from wirelab.model.trace_file import MOST_AT_ONCE, Traces
from wirelab.plan.build import build_plan
from wirelab.plan.ceiling import ceiling_bps
from wirelab.plan.commands import commands
from wirelab.plan.iproute2 import egress
from wirelab.plan.shape import Shape
from wirelab.plan.types import Netem, Plan
from wirelab.results.counters import Snapshot
from wirelab.results.result import Result
from wirelab.results.status import Status
from wirelab.results.traces import Filled, read_followed
from wirelab.verdict.laws import traces

if TYPE_CHECKING:
    from pathlib import Path

NS_PER_MS = 1_000_000
RECIPE = ROOT / "scenarios/traces/synthetic_mobile.py"

TEXT = """\
name: example
source: {title: a test}
topology: home-line
with: {line.line: lte, provider.p2.shape.trace: own.trace, SETTINGS}
traffic:
  - iperf3: {name: download, from: server, to: client, time: 4 s, congestion: cubic}
expect:
  download: {goodput: 1..20 Mbit/s}
"""


def trace(*numbers: int, start_ns: int = 0) -> Trace:
    """One with so many opportunities in each millisecond."""
    return Trace("own", written(list(numbers)), start_ns)


def plan(folder: Path, lines: str, settings: str = "wan.length: 3 m") -> Plan:
    """The Plan of a scenario whose line follows a trace with these lines."""
    (folder / "own.trace").write_text(lines, encoding="utf-8")
    path = folder / "example.yaml"
    path.write_text(TEXT.replace("SETTINGS", settings), encoding="utf-8")
    loaded = load_file(path, SHIPPED)
    return build_plan(loaded, loaded.cases[0], 1)


def test_a_trace_is_read_as_mahimahi_does(tmp_path: Path) -> None:
    """A line for each opportunity, with its millisecond; comments and empty lines are none."""
    (tmp_path / "own.trace").write_text("# a comment\n0\n2\n2\n\n5\n", encoding="utf-8")
    read = Traces(tmp_path).of("own.trace")
    assert read.opportunities == ("1 0 2 0*2 1",)
    assert (read.length_ms, read.round_bytes) == (5, 4 * 1504)


def test_a_trace_wraps_around_at_its_last_time() -> None:
    """What is at 0 ms is there again with the last line, as in mahimahi's link queue."""
    at_0 = trace(1, 0, 2, 1, start_ns=500)
    wanted = [(0, 1), (2, 2), (3, 2), (5, 2), (6, 2), (8, 2)]
    assert list(itertools.islice(at_0.instants(), 6)) == [(500 + ms * NS_PER_MS, n) for ms, n in wanted]
    later = trace(0, 3, 1)
    wanted = [(1, 3), (2, 1), (3, 3), (4, 1)]
    assert list(itertools.islice(later.instants(), 4)) == [(ms * NS_PER_MS, n) for ms, n in wanted]


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30).filter(lambda numbers: numbers[-1] > 0))
def test_what_may_have_passed_is_the_sum_of_the_instants(numbers: list[int]) -> None:
    """At every instant, over several rounds; and the other way round."""
    own = trace(*numbers, start_ns=700)
    passed = 0
    for at_ns, opportunities in itertools.islice(own.instants(), 3 * len(numbers)):
        assert own.bytes_by(at_ns - 1) == passed or at_ns == own.start_ns
        begun = passed
        passed += opportunities * OPPORTUNITY_BYTES
        assert own.bytes_by(at_ns) == passed
        if at_ns > own.start_ns:
            assert own.by_when_ns(own.start_ns, begun + 1 - own.bytes_by(own.start_ns)) == at_ns


@given(st.lists(st.integers(0, 12), min_size=1, max_size=2500))
def test_a_plan_has_every_millisecond(numbers: list[int]) -> None:
    """Written in seconds and runs, and read back the same."""
    wanted = tuple((ms, number) for ms, number in enumerate(numbers) if number)
    assert instants_of(written(numbers)) == wanted


def test_a_plan_carries_the_trace(tmp_path: Path) -> None:
    """All of it: what the file says counts, not where it is; another file is another measurement."""
    built = plan(tmp_path, "1\n2\n")
    assert Plan.from_json(built.to_json()) == built
    shape = built.port("provider-p2").shape
    assert shape == Shape("tbf", 12_032_000, 3008, -10, 0, "own.trace")
    (own,) = built.traces
    assert own.opportunities == ("0 1*2",)
    assert own.start_ns == built.flows[0].start_ns % (4 * NS_PER_MS)
    assert plan(tmp_path, "1\n3\n").physical_json() != built.physical_json()


def test_what_tc_is_told(tmp_path: Path) -> None:
    """A bucket below a qdisc that knows what counts, the queue below that, and what has it looked at."""
    built = plan(tmp_path, "1\n2\n")
    port = built.port("provider-p2")
    qdisc = "qdisc replace dev provider-p2"
    bands = "prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
    assert list(egress(port)) == [
        f"{qdisc} root handle 1: stab overhead -10 {bands}",
        f"{qdisc} parent 1:1 handle a: tbf rate 12032000bit burst 3008b limit 3008",
        f"{qdisc} parent 1:2 handle b: plug limit 1",
        f"{qdisc} parent a:1 bfifo limit 2800000",
    ]
    assert list(egress(replace(port, netem=Netem(1000))))[1:3] == [
        f"{qdisc} parent 1: handle 2: {bands}",
        f"{qdisc} parent 2:1 handle a: tbf rate 12032000bit burst 3008b limit 3008",
    ]
    told = [line for line in commands(built) if "follows own.trace" in line]
    assert [line.split(", from")[0] for line in told] == [
        "# provider-p2: follows own.trace, 2 times 1504 B in 2 ms"
    ]


def test_what_is_read_back(tmp_path: Path) -> None:
    """That the bucket is there and the plug, and what counts; the figures are read back as they change."""
    port = plan(tmp_path, "1\n2\n").port("provider-p2")
    assert port.shape is not None
    root: dict[str, Any] = {"kind": "prio", "handle": "1:", "root": True, "options": {}}
    below: list[dict[str, Any]] = [
        {"kind": "tbf", "parent": "1:1", "options": {}},
        {"kind": "plug", "parent": "1:2"},
    ]
    counting = [{"kind": "prio", "stab": {"overhead": -10, "mpu": 0}}]
    read = shapers.shaper(port, port.shape, [root, *below], (), counting)
    assert [setting.setting for setting in read if setting.actual != setting.asked] == []
    gone = shapers.shaper(port, port.shape, [root], (), counting)
    assert {setting.setting for setting in gone if setting.actual != setting.asked} == {
        "trace_bucket",
        "trace_kick",
    }


def test_a_queue_may_be_told_as_a_time(tmp_path: Path) -> None:
    """In which the trace lets it pass in the mean."""
    queue = plan(tmp_path, "1\n2\n", "provider.p2.queue_limit: 100 ms").port("provider-p2").queue
    assert queue is not None
    assert queue.limit_bytes == 150_400


def test_no_flow_is_faster_than_its_trace(tmp_path: Path) -> None:
    """The ceiling is what the trace allows in the time of the flow, and one millisecond more."""
    # Four times as much in the first two of ten seconds; the flow has the second and three more.
    lines = "".join(f"{ms}\n" * (4 if ms <= 2000 else 1) for ms in range(1, 10_001))
    built = plan(tmp_path, lines)
    allowed = 1000 * 4 + 3000 + 4
    assert ceiling_bps(built, built.flows[0]) == pytest.approx(allowed * 1448 * 8 / 4, rel=0.001)
    sized = replace(built.flows[0], size_bytes=1448 * 4500)
    # The first 4000 in a second, the others in half of one.
    assert ceiling_bps(built, sized) == pytest.approx(1448 * 4500 * 8 / 1.5, rel=0.01)


def test_too_many_at_once_are_refused(tmp_path: Path) -> None:
    """More than the fastest port sends in a millisecond; the line is the first of those."""
    (tmp_path / "own.trace").write_text("1\n" * (MOST_AT_ONCE + 1), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"own.trace:{MOST_AT_ONCE + 1}: is beyond the limit"):
        Traces(tmp_path).of("own.trace")


def test_the_lines_of_a_trace_are_those_of_an_editor(tmp_path: Path) -> None:
    """A mark of its encoding is no part of the first, and other ends of lines that Unicode has are none."""
    (tmp_path / "own.trace").write_bytes(b"\xef\xbb\xbf1\r\n# a\xe2\x80\xa8note\x0c\n2\nx\n")
    with pytest.raises(ValueError, match=r"own.trace:4: `x` is no whole number of milliseconds"):
        Traces(tmp_path).of("own.trace")


def test_a_trace_that_is_none_is_refused(tmp_path: Path) -> None:
    """Bytes, a device and a file that is too large; all of it with the scenario's line."""
    for raw in (b"\xff\xfe\x00", b"1e3\n", b"0x10\n", b"\xd9\xa1\n", b"1.5\n"):
        (tmp_path / "own.trace").write_bytes(raw)
        with pytest.raises(ValueError, match=r"own.trace:1: .* is no whole number of milliseconds"):
            Traces(tmp_path).of("own.trace")
    (tmp_path / "own.trace").write_bytes(b"1\n" * 8_000_001)
    with pytest.raises(ValueError, match="is larger than the limit of 16 MB"):
        Traces(tmp_path).of("own.trace")
    with pytest.raises(ValueError, match="/dev/zero: is no file"):
        Traces(tmp_path).of("/dev/zero")
    with pytest.raises(
        InputError, match=r"example.yaml:4: with.modem.p1.shape.trace: .*there is no such file"
    ):
        plan(tmp_path, "1\n", "modem.p1.shape.trace: gone/own.trace")


def test_the_shipped_trace_is_what_its_recipe_makes() -> None:
    """It was made and not measured, and can be made again."""
    made = runpy.run_path(str(RECIPE))["lines"]()
    shipped = RECIPE.with_name("synthetic-mobile.trace").read_text(encoding="utf-8")
    assert made == shipped.splitlines()
    assert "Synthetic" in shipped.splitlines()[0]


def test_the_shipped_windows_are_what_the_trace_says() -> None:
    """The arithmetic of the scenario: payload that the sender has heard of, 40 ms after it passed."""
    loaded = load("mobile-trace", ROOT)
    (own,) = build_plan(loaded, loaded.cases[0], 1).traces
    passed = {
        window: own.bytes_by(own.start_ns + (window[1] - 41) * NS_PER_MS)
        - own.bytes_by(own.start_ns + (window[0] - 41) * NS_PER_MS)
        for window in ((2200, 3900), (4400, 5900), (8500, 10_000))
    }
    assert [size // OPPORTUNITY_BYTES for size in passed.values()] == [1731, 288, 3008]


def broken(*instants: tuple[int, int]) -> list[str]:
    """What the law says of a port that was to have one in each of two milliseconds, and had these."""
    shape = Shape("tbf", 12_032_000, 3008, -10, 0, "own")
    plain = recorded_plan()
    ports = [replace(port, shape=shape) if port.name == "module-line" else port for port in plain.ports]
    two = replace(plain, ports=tuple(ports), traces=(trace(0, 1, 1),))
    done = tuple(Filled(at_ns, opportunities, 0) for at_ns, opportunities in instants)
    bare = Result(Status(1.0, 0, "", {}), (), {"end": Snapshot("end", 3 * NS_PER_MS - 1, {})}, (), {}, "")
    result = replace(bare, followed={"module-line": done})
    return [message for _, _, message in traces(two, result)]


def test_each_opportunity_has_its_instant() -> None:
    """One that was late, early or left out is an error; reading the clock takes 52 ns."""
    first, second = NS_PER_MS + 52, 2 * NS_PER_MS + 52
    assert broken((first, 1), (second, 1)) == []
    (late,) = broken((first, 1), (second + 1000, 1))
    assert late == "module.line: had 1 opportunities at 2001052 ns, was to have 1 at 2000000 ns"
    assert len(broken((first - 53, 1), (second, 1))) == 1
    assert len(broken((first, 2), (second, 1))) == 1
    (gone,) = broken((first, 1))
    assert gone == "module.line: had no opportunity any more from 2000000 ns on"


def test_what_the_lab_says_of_a_trace_is_read(tmp_path: Path) -> None:
    """And if it says nothing it is broken."""
    built = plan(tmp_path, "1\n2\n")
    (tmp_path / "traces.json").write_text('{"provider-p2":[[1000052,1,0],[2000052,1,88]]}', encoding="utf-8")
    assert read_followed(built, tmp_path)["provider-p2"][1] == Filled(2000052, 1, 88)
    (tmp_path / "traces.json").unlink()
    with pytest.raises(LabError, match="the lab did not write it"):
        read_followed(built, tmp_path)
