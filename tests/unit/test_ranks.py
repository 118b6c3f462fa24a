"""Whether two samples are of one distribution."""

from __future__ import annotations

import itertools

import pytest

from wirelab.verdict.ranks import EXACT_AT_MOST, false_discoveries_held, least_p_value, p_value


def by_dealing(before: list[float], after: list[float]) -> float:
    """The same by its definition: every way to deal the values, and how far apart the ranks are then."""
    both = before + after
    ranks = [sum(other < value for other in both) + sum(other <= value for other in both) for value in both]
    mean = sum(ranks) * len(before) / len(both)
    far = abs(sum(ranks[: len(before)]) - mean)
    sums = [sum(dealt) for dealt in itertools.combinations(ranks, len(before))]
    return sum(abs(one - mean) >= far - 1e-9 for one in sums) / len(sums)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([1, 2, 3, 4], [5, 6, 7, 8]),
        ([1, 5, 3], [2, 8, 9, 10, 4]),
        ([0, 0, 1, 1], [1, 1, 1, 2, 2]),
        ([3, 3, 3], [3, 3, 3]),
        ([7], [1, 2, 3, 4, 5]),
        ([0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 1]),
    ],
)
def test_it_is_what_dealing_the_values_gives(before: list[float], after: list[float]) -> None:
    """With ties and without, whichever sample is the first."""
    assert p_value(before, after) == pytest.approx(by_dealing(before, after))
    assert p_value(after, before) == pytest.approx(p_value(before, after))


def test_samples_that_do_not_overlap_have_the_least() -> None:
    """Three and three can never come below 5 %; four and four can."""
    assert p_value([1, 2, 3], [4, 5, 6]) == least_p_value(3, 3) == pytest.approx(0.1)
    assert least_p_value(4, 4) == pytest.approx(2 / 70)
    assert least_p_value(1, 1) == 1.0


def test_many_values_come_to_the_same_as_few() -> None:
    """Where the exact test ends the approximate one goes on."""
    half = EXACT_AT_MOST // 2
    before, after = [float(i) for i in range(half)], [i + 6.5 for i in range(half)]
    exact = p_value(before, after)
    assert p_value([*before, 14.2], after) == pytest.approx(exact, rel=0.2)
    assert p_value([5.0] * half, [5.0] * (half + 1)) == 1.0


def test_a_sample_without_values_is_refused() -> None:
    """It says nothing."""
    with pytest.raises(ValueError, match="no ranks"):
        p_value([], [1.0])


def test_of_many_figures_few_are_named_by_chance() -> None:
    """A p value of 4 % is something alone, nothing among twenty, and something among others as small."""
    assert false_discoveries_held([0.04], 0.05) == 0.04
    assert false_discoveries_held([0.04] + [0.5] * 19, 0.05) == 0
    assert false_discoveries_held([0.04] * 19 + [0.5], 0.05) == 0.04
    assert false_discoveries_held([], 0.05) == 0
