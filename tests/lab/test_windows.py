"""What is told of a window is what happened in it, to the frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.lab.rig import NS_PER_MS, NS_PER_S
from tests.lab.road import HEAD
from wirelab.lab.recording import RECORD, Recording
from wirelab.model.catalogue import beside
from wirelab.model.experiment import load_file
from wirelab.plan.build import build_plan
from wirelab.plan.flows import phase_ns
from wirelab.results.record import Dropped, Kind, read_record
from wirelab.results.result import read_result
from wirelab.results.window import in_window

if TYPE_CHECKING:
    from tests.lab.rig import Rig

ALL = Recording(((0, 10_000 * NS_PER_S),), 1 << 30)
PS_PER_NS = 1000
WINDOWS_MS = ((1000, 1060), (1060, 1090), (1070, 1095), (1095, 1200))


def test_drops_of_a_window_are_those_of_the_frames(rig: Rig) -> None:
    """Whatever its ends are: slow start drops all it does between two of the samples."""
    windows = ", ".join(f"{{from: {start} ms, to: {end} ms, drops: 0..}}" for start, end in WINDOWS_MS)
    path = rig.folder / "windows.yaml"
    path.write_text(
        HEAD.replace("road", "windows") + "topology: one-switch\n"
        "with: {client.nic: e1000, server.nic: x520}\n"
        "traffic:\n  - iperf3: {name: download, from: server, to: client, time: 1 s, congestion: cubic}\n"
        f"expect:\n  switch.p1: {{windows: [{windows}]}}\n",
        encoding="utf-8",
    )
    loaded = load_file(path, beside(path))
    plan = build_plan(loaded, loaded.cases[0], 1)
    raw = rig.run(plan, recording=ALL)
    result = read_result(plan, raw)
    ready_ps = result.status.ready_ns * PS_PER_NS
    dropped_ns = [
        (event.at_ps - ready_ps) / PS_PER_NS
        for event in read_record(raw / RECORD, {Kind.DROPPED})
        if isinstance(event, Dropped) and event.port == "switch-p1"
    ]
    assert len(dropped_ns) > 100
    told = [
        in_window(one, plan, result.samples, result.flows, result.echoes, result.received)
        for one in loaded.cases[0].expectations
    ]
    moved_ns = [at_ns - phase_ns(1) for at_ns in dropped_ns]
    assert told == [
        sum(start * NS_PER_MS <= at_ns < end * NS_PER_MS for at_ns in moved_ns) for start, end in WINDOWS_MS
    ]
