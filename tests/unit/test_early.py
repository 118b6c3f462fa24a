"""What comes after a transfer begins sooner than its Plan has it: all that is told of it is of that time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from recorded import G, plan, recording, with_ports

from wirelab.report.timeline import Timeline
from wirelab.results.result import read_result
from wirelab.runner.frames import bursts_of
from wirelab.runner.run_result import Evidence
from wirelab.verdict.bottleneck import bottlenecks

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan
    from wirelab.results.result import Result
    from wirelab.runner.recorded import Recorder

UPLOAD, DOWNLOAD = plan().flows
EARLY = replace(plan(), traffic=(UPLOAD, replace(DOWNLOAD, start_ns=DOWNLOAD.start_ns + 60 * G, early=True)))


@pytest.fixture
def began_early(tmp_path: Path) -> Evidence:
    """The download at 4 s that would have begun at 64 s."""
    recorded = recording()
    for tenth, sample in enumerate(recorded.samples):
        sample["ports"]["module-line"]["dropped_frames"] = max(tenth - 45, 0)
    return Evidence(EARLY, read_result(EARLY, recorded.write(tmp_path / "raw")))


def test_an_early_item_is_at_the_instant_at_which_it_began(began_early: Evidence) -> None:
    """Nothing else of the Plan is another, and one in which nothing is early is the same."""
    assert began_early.result.timed(EARLY) == replace(EARLY, traffic=(UPLOAD, replace(DOWNLOAD, early=True)))
    assert began_early.result.timed(plan()) == plan()


def test_figures_of_samples_are_of_the_time_of_the_flow(began_early: Evidence, tmp_path: Path) -> None:
    """A gap, what its path carries and what waited before the line are those of a flow planned for then."""
    punctual = read_result(plan(), recording().write(tmp_path / "punctual"))
    assert began_early.result.flows == punctual.flows
    assert punctual.flows["download"].longest_gap_ns is not None


def test_what_waited_for_a_line_is_of_the_time_of_the_flow(tmp_path: Path) -> None:
    """15 140 B in each sample of its two seconds, and nothing later."""
    slow = with_ports(EARLY, "module-line", "client-eth0", speed_bps=5 * G // 4)
    [_, found] = bottlenecks(slow, read_result(slow, recording(slow).write(tmp_path / "raw")))
    assert any("in the median 15.1 kB waited for it" in words for words in found.chain), found.chain


class _Asked(Exception):  # noqa: N818 - what was asked for, no error
    """The window that was to be recorded."""


class _Recorder:
    """Knows nothing, and records nothing."""

    measurements: _Recorder

    def __init__(self) -> None:
        self.measurements = self

    def beside(self, *_: object) -> None:
        """Nothing was found before."""

    def record_between(self, _plan: Plan, _known: Result, *window_ns: int) -> None:
        """Say what was asked for."""
        raise _Asked(*window_ns)


def test_a_look_at_an_early_flow_is_at_its_middle(began_early: Evidence) -> None:
    """Its drops are between two samples of its own time, at 5 s."""
    _, download = EARLY.flows
    [_, found] = bottlenecks(EARLY, began_early.result)
    with pytest.raises(_Asked) as asked:
        bursts_of(cast("Recorder", _Recorder()), EARLY, began_early.result, download, found)
    assert asked.value.args == (5 * G, 5 * G + G // 10)


def test_the_charts_have_an_early_flow_where_it_was(began_early: Evidence) -> None:
    """Its mark and its line begin when it began."""
    goodput = Timeline(began_early).charts()[0]
    assert [mark.at for mark in goodput.marks] == [UPLOAD.start_ns, DOWNLOAD.start_ns]
    line = next(line for line in goodput.lines if line.name == DOWNLOAD.name)
    assert line.points[0][0] == DOWNLOAD.start_ns
