"""Scenarios as a whole: the shipped ones, and any that is put together by the rules."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from examples import EXPECT, HEAD, ROOT, SCENARIOS, SHIPPED, TRAFFIC, experiment, scenario, shipped
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wirelab.errors import InputError
from wirelab.model.cases import MOST_CASES
from wirelab.model.catalogue import MEASUREMENTS, TRUTH
from wirelab.model.experiment import load_file
from wirelab.model.files import check_file
from wirelab.model.metric import METRICS, Choice, SubjectKind, metrics_of
from wirelab.plan.build import build_plan
from wirelab.plan.traffic import KINDS
from wirelab.plan.types import Plan
from wirelab.units import COUNT, MICROSECONDS, RATE, SIZE, TIME, show, show_range

PORTS = ["server", "switch.p1", "switch.p2", "module.host", "module.line", "client"]


@st.composite
def _settings(draw: st.DrawFn) -> dict[str, str]:
    """Settings that may stand together on the topology sfp-home."""
    ns = st.integers(0, 10**8)
    choices: dict[str, st.SearchStrategy[str]] = {
        "module": st.sampled_from(["asf-10g-t", "s-rj10", "aqr113c"]),
        "client": st.sampled_from(["ubuntu20", "windows10-rtl8125"]),
        "client.nic": st.just("rtl8125"),
        "switch.flow_control": st.sampled_from(["on", "off"]),
        "server.flow_control": st.sampled_from(["on", "off"]),
        "switch.p2.pause_rx": st.sampled_from(["on", "off"]),
        "module.fifo": st.integers(64 * 1024, 1 << 20).map(lambda size: show(size, SIZE)),
        "client.rx_usecs": st.integers(0, 500).map(lambda us: show(us, MICROSECONDS)),
        "client.rx_ring": st.integers(1, 8192).map(str),
        "server.queue": st.sampled_from(["fq", "fq_codel"]),
        "server.congestion": st.sampled_from(["bbr", "reno"]),
        "network.mtu": st.integers(68, 1500).map(lambda size: f"{size} B"),
        "patch.speed": st.sampled_from(["100 Mbit/s", "1 Gbit/s", "2.5 Gbit/s"]),
        "patch.delay": ns.map(lambda delay: show(delay, TIME)),
        "patch.loss": st.integers(0, 100).map(lambda percent: f"{percent} %"),
        "server.delay": ns.map(lambda delay: show(delay, TIME)),
    }
    keys = draw(st.sets(st.sampled_from(sorted(choices))))
    if "client" in keys:
        keys.add("client.nic")
    return {key: draw(choices[key]) for key in sorted(keys)}


@st.composite
def _iperf3(draw: st.DrawFn) -> tuple[SubjectKind, dict[str, str]]:
    size = draw(st.none() | st.integers(10**9, 10**12))
    flow = {"time": f"{draw(st.integers(1, 60))} s"} if size is None else {"bytes": f"{size} B"}
    if draw(st.booleans()):
        return "UDP flow", flow | {"protocol": "udp", "bitrate": show(draw(st.integers(1, 10**10)), RATE)}
    if draw(st.booleans()):
        flow["congestion"] = draw(st.sampled_from(["cubic", "reno", "bbr"]))
    return "flow", flow


def _copies() -> st.SearchStrategy[tuple[SubjectKind, dict[str, str]]]:
    sizes = st.integers(1, 10**6).map(lambda size: f"{size} B")
    pipelines = st.sampled_from(["sequential", "overlapped"])
    return st.builds(lambda size, how: ("copy", {"bytes": size, "pipeline": how}), sizes, pipelines)


def _pings() -> st.SearchStrategy[tuple[SubjectKind, dict[str, str]]]:
    every = st.integers(1, 1000).map(lambda ms: f"{ms} ms")
    return st.builds(lambda interval: ("ping", {"time": "2 s", "interval": interval}), every)


@st.composite
def _traffic(draw: st.DrawFn) -> list[tuple[SubjectKind, dict[str, str]]]:
    items: list[tuple[SubjectKind, dict[str, str]]] = []
    for index in range(draw(st.integers(1, 4))):
        kind, own = draw(_iperf3() | _copies() | _pings())
        ends = draw(st.permutations(["server", "client"]))
        item = {"name": f"item-{index}", "from": ends[0], "to": ends[1], **own}
        together = draw(st.booleans())
        if items and together:
            item["with"] = draw(st.sampled_from(items))[1]["name"]
        elif draw(st.booleans()):
            item["start"] = show(draw(st.integers(0, 10**10)), TIME)
        items.append((kind, item))
    return items


@st.composite
def _expect(draw: st.DrawFn, items: list[tuple[SubjectKind, dict[str, str]]]) -> dict[str, dict[str, str]]:
    timed = {item["name"] for _, item in items if "time" in item}
    # A sum has something to be of.
    of = {"retransmits": {"flow", "copy"}, "goodput": {"flow", "copy", "UDP flow"}}
    sums = {name for name, kinds in of.items() if not kinds & {kind for kind, _ in items}}
    sums |= set() if any("bytes" in item for _, item in items) else {"duration"}
    metrics = {
        **{item["name"]: metrics_of(kind) for kind, item in items},
        **dict.fromkeys(PORTS, metrics_of("port")),
        "network": metrics_of("network"),
    }
    expect: dict[str, dict[str, str]] = {}
    for subject in draw(st.sets(st.sampled_from(sorted(metrics)), min_size=1)):
        expect[subject] = {}
        # One needs transfers without a time, the other an event.
        senseless = {"duration", "recovers_within"} if subject in timed else {"recovers_within"}
        senseless |= sums if subject == "network" else set()
        has = [metric.name for metric in metrics[subject] if metric.name not in senseless]
        for metric in draw(st.sets(st.sampled_from(has), min_size=1)):
            low, high = sorted(draw(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6))))
            quantity = METRICS[metric].quantity
            expect[subject][metric] = (
                draw(st.sampled_from(quantity.values))
                if isinstance(quantity, Choice)
                else show_range(low, high, quantity)
            )
    return expect


@st.composite
def _scenarios(draw: st.DrawFn) -> dict[str, Any]:
    items = draw(_traffic())
    expect = draw(_expect(items))
    names = [f"{subject}.{metric}" for subject, metrics in expect.items() for metric in metrics]
    controls = [
        {"with": {"network.mtu": "1000 B"}, "breaks": name}
        for name in draw(st.lists(st.sampled_from(names), max_size=2))
    ]
    variants = [
        {"name": f"variant-{index}", "with": draw(_settings())} for index in range(draw(st.integers(0, 2)))
    ]
    return {
        "name": "generated",
        "source": {"title": "a generated scenario"},
        "topology": "sfp-home",
        "with": draw(_settings()),
        "traffic": [{kind if kind in KINDS else "iperf3": item} for kind, item in items],
        "expect": expect,
        "variants": variants,
        "controls": controls,
    }


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_scenarios())
def test_a_scenario_by_the_rules_loads_and_becomes_plans(tmp_path: Path, tree: dict[str, Any]) -> None:
    """Nothing that may stand together is refused, every case has a Plan, and a Plan survives its JSON."""
    path = tmp_path / "generated.yaml"
    path.write_text(json.dumps(tree), encoding="utf-8")
    loaded = load_file(path, SHIPPED)
    assert len(loaded.cases) == max(len(tree["variants"]), 1) + len(tree["controls"])
    for case in loaded.cases:
        plan = build_plan(loaded, case, 7)
        assert Plan.from_json(plan.to_json()) == plan
        written = {entry["name"] for item in tree["traffic"] for entry in item.values()}
        assert {item.name for item in plan.traffic} == written
        assert {expectation.name: expectation.expected for expectation in case.expectations} == {
            f"{subject}.{metric}": text
            for subject, metrics in tree["expect"].items()
            for metric, text in metrics.items()
        }


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_shipped_scenario_is_sound_and_proves_itself(name: str) -> None:
    """It loads, is called like its file, tells its story, and has a control that breaks something."""
    loaded = shipped(name)
    assert loaded.scenario.name == name
    assert len(loaded.story) > 100
    assert not loaded.story.startswith("scenarios/")
    controls = [case for case in loaded.cases if case.is_control]
    assert controls
    for control in controls:
        assert control.breaks in {expectation.name for expectation in control.expectations}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_shipped_scenario_expects_something_with_a_reason(name: str) -> None:
    """Each range of a figure says why; without it a fail explains half. Who sends nothing has none."""
    loaded = shipped(name)
    assert all(case.expectations for case in loaded.cases)
    if not loaded.scenario.items:
        return
    figures = [
        expectation
        for case in loaded.cases
        for expectation in case.expectations
        if expectation.of.quantity in (RATE, TIME)
    ]
    assert figures
    assert all(expectation.why for expectation in figures)
    counts = [
        expectation
        for case in loaded.cases
        for expectation in case.expectations
        if expectation.of.quantity is COUNT
    ]
    assert counts


def test_every_row_of_the_measurements_has_a_scenario() -> None:
    """And no scenario cites a row that is not there.

    Temperatures are data of parts, no experiment; eight million frames a second take a lab too long.
    """
    rows = set(SHIPPED.measurements())
    names = (*SCENARIOS, *(f"{TRUTH}/{name}.yaml" for name in SHIPPED.names(TRUTH)))
    cited = {row for name in names for row in shipped(name).scenario.source.measured}
    assert cited == rows - {"sfp.temperature_c", "netbenches.ipfw-xeon"}
    assert "sources.sfp" not in rows
    assert len(rows) > 20


def test_a_variant_has_its_own_settings_and_expectations(tmp_path: Path) -> None:
    """A variant's range replaces the scenario's for the same metric, the others stay."""
    path = scenario(
        tmp_path,
        rest="""\
