"""Whether two small samples are of one distribution: Mann and Whitney's test, exact, with ties."""

import functools
import math
from collections.abc import Sequence
from typing import Final

EXACT_AT_MOST: Final = 60
"""So many values of both samples; of more the normal distribution is close enough."""


def p_value(before: Sequence[float], after: Sequence[float]) -> float:
    """How likely ranks as far apart are, either way, where both samples are of one distribution.

    Exact: over every way to deal the values to two such samples. Raises ValueError for an empty one.
    """
    if not before or not after:
        raise ValueError("a sample without values has no ranks")
    ranks = _doubled_ranks((*before, *after))
    # The smaller sample has the same answer, and fewer ways to be dealt.
    few, told = min((len(before), sum(ranks[: len(before)])), (len(after), sum(ranks[len(before) :])))
    if len(ranks) <= EXACT_AT_MOST:
        return _exact(tuple(sorted(ranks)), few, told)
    return _normal(ranks, few, told)


def least_p_value(before: int, after: int) -> float:
    """The least that samples of these sizes can come to: that of two which do not overlap."""
    return min(1.0, 2 / math.comb(before + after, before))


def false_discoveries_held(p_values: Sequence[float], share: float) -> float:
    """The p value up to which at most ``share`` of what is named is named by chance; 0 where nothing is.

    By Benjamini and Hochberg (1995): of many figures some are far apart by chance.
    """
    ordered = sorted(p_values)
    held = (p for rank, p in enumerate(ordered, 1) if p <= share * rank / len(ordered))
    return max(held, default=0.0)


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Twice the rank of each, which is a whole number: equal values share the mean of their ranks."""
    order = sorted(values)
    first = {value: place for place, value in reversed(list(enumerate(order, 1)))}
    last = {value: place for place, value in enumerate(order, 1)}
    return [first[value] + last[value] for value in values]


@functools.lru_cache(maxsize=256)
def _exact(ranks: tuple[int, ...], few: int, told: int) -> float:
    # The ways to choose k values, by their sum: the digits of one number, wide enough for all ways there are.
    ways = math.comb(len(ranks), few)
    digit_bytes = ways.bit_length() // 8 + 1
    chosen = [1] + [0] * few
    for rank in ranks:
        for count in range(few, 0, -1):
            chosen[count] += chosen[count - 1] << (8 * digit_bytes * rank)
    total = sum(ranks)
    # Sums times the number of values, so that the mean is whole.
    distance = abs(told * len(ranks) - few * total)
    digits = chosen[few].to_bytes((total + 1) * digit_bytes, "little")
    extreme = sum(
        int.from_bytes(digits[place * digit_bytes : (place + 1) * digit_bytes], "little")
        for place in range(total + 1)
        if abs(place * len(ranks) - few * total) >= distance
    )
    return extreme / ways


def _normal(ranks: Sequence[int], few: int, told: int) -> float:
    mean = sum(ranks) / len(ranks)
    spread = sum((rank - mean) ** 2 for rank in ranks) / (len(ranks) - 1)
    variance = spread * few * (len(ranks) - few) / len(ranks)
    if not variance:
        return 1.0
    # Half a step of the sum, which is one where ranks are doubled, is the correction for continuity.
    distance = max(abs(told - few * mean) - 1, 0)
    return math.erfc(distance / math.sqrt(2 * variance))
