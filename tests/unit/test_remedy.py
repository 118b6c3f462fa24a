"""What helps a flow is ranked by what it gains, and told with what it costs somebody else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recorded import G, plan, recording

from wirelab.results.result import read_result
from wirelab.results.rtt import Rtt
from wirelab.verdict.remedy import Effort, Measured, Remedy, costs, helps, ranked

if TYPE_CHECKING:
    from pathlib import Path


def remedy(goodput_bps: float, effort: Effort = Effort.SETTING, *paid: str, **settings: str) -> Remedy:
    """A change that made something as fast as that."""
    return Remedy(settings or {"module.fifo": "32 KiB"}, effort, G, goodput_bps, "a line", paid, "0" * 64)


def measured(folder: Path) -> Measured:
    """What the hand-made recording has."""
    result = read_result(plan(), recording().write(folder / "raw"))
    return Measured(result.flows, result.pings, result.ports, result.elapsed_ns)


def test_less_than_two_percent_is_no_help() -> None:
    """Another seed may do as much; from nothing anything is."""
    assert not helps(G, 1.019 * G)
    assert helps(G, 1.021 * G)
    assert helps(0, 1)
    assert not helps(0, 0)


def test_the_fastest_comes_first() -> None:
    """Whatever it takes."""
    slow, fast = remedy(1.5 * G), remedy(2 * G, Effort.PART, "somebody pays")
    assert ranked([slow, fast]) == (fast, slow)


def test_of_two_as_fast_the_one_that_takes_less_comes_first() -> None:
    """Then the one that costs others less, then the one that changes less."""
    part, free = remedy(2 * G, Effort.PART), remedy(1.99 * G)
    paid, double = remedy(2 * G, Effort.SETTING, "x"), remedy(2 * G, a="1", b="2")
    assert ranked([part, paid, double, free]) == (free, double, paid, part)


def test_a_chain_of_near_ties_is_no_tie() -> None:
    """Each group is within 1 % of its fastest."""
    first, second, third = remedy(2 * G, Effort.PART), remedy(1.985 * G, Effort.PART), remedy(1.97 * G)
    assert ranked([third, second, first]) == (first, second, third)


def test_a_gain_is_a_share_of_what_it_was() -> None:
    """Of nothing there is none."""
    assert remedy(1.5 * G).gain == 0.5
    assert replace(remedy(G), before_bps=0.0).gain is None


def test_what_changes_nobody_costs_nothing(tmp_path: Path) -> None:
    """The same twice."""
    same = measured(tmp_path)
    assert costs("download", same, same) == ()


def test_another_flow_that_is_slower_is_a_cost(tmp_path: Path) -> None:
    """The flow itself is not."""
    before = measured(tmp_path)
    slower = replace(before.flows["upload"], goodput_bps=0.5 * G)
    after = replace(before, flows={**before.flows, "upload": slower})
    assert costs("upload", before, after) == ()
    [words] = costs("download", before, after)
    assert words.startswith("upload has 500 Mbit/s instead of ")


def test_who_is_paused_and_where_frames_are_lost_is_a_cost(tmp_path: Path) -> None:
    """Where that was not so before."""
    before = measured(tmp_path)
    silent = replace(before.ports["server"], paused_ns=before.elapsed_ns // 2)
    losing = replace(before.ports["switch.p2"], drops={"queue": 500})
    after = replace(before, ports={**before.ports, "server": silent, "switch.p2": losing})
    assert costs("download", before, after) == (
        "server is paused 50 % of the time",
        "500 frames are lost at switch.p2",
    )


def test_a_longer_round_trip_is_a_cost(tmp_path: Path) -> None:
    """The flow's own too: who waits with it waits as long."""
    before = measured(tmp_path)
    flow = before.flows["download"]
    quick, late = (replace(flow, rtt=Rtt.of([us])) for us in (100.0, 900.0))
    words = costs(
        "download",
        replace(before, flows={**before.flows, "download": quick}),
        replace(before, flows={**before.flows, "download": late}),
    )
    assert words == ("its round trip is 900 us instead of 100 us",)
