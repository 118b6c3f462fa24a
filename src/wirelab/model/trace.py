"""When bytes may pass: a trace of delivery opportunities, as mahimahi has them.

Standard library only, for the guest.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, count
from operator import itemgetter

OPPORTUNITY_BYTES = 1504
"""What may pass at once, and what mahimahi counts of a full packet: 1500 bytes of IP and 4 of its tunnel."""
_NS_PER_MS = 1_000_000
_MS_PER_S = 1000
_BITS_PER_BYTE = 8

Instants = tuple[tuple[int, int], ...]
"""Milliseconds in which there are opportunities, and how many."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The opportunities of each millisecond, over and over again from ``start_ns`` on.

    ``opportunities`` has a text for each second, a number for each of its milliseconds; ``3*17`` is 17 with
    three. The last one stands for the first of the next round, too, as mahimahi has it.
    """

    name: str
    opportunities: tuple[str, ...]
    start_ns: int = 0

    @property
    def length_ms(self) -> int:
        """How long one round takes."""
        return instants_of(self.opportunities)[-1][0]

    @property
    def round_bytes(self) -> int:
        """What may pass in one round."""
        return OPPORTUNITY_BYTES * sum(number for _, number in instants_of(self.opportunities))

    @property
    def mean_bps(self) -> int:
        """What may pass in the long run, in whole bytes a second."""
        return self.round_bytes * _MS_PER_S // self.length_ms * _BITS_PER_BYTE

    @property
    def most_bytes(self) -> int:
        """The most that may pass in a millisecond."""
        _, again = _rounds(self.opportunities)
        return OPPORTUNITY_BYTES * max(number for _, number in again)

    def instants(self) -> Iterator[tuple[int, int]]:
        """When there are opportunities, counted as the traffic is, and how many; without an end."""
        first, again = _rounds(self.opportunities)
        for ms, number in first:
            yield self.start_ns + ms * _NS_PER_MS, number
        for turn in count():
            base_ms = turn * self.length_ms
            for ms, number in again:
                yield self.start_ns + (base_ms + ms) * _NS_PER_MS, number

    def bytes_by(self, at_ns: int) -> int:
        """What may have passed by an instant, itself included; until it begins as in its mean."""
        if at_ns < self.start_ns:
            return (at_ns - self.start_ns) * self.mean_bps // (_BITS_PER_BYTE * _MS_PER_S * _NS_PER_MS)
        first, again = _rounds(self.opportunities)
        turns, left_ms = divmod((at_ns - self.start_ns) // _NS_PER_MS, self.length_ms)
        place = bisect_right(again, left_ms, key=itemgetter(0))
        begun = sum(number for _, number in first) + turns * sum(number for _, number in again)
        return OPPORTUNITY_BYTES * (begun + sum(number for _, number in again[:place]))

    def by_when_ns(self, begin_ns: int, size_bytes: int) -> int:
        """The first instant by which so much may have passed since ``begin_ns``."""
        needed = self.bytes_by(begin_ns) + size_bytes
        rounds = size_bytes // self.round_bytes * self.length_ms * _NS_PER_MS
        late_ns = begin_ns + rounds + 2 * self.length_ms * _NS_PER_MS
        early_ns = begin_ns
        while late_ns - early_ns > 1:
            middle_ns = (early_ns + late_ns) // 2
            early_ns, late_ns = (
                (early_ns, middle_ns) if self.bytes_by(middle_ns) >= needed else (middle_ns, late_ns)
            )
        return late_ns


def written(numbers: list[int]) -> tuple[str, ...]:
    """The opportunities of each millisecond as a Plan has them."""
    seconds = (numbers[begin : begin + _MS_PER_S] for begin in range(0, len(numbers), _MS_PER_S))
    return tuple(" ".join(_runs(second)) for second in seconds)


def _runs(numbers: list[int]) -> Iterator[str]:
    begin = 0
    for end in range(1, len(numbers) + 1):
        if end == len(numbers) or numbers[end] != numbers[begin]:
            yield str(numbers[begin]) if end - begin == 1 else f"{numbers[begin]}*{end - begin}"
            begin = end


@cache
def instants_of(opportunities: tuple[str, ...]) -> Instants:
    """The milliseconds of a round in which there are opportunities, and how many."""
    runs = [run.partition("*") for second in opportunities for run in second.split()]
    ends = accumulate((int(times or 1) for _, _, times in runs), initial=0)
    return tuple(
        (ms, int(number))
        for (number, _, times), begin in zip(runs, ends, strict=False)
        if int(number)
        for ms in range(begin, begin + int(times or 1))
    )


@cache
def _rounds(opportunities: tuple[str, ...]) -> tuple[Instants, Instants]:
    """What there is at the very beginning, and a round after that: its last instant begins the next one."""
    instants = instants_of(opportunities)
    if instants[0][0]:
        return (), instants
    *within, (last_ms, last) = instants[1:]
    return instants[:1], (*within, (last_ms, last + instants[0][1]))