variants:
  - {name: plain}
  - name: heard
    with: {module: aqr113c, switch.flow_control: on}
    expect: {download: {retransmits: {range: 0, why: nothing is lost}}}
controls:
  - {name: deaf, variant: heard, with: {switch.flow_control: off}, breaks: download.retransmits}
""",
    )
    loaded = load_file(path, SHIPPED)
    assert [(case.name, case.breaks) for case in loaded.cases] == [
        ("plain", None),
        ("heard", None),
        ("deaf", "download.retransmits"),
    ]
    expected = {
        case.name: {expectation.name: expectation.expected for expectation in case.expectations}
        for case in loaded.cases
    }
    assert expected["plain"] == {"download.goodput": "1..2 Gbit/s", "download.retransmits": "..50"}
    assert expected["heard"] == {"download.goodput": "1..2 Gbit/s", "download.retransmits": "0"}
    assert expected["deaf"] == expected["heard"]
    paused = {case.name: build_plan(loaded, case, 1).port("switch-p1").pause_tx for case in loaded.cases}
    assert paused == {"plain": False, "heard": True, "deaf": False}


def test_variants_and_controls_have_a_limit(tmp_path: Path) -> None:
    """Each is a network to check and a lab to run: the message stands at the first that is too many."""
    variants = "".join(f"  - {{name: v{number}}}\n" for number in range(MOST_CASES + 1))
    with pytest.raises(InputError) as caught:
        experiment(tmp_path, rest=f"variants:\n{variants}")
    (problem,) = caught.value.problems
    assert problem.field == f"variants[{MOST_CASES}]"
    assert problem.message == f"is one of {MOST_CASES + 1} variants; the limit is {MOST_CASES}"


def test_an_expectation_knows_its_reason(tmp_path: Path) -> None:
    """A metric's own reason comes before its subject's."""
    path = scenario(
        tmp_path,
        expect="""\
