"""Scenarios dealt out to several machines, so that all of them end at about the same time."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Load:
    """A scenario: the virtual seconds it is planned to run, and the wall seconds it took, None if unknown."""

    name: str
    virtual_s: float
    wall_s: float | None = None


@dataclass(frozen=True, slots=True)
class Shard:
    """What one machine is to run, the longest first."""

    names: tuple[str, ...]
    weight_s: float


def weights_s(loads: Sequence[Load]) -> dict[str, float]:
    """How long each will take: what it took, else its virtual seconds at the pace of those that are known."""
    known = [load for load in loads if load.wall_s is not None]
    virtual_s = sum(load.virtual_s for load in known)
    pace = sum(load.wall_s or 0.0 for load in known) / virtual_s if virtual_s else 1.0
    return {load.name: load.virtual_s * pace if load.wall_s is None else load.wall_s for load in loads}


def deal(loads: Iterable[Load], count: int) -> tuple[Shard, ...]:
    """At most ``count`` shards: the longest first, each to the machine with the least to do.

    That is at most a third longer than the best there is (Graham, Bounds on Multiprocessing Timing
    Anomalies, 1969). The same loads give the same shards; none is empty.
    """
    weights = weights_s(tuple(loads))
    heap: list[tuple[float, int, list[str]]] = [(0.0, number, []) for number in range(count)]
    for name in sorted(weights, key=lambda name: (-weights[name], name)):
        weight_s, number, names = heapq.heappop(heap)
        heapq.heappush(heap, (weight_s + weights[name], number, [*names, name]))
    by_number = sorted(heap, key=lambda each: each[1])
    return tuple(Shard(tuple(names), weight_s) for weight_s, _, names in by_number if names)
