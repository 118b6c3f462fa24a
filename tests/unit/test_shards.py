"""Scenarios dealt out to several machines."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st
from recorded import plan

from wirelab.runner.shards import Load, deal, expected_s, weights_s

SECONDS = st.floats(0.1, 1000.0)
# Of four machines one has three of these, and more than 4/3 of the mean, whoever deals.
SIX_S = (182.0, 180.0, 172.0, 88.0, 81.0, 76.0)
LOADS = st.lists(
    st.builds(Load, st.text("abc", min_size=1), SECONDS, st.none() | SECONDS), unique_by=lambda x: x.name
)


@given(loads=LOADS, count=st.integers(1, 8))
def test_each_is_dealt_once(loads: list[Load], count: int) -> None:
    """Nothing is lost and nothing runs twice; no machine is there for nothing."""
    shards = deal(loads, count)
    assert sorted(name for shard in shards for name in shard.names) == sorted(load.name for load in loads)
    assert len(shards) == min(count, len(loads))
    assert all(shard.names for shard in shards)


@example(loads=[Load(name, seconds) for name, seconds in zip("abcdef", SIX_S, strict=True)], count=4)
@given(loads=LOADS.filter(bool), count=st.integers(1, 8))
def test_no_machine_has_much_more_than_the_others(loads: list[Load], count: int) -> None:
    """What a machine has more than any other is at most its shortest scenario, which it was dealt last."""
    weights, shards = weights_s(loads), deal(loads, count)
    least_s = min(shard.weight_s for shard in shards)
    for shard in shards:
        assert shard.weight_s - min(weights[name] for name in shard.names) <= least_s + 1e-6


def test_the_longest_begins() -> None:
    """On each machine, so that a short one is last."""
    loads = [Load(name, wall_s, wall_s) for name, wall_s in (("a", 1), ("b", 9), ("c", 5), ("d", 3))]
    assert [shard.names for shard in deal(loads, 2)] == [("b",), ("c", "d", "a")]


def test_what_was_never_measured_is_taken_to_be_as_slow_as_the_rest() -> None:
    """Virtual seconds at the pace of the scenarios whose wall time is known; alone they count as they are."""
    assert weights_s([Load("a", 10.0, 5.0), Load("b", 20.0)]) == {"a": 5.0, "b": 10.0}
    assert weights_s([Load("b", 20.0)]) == {"b": 20.0}


def test_a_transfer_is_taken_to_be_as_fast_as_its_way() -> None:
    """Not as slow as it may be: 1 MiB and 30 minutes of patience are no half an hour."""
    timed = plan()
    flows = tuple(replace(flow, size_bytes=10 * 2**20, duration_ns=1800 * 10**9) for flow in timed.flows)
    sized = replace(timed, traffic=flows)
    assert 2.0 < expected_s(sized) < 2.2
    assert expected_s(timed) == 2.0 + sum(flow.duration_ns for flow in timed.flows) / 1e9
    assert expected_s(replace(timed, traffic=())) == 2.0