expect:
  download:
    goodput: 1..2 Gbit/s
    retransmits: {range: ..50, why: few}
    why: all in all
""",
    )
    (case,) = load_file(path, SHIPPED).cases
    assert [(expectation.metric, expectation.why) for expectation in case.expectations] == [
        ("goodput", "all in all"),
        ("retransmits", "few"),
    ]


def test_a_port_may_be_named_short_or_long(tmp_path: Path) -> None:
    """`client` and `client.eth0` are one port, in expectations and in `breaks`."""
    path = scenario(
        tmp_path,
        expect=EXPECT + "  client.eth0: {drops: 0}\n",
        rest="controls:\n  - {with: {client.loss: 1 %}, breaks: client.eth0.drops}\n",
    )
    case = load_file(path, SHIPPED).cases[-1]
    assert case.breaks == "client.drops"
    assert case.breaks in {expectation.name for expectation in case.expectations}
    assert case.name == "control-1"


def test_a_case_can_be_asked_for_by_name(tmp_path: Path) -> None:
    """An unknown one is answered with those there are."""
    loaded = experiment(tmp_path)
    assert loaded.case("main").name == "main"
    with pytest.raises(InputError, match="unknown variant or control `mian`; did you mean `main`"):
        loaded.case("mian")


def test_the_opening_comment_is_the_story(tmp_path: Path) -> None:
    """A line a paragraph, without the name of the file."""
    head = f"# a.yaml\n# One thing\n#   happens.\n#\n# Then another.\n{HEAD}"
    assert load_file(scenario(tmp_path, head=head), SHIPPED).story == "One thing happens.\n\nThen another."


def test_a_story_may_be_a_key(tmp_path: Path) -> None:
    """Where the opening comment does not do, `story` tells it."""
    path = scenario(tmp_path, head=f"{HEAD}story: What happens.\n")
    assert load_file(path, SHIPPED).story == "What happens."


def test_problems_of_topology_and_parts_are_reported_with_their_own_lines(tmp_path: Path) -> None:
    """A scenario on a broken topology says what is wrong there, and still what is wrong in itself."""
    (tmp_path / "topologies").mkdir()
    sound = (ROOT / "topologies/sfp-home.yaml").read_text(encoding="utf-8")
    broken = tmp_path / "topologies/sfp-home.yaml"
    broken.write_text(sound.replace("switch.p2", "switch.p1"), encoding="utf-8")
    path = scenario(tmp_path, traffic=TRAFFIC.replace("10 s", "10 sec"))
    catalogue = type(SHIPPED).of(tmp_path, ROOT)
    with pytest.raises(InputError) as caught:
        load_file(path, catalogue)
    files = [(Path(problem.file or "").name, problem.message) for problem in caught.value.problems]
    assert files == [
        ("example.yaml", "unknown unit `sec`; did you mean `s`?"),
        ("sfp-home.yaml", "`switch.p1` has a cable already, on line 17"),
    ]


def test_the_measurements_are_plain_yaml() -> None:
    """The figures everything is judged by can be read by anything."""
    assert (ROOT / MEASUREMENTS).is_file()
    assert "pcie.x1" in SHIPPED.measurements()


def test_a_scenario_comes_by_a_pipe() -> None:
    """As `wirelab validate <(...)` has it: what a pipe has given once it does not give again."""
    reader, writer = os.pipe()
    with open(writer, "wb") as out:  # noqa: PTH123 - a descriptor
        out.write((ROOT / "scenarios/sfp-mismatch.yaml").read_bytes())
    try:
        check_file(Path(f"/dev/fd/{reader}"))
    finally:
        os.close(reader)
