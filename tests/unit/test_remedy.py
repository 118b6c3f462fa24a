"""What helps a flow is ranked by what it gains, and told with what it costs somebody else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recorded import G, plan, recording

from wirelab.results.result import read_result
from wirelab.results.rtt import Rtt
from wirelab.verdict.remedy import Effort, Measured, Remedy, costs, given_up, helps, ranked
from wirelab.verdict.trouble import Trouble

if TYPE_CHECKING:
    from pathlib import Path


SLOW = Trouble("download", "goodput", G, "it is slow")


def remedy(after: float, effort: Effort = Effort.SETTING, *paid: str, **settings: str) -> Remedy:
    """A change that made something as fast as that."""
    return Remedy(settings or {"module.fifo": "32 KiB"}, effort, G, after, G, "a line", paid, "0" * 64)


def order(metric: str, remedies: list[Remedy]) -> list[tuple[float, int, bool]]:
    """What each is, in their order: with its rank, and whether it shares it."""
    return [(one.after, one.rank, one.tied) for one in ranked(metric, remedies)]


def measured(folder: Path) -> Measured:
    """What the hand-made recording has."""
    result = read_result(plan(), recording().write(folder / "raw"))
    return Measured(result.flows, result.pings, result.ports, result.elapsed_ns)


def test_less_than_two_percent_is_no_help() -> None:
    """Another seed may do as much; from nothing anything is."""
    assert not helps("goodput", G, 1.019 * G)
    assert helps("goodput", G, 1.021 * G)
    assert helps("goodput", 0, 1)
    assert not helps("goodput", 0, 0)


def test_of_a_round_trip_less_is_help() -> None:
    """The metric says which way is better."""
    assert helps("rtt_p50", 280_000, 23_500)
    assert not helps("rtt_p50", 280_000, 279_000)
    assert not helps("rtt_p50", 23_500, 280_000)


def test_a_count_that_chance_may_change_as_much_is_no_help() -> None:
    """Two standard deviations of 25 are 10."""
    assert not helps("retransmits", 25, 16)
    assert helps("retransmits", 25, 15)
    assert helps("drops", 10_000, 9_800)
    assert not helps("drops", 10_000, 9_801)


def test_who_hardly_sends_is_not_helped() -> None:
    """It would wait for nothing, and lose nothing: a shaper at 95 % may be worth it."""
    assert given_up(G, 0.89 * G)
    assert not given_up(G, 0.95 * G)


def test_the_fastest_comes_first() -> None:
    """Whatever it takes."""
    slow, fast = remedy(1.5 * G), remedy(2 * G, Effort.PART, "somebody pays")
    assert order("goodput", [slow, fast]) == [(2 * G, 1, False), (1.5 * G, 2, False)]


def test_ties_are_said_and_ranked_by_the_smallest_change() -> None:
    """What takes the least, then what changes least, then what costs least, then the name."""
    part, free = remedy(2 * G, Effort.PART), remedy(1.99 * G)
    paid, double = remedy(2 * G, Effort.SETTING, "x"), remedy(2 * G, a="1", b="2")
    named = replace(remedy(1.991 * G), settings={"module.aged": "on"})
    found = ranked("goodput", [part, paid, double, free, named])
    assert [one.settings for one in found] == [one.settings for one in (named, free, paid, double, part)]
    assert {(one.rank, one.tied) for one in found} == {(1, True)}


def test_a_chain_of_near_ties_is_no_tie() -> None:
    """Each group is within 1 % of its fastest."""
    first, second, third = remedy(2 * G, Effort.PART), remedy(1.985 * G, Effort.PART), remedy(1.97 * G)
    assert order("goodput", [third, second, first]) == [
        (2 * G, 1, True),
        (1.985 * G, 1, True),
        (1.97 * G, 3, False),
    ]


def test_the_shortest_round_trip_comes_first() -> None:
    """Within 1 % of it is a tie, too."""
    trips = [remedy(30_000), remedy(23_600), remedy(23_500)]
    assert order("rtt_p50", trips) == [(23_500, 1, True), (23_600, 1, True), (30_000, 3, False)]


def test_a_gain_is_a_share_of_what_it_was() -> None:
    """Of nothing there is none."""
    assert remedy(1.5 * G).gain == 0.5
    assert replace(remedy(G), before=0.0).gain is None
    assert remedy(0.25 * G).gain == -0.75


def test_what_changes_nobody_costs_nothing(tmp_path: Path) -> None:
    """The same twice."""
    same = measured(tmp_path)
    assert costs("download", SLOW, same, same) == ()


def test_another_flow_that_is_slower_is_a_cost(tmp_path: Path) -> None:
    """The flow itself is not, unless it was another figure that was helped."""
    before = measured(tmp_path)
    slower = replace(before.flows["upload"], goodput_bps=0.5 * G)
    after = replace(before, flows={**before.flows, "upload": slower})
    slow, late = (Trouble("upload", metric, 1, "") for metric in ("goodput", "rtt_p50"))
    assert costs("upload", slow, before, after) == ()
    [words] = costs("upload", late, before, after)
    assert words.startswith("it has 500 Mbit/s instead of ")
    [words] = costs("download", SLOW, before, after)
    assert words.startswith("upload has 500 Mbit/s instead of ")


def test_who_is_paused_and_where_frames_are_lost_is_a_cost(tmp_path: Path) -> None:
    """Where that was not so before."""
    before = measured(tmp_path)
    silent = replace(before.ports["server"], paused_ns=before.elapsed_ns // 2)
    losing = replace(before.ports["switch.p2"], drops={"queue": 500})
    after = replace(before, ports={**before.ports, "server": silent, "switch.p2": losing})
    assert costs("download", SLOW, before, after) == (
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
        SLOW,
        replace(before, flows={**before.flows, "download": quick}),
        replace(before, flows={**before.flows, "download": late}),
    )
    assert words == ("its round trip is 900 us instead of 100 us",)
